"""Errors for unknown parameters and attributes that say what the names of other libraries are here."""

from __future__ import annotations

import difflib
import inspect
import reprlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from .migration_table import LIBRARIES, TABLE, Place, Row

H = TypeVar("H")

# What stands for a value that the user has to choose.
CHOOSE = "..."
PAGE = "docs/migration.md"


class UnknownParameterError(TypeError, ValueError):
    """A parameter does not exist.

    A TypeError, as for any call, and a ValueError, as scikit-learn's ``set_params`` raises.
    """


@cache
def rows_of(name: str, attributes: bool) -> tuple[Row, ...]:
    """The rows with a name elsewhere or here, of fitted attributes or of parameters."""
    places = {Place.FITTED} if attributes else set(Place) - {Place.FITTED, Place.OBJECTIVES, Place.METRICS}
    rows = [row for row in TABLE if row.place in places]
    found = [row for row in rows if any(name in names for names in row.names.values())]
    found = found or [row for row in rows if row.here == name][:1]
    return tuple([row for row in found if row.place is not Place.NOWHERE] or found)


def libraries_with(name: str, row: Row) -> str:
    """Whose name it is, such as "XGBoost's and LightGBM's name"."""
    titles = [f"{LIBRARIES[library]}'s" for library, names in row.names.items() if name in names]
    joined = " and ".join(filter(None, [", ".join(titles[:-1]), *titles[-1:]]))
    return f"{joined} name" if titles else "a parameter elsewhere"


def assignment(row: Row, name: str, value: Any) -> str:
    """What to write instead of ``name=value``, such as ``max_leaves=31``."""
    if row.example:
        return row.example.format(value=CHOOSE if value is None else reprlib.repr(value))
    if row.values:
        known = row.values.get(value) if isinstance(value, str) else None
        text = CHOOSE if known is None else repr(known)
    else:
        differs = value is None or row.differing == "*" or name in row.differing.split()
        text = CHOOSE if differs else reprlib.repr(value)
    return f"{row.here}={text}"


