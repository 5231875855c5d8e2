"""The parts of a booster: their hyperparameters, and tables of their names, which users can extend."""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator

from .migration import translated
from .param_validation import Check, allows_auto, require_all, told
from .warnings import warn_user

T = TypeVar("T")
C = TypeVar("C", bound=type)
S = TypeVar("S", bound="Spec")

SEPARATORS = frozenset(" ,:")
"""Separators of names on the command line and in XGBoost's log."""


class Registry(Generic[T]):
    """A table from names to the classes of one kind of part.

    Parts can also be passed as instances, so that registering is optional. Packages provide parts by the entry
    point group ``rffboost_ext.<kind>`` (for example ``rffboost_ext.learner``), which is searched when a name is
    not found.

    Parameters
    ----------
    kind : str
        The kind of part, as in error messages and parameters, such as ``"loss"``.
    base : type
        The base class of all entries.

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
            If the name is invalid, reserved, or taken by another class. A class that is defined again, as in a
            notebook, replaces its earlier definition; nothing else is overwritten.
        TypeError
            If the name is not a string, or the class does not derive from the table's base.
        """
        require_name(self.kind, name)

        def enter(cls: C) -> C:
            if not (inspect.isclass(cls) and issubclass(cls, self.base)):
                raise TypeError(f"{self.kind} {name!r} must be a subclass of {self.base.__name__}, got {cls!r}")
            taken = self._table.get(name)
            if taken is not None and qualified_name(taken) != qualified_name(cls):
                raise ValueError(
                    f"the {self.kind} name {name!r} is taken by {qualified_name(taken)}; choose another"
                )
            self._table[name] = cls
            return cast(C, cls)

        return enter

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.kind} names: {', '.join(self.names())}>"

    def names(self) -> list[str]:
        """All registered names, sorted, entry points included."""
        self._search()
        return sorted(self._table)

    def get(self, name: str) -> type[T]:
        """The class registered under `name`; raises a ValueError that lists the choices if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"the name of a {self.kind} must be a string, got {name!r}")
        if name not in self._table:
            self._search()
        if name not in self._table:
            raise ValueError(self.unknown(name, self.names()))
        return self._table[name]

    def unknown(self, name: str, choices: Sequence[str]) -> str:
        """The message for a name that is not registered, with some of those that are."""
        hint = did_you_mean(name, choices, "Objectives" if self.kind == "loss" else "")
        return f"unknown {self.kind} {name!r}.{hint} Registered: {', '.join(choices)}"

    def create(self, part: str | T, **params: object) -> T:
        """Return `part` itself if it is an instance, else the registered class called with `params`.

        Parts with a method ``validate`` have their hyperparameters checked here.

        Raises
        ------
        ValueError
            If the name is unknown or a hyperparameter is out of range.
        TypeError
            If `part` is neither a name nor an instance of the base class.
        """
        if params and not isinstance(part, str):
            raise TypeError(f"parameters of a {self.kind} require a name; {part!r} has its own, got {params}")
        instance = self.make(part, **params)
        if not isinstance(instance, self.base):
            advice = f"; pass an instance, {instance.__name__}()" if isinstance(instance, type) else ""
            raise TypeError(
                f"{self.kind} must be a registered name ({', '.join(self.names())}) or an instance of "
                f"{self.base.__name__}, got {told(instance)} of type {type(instance).__name__}{advice}"
            )
        if hasattr(instance, "validate"):
            instance.validate()
        return instance

    def make(self, part: str | T, **params: object) -> T:
        """As :meth:`create` without checks, for parts that were checked before the fit."""
        return cast(Callable[..., T], self.get(part))(**params) if isinstance(part, str) else part

    def name_of(self, part: T) -> str:
        """The registered name of the class of `part`, or the name of the class if it is not registered."""
        return self.find(type(part)) or type(part).__name__

    def find(self, cls: type) -> str | None:
        """The registered name of a class; None if it is not registered."""
        self._search()
        return {entry: name for name, entry in self._table.items()}.get(cls)

    def _search(self) -> None:
        if self._searched:
            return
        from importlib.metadata import entry_points

        self._searched = True
        for entry in entry_points(group=f"rffboost_ext.{self.kind}"):
            # A broken entry point must not affect others.
            try:
                self.register(entry.name)(entry.load())
            except Exception as error:
                warn_user(
                    f"{self.kind} {entry.name!r}, provided by an installed package as {entry.value}, cannot be "
                    f"loaded: {error!r}",
                    RuntimeWarning,
                )


def did_you_mean(name: str, choices: Iterable[str], section: str = "") -> str:
    """A question that names up to three choices that are similar to a name; empty if there are none.

    A name of another package is translated first, by a section of the table of ``docs/migration.md``.
    """
    if section and (here := translated(section, name)):
        return f" Did you mean {' or '.join(map(repr, here))}?"
    lower = {choice.lower(): choice for choice in choices}
    parts = [choice for choice in lower if name.lower() in choice]
    matches = difflib.get_close_matches(name.lower(), lower, n=3, cutoff=0.5) or parts[:3]
    close = [lower[match] for match in matches]
    return f" Did you mean {' or '.join(map(repr, close))}?" if close else ""


def require_name(kind: str, name: Any) -> None:
    """Raise a TypeError or ValueError unless `name` is a valid name of a part."""
    if not isinstance(name, str):
        raise TypeError(f'register requires a name, as in @register("my_{kind}"), got {name!r}')
    if not name or not name.isprintable() or SEPARATORS & set(name):
        raise ValueError(
            f"the {kind} name must be non-empty printable text without blanks, commas and colons, which separate "
            f"names in commands and logs; got {name!r}"
        )
    if name == "auto":
        raise ValueError(f"the {kind} name 'auto' is reserved for defaults")


def resolve_names(owner: Any, params: dict[str, Any], roles: Mapping[str, Registry[Any]]) -> dict[str, Any]:
    """`params` for ``set_params``, in which named parts with nested parameters are replaced by instances.

    ``learner__gamma`` of an owner with ``learner="rff_1"`` is set on an instance, for example.

    Raises
    ------
    ValueError
        If what a nested parameter is to be set on has no parameters, as None.
    """
    resolved, own = dict(params), owner.get_params(deep=False)
    for name in params:
        role, nested, _ = name.partition("__")
        # scikit-learn explains unknown names.
        if not nested or role not in own:
            continue
        part = resolved.get(role, own[role])
        if isinstance(part, str) and role in roles and part != "auto":
            part = resolved[role] = roles[role].make(part)
        if isinstance(part, type) or not hasattr(part, "set_params"):
            needed = f"{role} must be an instance with parameters to set {name}"
            raise ValueError(f"{type(owner).__name__}: {needed}, got {told(part)}")
    return resolved


def qualified_name(cls: type) -> str:
    """Module and qualified name of a class."""
    return f"{cls.__module__}.{cls.__qualname__}"


class Spec(BaseEstimator):
    """Hyperparameters of a part of a booster, without data.

    ``get_params``, ``clone``, ``repr`` and nested names such as ``learner__gamma`` work as in scikit-learn. A fit
    does not change a spec, so several fits may share one instance.
    """

    constraints: ClassVar[Mapping[str, Check]] = {}
    """Allowed values of each hyperparameter, checked at the start of a fit."""

    needs: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Attributes that other parts must have, by role, such as ``{"loss": ["bounded_ratio"]}``."""

    roles: ClassVar[Mapping[str, Registry[Any]]] = {}
    """Hyperparameters that are parts themselves, as an instance or a registered name."""

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """As in scikit-learn, with arrays of more than 10 entries shortened: error messages name parts by it."""
        with np.printoptions(threshold=10, edgeitems=2):
            return super().__repr__(N_CHAR_MAX)

    def validate(self) -> None:
        """Raise a TypeError or ValueError for the first invalid hyperparameter."""
        require_all(self, self.constraints)
        for role, registry in self.roles.items():
            part = getattr(self, role)
            if not (isinstance(part, str) and part == "auto" and allows_auto(type(self), role)):
                registry.create(part)

    def set_params(self: S, **params: Any) -> S:
        """Set hyperparameters, also nested ones of a part that is set by its registered name."""
        return super().set_params(**resolve_names(self, params, self.roles))


def full_repr(spec: Spec) -> str:
    """The class and all parameters, every entry of arrays included: the same text for equal parts only."""
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        text = BaseEstimator.__repr__(spec, sys.maxsize)
        # scikit-learn omits items of long sequences.
        return f"{text} {spec.get_params()!r}" if "..." in text else text
