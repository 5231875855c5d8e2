"""Reader of LightGBM's text model format."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..rows.category_encoding import category_array
from ..terms import Trees
from ..terms.linear_trees import LinearLeaves, with_linear_leaves
from ..utils.typing import Array

# Bits of decision_type: categorical split, default direction left, type of missing values.
CATEGORICAL, DEFAULT_LEFT = 1, 2
MISSING_SHIFT, MISSING_ZERO, MISSING_NAN = 2, 1, 2

NODE_FIELDS = {"decision_type": np.int64, "threshold": np.float64}
NODE_TYPES = {
    "left": np.int32,
    "right": np.int32,
    "feature": np.int32,
    "threshold": np.float64,
    "missing_left": bool,
}
"""Types of the arrays of :class:`Trees`."""


@dataclass(frozen=True)
class TextModel:
    """A model in LightGBM's format: the fields of its header and of each tree, and what follows, as text."""

    header: dict[str, str]
    trees: list[dict[str, str]]
    rest: str = ""

    @property
    def n_outputs(self) -> int:
        """Raw scores per row, and trees per round."""
        return int(self.header["num_tree_per_iteration"])


def parse_text_model(text: str) -> TextModel:
    """Split ``Booster.model_to_string()`` into header and trees."""
    body, _, rest = text.partition("end of trees")
    head, *trees = body.split("\nTree=")
    return TextModel(dict(read_fields(head)), [dict(read_fields(tree)) for tree in trees], rest)


def text_model_categories(model: TextModel, categories: list[Any]) -> list[Array | None]:
    """The categories of each column of a table in the order of their codes, None for numbers; empty without any.

    `categories` are those of each column that has some; a ValueError if the model does not say which these are.
    """
    if not categories:
        return []
    listed = re.search(r"^\[categorical_feature: ([\d,]+)\]$", model.rest, re.MULTILINE)
    columns = [int(column) for column in listed[1].split(",")] if listed else []
    if len(columns) != len(categories):
        raise ValueError(
            f"the table of the LightGBM model must have no categories but those of its categorical features, got "
            f"{len(categories)} columns of categories and {len(columns)} categorical features: encode ordered "
            f"categories as numbers"
        )
    by_column: list[Array | None] = [None] * (int(model.header["max_feature_idx"]) + 1)
    for column, values in zip(columns, categories, strict=True):
        by_column[column] = category_array(values)
    return by_column


def read_fields(text: str) -> Iterator[tuple[str, str]]:
    """The lines ``name=value``; the value is empty if a line has none."""
    for line in text.splitlines():
        name, _, value = line.partition("=")
        yield name, value


def rounds_of_text_model(model: TextModel) -> list[Any]:
    """The trees of a model, one term per boosting round; with linear leaves if one of them has these.

    A model that treats zeros as missing raises a ValueError.
    """
    outputs, terms = model.n_outputs, read_terms(model)
    factor = outputs / len(terms) if "average_output" in model.header and terms else 1.0
    parts = [
        [term.scaled(factor) for term in terms[start : start + outputs]] for start in range(0, len(terms), outputs)
    ]
    return [type(part[0]).stack(part) for part in parts]


def read_terms(model: TextModel) -> list[Any]:
    """The trees of a model, one term per tree."""
    outputs, n_features = model.n_outputs, int(model.header["max_feature_idx"]) + 1
    if not any(int(tree.get("is_linear", "0")) for tree in model.trees):
        return [read_tree(tree, index % outputs, outputs) for index, tree in enumerate(model.trees)]
    plain = [read_tree(tree, 0, 1) for tree in model.trees]
    return [
        with_linear_leaves(trees, read_leaves(tree), index % outputs, outputs, n_features)
        for index, (trees, tree) in enumerate(zip(plain, model.trees, strict=True))
    ]


