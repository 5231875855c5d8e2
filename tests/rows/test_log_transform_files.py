"""Models that log-transform features, in files, graphs and averages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import RFFBoostRegressor, average, load_model

from .log_transform_cases import PLAIN, N, extents_of, is_transformed, skewed_data


@pytest.fixture(scope="module")
def skewed():
    return skewed_data()


def table_of(skewed):
    X, y = skewed
    table = pd.DataFrame(X, columns=list("abc"))
    table["town"] = pd.Categorical(np.where(np.arange(N) % 3 == 0, "x", "y"))
    table.loc[::9, "a"] = np.nan
    return table, y


@pytest.mark.parametrize("kind", ["numbers", "gaps and categories", "far from 0"])
def test_files(kind, skewed, tmp_path):
    X, y = table_of(skewed) if kind == "gaps and categories" else skewed
    # In single precision trees would meet other numbers than in the fit.
    X = (X + 1e5).astype(np.float32).astype(float) if kind == "far from 0" else X
    model: Any = RFFBoostRegressor(n_estimators=15, n_folds=2, random_state=0).fit(X, y)
    assert is_transformed(model)
    for dtype in ("float32", "float64"):
        verify_onnx(model, to_onnx(model, dtype=dtype), X, raise_on_mismatch=True)
    model.save_model(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))


def test_scalers_before_log_transforms_become_part_of_the_file(skewed):
    from sklearn.pipeline import make_pipeline

    X, y = skewed
    pipeline = make_pipeline(StandardScaler(), RFFBoostRegressor(**PLAIN)).fit(X, y)
    assert is_transformed(pipeline[-1])
    file = to_onnx(pipeline)
    verify_onnx(pipeline, file, X, raise_on_mismatch=True)
    assert sum(node.op_type == "Log" for node in file.graph.node) == 1


def test_averages(skewed):
    X, y = skewed
    models = [RFFBoostRegressor(**PLAIN).fit(X[seed::2], y[seed::2]) for seed in range(2)]
    assert len({clipping.key for model in models for clipping in extents_of(model)}) == 2
    both = average(models)
    np.testing.assert_allclose(both.predict(X), np.mean([model.predict(X) for model in models], axis=0))
    verify_onnx(both, to_onnx(both), X, raise_on_mismatch=True)


@pytest.mark.parametrize("log_scale", [[np.inf, 0.0, 0.0], [0.0, np.nan, 0.0], [0.0, 0.0]])
def test_invalid_log_scales_are_refused(log_scale, skewed, tmp_path):
    model = RFFBoostRegressor(**PLAIN | {"n_estimators": 1}).fit(*skewed)
    term, _ = model.ensemble_.terms[0], model.feature_importances_
    bad = replace(term, clipping=replace(term.clipping, log_scale=np.array(log_scale)))
    model.ensemble_ = replace(model.ensemble_, terms=(bad,))
    model.save_model(tmp_path / "model")
    with pytest.raises(ValueError, match="log_scale"):
        load_model(tmp_path / "model")
