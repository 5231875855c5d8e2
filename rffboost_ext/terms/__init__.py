"""Terms: the fitted functions that an ensemble is a sum of."""

from .batch_evaluation import outputs_of_each
from .clipping import Extent, hold
from .cosines import Cosines
from .expanded import Expanded, Expansion, expand
from .standardized import Standardized, restore
from .trees import Trees

__all__ = [
    "Cosines",
    "Expanded",
    "Expansion",
    "Extent",
    "Standardized",
    "Trees",
    "expand",
    "hold",
    "outputs_of_each",
    "restore",
]
