"""Checkpoints that cannot be: files of another kind or content, bad intervals, terms that cannot be stored."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import Checkpoint, Mixture, RFFBoostRegressor, RFFNewton, Shrunk, Tree, boost, load_model
from rffboost_ext.boosting.steps import Unit
from rffboost_ext.persistence import container

from ..own_parts import LeastSquares
from .checkpoint_cases import ROUNDS, X, Y, fitted


def test_files_that_are_no_checkpoints(tmp_path):
    (tmp_path / "file").write_bytes(b"text")
    with pytest.raises(ValueError, match="file' was not written by rffboost_ext"):
        fitted(tmp_path / "file", ROUNDS)
    fitted(None, ROUNDS).set_params(callbacks=None).save_model(tmp_path / "model")
    with pytest.raises(ValueError, match="model' holds a model, not a checkpoint"):
        fitted(tmp_path / "model", ROUNDS)
    fitted(tmp_path / "checkpoint", ROUNDS)
    with pytest.raises(ValueError, match="checkpoint' holds a checkpoint, not a model"):
        load_model(tmp_path / "checkpoint")
    with pytest.raises(FileNotFoundError, match="existing folder"):
        fitted(tmp_path / "no" / "folder", ROUNDS)


@pytest.mark.parametrize(("every", "error"), [(0, ValueError), (1.5, TypeError), (True, TypeError)])
def test_intervals_that_cannot_be(every, error):
    with pytest.raises(error, match="Checkpoint: every must be an integer >= 1"):
        Checkpoint("file", every=every)


def test_where_there_are_no_checkpoints(tmp_path):
    with pytest.raises(TypeError, match="Checkpoint is for the callbacks of an estimator"):
        boost(X, Y[:, None], loss="squared_error", learner="rff_1", callbacks=[Checkpoint(tmp_path / "file")])
    several = [Checkpoint(tmp_path / "one"), Checkpoint(tmp_path / "other")]
    with pytest.raises(ValueError, match="one Checkpoint at most"):
        RFFBoostRegressor(callbacks=several).fit(X, Y)
    assert list(tmp_path.iterdir()) == []


def test_a_fit_that_is_refused_leaves_the_file_alone(tmp_path):
    stopped = ROUNDS | {"early_stopping": True, "n_estimators": 4}
    for done in (False, True):
        before = [file.read_bytes() for file in tmp_path.iterdir()]
        with pytest.raises(ValueError, match="n_folds must be at most the number of rows"):
            fitted(tmp_path / "file", stopped | {"n_folds": len(X) + 1})
        with pytest.raises(ValueError, match="learning_rate"):
            fitted(tmp_path / "file", stopped | {"learning_rate": no_rate})
        assert [file.read_bytes() for file in tmp_path.iterdir()] == before
        assert len(before) == done
        fitted(tmp_path / "file", stopped | {"early_stopping": False})


def no_rate(index):
    return 0.0


class Counting(LeastSquares):
    """Fits a term that nobody has entered."""

    calls = 0

    def fit(self, round):
        Counting.calls += 1
        return super().fit(round)


def test_terms_that_cannot_be_stored_are_named_after_one_round(tmp_path):
    with pytest.raises(TypeError, match=r"Linear, which cannot be stored"):
        fitted(tmp_path / "file", {"learner": Counting()} | ROUNDS)
    assert Counting.calls == 1


def named(values):
    return values


class Scaled(RFFNewton):
    """A learner with a function among its hyperparameters, and one without a name that pickle finds."""

    def __init__(self, scale=None, n_candidates=4):
        super().__init__(n_candidates=n_candidates)
        self.scale = scale


@pytest.mark.parametrize(
    "params",
    [
        {"learning_rate": lambda index: 0.1},
        {"eval_metric": ["r2", lambda y, prediction: 0.0]},
        {"learner": Scaled(lambda values: values)},
        {"learner": Mixture(Scaled(lambda values: values), Tree())},
        {"step": Shrunk(Unit(), lambda index: 0.5)},
    ],
    ids=lambda params: next(iter(params)),
)
def test_functions_without_a_name_are_refused_before_any_work(tmp_path, params):
    (name,) = params
    with pytest.raises(ValueError, match=f"RFFBoostRegressor: {name} must be known again when a fit goes on from"):
        fitted(tmp_path / "file", params | ROUNDS)
    assert list(tmp_path.iterdir()) == []


def test_functions_with_a_name_and_parts_without_are_known_again(tmp_path):
    class Local(RFFNewton):
        pass

    for name, learner in (("one", Scaled(named)), ("other", Local())):
        first, again = (fitted(tmp_path / name, {"learner": learner} | ROUNDS) for _ in range(2))
        np.testing.assert_array_equal(first.predict(X), again.predict(X))
    unfinished = {"callbacks": [Checkpoint(tmp_path / "cut", every=1), interrupt], "random_state": 0} | ROUNDS
    with pytest.raises(KeyboardInterrupt):
        RFFBoostRegressor(learner=Local(), **unfinished).fit(X, Y)
    with pytest.raises(ValueError, match="is of another fit that is not done, which differs in learner"):
        fitted(tmp_path / "cut", {"learner": Local(n_candidates=3)} | ROUNDS, every=1)


def interrupt(progress):
    if progress.round.index == 3:
        raise KeyboardInterrupt


LEARNERS = ["mixture", "rff_ridge", "rff_irls", RFFNewton(min_hessian=0.1)]
ODD = [3, "text", (), (np.ones((4, 2)), 1.0), np.ones(0), np.ones(99), np.float64(1.0), {}]


class Interrupted(Exception):
    """Ends a fit in the middle."""


def stop(progress):
    if progress.round.index == 7:
        raise Interrupted


def unfinished(path, learner):
    """The contents of a checkpoint of 5 of 12 rounds."""
    model = RFFBoostRegressor(learner=learner, random_state=0, **ROUNDS)
    with pytest.raises(Interrupted):
        model.set_params(callbacks=[Checkpoint(path, every=5), stop]).fit(X, Y)
    return container.read_value(path, "checkpoint")


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_states_of_learners_that_cannot_be_name_the_file(learner, tmp_path):
    path = tmp_path / "file"
    held = unfinished(path, learner)
    states = held["models"][0]["lasting"]
    assert states
    for key, odd in [(key, odd) for key in states for odd in ODD]:
        forged = held | {"models": [held["models"][0] | {"lasting": states | {key: odd}}]}
        container.write_value(path, "checkpoint", forged, "the checkpoint")
        with pytest.raises(ValueError, match="file' holds a state of"):
            fitted(path, {"learner": learner} | ROUNDS)


@pytest.mark.parametrize("change", [lambda raw: raw[:-1], lambda raw: raw[:, 0], lambda raw: raw * np.nan, list])
def test_scores_that_cannot_be_name_the_file(change, tmp_path):
    path = tmp_path / "file"
    held = unfinished(path, "rff_ridge")
    forged = held | {"models": [held["models"][0] | {"raw": change(held["models"][0]["raw"])}]}
    container.write_value(path, "checkpoint", forged, "the checkpoint")
    with pytest.raises(ValueError, match="file' holds a model whose"):
        fitted(path, {"learner": "rff_ridge"} | ROUNDS)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_states_for_a_warm_start_that_cannot_be_name_the_file(learner, tmp_path):
    path = tmp_path / "file"
    model = RFFBoostRegressor(learner=learner, random_state=0, warm_start=True, **ROUNDS).fit(X, Y)
    states = model._start.learner_state
    for key, right in [*states.items()]:
        for odd in ODD:
            states[key] = odd
            model.save_model(path)
            with pytest.raises(ValueError, match="file' holds a state of"):
                load_model(path)
        states[key] = right
    model.save_model(path)
    np.testing.assert_array_equal(load_model(path).predict(X), model.predict(X))
