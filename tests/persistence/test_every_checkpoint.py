"""Fits that are killed after each of their checkpoints end in the same bits, and write the same files."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rffboost_ext import Checkpoint, RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.persistence.checkpoint import CheckpointRecorder

RANDOM = np.random.default_rng(0)
X = RANDOM.standard_normal((200, 4))
SIGNAL = X[:, 0] * X[:, 1] + 0.3 * RANDOM.standard_normal(200)
WEIGHT = RANDOM.uniform(0.5, 2.0, 200)
CASES = {
    "classifier": (RFFBoostClassifier, SIGNAL > 0, {}, {}),
    "regressor": (RFFBoostRegressor, SIGNAL, {}, {"sample_weight": WEIGHT}),
    "refit": (RFFBoostClassifier, SIGNAL > 0, {"refit": True, "n_jobs": 2}, {}),
    "three classes": (RFFBoostClassifier, np.digitize(SIGNAL, [-0.5, 0.5]), {"n_estimators": 30}, {}),
    "eval_set": (RFFBoostRegressor, SIGNAL, {"n_estimators": 60}, {"eval_set": [(X[:50] + 0.01, SIGNAL[:50])]}),
}


class Killed(BaseException):
    """The end of the process."""


@pytest.mark.parametrize("name", CASES)
def test_a_fit_that_is_killed_at_any_checkpoint_goes_on_with_the_same_bits(name, tmp_path, monkeypatch):
    cls, y, params, given = CASES[name]
    files, write, path = [], CheckpointRecorder._write, tmp_path / "file"
    left = [-1]

    def recorded(self):
        write(self)
        files.append(path.read_bytes())
        left[0] -= 1
        if left[0] == 0:
            raise Killed

    def fit():
        return cls(random_state=0, callbacks=[Checkpoint(path, every=15)], **params).fit(X, y, **given)

    monkeypatch.setattr(CheckpointRecorder, "_write", recorded)
    whole = fit()
    written = files.copy()
    assert len(written) > 5
    # The first file, of no rounds, is written again.
    for before, after in pairwise(written[1:]):
        path.write_bytes(before)
        left[0] = 1
        with pytest.raises(Killed):
            fit()
        assert files[-1] == after
    left[0] = -1
    for content in (written[1], written[len(written) // 2], written[-1]):
        path.write_bytes(content)
        np.testing.assert_array_equal(fit().ensemble_.raw(X), whole.ensemble_.raw(X))
