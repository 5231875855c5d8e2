"""Trees of one output each are the same function as trees with a value for every output, in less memory."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from onnx_export import to_onnx
from rffboost_ext import Ensemble, RFFBoostClassifier, RFFBoostRegressor, Trees
from rffboost_ext.inspection.importance import importances
from rffboost_ext.inspection.shapley import shapley_values
from rffboost_ext.terms import Recoding
from rffboost_ext.terms.trees import MIN_ROWS

from ..kernels.test_tree_evaluation_bottom_up import D, forest, rows_of

C = 4


def with_columns(term: Trees) -> Trees:
    """The same trees with a value for every output."""
    value, ends = np.zeros((len(term.left), term.n_outputs)), np.append(term.roots[1:], len(term.left))
    for start, stop, output in zip(term.roots, ends, term.output, strict=True):
        value[start:stop, output] = term.value[start:stop, 0]
    return replace(term, value=value, output=None)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def term(rng):
    """Trees of all sizes for outputs in any order; the trees of the last output are one leaf each."""
    sizes = np.append(rng.integers(1, 40, 14), [1, 1])
    outputs = np.append(rng.integers(C - 1, size=14), [C - 1, C - 1])
    return replace(forest(rng, sizes, dtype=np.float64), output=outputs, n_outputs=C)


@pytest.fixture
def X(rng):
    return rows_of(rng, 60, 0.1)


@pytest.mark.parametrize("n", [5, 2 * MIN_ROWS])
def test_outputs(n, term, rng):
    X, wide, group = rows_of(rng, n, 0.1), with_columns(term), np.arange(len(term.roots)) % 3
    np.testing.assert_array_equal(term(X), wide(X))
    outputs = term.group_outputs(X, group, 3)
    np.testing.assert_array_equal(outputs, wide.group_outputs(X, group, 3))
    assert outputs.flags.c_contiguous


@pytest.mark.parametrize("factor", [-0.3, np.array([1.0, -2.0, 0.5, 3.0])], ids=["number", "numbers"])
def test_scaled_stacked_and_split(factor, term, X):
    wide = with_columns(term)
    np.testing.assert_array_equal(term.scaled(factor)(X), wide.scaled(factor)(X))
    stacked, both = Trees.stack([term, term.scaled(0.3)]), Trees.stack([wide, wide.scaled(0.3)])
    np.testing.assert_array_equal(stacked(X), both(X))
    for part, one in zip(stacked.split([3, 20, 9]), both.split([3, 20, 9]), strict=True):
        np.testing.assert_array_equal(part(X), one(X))
        part.check(D, C)
    assert term.family != wide.family


def test_in_ensembles(term, X):
    results, weights = [], np.array([1.0, 2.0, 0.0, 5.0])
    for one in (term, with_columns(term)):
        ensemble = Ensemble(np.zeros(C), (one, one), np.full((2, 2), 0.7))
        shares = importances(ensemble, X), importances(ensemble, X, output_weights=weights)
        results.append((*shares, shapley_values(ensemble, X[:4], X[4:9]), *ensemble.staged(X)))
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_new_codes(term, X):
    """Some nodes test sets of codes."""
    subset = np.where((term.feature == 1) & (term.left >= 0), 0, -1).astype(np.int32)
    term = replace(term, subset=subset, members=np.array([[0b1010]], dtype=np.uint8))
    X[:, 1] = np.arange(len(X)) % 5
    recoding = Recoding({1: np.array([4, 2, 0, 1, 3])}, {1: 6})
    np.testing.assert_array_equal(term.recoded(recoding)(X), with_columns(term).recoded(recoding)(X))


@pytest.mark.parametrize("kind", [RFFBoostRegressor, RFFBoostClassifier])
def test_the_size_of_a_model_is_proportional_to_its_outputs(kind, rng):
    X, sizes = rng.standard_normal((240, 3)), []
    for outputs in (6, 24):
        y = X @ rng.standard_normal((3, outputs)) if kind is RFFBoostRegressor else np.arange(len(X)) % outputs
        model = kind(learner="tree", n_estimators=3, early_stopping=False, random_state=0).fit(X, y)
        nodes = sum(len(term.left) for term in model.ensemble_.terms)
        sizes.append([len(pickle.dumps(model.ensemble_)) / nodes, to_onnx(model).ByteSize() / nodes])
    # Bytes per node, of which small trees need more.
    np.testing.assert_allclose(*sizes, rtol=0.3)
