"""How objects of this package are stored: parts outside the registries, fitted functions, ensembles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..boosting.schedules import Decay
from ..boosting.steps import Shrunk
from ..core import Spec, Term
from ..learners.fourier.sparse_supports import FeatureGains
from ..losses import LabelRegression, MultinomialLogLoss
from ..preprocessing.category_encoding import CategoryEncoding
from ..terms import ClipAndLog, Cosines, Expanded, ImputeAndEncode, Standardized, Trees
from ..terms.ensemble import Ensemble
from ..terms.validation import check_expansion, check_sound, require_shape
from ..utils.typing import Array
from .values import params_of, storable

INTEGERS = {"roots": "iu", "left": "i", "right": "i", "feature": "i", "missing_left": "b"} | {
    "subset": "i",
    "members": "u",
    **dict.fromkeys(("numbers", "gaps", "coded"), "i"),
}


def checked_part(cls: type[Spec]) -> Any:
    """How a part is built from its hyperparameters: validated, as by its registry."""

    def build(params: dict[str, Any]) -> Spec:
        part = cls(**params_of(params))
        part.validate()
        return part

    return build


def cosines_state(term: Cosines) -> dict[str, Any]:
    """The fields of cosines by their names in files."""
    values = {field.name: getattr(term, field.name) for field in fields(term) if field.init}
    return {"extent" if name == "clipping" else name: value for name, value in values.items()}


def built_cosines(state: dict[str, Any]) -> Cosines:
    """Cosines from real arrays of matching shapes."""
    # Files of earlier versions have no extent.
    clipping = state.pop("extent", None)
    if not (clipping is None or isinstance(clipping, ClipAndLog)):
        raise ValueError(f"extent must be a ClipAndLog, got {clipping!r}")
    term = Cosines(**require_arrays(state, optional=("center",)), clipping=clipping)
    require_shape("weight", term.weight, (len(term.omega), *np.shape(term.weight)[1:2]))
    check_sound(term, *np.shape(term.omega)[1:], *np.shape(term.weight)[1:])
    return term


def built_extent(state: dict[str, Any]) -> ClipAndLog:
    """A range of numbers, with bends or without."""
    # Files of earlier versions have no bends.
    return ClipAndLog(**require_arrays(state, optional=("bend",)))


def built_trees(state: dict[str, Any]) -> Trees:
    """Trees without cycles, with indices in range."""
    term = Trees(**require_arrays(state, optional=("subset", "members")))
    check_sound(term, int(term.feature.max(initial=-1)) + 1, *np.shape(term.value)[1:])
    return term


def built_expansion(state: dict[str, Any]) -> ImputeAndEncode:
    """An expansion of matching columns and tables."""
    # Files of earlier versions have no sweeps.
    tables, sweeps = state["tables"], state.get("sweeps", ())
    require_arrays({name: state[name] for name in ("numbers", "fill", "gaps", "coded")})
    if type(state["n_features"]) is not int or not isinstance(tables, tuple):
        raise ValueError(
            f"tables must be a tuple, for a number of columns, got {tables!r}, {state['n_features']!r}"
        )
    if not isinstance(sweeps, tuple):
        raise ValueError(f"sweeps must be a tuple, got {sweeps!r}")
    for name, arrays in (("tables", tables), ("sweeps", sweeps)):
        for array in arrays:
            require_arrays({name: array})
    expansion = ImputeAndEncode(**state)
    check_expansion(expansion)
    return expansion


def built_expanded(state: dict[str, Any]) -> Expanded:
    """A term of as many columns as the expansion yields."""
    term = Expanded(**state)
    if not isinstance(term.expansion, ImputeAndEncode):
        raise ValueError(f"expansion must be an ImputeAndEncode, got {term.expansion!r}")
    require_features(term.term, term.expansion.n_expanded)
    return term


def built_coding(state: dict[str, Any]) -> CategoryEncoding:
    """The categories of columns."""
    categories = state["categories"]
    known = [entry for entry in categories if entry is not None] if isinstance(categories, tuple) else [None]
    if not all(isinstance(entry, np.ndarray) and entry.ndim == 1 for entry in known):
        raise ValueError(f"categories must be a tuple of arrays, got {categories!r}")
    return CategoryEncoding(categories)


def require_arrays(state: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """`state` itself, if its values are arrays of the expected kinds of dtype; else a ValueError."""
    for name, value in state.items():
        kind = INTEGERS.get(name, "f")
        if not (isinstance(value, np.ndarray) and value.dtype.kind in kind) and (
            name not in optional or value is not None
        ):
            raise ValueError(f"{name} must be an array of kind {kind!r}, got {value!r}")
    return state


def built_ensemble(state: dict[str, Any]) -> Ensemble:
    """An ensemble of terms, as many as there are moves."""
    ensemble = Ensemble(**state)
    require_shape("baseline", ensemble.baseline, (np.size(ensemble.baseline),))
    require_shape("moves", ensemble.moves, (len(ensemble.terms), 2))
    for term in ensemble.terms:
        if not isinstance(term, Term):
            raise ValueError(f"terms must hold fitted functions, got {term!r}")
        require_outputs(term, ensemble.n_outputs)
    return ensemble


def require_outputs(term: Term, n_outputs: int) -> None:
    """Raise a ValueError if a built-in term and its ensemble differ in the number of outputs."""
    while isinstance(term, Standardized | Expanded):
        term = term.term
    values = {Cosines: "weight", Trees: "value"}.get(type(term))
    if values is not None:
        found: Array = getattr(term, values)
        require_shape(values, found, (len(found), n_outputs))


def require_features(term: Term, n_features: int) -> None:
    """Raise a ValueError if a built-in term and its estimator differ in the number of columns."""
    while isinstance(term, Standardized):
        term = term.term
    if isinstance(term, Expanded) and term.expansion.n_features != n_features:
        raise ValueError(f"expansion must be of {n_features} columns, got {term.expansion.n_features}")
    if isinstance(term, Cosines):
        require_shape("omega", term.omega, (len(term.omega), n_features))
    if isinstance(term, Trees) and term.feature.max(initial=-1) >= n_features:
        raise ValueError(f"trees must split on {n_features} features, got feature {term.feature.max()}")


def random_state(generator: np.random.RandomState) -> Mapping[str, Any]:
    """The state of a generator of NumPy's legacy kind, or a TypeError if it has another source of bits."""
    kind = generator.get_state(legacy=False)["bit_generator"]
    if kind != "MT19937":
        raise TypeError(
            f"random_state must be a number or a RandomState of MT19937 to be saved, got one of {kind}"
        )
    return {"position": tuple(generator.get_state(legacy=True))}


