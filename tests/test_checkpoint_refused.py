"""Checkpoints that cannot be: files of another kind, bad intervals, terms that cannot be stored."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import Checkpoint, Learner, RFFBoostRegressor, Term, boost, load_model

from .checkpoint_cases import ROUNDS, fitted
from .killed_fit import X, Y


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


class Constant(Term):
    """A term that nobody has entered."""

    def __call__(self, X):
        return np.zeros((len(X), 1))

    def scaled(self, factor):
        return self

    @classmethod
    def stack(cls, terms):
        return cls()


class Lazy(Learner):
    """Finds one."""

    calls = 0

    def fit(self, round):
        Lazy.calls += 1
        return Constant()


def test_terms_that_cannot_be_stored_are_named_after_one_round(tmp_path):
    with pytest.raises(TypeError, match=r"Constant, which has no name to be stored by"):
        fitted(tmp_path / "file", {"learner": Lazy()} | ROUNDS)
    assert Lazy.calls == 1
