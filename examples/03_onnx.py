"""One file from any ensemble: export, check, deploy.

Run it with ``python examples/03_onnx.py [FOLDER]``; the files go to FOLDER, by default to a temporary one.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import OnnxPredictor, describe_onnx, save_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier

folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
X, y = load_breast_cancer(return_X_y=True)
labels = np.array(["malignant", "benign"])[y]
X_train, X_test, y_train, y_test = train_test_split(X, labels, random_state=0)

# A classifier becomes one graph: a group of nodes for every 32 trees, and one for all cosines.
clf = RFFBoostClassifier(n_estimators=100, random_state=0).fit(X_train, y_train)
save_onnx(clf, folder / "model.onnx")
print(describe_onnx(folder / "model.onnx"))

# Is it the same function, within the rounding error?
print(verify_onnx(clf, folder / "model.onnx", X_test, raise_on_mismatch=True))

# The file predicts without this package's estimators; labels come back as they were.
predictor = OnnxPredictor(folder / "model.onnx")
print("accuracy of the file:", np.mean(predictor.predict(X_test) == y_test).round(3))

# A scaler in a pipeline becomes part of the ensemble.
pipeline = make_pipeline(StandardScaler(), RFFBoostClassifier(standardize=False, random_state=0))
pipeline.fit(X_train, y_train)
model = save_onnx(pipeline, folder / "pipeline.onnx", dtype="float64")
print(verify_onnx(pipeline, model, X_test, raise_on_mismatch=True))
