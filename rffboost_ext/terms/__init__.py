"""Terms: the fitted functions that an ensemble is a sum of."""

from .cosines import Cosines
from .expanded import Expanded, Expansion, expand
from .standardized import Standardized, restore
from .trees import Trees

__all__ = ["Cosines", "Expanded", "Expansion", "Standardized", "Trees", "expand", "restore"]
