"""Rows that do not fit in memory: a fit reads them part by part and keeps a sample."""

from .arrays import arrays
from .core import Batch, Part, Source

__all__ = ["Batch", "Part", "Source", "arrays"]
