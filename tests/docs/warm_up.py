"""What most scripts need, imported once, and the compiled kernels of a default fit, loaded once."""

import onnxruntime  # noqa: F401
import pandas  # noqa: F401
import sklearn.datasets  # noqa: F401

import onnx_export  # noqa: F401
from rffboost_ext import RFFBoostClassifier

X = [[float(i), float(i % 7)] for i in range(60)]
RFFBoostClassifier(n_estimators=2).fit(X, [i % 2 for i in range(60)]).predict(X)
