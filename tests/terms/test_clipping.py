"""Beyond the range of the training rows predictions are constant, unless ``extrapolation="continue"``."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import Cosines, Learner, RFFBoostRegressor, Term, presets
from rffboost_ext.terms import ClipAndLog, FeatureMap

from ..cases import each_learner, make_data, make_estimator
from ..own_parts import Linear
from .test_terms import EXTENT, trees


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 3.0, (400, 3))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1], 4.0 * rng.standard_normal((200, 3))


def within(X, Z):
    """Z held within the range of X, in plain NumPy."""
    return np.minimum(np.maximum(Z, np.nanmin(X, axis=0)), np.nanmax(X, axis=0))


@each_learner
def test_scores_beyond_the_range_are_those_at_its_end(loss, learner):
    X, y = make_data(loss, d=3)
    Z = 3.0 * make_data(loss, seed=1, d=3)[0]
    held, free = (
        make_estimator(loss, learner, n_estimators=6).set_params(extrapolation=kind).fit(X, y).ensemble_
        for kind in ("constant", "continue")
    )
    assert (within(X, Z) != Z).mean() > 0.3
    np.testing.assert_allclose(held.raw(Z), held.raw(within(X, Z)), rtol=0, atol=1e-12)
    # Within it, the fit is the same either way.
    np.testing.assert_array_equal(held.raw(X), free.raw(X))
    assert not any(term.clipping.is_bounded for term in free.terms if isinstance(term, Cosines))
    if any(isinstance(term, Cosines) for term in free.terms):
        assert np.abs(held.raw(3.0 * X) - free.raw(3.0 * X)).max() > 1e-3


@pytest.mark.parametrize(
    ("params", "precision"), [({}, np.float32), ({"standardize": False, "learner": "rff_newton"}, np.float64)]
)
def test_estimators_as_they_come(params, precision, data):
    X, y, Z = (part.astype(precision) for part in data)
    model = RFFBoostRegressor(n_estimators=15, n_folds=2, random_state=0, **params).fit(X, y)
    np.testing.assert_array_equal(model.predict(Z), model.predict(within(X, Z)))
    assert sum(isinstance(block, Cosines) for block in model.ensemble_.compact().terms) == 1


def test_held_out_rows_belong_to_the_range(data):
    X, y, _ = data
    X = X.copy()
    X[:5] *= 3.0
    model = RFFBoostRegressor(n_estimators=8, random_state=0).fit(X, y)
    keys = {term.clipping.key for term in model.ensemble_.terms if isinstance(term, Cosines)}
    assert keys == {ClipAndLog(X.min(axis=0), X.max(axis=0), means=model.encoder_.expansion.means).key}


def test_what_early_stopping_sees_is_what_the_model_does(data):
    X, y, Z = data
    target = np.sin(2.0 * Z[:, 0]) + Z[:, 1]
    model = RFFBoostRegressor(learner="mixture", random_state=0, refit=False).fit(X, y, eval_set=(Z, target))
    loss = model.loss_.value(target[:, None], model.ensemble_.raw(Z)).mean()
    assert model.validation_scores_[model.n_estimators_] == pytest.approx(loss, rel=1e-9)


def test_gaps_and_categories(data):
    X, y, Z = data
    rng = np.random.default_rng(1)
    city = pd.Categorical(rng.choice(["a", "b", "c"], len(X)))
    table = pd.DataFrame(X, columns=list("uvw")).assign(city=city)
    table.loc[::7, "v"] = np.nan
    # Alone: a tree that splits off gaps has its threshold a little beyond the range.
    params = {"learner": "rff_newton", "n_estimators": 20, "early_stopping": False, "random_state": 0}
    model = RFFBoostRegressor(**params).fit(table, y)
    far = pd.DataFrame(Z, columns=list("uvw")).assign(city=pd.Categorical(["a", "b", "c", "d"] * 50))
    far.loc[::5, "v"] = np.nan
    near = far.assign(**dict(zip("uvw", within(table[list("uvw")], far[list("uvw")].to_numpy()).T, strict=True)))
    filled = far["v"].notna().to_numpy()
    # What fills a gap is told by the other numbers as they are.
    np.testing.assert_array_equal(model.predict(far)[filled], model.predict(near)[filled])
    free = RFFBoostRegressor(extrapolation="continue", **params).fit(table, y)
    assert np.abs(free.predict(far) - model.predict(far))[filled].max() > 1e-3


@pytest.mark.parametrize(("mean", "with_gaps"), [(0.0, False), (1e5, True)])
def test_files(mean, with_gaps, data):
    X, y, Z = (part.copy() for part in data)
    X, Z = X + mean, Z + mean
    if with_gaps:
        X[::7, 1], Z[::5, 1] = np.nan, np.nan
    model = RFFBoostRegressor(n_estimators=10, random_state=0).fit(X, y)
    # Rounding may move rows to another leaf of a tree.
    Z = Z.astype(np.float32).astype(float)
    for dtype in ("float32", "float64", "mixed"):
        file = to_onnx(model, dtype=dtype)
        verify_onnx(model, file, Z, raise_on_mismatch=True)
        if mean == 0.0 or dtype == "float32":
            # Trees of columns of a large offset are in double precision, which the reference evaluator lacks.
            verify_onnx(model, file, Z[:8], runtime="reference", raise_on_mismatch=True)
    ops = [node.op_type for node in to_onnx(model).graph.node]
    assert with_gaps or mean or ops.count("Cos") == 1


def test_a_pipeline_is_held_as_in_python(data):
    X, y, Z = data
    model = make_pipeline(StandardScaler(), RFFBoostRegressor(n_estimators=8, random_state=0)).fit(X + 1e3, y)
    verify_onnx(model, to_onnx(model), (Z + 1e3).astype(np.float32).astype(float), raise_on_mismatch=True)
    np.testing.assert_allclose(model.predict(Z + 1e3), model.predict(within(X, Z) + 1e3), rtol=0, atol=1e-9)


def test_an_initial_model_keeps_its_own_range(data):
    X, y, Z = data
    few = np.abs(X).max(axis=1) < 2.0
    params = {"learner": "rff_newton", "n_estimators": 8, "early_stopping": False, "random_state": 0}
    first = RFFBoostRegressor(**params).fit(X[few], y[few])
    both = RFFBoostRegressor(**params).fit(X, y, init_model=first)
    further = both.ensemble_ + -1.0 * first.ensemble_
    np.testing.assert_allclose(both.ensemble_.raw(Z) - first.ensemble_.raw(Z), further.raw(Z), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(first.predict(Z), first.predict(within(X[few], Z)))
    np.testing.assert_array_equal(both.predict(Z), both.predict(within(X, Z)))
    assert len(both.ensemble_.compact().terms) == 2
    verify_onnx(both, to_onnx(both), Z, raise_on_mismatch=True)


@pytest.mark.parametrize("name", ["gbrff", "gbrff05", "gbrff1", "gbrff15", "gbrff2"])
def test_published_algorithms_continue(name, data):
    X, y, Z = data
    model = getattr(presets, name)(n_estimators=3, random_state=0).fit(X, y > 0.0)
    assert model.extrapolation == "continue"
    assert np.abs(model.decision_function(Z) - model.decision_function(within(X, Z))).max() > 1e-6
    assert getattr(presets, name)(extrapolation="constant").extrapolation == "constant"


@pytest.mark.parametrize(("kind", "constant"), [("constant", True), ("continue", False)])
def test_cosines_in_the_loop_of_xgboost(kind, constant, data):
    import xgboost

    from rffboost_ext.interop import xgboost as rxgb

    X, y, Z = data
    hybrid = rxgb.CosineObjective("squared_error", extrapolation=kind)
    booster = xgboost.train({"max_depth": 2}, xgboost.DMatrix(X, y), 10, obj=hybrid)
    model = hybrid.bind(booster)
    assert np.allclose(model.predict(Z), model.predict(within(X, Z)), rtol=0, atol=1e-6) == constant


def test_terms_that_are_constant_or_unknown_stay_as_they_are():
    rng = np.random.default_rng(0)
    for term in (trees(rng), Linear(rng.standard_normal((4, 1)))):
        assert term.on_features(FeatureMap(clipping=EXTENT)) is term


@dataclass(frozen=True)
class Ramp(Linear):
    """A term of a user's own that knows how it is held."""

    clipping: ClipAndLog | None = None

    def __call__(self, X):
        return super().__call__(X if self.clipping is None else self.clipping(X))

    def on_features(self, features):
        return replace(self, clipping=features.clipping)

    @classmethod
    def stack(cls, terms):
        return replace(terms[0], slope=sum(term.slope for term in terms))


