"""Losses around others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.losses import Exponential, Poisson

from ..own_parts import FromZero

X = np.random.default_rng(0).standard_normal((80, 2))
Y = np.abs(X[:, 0]) + 0.1
PLAIN = {"learner": "rff_newton", "n_estimators": 5, "early_stopping": False, "random_state": 0}


@pytest.mark.parametrize("loss", [Exponential(), Poisson()])
def test_a_loss_around_another_has_its_link(loss: Any) -> None:
    shell = RFFBoostClassifier if loss.task == "classification" else RFFBoostRegressor
    model = shell(FromZero(loss), **PLAIN).fit(X, (Y > 0.5).astype(int) if loss.task == "classification" else Y)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)
