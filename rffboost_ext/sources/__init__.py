"""Rows that do not fit in memory: a fit reads them part by part and keeps a sample."""

from .arrays import arrays
from .arrow_streams import arrow
from .core import Batch, Part, Source
from .csv_files import csv
from .functions import batches
from .parquet_files import parquet
from .prediction import predict, score
from .tables import Tables

__all__ = [
    "Batch",
    "Part",
    "Source",
    "Tables",
    "arrays",
    "arrow",
    "batches",
    "csv",
    "parquet",
    "predict",
    "score",
]
