"""Terms: the fitted functions that an ensemble is a sum of."""

from .cosines import Cosines
from .standardized import Standardized, restore
from .trees import Trees

__all__ = ["Cosines", "Standardized", "Trees", "restore"]
