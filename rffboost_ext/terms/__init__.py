"""Terms: the fitted functions that an ensemble sums."""

from .category_sets import Recoding
from .clipping import ClipAndLog
from .cosines import Cosines
from .expansion import ImputeAndEncode
from .linear import Linear
from .linear_trees import LinearTrees
from .mapped import FeatureMap, Mapped
from .symmetric_trees import SymmetricTrees
from .trees import Trees

KINDS = (Cosines, Linear, LinearTrees, Mapped, SymmetricTrees, Trees)
"""The kinds of terms of this package."""

__all__ = [
    "ClipAndLog",
    "Cosines",
    "FeatureMap",
    "ImputeAndEncode",
    "Linear",
    "LinearTrees",
    "Mapped",
    "Recoding",
    "SymmetricTrees",
    "Trees",
]