@dataclass(frozen=True)
class Call:
    """A call with unknown parameters.

    Parameters
    ----------
    owner : object
        An estimator or a part; in ``__init__`` without any attributes.
    function : str
        The qualified name of the method.
    known : collection of str
        The parameters of the method.
    unknown : mapping of str to value
        The unknown ones.
    """

    owner: object
    function: str
    known: Collection[str]
    unknown: Mapping[str, Any]

    @property
    def kind(self) -> str:
        """The name of the class."""
        return type(self.owner).__name__

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.function.rpartition(".")[2]

    @property
    def own(self) -> list[str]:
        """The parameters of the owner."""
        return list(inspect.signature(type(self.owner)).parameters)

    @property
    def of_fit(self) -> list[str]:
        """The parameters of its method ``fit``."""
        return list(inspect.signature(getattr(type(self.owner), "fit", lambda: None)).parameters)

    @property
    def has_trees(self) -> bool:
        """Whether the owner may have trees; parts such as losses have no names of other libraries."""
        return not {"learner", "estimator", "trees", "max_depth"}.isdisjoint(self.own)

    def can_have(self, row: Row) -> bool:
        """Whether the owner, or an estimator like it, may have a parameter of a row: not if its class sets it."""
        return self.has_trees and not isinstance(getattr(type(self.owner), row.here, None), str)

    @property
    def tree(self) -> str:
        """The tree that all of the unknown parameters describe."""
        rows = [(rows_of(name, False), name, value) for name, value in self.unknown.items()]
        found = [
            assignment(row, name, v)
            for row, name, v in ((row, name, v) for several, name, v in rows for row in several)
            if row.place is Place.TREES
        ]
        return f"Tree({', '.join(dict.fromkeys(found))})"

    def error(self) -> UnknownParameterError:
        """The error, with a line for each of the parameters."""
        lines = [line for name, value in self.unknown.items() for line in self.lines(name, value)]
        if len(lines) > 1:
            return UnknownParameterError(f"{self.kind}:" + "".join(f"\n  {line}" for line in lines))
        is_plain = lines[0] == self.plain(*self.unknown)
        return UnknownParameterError(lines[0] if is_plain else f"{self.kind}: {lines[0]}")

    def lines(self, name: str, value: Any) -> Iterable[str]:
        """What to say of one parameter."""
        constructs = self.method in ("__init__", "set_params")
        rows = tuple(row for row in rows_of(name, False) if row.here in self.known or self.can_have(row))
        if len(rows) > 1:
            rows = tuple(row for row in rows if constructs != (row.place is Place.PREDICT)) or rows
        if not constructs and name in self.own:
            given = f"{self.kind}({name}={reprlib.repr(value)})"
            yield f"{name} is a parameter of the estimator, not of {self.method}: pass {given}"
        elif constructs and name in self.of_fit:
            yield f"{name} is a parameter of fit, not of the estimator: pass it to fit(X, y, {name}=...)"
        elif not rows:
            yield self.plain(name)
        for row in rows if self.is_foreign(name, constructs) else ():
            yield f"{name} is {libraries_with(name, row)}: {self.advice(row, name, value)}"

    def is_foreign(self, name: str, constructs: bool) -> bool:
        """Whether a name is no parameter of the owner at all."""
        return name not in (self.of_fit if constructs else self.own)

    def plain(self, name: str) -> str:
        """What Python or scikit-learn says, and the nearest names."""
        close = difflib.get_close_matches(name, self.known, n=3, cutoff=0.6)
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        valid = [one for one in self.known if one != "self"]
        text = f"{self.function}() got an unexpected keyword argument {name!r}"
        if self.method == "set_params":
            text = f"Invalid parameter {name!r} for estimator {self.owner!r}"
        return f"{text}.{hint} Valid parameters are: {valid}"

    def advice(self, row: Row, name: str, value: Any) -> str:
        """What to do instead, and what differs."""
        if row.place is Place.NOWHERE:
            return f"it has no counterpart here ({row.here}); leave it out. See {PAGE}".replace("`", "")
        text = assignment(row, name, value)
        note = f" ({row.note})" if row.note and (CHOOSE in text or row.example) else ""
        return f"{self.placed(row, text)}{note}".replace("`", "")

    def placed(self, row: Row, text: str) -> str:
        """Where to write an assignment."""
        if row.place is Place.PREDICT:
            return f"call {text}"
        if row.here in self.known:
            return f"pass {text}"
        if row.place is Place.FIT:
            return f"call fit(X, y, {text})"
        if row.place is Place.TREES:
            return self.placed_in_tree(text)
        if "estimator" in self.own:
            return f"pass estimator=RFFBoostRegressor({text})"
        return f"pass {self.kind if row.here in self.own else 'RFFBoostClassifier'}({text})"

    def placed_in_tree(self, text: str) -> str:
        """Where to write a parameter of trees."""
        if "trees" in self.own:
            return f"set trees__{text}" if self.method == "set_params" else f"pass trees={self.tree}"
        if self.method == "set_params" and "learner" in self.own:
            return f'set learner__{text} with learner="tree", or learner__trees__{text} with the default learner'
        if "learner" in self.own:
            return f"pass learner={self.tree}, or learner=Mixture(trees={self.tree}) for trees beside cosines"
        return f"pass estimator=RFFBoostRegressor(learner={self.tree})"


def require_known_params(owner: Any, params: Mapping[str, Any]) -> None:
    """Raise an UnknownParameterError for names that ``set_params`` of an estimator or a part does not know."""
    known = owner.get_params(deep=False)
    unknown = {name: value for name, value in params.items() if name.partition("__")[0] not in known}
    if unknown:
        raise Call(owner, "set_params", list(known), unknown).error()


class MigrationHintsMixin:
    """An estimator that says what the names of other libraries are, in ``set_params`` and of attributes."""

    def set_params(self: H, **params: Any) -> H:
        """Set parameters, also nested ones such as ``estimator__loss``.

        Parameters
        ----------
        **params
            Names and values.

        Returns
        -------
        self

        Raises
        ------
        UnknownParameterError
            If there is no such parameter; both a TypeError and a ValueError.
        """
        require_known_params(self, params)
        super().set_params(**params)  # type: ignore[misc]
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            error = missing_attribute(self, name)
            if error is None:
                # Raises again the error that led here, which a property may have raised.
                return object.__getattribute__(self, name)
            raise error


def missing_attribute(owner: object, name: str) -> AttributeError | None:
    """The error for an attribute that other libraries' fitted models have; None for any other."""
    rows = [row for row in rows_of(name, True) if row.here != name]
    if not rows:
        return None
    advice = "; ".join(f"{name} is {libraries_with(name, row)}: use {row.here}" for row in rows)
    kind = type(owner).__name__
    return AttributeError(f"{kind!r} object has no attribute {name!r}: {advice}", name=name, obj=owner)
