"""Checkpoints and models with another state of learners, or other scores, and a right checksum."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import Checkpoint, RFFBoostRegressor, RFFNewton, load_model
from rffboost_ext.learners.fourier.sparse_supports import FeatureGains
from rffboost_ext.persistence import document

from .checkpoint_cases import ROUNDS, X, Y, fitted

LEARNERS = ["mixture", "rff_ridge", "rff_irls", RFFNewton(min_hessian=0.1)]
ODD = [3, "text", (), (np.ones((4, 2)), 1.0), np.ones(0), np.ones(99), np.float64(1.0), {}, FeatureGains(0)]


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
    return document.read_value(path, "checkpoint")


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_states_of_learners_that_cannot_be_name_the_file(learner, tmp_path):
    path = tmp_path / "file"
    held = unfinished(path, learner)
    states = held["models"][0]["lasting"]
    assert states
    for key, odd in [(key, odd) for key in states for odd in ODD]:
        forged = held | {"models": [held["models"][0] | {"lasting": states | {key: odd}}]}
        document.write_value(path, "checkpoint", forged, "the checkpoint")
        with pytest.raises(ValueError, match="file' holds a state of"):
            fitted(path, {"learner": learner} | ROUNDS)


@pytest.mark.parametrize("change", [lambda raw: raw[:-1], lambda raw: raw[:, 0], lambda raw: raw * np.nan, list])
def test_scores_that_cannot_be_name_the_file(change, tmp_path):
    path = tmp_path / "file"
    held = unfinished(path, "rff_ridge")
    forged = held | {"models": [held["models"][0] | {"raw": change(held["models"][0]["raw"])}]}
    document.write_value(path, "checkpoint", forged, "the checkpoint")
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
