"""Conversion of values to JSON and arrays, and back.

Values without a JSON type are written as a mapping with one tag:

==================================  ==================================================================
``{"tuple": [...]}``                a tuple; a list is a list
``{"dict": [[key, value], ...]}``   a mapping
``{"float": "nan"}``                a float that is not finite: "nan", "inf" or "-inf"
``{"array": 3}``                    array number 3 of the file
``{"scalar": 3}``                   the NumPy scalar in array number 3
``{"objects": [[2], [...]]}``       an array of Python objects: its shape and its entries
``{"class": "learner:tree"}``       a registered class itself, as in the key of a mapping
``{"part": ["cosines", {...}]}``    an instance of a registered class, and its state
==================================  ==================================================================

Names of classes are those of the registries of parts, such as ``"loss:log_loss"``, or of :func:`storable`. No name
is imported, and no code of a file is run.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeVar

import numpy as np

from ..boosting.steps import STEPS
from ..core import Spec, Term
from ..learners import FIT_CRITERIA, PLACEMENTS, SPECTRA, WEIGHTINGS
from ..learners.optimizers import OPTIMIZERS
from ..learners.registry import LEARNERS
from ..losses.distributions.base import DISTRIBUTIONS
from ..losses.registry import LOSSES
from ..utils.registry import Registry, qualified_name
from ..utils.typing import Array

C = TypeVar("C", bound=type)

# Dtypes whose raw bytes are safe to read: numbers, fixed-width text and dates.
DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[US][1-9]\d{0,8}|[mM]8(\[\d{0,9}[a-zA-Z]{1,2}\])?)")

TABLES = LOSSES, LEARNERS, STEPS, FIT_CRITERIA, PLACEMENTS, SPECTRA, WEIGHTINGS, OPTIMIZERS, DISTRIBUTIONS
REGISTRIES: dict[str, Registry[Any]] = {table.kind: table for table in TABLES}


@dataclass(frozen=True)
class StorageRule:
    """How instances of a class are stored.

    Parameters
    ----------
    name : str
        Name of the class in files.
    cls : type
        The class.
    state : callable
        From an instance to its state, a mapping of names to values.
    build : callable
        From a state to the instance.
    """

    name: str
    cls: type
    state: Callable[[Any], Mapping[str, Any]]
    build: Callable[[dict[str, Any]], Any]


STORAGE_RULES: dict[str, StorageRule] = {}


def storable(
    name: str,
    state: Callable[[Any], Mapping[str, Any]] | None = None,
    build: Callable[[dict[str, Any]], Any] | None = None,
) -> Callable[[C], C]:
    """Class decorator: instances are stored in model files under `name`.

    For custom terms and for the state that a learner keeps between rounds. Registered parts do not need it. The
    class must be registered under the same name before a file is loaded: import the module that defines it.

    Parameters
    ----------
    name : str
        Name of the class in files, such as ``"mypackage.Linear"`` if ``import mypackage`` registers the class.
    state : callable, optional
        From an instance to a mapping of names to numbers, texts, arrays, lists, tuples, mappings or other storable
        instances. By default the fields of a dataclass, or the hyperparameters of a part.
    build : callable, optional
        From this mapping to an instance; by default the class is called with it, and parts and terms are checked.
        It should raise a ValueError for an invalid state.

    Raises
    ------
    TypeError
        If `name` is no string or contains a colon, or if `state` is missing and the class is neither a dataclass
        nor a part.
    ValueError
        If another class has this name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from rffboost_ext import Term, storable
    >>> @storable("example.Linear")
    ... @dataclass(frozen=True, eq=False)
    ... class Linear(Term):
    ...     weight: np.ndarray
    ...
    ...     def __call__(self, X):
    ...         return X @ self.weight
    ...
    ...     def scaled(self, factor):
    ...         return Linear(factor * self.weight)
    ...
    ...     @classmethod
    ...     def stack(cls, terms):
    ...         return cls(sum(term.weight for term in terms))
    """
    if not isinstance(name, str) or ":" in name:
        raise TypeError(
            f"storable: name must be a string without a colon, as in @storable('mypackage.Linear'), got {name!r}"
        )

    def register(cls: C) -> C:
        taken = STORAGE_RULES.get(name)
        if taken is not None and qualified_name(taken.cls) != qualified_name(cls):
            raise ValueError(f"storable: name {name!r} belongs to {qualified_name(taken.cls)}; choose another")
        STORAGE_RULES[name] = StorageRule(name, cls, state or _default_state(cls), build or partial(_built, cls))
        return cls

    return register


def _default_state(cls: type) -> Callable[[Any], Mapping[str, Any]]:
    if issubclass(cls, Spec):
        return stored_params
    if dataclasses.is_dataclass(cls):
        names = [field.name for field in dataclasses.fields(cls) if field.init]
        return lambda part: {name: getattr(part, name) for name in names}
    raise TypeError(
        f"storable: {qualified_name(cls)} is neither a dataclass nor a part, so state and build must be given"
    )


def _built(cls: type, state: dict[str, Any]) -> Any:
    instance = cls(**state)
    if isinstance(instance, Spec):
        instance.validate()
    if isinstance(instance, Term):
        instance.check(None, None)
    return instance


def rule_of(cls: type, where: str) -> StorageRule:
    """The storage rule of a class; raise a TypeError that names the value if there is none."""
    for rule in STORAGE_RULES.values():
        if rule.cls is cls:
            return rule
    for table in REGISTRIES.values():
        name = table.find(cls) if issubclass(cls, table.base) else None
        if name is not None:
            return registered_part(table, name)
    if issubclass(cls, FunctionType | BuiltinFunctionType | partial):
        raise TypeError(f"{where} is a function, which cannot be stored: replace it, or use joblib")
    raise TypeError(
        f"{where} is of type {qualified_name(cls)}, which cannot be stored: register the part, or decorate the "
        f"class with @rffboost_ext.storable('a name'); use joblib for estimators of other packages"
    )


def rule_named(name: str) -> StorageRule:
    """The storage rule of a name in a file; raise a ValueError if the name is unknown."""
    table, _, entry = name.partition(":")
    if table in REGISTRIES and entry in REGISTRIES[table].names():
        return registered_part(REGISTRIES[table], entry)
    if name not in STORAGE_RULES:
        module = name.rpartition(".")[0]
        which = f"the module that registers it, such as {module}," if module else "the module that registers it"
        raise ValueError(f"holds the unknown class {name!r}: import {which} before loading")
    return STORAGE_RULES[name]


def registered_part(table: Registry[Any], name: str) -> StorageRule:
    """The storage rule of a part in a registry: its hyperparameters."""
    return StorageRule(
        f"{table.kind}:{name}", table.get(name), stored_params, lambda params: table.create(name, **params)
    )


def stored_params(part: Spec) -> dict[str, Any]:
    """The hyperparameters of a part."""
    return dict(part.get_params(deep=False))


def order_of(array: Array) -> str:
    """The order "F" for arrays that are contiguous in it only; the rounding of matrix products depends on it."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


