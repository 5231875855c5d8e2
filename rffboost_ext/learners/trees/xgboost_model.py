"""XGBoost's model format, read into our arrays."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...terms import Trees
from ...utils.typing import Array
from .ubjson import Known, loads

BOOSTERS = ("gbtree", "dart")
# What stands for bytes that are no text.
LOST = "\ufffd"


def parsed(booster: Any, known: Known | None = None) -> dict[str, Any]:
    """The part "learner" of the model of a ``Booster``, named as in XGBoost's JSON schema, and its "version".

    `known` is what :func:`loads` knows of the same one when it had fewer trees.
    """
    content = loads(bytes(booster.save_raw("ubj")), known)
    return {**content["learner"], "version": content["version"]}


def number_of_outputs(learner: dict[str, Any]) -> int:
    """Raw scores per row, C."""
    params = learner["learner_model_param"]
    return max(1, int(params["num_class"]), int(params["num_target"]))


def categories_of(learner: dict[str, Any]) -> list[Array | None]:
    """The categories of each column in the order of their codes, None for numbers; empty if it has none.

    Raises
    ------
    ValueError
        If text of categories has been lost: up to version 3.3, XGBoost counts characters where it should count
        bytes, so that one letter beyond ASCII is enough for text to end up at other categories.
    """
    booster = learner["gradient_booster"]
    kept = booster.get("gbtree", booster)["model"].get("cats") or {"enc": []}
    counts_bytes = tuple(learner["version"]) >= (3, 4)
    found = [categories(entry) for entry in kept["enc"]]
    for column, known in enumerate(found):
        listed = [] if known is None else known.tolist()
        strange = [category for category in listed if not is_kept(category, counts_bytes)]
        if strange:
            raise ValueError(
                f"column {column} of the model must have categories of ASCII letters: its version of XGBoost does "
                f"not keep others, got text such as {strange[0]!r}; rename the categories and train it again"
            )
    return found if any(entry is not None for entry in found) else []


def is_kept(category: Any, counts_bytes: bool) -> bool:
    """Whether a category is what it was in training."""
    return not isinstance(category, str) or category.isascii() or (counts_bytes and LOST not in category)


def categories(entry: dict[str, Any]) -> Array | None:
    """The categories of one column: numbers, or text stored as bytes and offsets; None if it has none."""
    values = np.asarray(entry["values"])
    if "offsets" not in entry:
        return np.array(values.tolist()) if len(values) else None
    content, ends = values.astype(np.uint8).tobytes(), entry["offsets"]
    text = [content[start:stop].decode(errors="replace") for start, stop in pairwise(ends)]
    return np.array(text, dtype=object) if text else None


def base_score(text: str) -> Array:
    """``"5E-1"``, ``"[5E-1]"`` or ``"[1E0,2E0]"``: the spellings of XGBoost's versions, as (1,) or (C,)."""
    return np.array([float(part) for part in text.strip("[] ").split(",")])


def read_rounds(learner: dict[str, Any], kinds: Sequence[str] = BOOSTERS) -> list[Trees]:
    """The trees of a model, one term per boosting round, as :func:`read_trees` reads them."""
    trees, counts = read_trees(learner, kinds)
    return trees.split(counts)


def read_trees(learner: dict[str, Any], kinds: Sequence[str] = BOOSTERS, first: int = 0) -> tuple[Trees, Array]:
    """The trees of a model as one term, and their number in each boosting round; the base score is no part of it.

    Parameters
    ----------
    learner : dict
        From :func:`parsed`.
    kinds : sequence of str
        Boosters that are read.
    first : int, default=0
        The first round that is read.

    Raises
    ------
    ValueError
        If the model is not a sum of scalar trees: a linear booster, or vector leaves.
    """
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster)["model"]
    # From version 3.4 on any tree booster may drop trees, and the model stores the resulting weights.
    dropped = booster.get("weight_drop", model.get("weight_drop"))
    name = booster["name"] if dropped is None else "dart"
    if name not in kinds:
        raise ValueError(f"booster must be one of {', '.join(kinds)}, got {name!r}")
    ends = model["iteration_indptr"][first:]
    trees, outputs = (model[part][ends[0] :] for part in ("trees", "tree_info"))
    for tree in trees:
        require_readable(tree)
    factors = np.ones(len(trees)) if dropped is None else np.array(dropped[ends[0] :], dtype=np.float64)
    return joined(trees, outputs, number_of_outputs(learner), factors), np.diff(ends)


def require_readable(tree: dict[str, Any]) -> None:
    """Raise a ValueError unless a tree has scalar leaves."""
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise ValueError("multi_strategy must be 'one_output_per_tree', got trees with vector leaves")


def joined(trees: Sequence[dict[str, Any]], outputs: Sequence[int], n_outputs: int, factors: Array) -> Trees:
    """Some trees of the format as one term, each times a factor and adding to one of several outputs."""
    sizes = np.array([len(tree["left_children"]) for tree in trees], dtype=np.int64)
    roots = np.cumsum(sizes) - sizes
    left, right = (listed(trees, f"{side}_children", np.int32) for side in ("left", "right"))
    leaf, shift = left < 0, np.repeat(roots, sizes).astype(np.int32)
    condition, value = listed(trees, "split_conditions", np.float32), np.zeros((len(left), n_outputs))
    output = np.repeat(np.array(outputs, dtype=np.int64), sizes)
    value[leaf, output[leaf]] = (np.repeat(factors, sizes) * condition)[leaf]
    return Trees(
        roots=roots,
        left=np.where(leaf, left, left + shift),
        right=np.where(leaf, right, right + shift),
        # Nodes that pruning has deleted have a feature that there is not.
        feature=np.where(leaf, 0, listed(trees, "split_indices", np.int32)),
        threshold=condition,
        missing_left=listed(trees, "default_left", np.bool_),
        value=value,
        **read_sets(trees, roots, len(left)),
    )


def listed(trees: Sequence[dict[str, Any]], name: str, dtype: type) -> Array:
    """One entry of several trees as one array."""
    return np.concatenate([np.empty(0, dtype), *(tree[name] for tree in trees)], dtype=dtype, casting="unsafe")


def read_sets(trees: Sequence[dict[str, Any]], roots: Array, n_nodes: int) -> dict[str, Array]:
    """The category sets of the splits of some trees: those that go right, as XGBoost lists them."""
    nodes = [root + node for root, tree in zip(roots, trees, strict=True) for node in tree["categories_nodes"]]
    if not nodes:
        return {}
    sizes, categories = (listed(trees, name, np.int64) for name in ("categories_sizes", "categories"))
    subset = np.full(n_nodes, -1, dtype=np.int32)
    subset[nodes] = np.arange(len(nodes))
    member = np.zeros((len(nodes), int(categories.max(initial=0)) + 1), dtype=bool)
    # The categories of all nodes are concatenated in order.
    member[np.repeat(np.arange(len(nodes)), sizes), categories] = True
    return {"subset": subset, "members": np.packbits(member, axis=1, bitorder="little")}
