"""Models that were fitted with an offset have it as an input of their graph, others have no such input."""

from __future__ import annotations

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor

RNG = np.random.default_rng(0)
N = 120
X = RNG.standard_normal((N, 3))
OFFSET = RNG.standard_normal(N)
SIGNAL = np.sin(2.0 * X[:, 0]) + OFFSET
TABLE = pd.DataFrame(X, columns=list("abc")).assign(base_margin=pd.Categorical(np.where(X[:, 0] > 0, "u", "v")))
PARAMS = {"learner": "tree", "n_estimators": 5, "random_state": 0, "early_stopping": False}
REGRESSOR = RFFBoostRegressor(**PARAMS)
MODELS = {
    "classes": (RFFBoostClassifier(**PARAMS), X, SIGNAL > 0.0, OFFSET),
    "three classes": (RFFBoostClassifier(**PARAMS), X, np.digitize(SIGNAL, [-1, 1]), RNG.standard_normal((N, 3))),
    "counts": (RFFBoostRegressor("poisson", **PARAMS), X, np.floor(np.exp(SIGNAL)), OFFSET),
    "two targets": (REGRESSOR, X, np.column_stack([SIGNAL, -SIGNAL]), np.column_stack([OFFSET, -OFFSET])),
    "categories": (REGRESSOR, TABLE, SIGNAL, OFFSET),
    "quantiles": (RFFBoostQuantileRegressor((0.2, 0.8), **PARAMS), X, SIGNAL, np.column_stack([OFFSET, OFFSET])),
    "interval": (ConformalRegressor(REGRESSOR, random_state=0), X, SIGNAL, OFFSET),
    "scaled": (make_pipeline(StandardScaler(), REGRESSOR), X, SIGNAL, OFFSET),
    "steps": (make_pipeline(QuantileTransformer(n_quantiles=20), REGRESSOR), X, SIGNAL, OFFSET),
}


def fitted(kind):
    """A model with an offset, its features and offset."""
    model, features, y, offset = MODELS[kind]
    name = f"{model.steps[-1][0]}__base_margin" if hasattr(model, "steps") else "base_margin"
    return model.fit(features, y, **{name: offset}), features, offset


@pytest.mark.parametrize("kind", MODELS)
def test_a_file_predicts_with_the_offset(kind):
    (model, features, offset), dtype = fitted(kind), "float64" if kind in ("counts", "interval") else "float32"
    file = to_onnx(model, features if kind == "steps" else None, dtype=dtype)
    verify_onnx(model, file, features, base_margin=offset, raise_on_mismatch=True)
    predictor = OnnxPredictor(file, n_jobs=1)
    found, wanted = predictor.predict(features, offset), model.predict(features, base_margin=offset)
    assert (found == wanted).mean() > 0.99 if wanted.dtype.kind in "bi" else np.allclose(found, wanted, rtol=1e-5)
    for margin, words in ((None, "base_margin must be given"), (offset[:-1], "base_margin must have shape")):
        with pytest.raises(ValueError, match=words):
            predictor.predict(features, margin)


def test_the_input_is_required_where_it_is_declared():
    model, _, offset = fitted("counts")
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    assert [entry.shape for entry in session.get_inputs()] == [["N", 3], ["N", 1]]
    single = {"X": X.astype(np.float32), "base_margin": offset[:, None].astype(np.float32)}
    np.testing.assert_allclose(session.run(["variable"], single)[0][:, 0], model.predict(X, offset), rtol=1e-5)
    with pytest.raises(ValueError, match="base_margin"):
        session.run(None, {"X": single["X"]})
    plain = to_onnx(RFFBoostRegressor(**PARAMS).fit(X, SIGNAL))
    assert [entry.name for entry in plain.graph.input] == ["X"]
    with pytest.raises(ValueError, match="base_margin must be None"):
        OnnxPredictor(plain).predict(X, offset)


def test_a_column_of_that_name_is_another_input():
    model, features, _ = fitted("categories")
    names = [entry.name for entry in to_onnx(model).graph.input]
    assert names == ["a", "b", "c", "base_margin_", "base_margin"]
    assert features.columns[-1] == "base_margin"
