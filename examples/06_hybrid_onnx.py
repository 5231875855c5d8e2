"""Cosines inside XGBoost's own loop, stopped early by XGBoost, deployed as one ONNX graph."""

import tempfile
from pathlib import Path

import numpy as np
import xgboost as xgb
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from onnx_export import OnnxPredictor, save_onnx, verify_onnx
from rffboost_ext.interop import xgboost as rxgb

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
X_fit, X_held, y_fit, y_held = train_test_split(X_train, y_train, random_state=0)
train, held = xgb.DMatrix(X_fit, y_fit), xgb.DMatrix(X_held, y_held)

# The loop is XGBoost's. Before each tree the objective adds a cosine; the metric is computed on the sum of both.
hybrid = rxgb.CosineObjective("log_loss", learner="rff_1", every=1)
booster = xgb.train(
    {"max_depth": 3, "eta": 0.1, "nthread": 1, "disable_default_eval_metric": True},
    train,
    300,
    obj=hybrid,
    custom_metric=hybrid.metric,
    evals=[(held, "held_out")],
    early_stopping_rounds=10,
    verbose_eval=False,
)
model = hybrid.bind(booster)
print(
    f"best round {booster.best_iteration}: {model.n_estimators_} terms, accuracy {model.score(X_test, y_test):.3f}"
)

path = Path(tempfile.mkdtemp()) / "hybrid.onnx"
save_onnx(model, path)
print(verify_onnx(model, path, X_test, raise_on_mismatch=True))
print(
    f"{path.stat().st_size / 1024:.0f} KB; accuracy of the file:",
    np.mean(OnnxPredictor(path).predict(X_test) == y_test),
)