class Packer:
    """Converts values to JSON, and collects the distinct ``arrays`` that it refers to."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self._index: dict[Hashable, int] = {}
        self._index_of_id: dict[int, int] = {}
        self._kinds: dict[type, StorageRule] = {}

    def pack(self, value: Any, where: str) -> Any:
        """`value` as JSON; raise a TypeError that names the value by `where` if it cannot be stored."""
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return self._all(value, where)
        if type(value) is tuple:
            return {"tuple": self._all(value, where)}
        if type(value) is dict:
            pairs = [(key, value[key]) for key in value]
            return {
                "dict": [[self.pack(k, f"a key of {where}"), self.pack(v, f"{where}[{k!r}]")] for k, v in pairs]
            }
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value, where)
        if isinstance(value, type):
            return {"class": rule_of(value, where).name}
        return self._part(value, where)

    def _all(self, values: Sequence[Any], where: str) -> list[Any]:
        return [self.pack(value, f"{where}[{index}]") for index, value in enumerate(values)]

    def _part(self, value: Any, where: str) -> Any:
        kind = self._kinds.get(type(value)) or rule_of(type(value), where)
        self._kinds[type(value)] = kind
        return {"part": [kind.name, {k: self.pack(v, f"{where}.{k}") for k, v in kind.state(value).items()}]}

    def _array(self, value: Any, where: str) -> Any:
        if isinstance(value, np.generic):
            return {"scalar": self._stored(np.asarray(value), where)}
        if value.dtype == object:
            return {"objects": [list(value.shape), self._all(value.ravel().tolist(), where)]}
        return {"array": self._stored(value, where)}

    def _stored(self, array: Array, where: str) -> int:
        if type(array) is np.memmap:
            array = np.asarray(array)
        if type(array) is not np.ndarray or not DTYPE.fullmatch(array.dtype.str):
            raise TypeError(f"{where} is a {type(array).__name__} of type {array.dtype}, which cannot be stored")
        # By content: equal frequencies of rounds may be different objects.
        if id(array) in self._index_of_id:
            return self._index_of_id[id(array)]
        order = order_of(array)
        key = array.dtype.str, array.shape, order, hashlib.sha256(array.tobytes(order)).digest()  # type: ignore[arg-type]
        if key not in self._index:
            self._index[key] = len(self.arrays)
            self.arrays.append(array)
            # Arrays that are kept alive here keep their id.
            self._index_of_id[id(array)] = self._index[key]
        return self._index[key]


class Unpacker:
    """Converts the JSON of a :class:`Packer` back to values."""

    def __init__(self, arrays: Sequence[Array]) -> None:
        self.arrays = arrays

    def unpack(self, data: Any) -> Any:
        """The value encoded by `data`; an unknown class or an invalid state raises a ValueError."""
        if isinstance(data, list):
            return [self.unpack(item) for item in data]
        if not isinstance(data, dict):
            return data
        ((tag, content),) = data.items()
        return READERS[tag](self, content)

    def objects(self, data: Any) -> Array:
        """An array of Python objects."""
        shape, entries = data
        values = np.empty(len(entries), dtype=object)
        values[:] = [self.unpack(entry) for entry in entries]
        return values.reshape([int(size) for size in shape])

    def part(self, data: Any) -> Any:
        """An instance of a registered class."""
        name, state = data
        return rule_named(name).build({key: self.unpack(value) for key, value in state.items()})


READERS: dict[str, Callable[[Unpacker, Any], Any]] = {
    "tuple": lambda reader, data: tuple(reader.unpack(list(data))),
    "dict": lambda reader, data: {reader.unpack(key): reader.unpack(value) for key, value in data},
    "float": lambda reader, data: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[data],
    "array": lambda reader, data: reader.arrays[data],
    "scalar": lambda reader, data: reader.arrays[data][()],
    "objects": Unpacker.objects,
    "class": lambda reader, data: rule_named(data).cls,
    "part": Unpacker.part,
}
