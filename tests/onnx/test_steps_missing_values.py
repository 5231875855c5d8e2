"""Gaps before steps: filled by a step, as in fit, or refused as the pipeline refuses them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from onnx_export import OnnxPredictor, to_onnx
from onnx_export.predictor import CHUNK_ELEMENTS
from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostRegressor

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = X[:, 0] + X[:, 1]
HOLED = X.copy()
HOLED[::7, 1] = np.nan
"""Gaps in one column."""


def with_gap(column: int, rows: Any = X) -> np.ndarray:
    """Rows with a gap in the last one."""
    found = rows[-4:].copy()
    found[-1, column] = np.nan
    return found


def regressor(learner: str = "mixture", **params: Any) -> RFFBoostRegressor:
    return RFFBoostRegressor(learner=learner, n_estimators=6, early_stopping=False, random_state=0, **params)


def only_first(final: Any) -> Any:
    return make_pipeline(make_column_transformer((SimpleImputer(), [0]), remainder="passthrough"), final)


STEPS: dict[str, Any] = {
    "scaled": lambda final: make_pipeline(MinMaxScaler(), final),
    "twice": lambda final: make_pipeline(MinMaxScaler(), StandardScaler(), final),
    "folded": lambda final: make_pipeline(StandardScaler(), final),
    "nested": lambda final: make_pipeline(MinMaxScaler(), make_pipeline(MinMaxScaler(), final)),
}


@pytest.mark.parametrize(("learner", "rows"), [("mixture", X), ("tree", HOLED), ("rff_newton", HOLED)])
@pytest.mark.parametrize("steps", STEPS.values(), ids=STEPS)
def test_gaps_pass_steps_where_fit_saw_some_only(steps: Any, learner: str, rows: np.ndarray) -> None:
    pipeline = steps(regressor(learner, missing="error")).fit(rows, Y)
    predictor = OnnxPredictor(to_onnx(pipeline))
    for column in range(3):
        given = with_gap(column)
        if column == 1 and rows is HOLED:
            np.testing.assert_allclose(predictor.predict(given), pipeline.predict(given), atol=1e-5)
            continue
        for model in (pipeline, predictor, pickle.loads(pickle.dumps(predictor))):
            with pytest.raises(
                ValueError, match=rf"X contains NaN .*column {column}, which had no missing values"
            ):
                model.predict(given)
    filling = steps(regressor(learner)).fit(rows, Y)
    given = np.where(np.random.default_rng(1).random(X.shape) < 0.3, np.nan, X)
    np.testing.assert_allclose(OnnxPredictor(to_onnx(filling)).predict(given), filling.predict(given), atol=1e-5)


@pytest.mark.parametrize(
    "steps", [lambda final: make_pipeline(SimpleImputer(), MinMaxScaler(), final), only_first]
)
def test_gaps_that_a_step_fills_are_allowed(steps: Any) -> None:
    pipeline = steps(regressor()).fit(X, Y)
    predictor, given = OnnxPredictor(to_onnx(pipeline)), with_gap(0)
    np.testing.assert_allclose(predictor.predict(given), pipeline.predict(given), atol=1e-5)


def test_gaps_that_a_step_spreads_are_refused() -> None:
    # The pipeline's own step refuses them; its graph does not.
    pipeline = make_pipeline(PCA(2), regressor()).fit(X, Y)
    for model in (pipeline, OnnxPredictor(to_onnx(pipeline))):
        with pytest.raises(ValueError, match="NaN"):
            model.predict(with_gap(2))


def test_every_output_of_a_table_is_watched() -> None:
    table = pd.DataFrame(X, columns=list("abc"))
    classifier = RFFBoostClassifier("log_loss", "rff_newton", n_estimators=5, missing="error")
    labels = make_pipeline(MinMaxScaler(), classifier)
    ends = ConformalRegressor(make_pipeline(MinMaxScaler(), regressor(missing="error")), random_state=0)
    files: dict[Any, tuple[str, ...]] = {
        labels.fit(table, Y > 0.0): ("predict", "predict_proba", "decision_function"),
        ends.fit(table, Y): ("predict", "predict_interval"),
    }
    for model, methods in files.items():
        predictor = OnnxPredictor(to_onnx(model, table))
        for method in methods:
            assert len(getattr(predictor, method)(table)) == len(table)
            with pytest.raises(ValueError, match="X contains NaN in column 'c'"):
                getattr(predictor, method)(table.assign(c=np.nan))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_chunk_is_watched(n_jobs: int) -> None:
    pipeline = make_pipeline(MinMaxScaler(), regressor(missing="error")).fit(X, Y)
    predictor = OnnxPredictor(to_onnx(pipeline), n_jobs=n_jobs)
    many = np.resize(X, (3 * CHUNK_ELEMENTS // 6, 3))
    assert predictor.predict(many).shape == (len(many),)
    many[-1, 0] = np.nan
    with pytest.raises(ValueError, match="X contains NaN in column 0"):
        predictor.predict(many)
