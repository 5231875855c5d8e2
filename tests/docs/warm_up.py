"""What most scripts need, imported once, and all compiled kernels, loaded once."""

import onnxruntime  # noqa: F401
import pandas  # noqa: F401
import sklearn.datasets  # noqa: F401

import onnx_export  # noqa: F401
import rffboost_ext

rffboost_ext.warmup()
