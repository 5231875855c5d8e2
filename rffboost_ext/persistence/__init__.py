"""Files without pickle: values as JSON and raw arrays, in one container with a checksum, written atomically."""

from ..utils.files import leftovers, place_of, write_atomically
from .container import VERSION
from .values import storable

__all__ = ["VERSION", "leftovers", "place_of", "storable", "write_atomically"]
