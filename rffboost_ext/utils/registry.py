"""Registries of the named parts of a booster: one per kind, open to extension."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast

from .warnings import warn_user

T = TypeVar("T")
C = TypeVar("C", bound=type)

SEPARATORS = frozenset(" ,:")
"""What the command line splits lists of names by, and XGBoost the lines of its log."""


class Registry(Generic[T]):
    """A table from names to the classes of one kind of part.

    A part can also be passed as an instance, so registering is optional. Packages offer parts through the entry
    point group ``rffboost_ext.<kind>`` (for example ``rffboost_ext.learner``); these are looked up the first time
    that a name is not found here.

    Parameters
    ----------
    kind : str
        What the table holds, as named in error messages and parameters: ``"loss"``.
    base : type
        The class that every entry derives from.

    Examples
    --------
    >>> from rffboost_ext import LOSSES
    >>> LOSSES.create("exponential")
    Exponential()
    """

    def __init__(self, kind: str, base: type[T]) -> None:
        self.kind = kind
        self.base = base
        self._table: dict[str, type[T]] = {}
        self._searched = False

    def register(self, name: str) -> Callable[[C], C]:
        """Return a class decorator that registers the class under `name`.

        Parameters
        ----------
        name : str
            Printable text without blanks, commas and colons.

        Raises
        ------
        ValueError
            If the name is no such text, is reserved, or is taken by another class. The same class defined again,
            as in a notebook, replaces its earlier definition; nothing else is ever overwritten.
        TypeError
            If the name is not a string, or the class does not derive from the table's base.
        """

        require_name(self.kind, name)

        def enter(cls: C) -> C:
            if not (inspect.isclass(cls) and issubclass(cls, self.base)):
                raise TypeError(f"{self.kind} {name!r} must be a subclass of {self.base.__name__}, got {cls!r}")
            taken = self._table.get(name)
            if taken is not None and path_of(taken) != path_of(cls):
                raise ValueError(f"the {self.kind} name {name!r} is taken by {path_of(taken)}; choose another")
            self._table[name] = cls
            return cast(C, cls)

        return enter

    def names(self) -> list[str]:
        """All registered names, sorted, entry points included."""
        self._search()
        return sorted(self._table)

    def get(self, name: str) -> type[T]:
        """The class registered under `name`; a ValueError that lists the choices if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"the name of a {self.kind} must be a string, got {name!r}")
        if name not in self._table:
            self._search()
        if name not in self._table:
            close = difflib.get_close_matches(name, self._table, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
            raise ValueError(f"unknown {self.kind} {name!r}.{hint} Registered: {', '.join(self.names())}")
        return self._table[name]

    def create(self, part: str | T, **params: object) -> T:
        """Return `part` itself if it is an instance, else the registered class called with `params`.

        Parts with a method ``validate`` have their hyperparameters checked here.

        Raises
        ------
        ValueError
            If the name is unknown or a hyperparameter is out of range.
        TypeError
            If `part` is neither a name nor an instance of the table's base.
        """
        if params and not isinstance(part, str):
            raise TypeError(f"parameters of a {self.kind} go with a name; {part!r} has its own, got {params}")
        made = self.make(part, **params)
        if not isinstance(made, self.base):
            advice = f"; pass an instance, {made.__name__}()" if isinstance(made, type) else ""
            raise TypeError(
                f"{self.kind} must be a registered name ({', '.join(self.names())}) or an instance of "
                f"{self.base.__name__}, got {made!r} of type {type(made).__name__}{advice}"
            )
        if hasattr(made, "validate"):
            made.validate()
        return made

    def make(self, part: str | T, **params: object) -> T:
        """As :meth:`create`, without any check: for parts that were checked before the fit, in every round."""
        return cast(Callable[..., T], self.get(part))(**params) if isinstance(part, str) else part

    def name_of(self, part: T) -> str:
        """The name under which the class of `part` is registered, else the name of that class."""
        return next((name for name, cls in self._table.items() if cls is type(part)), type(part).__name__)

    def _search(self) -> None:
        if self._searched:
            return
        from importlib.metadata import entry_points

        self._searched = True
        for entry in entry_points(group=f"rffboost_ext.{self.kind}"):
            # A broken entry point must not affect the others.
            try:
                self.register(entry.name)(entry.load())
            except Exception as error:
                warn_user(
                    f"{self.kind} {entry.name!r}, which an installed package offers as {entry.value}, cannot be "
                    f"loaded: {error!r}",
                    RuntimeWarning,
                )


def require_name(kind: str, name: Any) -> None:
    """Raise a TypeError or ValueError unless a part of some kind can have this name."""
    if not isinstance(name, str):
        raise TypeError(f'register wants a name, as in @register("my_{kind}"), got {name!r}')
    if not name or not name.isprintable() or SEPARATORS & set(name):
        raise ValueError(
            f"the {kind} name must be printable text, at least one character, without blanks, commas and colons, "
            f"which separate names in commands and logs; got {name!r}"
        )
    if name == "auto":
        raise ValueError(f"the {kind} name 'auto' is reserved for the choice of a default")


def resolve_names(owner: Any, params: dict[str, Any], roles: Mapping[str, Registry[Any]]) -> dict[str, Any]:
    """`params` for ``set_params``, extended so that nested ones also work for parts given by name.

    ``learner__gamma`` of an owner with ``learner="rff_1"`` needs an instance to be set on: it is made here.
    """
    nested = {name.partition("__")[0] for name in params if "__" in name}
    parts = {role: params.get(role, getattr(owner, role)) for role in nested & set(roles)}
    made = {role: roles[role].make(part) for role, part in parts.items() if isinstance(part, str)}
    return params | made


def path_of(cls: type) -> str:
    """Module and qualified name of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"
