"""Small models: an average of several folds, one model of trees, and a model of at most 100 cosines."""

import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_validate, train_test_split

from onnx_export import save_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier, average

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

fast = RFFBoostClassifier(quality="fast", random_state=0)
folds = cross_validate(fast, X_train, y_train, cv=3, return_estimator=True)
models = {"average of three folds": average(folds["estimator"])}
models["one model of trees"] = fast.fit(X_train, y_train)
few = RFFBoostClassifier(learner="rff_newton", n_estimators=100, n_folds=1, random_state=0)
models["at most 100 cosines"] = few.fit(X_train, y_train)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "model.onnx")
    for name, model in models.items():
        save_onnx(model, path)
        verify_onnx(model, path, X_test, raise_on_mismatch=True)
        print(f"{name:<24}{path.stat().st_size:>10,} bytes, accuracy {model.score(X_test, y_test):.3f}")