def built_random_state(state: dict[str, Any]) -> np.random.RandomState:
    """A generator in that state."""
    generator = np.random.RandomState()
    if not 0 <= state["position"][2] <= 624:
        raise ValueError(f"the position of a generator must be from 0 to 624, got {state['position'][2]}")
    generator.set_state(state["position"])
    return generator


def earnings(gains: Array) -> FeatureGains:
    """FeatureGains with the given gains per feature."""
    made = FeatureGains(len(gains))
    made.gains[:] = gains
    return made


# The names on the left are those in files; they do not change with those of classes and attributes.
PARTS: dict[str, type[Spec]] = {
    "Signed": LabelRegression,
    "MultinomialLogLoss": MultinomialLogLoss,
    "Shrunk": Shrunk,
    "Decay": Decay,
}
for _name, _part in PARTS.items():
    storable(_name, build=checked_part(_part))(_part)
storable("Cosines", cosines_state, built_cosines)(Cosines)
storable("Extent", build=built_extent)(ClipAndLog)
storable("Trees", build=built_trees)(Trees)
storable("Standardized")(Standardized)
storable("Expansion", build=built_expansion)(ImputeAndEncode)
storable("Expanded", build=built_expanded)(Expanded)
storable("Coding", build=built_coding)(CategoryEncoding)
storable("Ensemble", build=built_ensemble)(Ensemble)
storable("RandomState", random_state, built_random_state)(np.random.RandomState)
storable("Earnings", lambda made: {"gains": made.gains}, lambda state: earnings(**state))(FeatureGains)
