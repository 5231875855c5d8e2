"""Model files: the same bits again, whatever the parameters, the classes and the way."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import (
    LEARNERS,
    Ensemble,
    RFFBoostClassifier,
    RFFBoostRegressor,
    Tree,
    describe_model,
)
from rffboost_ext.recipes import Facts, choose_recipe

from ..cases import LOSS_CASES, LearnerCase, make_data, make_estimator, pairs
from .model_file_cases import FEW, X, Y, again, assert_same, through_a_file

REAL = next(case for case in LOSS_CASES if case.name == "squared_error")
TERNARY = next(case for case in LOSS_CASES if case.name == "log_loss of 3 classes")


def through_pickle(model, path: Path):
    return pickle.loads(pickle.dumps(model))


@pairs
def test_every_loss_and_learner_has_the_same_bits_after_loading(loss, learner, tmp_path):
    # Pickles of every learner are tested in estimators/test_determinism.py.
    X, y = make_data(loss)
    model = make_estimator(loss, learner, n_estimators=3).fit(X, y)
    assert_same(model, through_a_file(model, tmp_path / "model"), np.vstack([X, 3.0 * X]))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"early_stopping": True, "n_folds": 3, "n_estimators": 20},
        {"early_stopping": True, "n_folds": 1, "n_estimators": 20, "validation_fraction": np.float64(0.3)},
        {"quality": choose_recipe(Facts(80, 3)), "early_stopping": True, "n_estimators": 4},
        {
            "learner": Tree(
                max_bin=np.int64(9),
                monotone_constraints=np.array([1, 0, -1]),
                interaction_constraints=[(0, 1), [2]],
            )
        },
        {"random_state": np.random.RandomState(3), "n_jobs": np.int64(1), "standardize": False},
    ],
    ids=["default", "folds", "held out", "stacked", "arrays", "generator"],
)
def test_whatever_the_parameters(params, tmp_path):
    model = RFFBoostRegressor(**(FEW | params)).fit(X, np.sin(X[:, 0]))
    loaded = again(model, tmp_path)
    for name, value in model.get_params(deep=False).items():
        assert type(value) is type(getattr(loaded, name)), name
    if not isinstance(model.random_state, np.random.RandomState):
        assert_same(model, loaded, X)
    else:
        assert model.random_state.randint(2**31) == loaded.random_state.randint(2**31)
    if hasattr(model, "validation_scores_"):
        np.testing.assert_array_equal(model.validation_scores_, loaded.validation_scores_)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes, certainly"]),
        np.array(["ja", "größer"], dtype=object),
        np.array([False, True]),
        np.array([-3, 7], dtype=np.int16),
        np.array([1.0, 2.0], dtype=np.float32),
    ],
    ids=["text", "objects", "truth", "integers", "floats"],
)
def test_classes_and_names_of_columns(labels, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b c", "é"])
    model = RFFBoostClassifier(**FEW).fit(frame, labels[Y])
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    assert loaded.feature_names_in_.dtype == model.feature_names_in_.dtype
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "z"}))


WAYS = [*((learner, through_a_file) for learner in LEARNERS.names()), ("mixture", through_pickle)]


@pytest.mark.parametrize(("learner", "way"), WAYS)
def test_a_warm_start_goes_on_as_if_nothing_had_been(learner, way, tmp_path):
    case = REAL
    X, y = make_data(case)
    model = make_estimator(case, LearnerCase(learner, lambda: LEARNERS.create(learner)), warm_start=True).fit(X, y)
    loaded = way(model, tmp_path / "model")
    for one in (model, loaded):
        one.set_params(n_estimators=9).fit(X, y)
    assert len(loaded.ensemble_) == 9
    np.testing.assert_array_equal(model.predict(X), loaded.predict(X))


def test_three_classes_on_top_of_another_model(tmp_path):
    X, y = make_data(TERNARY)
    first = RFFBoostClassifier(learner="tree", **FEW).fit(X, y)
    second = RFFBoostClassifier(learner="rff_newton", warm_start=True, **FEW).fit(X, y, init_model=first)
    loaded = again(second, tmp_path)
    assert_same(second, loaded, X)
    for one in (second, loaded):
        one.set_params(n_estimators=6).fit(X, y)
    assert len(loaded.ensemble_) == 10
    assert_same(second, loaded, X)


def test_an_ensemble_by_itself(tmp_path):
    model = RFFBoostRegressor(**FEW).fit(X, X[:, 0])
    mixed = 0.5 * model.ensemble_ + model.ensemble_[:2]
    loaded = through_a_file(mixed, tmp_path / "ensemble")
    assert isinstance(loaded, Ensemble)
    np.testing.assert_array_equal(loaded.raw(X), mixed.raw(X))
    np.testing.assert_array_equal(loaded.moves, mixed.moves)


def test_arrays_that_are_shared_stay_shared(tmp_path):
    model = RFFBoostRegressor(learner="rff_newton", **FEW).fit(X, X[:, 0])
    loaded = again(model, tmp_path)
    assert len({id(term.center) for term in loaded.ensemble_.terms}) == 1
    assert all(term.omega.flags.writeable and term.omega.flags.owndata for term in loaded.ensemble_.terms)


def test_the_file_does_not_depend_on_when_it_is_written(tmp_path):
    model = RFFBoostRegressor(**FEW).fit(X, X[:, 0])
    for name in ("one", "other"):
        model.save_model(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_file_carries_metadata_and_a_version(tmp_path):
    model = RFFBoostRegressor(**FEW).fit(X, X[:, 0])
    entries = {"metadata": {"commit": "4f2a", "größe": "", "format": "any"}, "model_version": 3}
    model.save_model(tmp_path / "plain")
    model.save_model(tmp_path / "more", **entries)
    for path, expected in ((tmp_path / "plain", ({}, 0)), (tmp_path / "more", tuple(entries.values()))):
        description = describe_model(path)
        assert (description.metadata, description.model_version) == expected
        assert description.written_by.startswith("rffboost_ext ")
        assert_same(model, RFFBoostRegressor.load_model(path), X)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"metadata": {"a": 1}}, TypeError),
        ({"metadata": {1: "a"}}, TypeError),
        ({"metadata": ["a"]}, TypeError),
        ({"model_version": -1}, ValueError),
        ({"model_version": "1"}, TypeError),
    ],
    ids=str,
)
def test_metadata_are_texts_and_versions_are_numbers(arguments, error, tmp_path):
    model = RFFBoostRegressor(**FEW).fit(X, X[:, 0])
    with pytest.raises(error, match=f"save_model: {next(iter(arguments))} must be"):
        model.save_model(tmp_path / "m", **arguments)
    assert not list(tmp_path.iterdir())


def test_a_model_is_not_loaded_into_an_instance(tmp_path):
    model = RFFBoostRegressor(**FEW).fit(X, X[:, 0])
    model.save_model(tmp_path / "m")
    with pytest.raises(
        TypeError, match=r"must be called on the class, as in model = RFFBoostRegressor.load_model\("
    ):
        RFFBoostRegressor().load_model(tmp_path / "m")
