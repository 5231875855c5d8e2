"""What most scripts need, imported once, and the compiled kernels of default and mixture fits, loaded once."""

import onnxruntime  # noqa: F401
import pandas  # noqa: F401
import sklearn.datasets  # noqa: F401

import onnx_export  # noqa: F401
from rffboost_ext import RFFBoostClassifier

X = [[float(i), float(i % 7)] for i in range(60)]
for learner in ("auto", "mixture"):
    RFFBoostClassifier(learner=learner, n_estimators=2).fit(X, [i % 2 for i in range(60)]).predict(X)
