"""Terms: the fitted functions that an ensemble is a sum of."""

from .cosines import Cosines
from .each import outputs_of_each
from .expanded import Expanded, Expansion, expand
from .extent import Extent, hold
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
