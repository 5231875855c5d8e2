"""Reader of LightGBM's text model format."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..terms import Trees
from ..utils.typing import Array

# Bits of decision_type: categorical split, default direction left, type of missing values.
CATEGORICAL, DEFAULT_LEFT = 1, 2
MISSING_SHIFT, MISSING_ZERO, MISSING_NAN = 2, 1, 2


@dataclass(frozen=True)
class TextModel:
    """A model in LightGBM's format: the fields of its header and of each tree, as text."""

    header: dict[str, str]
    trees: list[dict[str, str]]

    @property
    def n_outputs(self) -> int:
        """Raw scores per row, and trees per round."""
        return int(self.header["num_tree_per_iteration"])

    @property
    def objective(self) -> str:
        """The first word of the objective; "custom" if it was a callable."""
        return self.header.get("objective", "custom").split()[0]

    @property
    def slope(self) -> float:
        """Log-odds per unit of raw score, LightGBM's parameter ``sigmoid``."""
        words = self.header.get("objective", "").split()
        return next((float(word.partition(":")[2]) for word in words if word.startswith("sigmoid:")), 1.0)

    @property
    def squares(self) -> bool:
        """Whether the response is the square of the raw score, LightGBM's parameter ``reg_sqrt``."""
        return "sqrt" in self.header.get("objective", "").split()


def parse_model(text: str) -> TextModel:
    """Split ``Booster.model_to_string()`` into header and trees."""
    body = text.partition("end of trees")[0]
    head, *trees = body.split("\nTree=")
    return TextModel(dict(read_fields(head)), [dict(read_fields(tree)) for tree in trees])


def read_fields(text: str) -> Iterator[tuple[str, str]]:
    """The lines ``name=value``; the value is empty if a line has none."""
    for line in text.splitlines():
        name, _, value = line.partition("=")
        yield name, value


def read_rounds(model: TextModel) -> list[Trees]:
    """The trees of a model, one term per boosting round.

    Raises
    ------
    ValueError
        If the model has linear leaves, categorical splits, or treats zeros as missing.
    """
    outputs = model.n_outputs
    factor = outputs / len(model.trees) if "average_output" in model.header and model.trees else 1.0
    terms = [read_tree(tree, index % outputs, outputs).scaled(factor) for index, tree in enumerate(model.trees)]
    return [Trees.stack(terms[start : start + outputs]) for start in range(0, len(terms), outputs)]


def read_tree(tree: dict[str, str], output: int, n_outputs: int) -> Trees:
    """One tree for one of several outputs: inner nodes first, then leaves."""
    if int(tree.get("is_linear", "0")):
        raise ValueError("linear_tree: leaves are linear models, which Trees do not support")
    leaves = read_array(tree, "leaf_value", np.float64)
    inner = len(leaves) - 1
    none = np.full(len(leaves), -1)
    value = np.concatenate([np.zeros(inner), leaves])[:, None]
    links = (read_children(tree, name, inner) for name in ("left_child", "right_child"))
    left, right = (np.concatenate([link, none]).astype(np.int32) for link in links)
    feature, threshold, missing_left = (
        np.concatenate([part, np.zeros(len(leaves), dtype=part.dtype)]) for part in read_splits(tree, inner)
    )
    place = None if n_outputs == 1 else np.array([output])
    nodes = left, right, feature, threshold, missing_left, value
    return Trees(np.zeros(1, dtype=np.int64), *nodes, output=place, n_outputs=n_outputs)


def read_children(tree: dict[str, str], name: str, inner: int) -> Array:
    """Children of inner nodes; LightGBM writes leaf k as -k - 1."""
    child = read_array(tree, name, np.int64)[:inner]
    return np.where(child >= 0, child, inner - child - 1)


def read_splits(tree: dict[str, str], inner: int) -> tuple[Array, Array, Array]:
    """Feature, threshold and side of missing values of each inner node."""
    kind = read_array(tree, "decision_type", np.int64)[:inner]
    threshold = read_array(tree, "threshold", np.float64)[:inner]
    missing = (kind >> MISSING_SHIFT) & 3
    if (kind & CATEGORICAL).any():
        raise ValueError("the LightGBM model splits on categorical features, which are not supported")
    if (missing == MISSING_ZERO).any():
        raise ValueError("zero_as_missing: the LightGBM model takes zeros for missing, which Trees do not support")
    # NaN is treated as 0 in a feature without missing values in training.
    left = np.where(missing == MISSING_NAN, (kind & DEFAULT_LEFT) > 0, threshold >= 0.0)
    feature = read_array(tree, "split_feature", np.int32)[:inner]
    # LightGBM's x <= t becomes x < the next number.
    return feature, np.nextafter(threshold, np.inf), left


def read_array(tree: dict[str, str], name: str, dtype: Any) -> Array:
    """A field as an array; empty if absent, as for the splits of a tree of one leaf."""
    return np.array(tree.get(name, "").split(), dtype=dtype)