def read_leaves(tree: dict[str, str]) -> LinearLeaves:
    """The linear functions of the leaves of a tree; constants if it has none."""
    if not int(tree.get("is_linear", "0")):
        constant = array_field(tree, "leaf_value", np.float64)
        return LinearLeaves(constant, np.zeros(len(constant), np.int64), np.zeros(0, np.int64), np.zeros(0))
    constant, slopes = (array_field(tree, name, np.float64) for name in ("leaf_const", "leaf_coeff"))
    counts, features = (array_field(tree, name, np.int64) for name in ("num_features", "leaf_features"))
    return LinearLeaves(constant, counts, features, slopes)


def read_tree(tree: dict[str, str], output: int, n_outputs: int) -> Trees:
    """One tree for one of several outputs: inner nodes first, then leaves."""
    leaves = array_field(tree, "leaf_value", np.float64)
    inner = len(leaves) - 1
    kind, threshold = (array_field(tree, name, dtype)[:inner] for name, dtype in NODE_FIELDS.items())
    is_set = (kind & CATEGORICAL) > 0
    left, right = (read_children(tree, name, inner) for name in ("left_child", "right_child"))
    nodes = {
        # LightGBM's members go left.
        "left": np.where(is_set, right, left),
        "right": np.where(is_set, left, right),
        "feature": array_field(tree, "split_feature", np.int32)[:inner],
        # LightGBM's x <= t becomes x < the next number.
        "threshold": np.where(is_set, 0.0, np.nextafter(threshold, np.inf)),
        "missing_left": is_set | missing_goes_left(kind, threshold),
    }
    padding = dict.fromkeys(nodes, np.zeros(len(leaves))) | dict.fromkeys(
        ("left", "right"), np.full(len(leaves), -1)
    )
    return Trees(
        roots=np.zeros(1, dtype=np.int64),
        **{name: np.append(part, padding[name]).astype(NODE_TYPES[name]) for name, part in nodes.items()},
        value=np.append(np.zeros(inner), leaves)[:, None],
        output=None if n_outputs == 1 else np.array([output]),
        n_outputs=n_outputs,
        **category_sets_of_tree(tree, np.flatnonzero(is_set), threshold, inner + len(leaves)),
    )


def read_children(tree: dict[str, str], name: str, inner: int) -> Array:
    """Children of inner nodes; LightGBM writes leaf k as -k - 1."""
    child = array_field(tree, name, np.int64)[:inner]
    return np.where(child >= 0, child, inner - child - 1)


def missing_goes_left(kind: Array, threshold: Array) -> Array:
    """The side of missing values at inner nodes with a threshold."""
    missing, by_default, zero_is_left = (kind >> MISSING_SHIFT) & 3, (kind & DEFAULT_LEFT) > 0, threshold >= 0.0
    if ((missing == MISSING_ZERO) & (by_default != zero_is_left)).any():
        raise ValueError("zero_as_missing: the LightGBM model takes zeros for missing, which Trees do not support")
    # NaN is treated as 0 in a feature without missing values in training.
    return np.where(missing == MISSING_NAN, by_default, zero_is_left)


def category_sets_of_tree(tree: dict[str, str], nodes: Array, threshold: Array, n_nodes: int) -> dict[str, Array]:
    """The category sets of some nodes, as fields of :class:`Trees`; the threshold of a node is their number."""
    if not len(nodes):
        return {}
    words, ends = (array_field(tree, name, np.int64) for name in ("cat_threshold", "cat_boundaries"))
    subset = np.full(n_nodes, -1, dtype=np.int32)
    subset[nodes] = np.arange(len(nodes))
    members = np.zeros((len(nodes), int(np.diff(ends).max())), dtype="<u4")
    for row, number in enumerate(threshold[nodes].astype(np.int64)):
        members[row, : ends[number + 1] - ends[number]] = words[ends[number] : ends[number + 1]]
    return {"subset": subset, "members": members.view(np.uint8)}


def array_field(tree: dict[str, str], name: str, dtype: Any) -> Array:
    """A field as an array; empty if absent, as for the splits of a tree of one leaf."""
    return np.array(tree.get(name, "").split(), dtype=dtype)
