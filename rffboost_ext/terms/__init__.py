"""Terms: the fitted functions that an ensemble sums."""

from .batch_evaluation import outputs_of_each
from .clipping import ClipAndLog, clip
from .cosines import Cosines
from .expanded import Expanded, ImputeAndEncode, expand
from .linear_trees import LinearTrees
from .standardized import Standardized, restore
from .symmetric_trees import SymmetricTrees
from .trees import Trees

__all__ = [
    "ClipAndLog",
    "Cosines",
    "Expanded",
    "ImputeAndEncode",
    "LinearTrees",
    "Standardized",
    "SymmetricTrees",
    "Trees",
    "clip",
    "expand",
    "outputs_of_each",
    "restore",
]