class Ramps(Learner):
    """Yields it."""

    def fit(self, round) -> Term:
        return Ramp(np.linspace(-1.0, 1.0, round.design.n_features)[:, None])


def test_a_users_term_can_apply_a_range(data):
    X, y, Z = data
    model = RFFBoostRegressor(learner=Ramps(), standardize=False, n_estimators=2).fit(X, y)
    np.testing.assert_allclose(model.predict(Z), model.predict(within(X, Z)), rtol=0, atol=1e-12)
    assert np.ptp(model.predict(Z)) > 0.0


def test_a_range_leaves_gaps_and_infinities_where_they_belong():
    clipping = ClipAndLog(np.array([-1.0, -np.inf, 2.0]), np.array([1.0, 0.0, np.inf]))
    X = np.array([[np.nan, -1e300, -np.inf], [np.inf, 5.0, np.inf]])
    for precision in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            rows = X.astype(precision)
        np.testing.assert_array_equal(clipping(rows), [[np.nan, rows[0, 1], 2.0], [1.0, 0.0, np.inf]])
        assert clipping(rows).dtype == precision
    wave = Cosines(np.ones((1, 3)), np.zeros(1), np.ones((1, 1)), clipping=clipping)
    assert np.isnan(wave(X[:1])).all()


def test_a_range_beyond_float32_is_none_in_it():
    clipping = ClipAndLog(np.array([-1e300]), np.array([1e300]))
    np.testing.assert_array_equal(clipping(np.array([[3e38]], dtype=np.float32)), np.array([[3e38]], np.float32))


def test_a_learners_own_range_is_kept_within_that_of_the_data():
    own, whole = ClipAndLog(np.array([-0.5, -9.0]), np.array([0.5, 0.2])), ClipAndLog(-np.ones(2), np.ones(2))
    X = np.random.default_rng(0).uniform(-3.0, 3.0, (50, 2))
    for inner, outer in ((own, whole), (whole, own), (own, own.translate(5.0))):
        np.testing.assert_array_equal(inner.after(outer)(X), inner(outer(X)))
    term = Cosines(np.ones((1, 2)), np.zeros(1), np.ones((1, 1)), clipping=own)
    clipped = term.on_features(FeatureMap(clipping=whole))
    np.testing.assert_allclose(clipped(X), np.cos(own(whole(X)).sum(axis=1, keepdims=True)))
