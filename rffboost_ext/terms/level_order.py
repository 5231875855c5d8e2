"""Nodes of trees in the order of their levels."""

from __future__ import annotations

import numpy as np

from ..utils.typing import Array
from .stored_fields import require_range


def number_by_level(roots: Array, left: Array, right: Array) -> tuple[Array, Array, Array, Array]:
    """Number the nodes of T trees, tree by tree and level by level, so that siblings are adjacent.

    Parameters
    ----------
    roots : ndarray of shape (T,)
        Root of each tree.
    left, right : ndarray of shape (nodes,)
        Children of each node; -1 at leaves.

    Returns
    -------
    first, levels : ndarray of shape (T,), int32
        New number of each root, and the depth of each tree.
    order : ndarray of shape (reached nodes,)
        Old number of each node.
    child : ndarray of shape (reached nodes,), int32
        New number of the left child of each node; its own number for a leaf.

    Raises
    ------
    ValueError
        If a node is reached twice.
    """
    nodes, tree = roots, np.arange(len(roots))
    levels, all_nodes, all_trees, depth = np.zeros(len(roots), dtype=np.int32), [nodes], [tree], 0
    # Without a node that is reached twice there are no more levels than nodes.
    while len(nodes) and depth <= len(left):
        inner = left[nodes] >= 0
        nodes, tree, depth = nodes[inner], tree[inner], depth + 1
        nodes, tree = np.stack([left[nodes], right[nodes]], axis=1).ravel(), np.repeat(tree, 2)
        levels[tree] = depth
        all_nodes.append(nodes)
        all_trees.append(tree)
    order = np.concatenate(all_nodes)[np.argsort(np.concatenate(all_trees), kind="stable")]
    if len(nodes) or len(np.unique(order)) < len(order):
        raise ValueError("each node of trees must have one parent, got a node with several")
    number = np.empty(len(left), dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    child = np.where(left[order] >= 0, number[np.maximum(left[order], 0)], number[order])
    return number[roots], levels, order, child


def require_structure(roots: Array, left: Array, right: Array) -> None:
    """Raise a ValueError unless each node has two later children or none, -1 for both, and one parent."""
    inner = np.flatnonzero(left >= 0)
    if (right[left < 0] >= 0).any():
        raise ValueError("a node of trees must have two children or none, got a right child only")
    # Children come after their parent, so every path ends.
    for child in (left[inner], right[inner]):
        require_range("node ids of children", child, inner + 1, len(left))
    number_by_level(roots, left, right)
