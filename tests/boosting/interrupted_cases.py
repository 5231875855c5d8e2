"""What tests of fits that end early share: parameters, and all bits of a model."""

from __future__ import annotations

import numpy as np

X = np.random.default_rng(0).standard_normal((120, 3))
Y = np.sin(2.0 * X[:, 0]) + (X[:, 1] > 0.3)
LABELS = np.digitize(Y, [-0.2, 0.8])
ROUNDS = {"n_estimators": 12, "early_stopping": False}
STOPPED = {"early_stopping": True, "n_estimators": 12, "n_iter_no_change": 4}


def bits(model) -> list[bytes]:
    ensemble = model.ensemble_
    curve = getattr(model, "validation_scores_", np.empty(0))
    stages = [raw.tobytes() for raw in ensemble.staged(X)]
    return [ensemble.raw(X).tobytes(), ensemble.moves.tobytes(), curve.tobytes(), *stages]
