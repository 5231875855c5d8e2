"""Trees of one output each, whose values need one column only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..utils.typing import Array
from .trees import Trees


def assign_outputs(trees: Trees) -> Trees:
    """The same trees with one column of values, if each tree has values other than 0 for one output only."""
    if trees.n_outputs == 1 or trees.output is not None:
        return trees
    node, column = np.nonzero(trees.value)
    fields = values_by_output(trees.tree_of_nodes, node, column, trees.value[node, column], trees.n_outputs)
    return replace(trees, **fields)


def values_by_output(tree: Array, node: Array, column: Array, value: Array, n_outputs: int) -> dict[str, Any]:
    """Values of leaves as fields of :class:`Trees`, with one column if each tree has values for one output only.

    Parameters
    ----------
    tree : ndarray of shape (nodes,)
        The tree of each node.
    node, column, value : ndarray of shape (entries,)
        The node and the output of each value; values of equal places are added.
    n_outputs : int
        Number of outputs, C.

    Returns
    -------
    dict
        ``value``, and for one column ``output`` and ``n_outputs``.
    """
    output = np.zeros(int(tree.max(initial=-1)) + 1, dtype=np.int64)
    output[tree[node]] = column
    is_single = n_outputs > 1 and bool((output[tree[node]] == column).all())
    if not is_single:
        values = np.zeros((len(tree), n_outputs))
        np.add.at(values, (node, column), value)
        return {"value": values}
    return {
        "value": np.bincount(node, value, minlength=len(tree))[:, None],
        "output": output,
        "n_outputs": n_outputs,
    }
