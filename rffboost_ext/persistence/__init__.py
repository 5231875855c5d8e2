"""Files without pickle: values as JSON and raw arrays, in one container with a checksum, written atomically."""

from .container import VERSION
from .values import storable

__all__ = ["VERSION", "storable"]
