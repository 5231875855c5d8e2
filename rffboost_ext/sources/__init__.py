"""Rows that do not fit in memory: a fit reads them part by part and keeps a sample."""

from .arrays import arrays
from .core import Batch, Part, Source
from .functions import batches
from .prediction import predict, score

__all__ = ["Batch", "Part", "Source", "arrays", "batches", "predict", "score"]
