"""A refresh keeps the structure of a model, and fits leaves, amplitudes and weights again to other rows."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import (
    ConformalRegressor,
    Learner,
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    average,
    load_model,
    sources,
)
from rffboost_ext.learners import RFF1, Mixture, SymmetricTree, Tree
from rffboost_ext.terms import Cosines, Linear, SymmetricTrees, Trees
from tests.cases import LEARNER_CASES, make_data, make_estimator, pairs
from tests.estimators.test_every_estimator import BOOSTERS, WRAPPERS, N, X
from tests.own_parts import Linear as Slope

RNG = np.random.default_rng(0)
ROWS, NEW = RNG.standard_normal((2, 300, 4))
STACKS = {
    "folds": {"n_folds": 3},
    "folds of a stack": {},
    "one part, replayed": {"learner": "symmetric_tree", "n_folds": 1},
    "a refitted member": {"n_folds": 2, "refit": True},
}


def target(rows, scale=1.0):
    return scale * (np.sin(2.0 * rows[:, 0]) + rows[:, 1] * rows[:, 2] + 0.1 * np.cos(50.0 * rows[:, 3]))


def structure(term: Any) -> list[Any]:
    """What a refresh keeps of a term."""
    inner = term.innermost
    names = {Cosines: ["omega"], Linear: ["columns"], SymmetricTrees: ["feature", "threshold"]}
    names[Trees] = ["feature", "threshold", "left"]
    return [getattr(inner, name) for name in names[type(inner)]]


def same_structure(one: Any, other: Any) -> bool:
    pairs = zip(one.ensemble_.terms, other.ensemble_.terms, strict=True)
    return all(np.array_equal(a, b) for s, t in pairs for a, b in zip(structure(s), structure(t), strict=True))


@pairs
def test_the_rows_of_the_fit_give_the_model_of_the_fit(loss, learner):
    rows, y = make_data(loss)
    model = make_estimator(loss, learner, precision="float64").fit(rows, y)
    again = copy(model).refresh(rows, y, prior_weight=0.0)
    # Kernel machines choose their penalty again.
    atol = 0.3 if learner.name == "rff_ridge" else max(learner.drift, 1e-6)
    before, after = (one.raw_scores(rows) for one in (model, again))
    np.testing.assert_allclose(after, before, rtol=0.0, atol=atol * max(1.0, np.abs(before).max()))
    assert same_structure(model, again)


@pytest.mark.parametrize("params", STACKS.values(), ids=STACKS)
def test_the_rows_of_the_fit_give_its_stack(params):
    model = RFFBoostRegressor(random_state=0, n_estimators=30, precision="float64", **params).fit(
        ROWS, target(ROWS)
    )
    again = copy(model).refresh(ROWS, target(ROWS), prior_weight=0.0)
    assert [repr(one) for one in again.learners_] == [repr(one) for one in model.learners_]
    np.testing.assert_allclose(again.learner_weights_, model.learner_weights_, atol=0.15)
    # Fewer folds than in the fit have a model of each member.
    atol = 0.2 if "refit" in params else 1e-3
    np.testing.assert_allclose(again.predict(NEW), model.predict(NEW), rtol=0.0, atol=atol)
    assert not hasattr(again, "best_score_")


@pytest.mark.parametrize("leaf", ["constant", "linear"])
def test_trees_of_folds_keep_their_splits_and_are_fitted_to_all_rows(leaf):
    params = {"learner": SymmetricTree(3, leaf), "n_estimators": 40, "n_folds": 3, "precision": "float64"}
    folds, model = (RFFBoostRegressor(**params, refit=refit, random_state=0) for refit in (False, "auto"))
    assert same_structure(folds.fit(ROWS, target(ROWS)), model.fit(ROWS, target(ROWS)))
    assert model.best_score_ == folds.best_score_
    errors = [np.square(one.predict(ROWS) - target(ROWS)).mean() for one in (folds, model)]
    assert errors[1] < errors[0]


@pytest.mark.parametrize("outputs", [1, 2])
@pytest.mark.parametrize(
    "learner", [case for case in LEARNER_CASES if case.name[:5] not in ("rff_1", "rff_k")], ids=str
)
def test_old_values_stay_with_a_large_weight(learner, outputs):
    def targets(rows):
        signals = target(rows), rows[:, 3]
        return np.column_stack(signals)[:, :outputs]

    model = RFFBoostRegressor(
        learner=learner.make(), n_estimators=8, early_stopping=False, random_state=0, precision="float64"
    ).fit(ROWS, targets(ROWS))
    scores = []
    for weight in (0.0, 30.0, 1e10):
        new = copy(model).refresh(NEW, -targets(NEW), prior_weight=weight)
        scores.append(new.score(NEW, -targets(NEW)))
    assert scores[0] > scores[1] > scores[2]
    shift = new.ensemble_.baseline - model.ensemble_.baseline
    # Lines in leaves end at the range of the new rows.
    atol = 1.0 if "linear" in learner.name else 1e-5
    np.testing.assert_allclose(new.raw_scores(ROWS), model.raw_scores(ROWS) + shift, rtol=0.0, atol=atol)


# The weights of the frequencies of rff_k depend on the size of residuals.
@pytest.mark.parametrize("learner", [case for case in LEARNER_CASES if "rff_k" not in case.name], ids=str)
def test_new_rows_in_another_unit(learner):
    model = RFFBoostRegressor(
        learner=learner.make(), n_estimators=8, early_stopping=False, random_state=0, precision="float64"
    ).fit(ROWS, target(ROWS))
    one, other = (
        copy(model).refresh(NEW, target(NEW, scale) + shift, prior_weight=0.0)
        for scale, shift in ((1.0, 0.0), (-8.0, 5.0))
    )
    np.testing.assert_allclose(other.predict(ROWS), -8.0 * one.predict(ROWS) + 5.0, rtol=0.0, atol=1e-5)
    assert same_structure(model, one)
    assert np.abs(one.predict(NEW) - model.predict(NEW)).max() > 1e-3


@pytest.mark.parametrize("learner", [case for case in LEARNER_CASES if not case.of_rows], ids=str)
def test_a_row_of_weight_2_is_two_rows(learner):
    model = RFFBoostRegressor(learner=learner.make(), n_estimators=10, early_stopping=False, random_state=0)
    model.fit(ROWS, target(ROWS))
    weight = 1.0 + (NEW[:, 0] > 0.0)
    twice = np.repeat(np.arange(300), weight.astype(int))
    one, other = copy(model).refresh(NEW, target(NEW), weight), copy(model).refresh(NEW[twice], target(NEW[twice]))
    np.testing.assert_allclose(one.predict(ROWS), other.predict(ROWS), rtol=0.0, atol=learner.tol)


@pytest.mark.parametrize(
    ("kind", "stops"), zip(BOOSTERS.values(), 4 * [False, True], strict=True), ids=list(BOOSTERS)
)
def test_files_and_graphs_of_refreshed_models(kind, stops, tmp_path):
    half = np.arange(N) % 16 < 12
    offset = 0.1 * RNG.standard_normal((N, kind.n_scores))
    given = {name: values[half] for name, values in kind.given.items()}
    model = kind.fitted(offset, early_stopping=stops)
    model.save_model(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    for one in (model, loaded):
        one.refresh(X[half], kind.y[half], base_margin=offset[half], **given)
    np.testing.assert_array_equal(loaded.raw_scores(X, offset), model.raw_scores(X, offset))
    model.save_model(tmp_path / "again")
    np.testing.assert_array_equal(
        load_model(tmp_path / "again").raw_scores(X, offset), model.raw_scores(X, offset)
    )
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True, base_margin=offset)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_wrappers(wrapper):
    model = clone(wrapper).fit(X, X[:, 0])
    moved = copy(model).refresh(X, X[:, 0] + 5.0)
    np.testing.assert_allclose(moved.predict(X), model.predict(X) + 5.0, rtol=0.0, atol=1e-4)
    with pytest.raises(ValueError, match="y"):
        model.refresh(X, np.full(N, np.inf))
    assert np.abs(model.predict(X)).max() < 4.0


def test_regressors_without_a_refresh():
    from sklearn.linear_model import Ridge

    with pytest.raises(TypeError, match="estimator must be a regressor with refresh and predict, got Ridge"):
        ConformalRegressor(Ridge()).fit(X, X[:, 0]).refresh(X, X[:, 0])


@pytest.mark.parametrize("learner", ["mixture", "symmetric_tree", "tree", "rff_newton", "rff_ridge"])
def test_categories_and_gaps(learner):
    levels = RNG.integers(0, 40, (2, 400))
    effect = RNG.standard_normal(40)
    first, second = (pd.DataFrame({"c": pd.Categorical(codes), "x": RNG.standard_normal(400)}) for codes in levels)
    for table in (first, second):
        table.loc[::7, "x"] = np.nan
    y, z = (effect[codes] + table["x"].fillna(1.0) for codes, table in zip(levels, (first, second), strict=True))
    model = RFFBoostRegressor(learner=learner, random_state=0, n_estimators=60, early_stopping=False).fit(first, y)
    score = model.score(second, -z)
    assert copy(model).refresh(second, -z, prior_weight=0.0).score(first, -y) > max(0.5, score)


def test_constraints_hold_after_a_refresh():
    rows, signs = NEW[:, :3], (1, -1, 0)
    for learner in (Tree(monotone_constraints=signs), SymmetricTree(monotone_constraints=signs)):
        model = RFFBoostRegressor(learner=learner, n_estimators=30, early_stopping=False)
        model.fit(ROWS[:, :3], ROWS[:, 0] - ROWS[:, 1]).refresh(rows, rows[:, 1] - rows[:, 0] + rows[:, 2])
        for column, sign in enumerate(signs):
            moved = np.repeat(rows[:40, None], 50, axis=1)
            moved[:, :, column] = np.linspace(-3.0, 3.0, 50)
            change = np.diff(model.predict(moved.reshape(-1, 3)).reshape(40, -1), axis=1)
            assert (sign * change >= -1e-12).all()


def test_rounds_of_another_model_stay():
    first = RFFBoostRegressor(learner="rff_newton", n_estimators=5, early_stopping=False, random_state=0)
    first.fit(ROWS, target(ROWS))
    model = RFFBoostRegressor(learner="tree", n_estimators=5, random_state=0).fit(
        ROWS, target(ROWS), init_model=first
    )
    model.refresh(NEW, target(NEW, 2.0))
    np.testing.assert_array_equal(model.ensemble_.truncated(5).raw(NEW), first.ensemble_.raw(NEW))
    assert model.score(NEW, target(NEW, 2.0)) > 0.3


def test_rounds_of_a_warm_start_are_fitted_again():
    params = {"learner": "rff_newton", "early_stopping": False, "random_state": 0, "precision": "float64"}
    model = RFFBoostRegressor(n_estimators=4, warm_start=True, **params).fit(ROWS, target(ROWS))
    model.set_params(n_estimators=8).fit(ROWS, target(ROWS))
    whole = RFFBoostRegressor(n_estimators=8, **params).fit(ROWS, target(ROWS))
    for one in (model, whole):
        one.refresh(NEW, target(NEW))
    np.testing.assert_allclose(model.predict(ROWS), whole.predict(ROWS), atol=1e-9)


def test_classes_are_those_of_the_fit():
    y = np.array(["a", "b", "c"])[np.digitize(ROWS[:, 0], [-0.5, 0.5])]
    model = RFFBoostClassifier(random_state=0, n_estimators=20, early_stopping=False).fit(ROWS, y)
    before = model.predict_proba(ROWS)
    with pytest.raises(ValueError, match=r"y must have the classes of the fit, \['a', 'b', 'c'\], got 'd' too"):
        model.refresh(ROWS, np.where(y == "a", "d", y))
    np.testing.assert_array_equal(model.predict_proba(ROWS), before)
    model.refresh(ROWS[y != "c"], y[y != "c"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict_proba(ROWS)[:, 2].max() < 0.05


class Constant(Learner):
    """A learner whose terms are not fitted again."""

    step = "unit"

    def fit(self, round):
        return Cosines(np.zeros((1, round.design.n_features)), np.zeros(1), np.full((1, 1), 1e-3))


FITTED = RFFBoostRegressor(learner="rff_1", n_estimators=3, early_stopping=False, random_state=0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: average([model, model]), "refresh needs the rounds of a complete fit"),
        (lambda model: model.set_params(loss="huber"), "loss must be that of the fit"),
        (lambda model: clone(model).set_params(learner=Constant()).fit(ROWS, ROWS[:, 0]), "got Constant"),
        (
            lambda model: clone(model).set_params(learner=Mixture(Constant())).fit(ROWS, ROWS[:, 0]),
            "got Mixture",
        ),
        (lambda model: model.fit(ROWS, ROWS[:, 0], base_margin=ROWS[:, 1]), "base_margin must be given"),
        (lambda model: model, "requires y to be passed"),
    ],
    ids=["average", "loss", "learner", "mixture", "base_margin", "y"],
)
def test_what_cannot_be_refreshed(change, words):
    model = change(clone(FITTED).fit(ROWS, ROWS[:, 0]))
    before = model.ensemble_
    with pytest.raises(ValueError, match=words):
        model.refresh(ROWS, None if words.startswith("requires y") else ROWS[:, 0])
    assert model.ensemble_ is before


def test_sources_of_rows_are_drawn_as_by_fit():
    offset = np.arange(300) % 7
    rows = sources.arrays(NEW, target(NEW) + offset, 1.0 + offset)
    for model in (
        clone(FITTED),
        RFFBoostQuantileRegressor((0.3, 0.7), "tree", n_estimators=3, early_stopping=False, random_state=0),
        ConformalRegressor(FITTED, random_state=0),
    ):
        model.fit(ROWS, ROWS[:, 0])
        one, other = copy(model).refresh(rows), copy(model).refresh(NEW, target(NEW) + offset, 1.0 + offset)
        np.testing.assert_array_equal(one.predict(ROWS), other.predict(ROWS))
        assert one.n_rows_seen_ == 300
        with pytest.raises(ValueError, match="y must be None"):
            model.refresh(rows, NEW[:, 0])


def test_an_interrupt_leaves_the_model(monkeypatch):
    model = clone(FITTED).fit(ROWS, ROWS[:, 0])
    before, plain = dict(vars(model)), RFF1.refit

    def interrupting(self, term, round):
        if round.index == 2:
            raise KeyboardInterrupt
        return plain(self, term, round)

    monkeypatch.setattr(RFF1, "refit", interrupting)
    with pytest.raises(KeyboardInterrupt):
        model.refresh(NEW, NEW[:, 0])
    assert vars(model) == before


class SteepestFeature(Learner):
    """A line along one feature, which a refit keeps."""

    step = "unit"

    def fit(self, round):
        X = round.design.X
        return self.line(round, int(np.abs(X.T @ (round.weight * round.gradient[:, 0])).argmax()))

    def refit(self, term, round):
        return self.line(round, int(np.flatnonzero(term.slope[:, 0])[0]))

    def line(self, round, column):
        x, slope = round.design.X[:, column], np.zeros((round.design.n_features, 1))
        slope[column] = -(x @ (round.weight * round.gradient[:, 0])) / (x**2 @ round.weight)
        return Slope(slope)


def test_learners_of_users_see_the_features_of_their_terms():
    rows = 100.0 + 7.0 * ROWS
    model = RFFBoostRegressor(learner=SteepestFeature(), n_estimators=12, random_state=0).fit(rows, ROWS[:, 0])
    again = copy(model).refresh(rows, ROWS[:, 0])
    np.testing.assert_allclose(again.predict(rows), model.predict(rows), atol=1e-9)
    moved = copy(model).refresh(rows[:150], -2.0 * ROWS[:150, 0])
    assert moved.score(rows[150:], -2.0 * ROWS[150:, 0]) > 0.9
