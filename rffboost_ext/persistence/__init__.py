"""Files without pickle: values as JSON and raw arrays, in a container with a checksum."""

from . import stored_classes  # noqa: F401 - registers how the classes of this package are stored
