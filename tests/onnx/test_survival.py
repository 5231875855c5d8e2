"""Models of survival times in files: the risk, and the time of accelerated failure times, by name."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import OnnxPredictor, to_onnx
from rffboost_ext import RFFBoostSurvival

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 3))
TIME = np.exp(X[:, 0]) * RNG.exponential(size=60) + 0.1
FEW = {"learner": "tree", "n_estimators": 5, "early_stopping": False, "random_state": 0}


def outputs(file):
    session = onnxruntime.InferenceSession(file.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {session.get_inputs()[0].name: X.astype(np.float32)}), strict=True))


@pytest.mark.parametrize(("loss", "names"), [("cox", ["risk"]), ("aft_logistic", ["risk", "time"])])
def test_risks_are_outputs(loss, names):
    model = RFFBoostSurvival(loss, **FEW).fit(X, TIME)
    file = to_onnx(model, X)
    assert OnnxPredictor(file).response_names == names
    found = outputs(file)
    for name in ("variable", "risk"):
        np.testing.assert_allclose(found[name][:, 0], model.predict(X), rtol=1e-5, atol=1e-6)
    if "time" in names:
        np.testing.assert_allclose(found["time"][:, 0], np.exp(-model.predict(X)), rtol=1e-5)


@pytest.mark.parametrize("loss", ["cox", "aft_logistic"])
def test_pipelines(loss):
    pipeline = make_pipeline(StandardScaler(), RFFBoostSurvival(loss, **FEW)).fit(X, TIME)
    found = outputs(to_onnx(pipeline, X))["variable"][:, 0]
    np.testing.assert_allclose(found, pipeline.predict(X), rtol=1e-4, atol=1e-5)
