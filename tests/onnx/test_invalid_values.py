"""Values that are no valid numbers: the predictor refuses what the estimator refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from onnx_export import OnnxPredictor, to_onnx
from rffboost_ext import RFFBoostRegressor

from .oracle import fitted

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
Y = X[:, 0]
DAYS, HOURS = np.datetime64("2020-01-01", "D"), np.timedelta64(1, "h")


def pair(rows: Any) -> tuple[Any, OnnxPredictor]:
    """A small model, and the predictor of its file."""
    model = RFFBoostRegressor(learner="rff_newton", n_estimators=3, early_stopping=False, random_state=0).fit(
        rows, Y
    )
    return model, OnnxPredictor(to_onnx(model))


ARRAYS: dict[str, Any] = {
    "masked": np.ma.masked_greater(X, 0.0),
    "masked, whole numbers": np.ma.masked_equal(np.eye(3, dtype=int), 1),
    "complex": X + 1j,
    "complex list": (X + 1j).tolist(),
    "dates": np.full((2, 3), DAYS),
    "durations": np.full((2, 3), HOURS),
    "a date among objects": np.array([[DAYS, 0.0, 1.0]], dtype=object),
    "a duration among objects": np.array([[HOURS, 0.0, 1.0]], dtype=object),
    "text": [["a", "b", "c"]],
    "infinite": [[0.0, np.inf, 1.0]],
    "infinite object": np.array([[0.0, -np.inf, 1.0]], dtype=object),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_of_no_numbers_are_refused(name: str) -> None:
    for one in pair(X):
        with pytest.raises((TypeError, ValueError), match=r"masked|[Cc]omplex|must hold numbers|infinity"):
            one.predict(ARRAYS[name])


def test_an_array_with_a_mask_that_hides_nothing_is_taken() -> None:
    model, predictor = pair(X)
    np.testing.assert_allclose(predictor.predict(np.ma.masked_invalid(X)), model.predict(X), atol=1e-6)


@pytest.mark.parametrize("value", [1j, DAYS, HOURS, pd.Timestamp("2020-01-01"), pd.Timedelta(1, "D"), np.inf])
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("every", [False, True])
def test_a_column_of_no_numbers_is_refused(value: Any, text: bool, every: bool) -> None:
    table = pd.DataFrame(X, columns=list("abc"))
    if text:
        table["c"] = pd.Categorical(np.where(X[:, 2] > 0.0, "u", "v"))
    numbers = ["a", "b"] if text else ["a", "b", "c"]
    for one in pair(table):
        with pytest.raises((TypeError, ValueError), match=r"[Cc]omplex|numbers|numeric|float32|infinity"):
            one.predict(table.assign(**dict.fromkeys(numbers if every else ["a"], value)))


@pytest.mark.parametrize("kind", ["Date", "Datetime", "Duration", "Time"])
def test_a_column_of_polars_that_holds_times_is_refused(kind: str) -> None:
    polars = pytest.importorskip("polars")
    table = polars.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    times = polars.Series("a", np.arange(len(X))).cast(getattr(polars, kind))
    for one in pair(table):
        with pytest.raises(ValueError, match="column 'a' of X must hold numbers, as in fit, got"):
            one.predict(table.with_columns(a=times))


def test_values_beyond_single_precision_are_as_far_out_as_the_largest() -> None:
    estimator, X = fitted(0)
    far = np.vstack([X[:2], X[:2]])
    far[:2, 0], far[2:, 0] = 1e39, 1e38
    for dtype in ("float32", "float64"):
        found = OnnxPredictor(to_onnx(estimator, dtype=dtype)).decision_function(far)
        assert np.allclose(found, estimator.decision_function(far), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("of_X", "of_y"), [(1.0, 1e45), (1e-40, 1.0)])
def test_numbers_beyond_single_precision_are_not_written(of_X: float, of_y: float) -> None:
    X = np.random.default_rng(0).standard_normal((80, 3))
    model = RFFBoostRegressor(n_estimators=10, early_stopping=False, random_state=0).fit(of_X * X, of_y * X[:, 0])
    with pytest.raises(ValueError, match=r"range of dtype float32, got .*e\+.* as .*: give dtype='float64'"):
        to_onnx(model)
    found = OnnxPredictor(to_onnx(model, dtype="float64")).predict(of_X * X)
    assert np.allclose(found, model.predict(of_X * X), rtol=1e-9)
