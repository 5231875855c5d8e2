"""Scores computed in another way, fitted models shared between tests, and models made by hand."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import onnxruntime
from onnx.defs import onnx_opset_version

from onnx_export.comparison import EPS
from onnx_export.describe import RUNTIMES
from onnx_export.export import HIGHEST_OPSET
from rffboost_ext import Cosines, Ensemble, RFFBoostClassifier, RFFBoostRegressor, SymmetricTrees, Term, Trees
from rffboost_ext.losses import LogLoss, SquaredError
from rffboost_ext.rows.feature_encoder import FeatureEncoder
from rffboost_ext.terms import Linear, Mapped

from ..cases import PAIRS, make_data, make_estimator

Array = np.ndarray
DTYPES = ("float32", "float64", "mixed")


def as_numbers(version: str) -> list[int]:
    """The first two parts of a version."""
    return [int(part) for part in version.split(".")[:2]]


LOADED = [opset for release, _, opset, _ in RUNTIMES if as_numbers(release) <= as_numbers(onnxruntime.__version__)]
NEWEST_OPSET = min(HIGHEST_OPSET, onnx_opset_version(), LOADED[-1])
"""The newest operator set that everything here knows."""


@cache
def fitted(index: int) -> tuple[Any, Array]:
    """The fitted estimator of one pair of loss and learner, and features that it was not fitted on."""
    loss, learner = PAIRS[index]
    X, y = make_data(loss)
    return make_estimator(loss, learner).fit(X, y), make_data(loss, seed=1, n=40)[0]


def posed(ensemble: Ensemble, n_features: int, loss: Any = None, classes: Any = (0, 1)) -> Any:
    """A fitted estimator that holds a given ensemble: a regressor, or a classifier where a loss is given."""
    kind = RFFBoostRegressor if loss is None else RFFBoostClassifier
    encoder = FeatureEncoder(kind.__name__)
    encoder.n_features_in_ = n_features
    model = kind.from_ensemble(ensemble, loss or SquaredError(), encoder)
    if loss is not None:
        model.classes_ = np.asarray(classes)
    return model


def classifier(ensemble: Ensemble, n_features: int, classes: Any = (0, 1)) -> Any:
    """A fitted classifier that holds a given ensemble of one output."""
    return posed(ensemble, n_features, LogLoss(), classes)


def ensemble_of(*terms: Term, baseline: Any = 0.0) -> Ensemble:
    """The sum of some terms and a baseline."""
    return Ensemble(np.atleast_1d(np.asarray(baseline, dtype=float)), terms, np.ones((len(terms), 2)))


def random_cosines(
    seed: int, m: int, d: int, n_outputs: int = 1, spread: float = 1.0, center: Any = None
) -> Cosines:
    """Cosines of standard normal frequencies times `spread`."""
    rng = np.random.default_rng(seed)
    omega = spread * rng.standard_normal((m, d))
    phase = rng.uniform(-np.pi, np.pi, m)
    return Cosines(omega, phase, rng.standard_normal((m, n_outputs)), center)


def random_trees(seed: int, n_trees: int, d: int, n_outputs: int = 1, depth: int = 4) -> Trees:
    """Trees that are grown in random places, some of them a single leaf."""
    rng = np.random.default_rng(seed)
    return Trees.stack([random_tree(rng, d, n_outputs, int(rng.integers(0, depth + 1))) for _ in range(n_trees)])


def random_tree(rng: np.random.Generator, d: int, n_outputs: int, depth: int) -> Trees:
    """A full binary tree."""
    nodes, inner = 2 ** (depth + 1) - 1, 2**depth - 1
    index = np.arange(nodes)
    is_leaf = index >= inner
    return Trees(
        roots=np.zeros(1, dtype=np.int64),
        left=np.where(is_leaf, -1, 2 * index + 1).astype(np.int32),
        right=np.where(is_leaf, -1, 2 * index + 2).astype(np.int32),
        feature=rng.integers(0, d, nodes).astype(np.int32),
        threshold=rng.standard_normal(nodes).astype(np.float32),
        missing_left=rng.integers(0, 2, nodes).astype(bool),
        value=np.where(is_leaf[:, None], rng.standard_normal((nodes, n_outputs)), 0.0),
    )


def random_symmetric_trees(
    seed: int,
    n_trees: int,
    d: int,
    n_outputs: int = 1,
    depth: int = 4,
    linear: bool = False,
    crosses: bool = False,
) -> SymmetricTrees:
    """Symmetric trees with random splits and leaves, half of the levels on two features if `crosses`."""
    rng = np.random.default_rng(seed)
    shape, leaves = (n_trees, depth), (n_trees, 2**depth, n_outputs)
    low, center, high = np.sort(rng.standard_normal((3, *shape)), axis=0)
    parts = {"slope": rng.standard_normal((*leaves, depth)), "low": low, "high": high, "center": center}
    other = {"other": rng.integers(-d, d, shape).clip(-1).astype(np.int32), "is_product": rng.random(shape) < 0.5}
    return SymmetricTrees(
        feature=rng.integers(0, d, shape).astype(np.int32),
        threshold=rng.standard_normal(shape),
        missing_right=rng.integers(0, 2, shape).astype(bool),
        value=rng.standard_normal(leaves),
        **(parts if linear else {}),
        **(other if crosses else {}),
    )


def exact(ensemble: Ensemble, X: Array) -> Array:
    """Raw scores (n, C) term by term, in extended precision and by walking each tree row by row."""
    total = np.tile(ensemble.baseline.astype(np.longdouble), (len(X), 1))
    for term, length in zip(ensemble.terms, ensemble.lengths, strict=True):
        total = total + length * exact_term(term, np.asarray(X, dtype=np.float64))
    return total


def exact_term(term: Term, X: Array) -> Array:
    """Outputs of one term."""
    if isinstance(term, Mapped):
        return exact_term(term.term, term.feature_map(X))
    if isinstance(term, Trees):
        out = np.zeros((len(X), term.n_outputs), dtype=np.longdouble)
        for t, root in enumerate(term.roots):
            out[:, slice(None) if term.output is None else term.output[[t]]] += [walked(term, root, x) for x in X]
        return out
    if isinstance(term, SymmetricTrees):
        return np.array([sum(value_at(term, t, x) for t in range(term.n_trees)) for x in X])
    if term.clipping is not None:
        X = np.minimum(np.maximum(X, term.clipping.low), term.clipping.high)
    x = X.astype(np.longdouble) if term.center is None else X - term.center.astype(np.longdouble)
    if isinstance(term, Linear):
        return x[:, term.columns] @ term.slope + term.intercept
    return np.cos(x @ term.omega.T - term.phase) @ term.weight.astype(np.longdouble)


def walked(trees: Trees, node: int, row: Array) -> Array:
    """The value of the leaf in which one row ends."""
    while trees.left[node] >= 0:
        x = np.float32(row[trees.feature[node]])
        left = trees.missing_left[node] if np.isnan(x) else x < trees.threshold[node]
        node = trees.left[node] if left else trees.right[node]
    return trees.value[node].astype(np.longdouble)


def value_at(trees: SymmetricTrees, t: int, row: Array) -> Array:
    """The value of the leaf of tree t in which one row without categories ends, with its linear part."""
    x = row[trees.feature[t]]
    if trees.other is not None:
        second, crossed = row[trees.other[t]], trees.other[t] >= 0
        x = np.where(crossed, np.where(trees.is_product[t], x * second, x - second), x)
    right = [trees.missing_right[t, k] if np.isnan(v) else v >= trees.threshold[t, k] for k, v in enumerate(x)]
    leaf = sum(2**k for k, goes in enumerate(right) if goes)
    value = trees.value[t, leaf].astype(np.longdouble)
    if trees.slope is None:
        return value
    slope, low, high, center = trees.slope[t, leaf], trees.low[t], trees.high[t], trees.center[t]
    inside = np.where(np.isnan(x), center, np.minimum(np.maximum(x, low), high)).astype(np.longdouble)
    return value + slope.astype(np.longdouble) @ (inside - center)


def published_tolerance(term: Cosines, baseline: float, X: Array, eps: float = EPS["float32"]) -> float:
    """``4 eps (1 + max|z|) |v|_2 + eps sqrt(T) max|f| + eps |baseline|`` for one output, written out."""
    z = (X if term.center is None else X - term.center) @ term.omega.T - term.phase
    sums = np.sqrt(len(term.weight)) * np.abs(np.cos(z) @ term.weight).max()
    return 4 * eps * (1 + np.abs(z).max()) * np.linalg.norm(term.weight) + eps * (sums + abs(baseline))
