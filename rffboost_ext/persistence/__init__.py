"""Files without pickle: values as JSON and raw arrays, in a container with a checksum."""

from .container import VERSION
from .values import storable

__all__ = ["VERSION", "storable"]
