"""The text by which an XGBoost model records its loss."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext.interop.loss_text import loss_from_text, loss_to_text
from rffboost_ext.losses import (
    Exponential,
    Huber,
    LabelRegression,
    MultinomialLogLoss,
    Quantile,
    SquaredError,
)

from .interop_cases import Halved

STORED = [
    Exponential(),
    Quantile(np.float64(0.3)),
    LabelRegression(SquaredError()),
    MultinomialLogLoss(3),
    Huber(2.0),
    SquaredError((1.0, 2.0)),
    SquaredError(np.array([1.0, 2.0])),
]


@pytest.mark.parametrize("loss", STORED, ids=repr)
def test_a_storable_loss_is_read_back(loss):
    restored = loss_from_text(loss_to_text(loss), "log_loss")
    assert type(restored) is type(loss)
    assert repr(restored) == repr(loss)


def test_a_loss_without_a_name_must_be_passed():
    text, given = loss_to_text(Halved()), Halved()
    assert loss_from_text(text, given) is given
    with pytest.raises(ValueError, match="not registered here"):
        loss_from_text(text, "log_loss")
