"""Files that a simplifier has touched run as before, and are not read back as another function."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import ModelProto, helper

from onnx_export import OnnxPredictor, describe_onnx, from_onnx, to_onnx
from rffboost_ext import RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
X[:, 2] = np.exp(2.0 * X[:, 2])
Y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.5 * np.log(X[:, 2])
BRIEF: dict[str, Any] = {"early_stopping": False, "n_estimators": 8, "random_state": 0}


def with_merged_constants(model: ModelProto) -> ModelProto:
    """The model with one constant in place of equal ones."""
    new, first, names = ModelProto(), {}, {}
    new.CopyFrom(model)
    del new.graph.initializer[:]
    for entry in model.graph.initializer:
        key = entry.data_type, tuple(entry.dims), entry.raw_data, tuple(entry.string_data)
        names[entry.name] = first.setdefault(key, entry.name)
        if names[entry.name] == entry.name:
            new.graph.initializer.append(entry)
    for node in new.graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
    return new


def with_props(model: ModelProto, **changes: str) -> ModelProto:
    """The model without some entries of its metadata, or with others."""
    new = ModelProto()
    new.CopyFrom(model)
    props = {prop.key: prop.value for prop in model.metadata_props} | changes
    helper.set_model_props(new, {key: value for key, value in props.items() if value})
    return new


@pytest.mark.parametrize("version", ["now", "before digests"])
def test_merged_constants_are_refused(version: str) -> None:
    booster = RFFBoostRegressor(**BRIEF)
    model = to_onnx(RFFBoostQuantileRegressor(estimator=booster).fit(X, Y))
    model = model if version == "now" else with_props(model, structure="")
    changed = with_merged_constants(model)
    assert len(changed.graph.initializer) < len(model.graph.initializer)
    np.testing.assert_array_equal(OnnxPredictor(changed).predict(X), OnnxPredictor(model).predict(X))
    assert describe_onnx(changed).metadata.n_cosines == describe_onnx(model).metadata.n_cosines
    assert np.isfinite(from_onnx(model).raw(X)).all()
    with pytest.raises(ValueError, match="changed after its export"):
        from_onnx(changed)


@pytest.mark.parametrize("dtype", ["float32", "float64", "mixed"])
@pytest.mark.parametrize("learner", ["mixture", "tree", "rff_newton", "rff_1"])
def test_files_of_earlier_versions_share_no_constants(learner: str, dtype: str) -> None:
    rows = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    for given in (X, rows):
        model = RFFBoostClassifier(learner=learner, **BRIEF).fit(given, Y > 0.0)
        from_onnx(with_props(to_onnx(model, dtype=dtype), structure=""))


def test_names_of_nodes_are_no_change() -> None:
    model = to_onnx(RFFBoostRegressor(**BRIEF).fit(X, Y))
    for k, node in enumerate(model.graph.node):
        node.name = f"other{k}"
    assert np.isfinite(from_onnx(model).raw(X)).all()
