"""Category sets of trees: a column of memberships for each set."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from rffboost_ext import SymmetricTrees, Trees
from rffboost_ext.exporting import Array

from .graph import INT64, Graph

AnyTrees = TypeVar("AnyTrees", Trees, SymmetricTrees)


def without_category_sets(term: AnyTrees, graph: Graph, x: str) -> tuple[AnyTrees, str]:
    """Trees without category sets, and their features with a further column for each set.

    The column is 1 for members of the set, 0 for others, and NaN for missing values. A threshold between 0 and 1
    then splits as the set does, in every runtime that supports trees.
    """
    subset, members = term.subset, term.members
    if subset is None or members is None or not (subset >= 0).any():
        return replace(term, subset=None, members=None), x
    is_set = subset >= 0
    bits = np.unpackbits(members, axis=1, bitorder="little")
    place, parts, start = term.feature.copy(), [], 0
    for i, column in enumerate(np.unique(term.feature[is_set])):
        splits = is_set & (term.feature == column)
        sets, which = np.unique(bits[subset[splits]], axis=0, return_inverse=True)
        place[splits] = start + which.ravel()
        start += len(sets)
        parts.append(memberships(sets, column, i, graph, x))
    threshold = np.where(is_set, 0.5, term.threshold).astype(term.threshold.dtype)
    feature = np.where(is_set, place, start + term.feature).astype(term.feature.dtype)
    trees = replace(term, feature=feature, threshold=threshold, subset=None, members=None)
    return trees, graph.node("Concat", *parts, x, axis=1)


def memberships(sets: Array, column: int, i: int, graph: Graph, x: str) -> str:
    """Membership of a column's codes in each of the sets (S, K), as (n, S): 1, 0, or NaN where missing."""
    size = sets.shape[1]
    table = graph.constant(np.concatenate([sets.T, np.zeros((1, len(sets)))]), f"sets{i}")
    code = graph.node("Gather", x, graph.constant(column, f"of{i}"), axis=1)
    member = graph.node("Gather", table, valid_codes(graph, code, size), axis=0)
    member = graph.cast(member, graph.types[x])
    cells = graph.node("Gather", x, graph.constant([column], f"column{i}"), axis=1)
    gap = graph.node("IsNaN", cells)
    return graph.node("Where", gap, graph.missing(graph.types[x]), member)


def valid_codes(graph: Graph, code: str, size: int) -> str:
    """Codes from 0 to ``size - 1`` as integers, with `size` in place of other numbers and of NaN."""
    low, high = (graph.constant(float(end), "end", graph.types[code]) for end in (0, size))
    at_least = graph.node("Not", graph.node("Less", code, low))
    is_valid = graph.node("And", at_least, graph.node("Less", code, high))
    other = graph.constant(float(size), "other", graph.types[code])
    return graph.cast(graph.node("Where", is_valid, code, other), INT64)
