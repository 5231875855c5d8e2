"""Estimators derived from ours that predict in a way of their own have no graph of ours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import (
    ConformalRegressor,
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    RFFBoostSurvival,
)
from rffboost_ext.losses import Exponential, Poisson

from ..own_parts import FromZero

X = np.random.default_rng(0).standard_normal((80, 2))
Y = np.abs(X[:, 0]) + 0.1
PLAIN = {"learner": "rff_newton", "n_estimators": 5, "early_stopping": False, "random_state": 0}
BASES = {
    RFFBoostClassifier: (PLAIN, ("predict", "predict_proba", "decision_function")),
    RFFBoostRegressor: (PLAIN, ("predict",)),
    RFFBoostQuantileRegressor: (PLAIN, ("predict",)),
    ConformalRegressor: ({"estimator": RFFBoostRegressor(**PLAIN)}, ("predict", "predict_interval")),
    RFFBoostSurvival: (PLAIN, ("predict", "predict_survival_function")),
}


@pytest.mark.parametrize(
    ("base", "method"), [(base, name) for base, (_, names) in BASES.items() for name in names]
)
def test_an_overridden_prediction_is_refused(base: Any, method: str) -> None:
    def other(self: Any, X: Any) -> Any:
        return getattr(super(derived, self), method)(X)

    derived = type("Derived", (base,), {method: other})
    kept = type("Kept", (base,), {"describe": other})
    y = (Y > 0.5).astype(int) if base is RFFBoostClassifier else Y
    with pytest.raises(TypeError, match=f"Derived overrides {method} of {base.__name__}"):
        to_onnx(derived(**BASES[base][0]).fit(X, y))
    model = kept(**BASES[base][0]).fit(X, y)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)


@pytest.mark.parametrize("loss", [Exponential(), Poisson()])
def test_a_loss_around_another_has_its_link(loss: Any) -> None:
    shell = RFFBoostClassifier if loss.task == "classification" else RFFBoostRegressor
    model = shell(FromZero(loss), **PLAIN).fit(X, (Y > 0.5).astype(int) if loss.task == "classification" else Y)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)
