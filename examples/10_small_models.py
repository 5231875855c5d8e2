"""Small models: one model of trees, an average of three of them, and a model of at most 100 cosines."""

import tempfile
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from onnx_export import save_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

trees = [RFFBoostClassifier(quality="fast", random_state=seed).fit(X_train, y_train) for seed in range(3)]
mean = sum(model.ensemble_ for model in trees) / len(trees)
models = {"one model of trees": trees[0]}
models["average of three"] = RFFBoostClassifier.from_ensemble(mean, trees[0].loss_, trees[0].encoder_)
few = RFFBoostClassifier(learner="rff_newton", n_estimators=100, n_folds=1, random_state=0)
models["at most 100 cosines"] = few.fit(X_train, y_train)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "model.onnx")
    for name, model in models.items():
        save_onnx(model, path)
        verify_onnx(model, path, X_test, raise_on_mismatch=True)
        print(f"{name:<24}{path.stat().st_size:>10,} bytes, accuracy {model.score(X_test, y_test):.3f}")
