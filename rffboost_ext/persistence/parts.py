"""Storage of objects of this package: parts outside the registries, fitted terms, ensembles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ..boosting.schedules import Decay
from ..boosting.steps import Shrunk
from ..core import Spec, Term
from ..learners.fourier.sparse_supports import FeatureGains
from ..losses import LabelRegression, MultilabelLogLoss, MultinomialLogLoss
from ..preprocessing.category_encoding import CategoryEncoding
from ..terms import (
    ClipAndLog,
    Cosines,
    Expanded,
    ImputeAndEncode,
    LinearTrees,
    Standardized,
    SymmetricTrees,
    Trees,
)
from ..terms.ensemble import Ensemble
from ..terms.projection import Projection
from ..terms.tree_outputs import assign_outputs
from ..terms.validation import check_expansion, check_term, check_tree_outputs, require_shape
from .values import params_from_stored, storable

# Kinds of the dtypes of arrays, by their names in files; other arrays hold floats.
KINDS = {"roots": "iu", "output": "iu", "left": "i", "right": "i", "feature": "i", "missing_left": "b"} | {
    "missing_right": "b",
    "subset": "i",
    "members": "u",
    **dict.fromkeys(("numbers", "gaps", "coded"), "i"),
}

# Fields of dataclasses with another name in files: names in files do not change.
COSINES_FIELDS = {"clipping": "extent"}
CLIPPING_FIELDS = {"log_scale": "bend", "means": "fill"}
EXPANSION_FIELDS = {
    "numeric": "numbers",
    "means": "fill",
    "indicators": "gaps",
    "categorical": "coded",
    "one_hot": "tables",
    "regressions": "sweeps",
}


def state_of(names: Mapping[str, str]) -> Callable[[Any], dict[str, Any]]:
    """The function from a dataclass to its fields by their names in files."""
    return lambda part: {
        names.get(field.name, field.name): getattr(part, field.name) for field in fields(part) if field.init
    }


def fields_from(state: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Fields by their names in Python."""
    inverse = {stored: name for name, stored in names.items()}
    return {inverse.get(name, name): value for name, value in state.items()}


def part_builder(cls: type[Spec]) -> Callable[[dict[str, Any]], Spec]:
    """The function from hyperparameters to a validated part, as a registry creates it."""

    def build(params: dict[str, Any]) -> Spec:
        part = cls(**params_from_stored(params))
        part.validate()
        return part

    return build


def build_cosines(state: dict[str, Any]) -> Cosines:
    """Cosines from real arrays of matching shapes."""
    # Files of earlier versions have no extent and no projection.
    clipping = state.pop("extent", None)
    if not (clipping is None or isinstance(clipping, ClipAndLog)):
        raise ValueError(f"extent must be a ClipAndLog, got {clipping!r}")
    projection = state.pop("projection", None)
    if not (projection is None or isinstance(projection, Projection)):
        raise ValueError(f"projection must be a Projection, got {projection!r}")
    arrays = require_arrays(state, optional=("center",))
    term = Cosines(**arrays, clipping=clipping, projection=projection)
    require_shape("weight", term.weight, (len(term.omega), *np.shape(term.weight)[1:2]))
    columns = term.omega if projection is None else projection.matrix
    check_term(term, *np.shape(columns)[1:], *np.shape(term.weight)[1:])
    return term


def build_clipping(state: dict[str, Any]) -> ClipAndLog:
    """A clipping range; files of earlier versions lack log scales or means."""
    return ClipAndLog(**fields_from(require_arrays(state, optional=("bend", "fill")), CLIPPING_FIELDS))


def trees_to_dict(trees: Trees) -> dict[str, Any]:
    """The fields of trees; those of outputs only if each tree has one of several."""
    state = {field.name: getattr(trees, field.name) for field in fields(trees)}
    if trees.output is None:
        del state["output"], state["n_outputs"]
    return state


def build_trees(state: dict[str, Any]) -> Trees:
    """Trees without cycles, with indices in range."""
    n_outputs = state.pop("n_outputs", None)
    require_arrays(state, optional=("subset", "members"))
    if n_outputs is None:
        require_shape("value", state["value"], (len(state["left"]), *np.shape(state["value"])[1:2]))
        n_outputs = state["value"].shape[1]
    elif type(n_outputs) is not int:
        raise ValueError(f"n_outputs must be an integer, got {n_outputs!r}")
    term = Trees(**state, n_outputs=n_outputs)
    check_term(term, int(term.feature.max(initial=-1)) + 1, n_outputs)
    # Files of earlier versions have a column for each output.
    return assign_outputs(term)


def build_linear_trees(state: dict[str, Any]) -> LinearTrees:
    """Trees with linear leaves, with as many coefficients as outputs and features need."""
    term = LinearTrees(**state)
    if not isinstance(term.coefficients, Trees) or type(term.n_outputs) is not int or term.n_outputs < 1:
        raise ValueError(f"coefficients and n_outputs must be Trees and an integer, got {term!r:.60}")
    check_term(term, term.n_features, term.n_outputs)
    return term


def build_symmetric_trees(state: dict[str, Any]) -> SymmetricTrees:
    """Symmetric trees with indices in range."""
    term = SymmetricTrees(
        **require_arrays(state, optional=("slope", "low", "high", "center", "subset", "members"))
    )
    check_term(term, int(term.feature.max(initial=-1)) + 1, np.shape(term.value)[-1])
    return term


def build_expansion(state: dict[str, Any]) -> ImputeAndEncode:
    """An expansion with consistent arrays."""
    require_arrays({name: state[name] for name in ("numbers", "fill", "gaps", "coded")})
    if type(state["n_features"]) is not int:
        raise ValueError(f"n_features must be an integer, got {state['n_features']!r}")
    # Files of earlier versions have no sweeps, and may say that further trees are to get imputed numbers.
    state.pop("fills_trees", None)
    for name, arrays in (("tables", state["tables"]), ("sweeps", state.get("sweeps", ()))):
        if not isinstance(arrays, tuple):
            raise ValueError(f"{name} must be a tuple, got {arrays!r}")
        for array in arrays:
            require_arrays({name: array})
    expansion = ImputeAndEncode(**fields_from(state, EXPANSION_FIELDS))
    check_expansion(expansion)
    return expansion


def build_expanded(state: dict[str, Any]) -> Expanded:
    """A term with as many features as the expansion has columns."""
    term = Expanded(**state)
    if not isinstance(term.expansion, ImputeAndEncode) or not isinstance(term.term, Term):
        raise ValueError(f"an expanded term must have a term and an expansion, got {term!r}")
    require_features(term.term, term.expansion.n_expanded)
    return term


def build_standardized(state: dict[str, Any]) -> Standardized:
    """A term with as many features as there are scales."""
    require_arrays({name: state[name] for name in ("center", "scale")})
    term = Standardized(**state)
    if not isinstance(term.term, Term):
        raise ValueError(f"a standardised term must have a term, got {term.term!r}")
    require_shape("center", term.center, (np.size(term.scale),))
    require_shape("scale", term.scale, (np.size(term.scale),))
    require_features(term.term, len(term.scale))
    return term


def build_category_encoding(state: dict[str, Any]) -> CategoryEncoding:
    """The categories of columns."""
    categories = state["categories"]
    known = [entry for entry in categories if entry is not None] if isinstance(categories, tuple) else [None]
    if not all(isinstance(entry, np.ndarray) and entry.ndim == 1 for entry in known):
        raise ValueError(f"categories must be a tuple of arrays, got {categories!r}")
    values = [one for entry in known for one in np.asarray(entry).tolist()]
    odd = [one for one in values if not isinstance(one, str | bytes | int | float)]
    if odd:
        raise ValueError(f"categories must be text or numbers, got {odd[0]!r}")
    return CategoryEncoding(categories)


def require_arrays(state: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """`state` itself; raise a ValueError unless its values are arrays of the expected kinds of dtype."""
    for name, value in state.items():
        kind = KINDS.get(name, "f")
        is_right = isinstance(value, np.ndarray) and value.dtype.kind in kind and value.dtype != np.float16
        if not is_right and (name not in optional or value is not None):
            raise ValueError(f"{name} must be an array of kind {kind!r}, got {value!r}")
    return state


def build_ensemble(state: dict[str, Any]) -> Ensemble:
    """An ensemble with one move per term."""
    ensemble = Ensemble(**state)
    require_arrays({name: state[name] for name in ("baseline", "moves")})
    if not isinstance(ensemble.terms, tuple):
        raise ValueError(f"terms must be a tuple, got {ensemble.terms!r}")
    require_shape("baseline", ensemble.baseline, (np.size(ensemble.baseline),))
    require_shape("moves", ensemble.moves, (len(ensemble.terms), 2))
    for term in ensemble.terms:
        if not isinstance(term, Term):
            raise ValueError(f"terms must hold terms, got {term!r}")
        require_outputs(term, ensemble.n_outputs)
    return ensemble


def require_outputs(term: Term, n_outputs: int) -> None:
    """Raise a ValueError if a term of this package does not have the outputs of its ensemble."""
    while isinstance(term, Standardized | Expanded):
        term = term.term
    if isinstance(term, Cosines):
        require_shape("weight", term.weight, (len(term.weight), n_outputs))
    if isinstance(term, Trees):
        check_tree_outputs(term, n_outputs)
    if isinstance(term, SymmetricTrees):
        require_shape("value", term.value, (*np.shape(term.value)[:2], n_outputs))
    if isinstance(term, LinearTrees) and term.n_outputs != n_outputs:
        raise ValueError(f"trees with linear leaves must have {n_outputs} outputs, got {term.n_outputs}")


def require_features(term: Term, n_features: int) -> None:
    """Raise a ValueError if a term of this package does not have the features of its estimator."""
    while isinstance(term, Standardized):
        term = term.term
    if isinstance(term, Expanded) and term.expansion.n_features != n_features:
        raise ValueError(f"expansion must be of {n_features} columns, got {term.expansion.n_features}")
    if isinstance(term, Cosines):
        columns = term.omega if term.projection is None else term.projection.matrix
        require_shape("omega", columns, (len(columns), n_features))
    if isinstance(term, LinearTrees) and term.n_features != n_features:
        raise ValueError(f"trees with linear leaves must have {n_features} features, got {term.n_features}")
    if isinstance(term, Trees | SymmetricTrees) and term.feature.max(initial=-1) >= n_features:
        raise ValueError(f"trees must split on {n_features} features, got feature {term.feature.max()}")


def random_state_to_dict(generator: np.random.RandomState) -> Mapping[str, Any]:
    """The state of a RandomState; a TypeError if its bit generator is not MT19937."""
    kind = generator.get_state(legacy=False)["bit_generator"]
    if kind != "MT19937":
        raise TypeError(f"random_state must be an integer or a RandomState of MT19937 to be saved, got {kind}")
    return {"position": tuple(generator.get_state(legacy=True))}


def build_random_state(state: dict[str, Any]) -> np.random.RandomState:
    """A RandomState in a stored state."""
    generator = np.random.RandomState()
    if not 0 <= state["position"][2] <= 624:
        raise ValueError(f"the position of a generator must be from 0 to 624, got {state['position'][2]}")
    generator.set_state(state["position"])
    return generator


def build_feature_gains(state: dict[str, Any]) -> FeatureGains:
    """FeatureGains with stored gains per feature."""
    instance = FeatureGains(len(state["gains"]))
    instance.gains[:] = state["gains"]
    return instance


# Names in files do not change with those of classes.
PARTS: dict[str, type[Spec]] = {
    "Signed": LabelRegression,
    "MultilabelLogLoss": MultilabelLogLoss,
    "MultinomialLogLoss": MultinomialLogLoss,
    "Shrunk": Shrunk,
    "Decay": Decay,
}
for _name, _part in PARTS.items():
    storable(_name, build=part_builder(_part))(_part)
storable("Cosines", state_of(COSINES_FIELDS), build_cosines)(Cosines)
storable("Projection", build=lambda state: Projection.of(**require_arrays(state)))(Projection)
storable("Extent", state_of(CLIPPING_FIELDS), build_clipping)(ClipAndLog)
storable("Trees", trees_to_dict, build_trees)(Trees)
storable("LinearTrees", build=build_linear_trees)(LinearTrees)
storable("SymmetricTrees", build=build_symmetric_trees)(SymmetricTrees)
storable("Standardized", build=build_standardized)(Standardized)
storable("Expansion", state_of(EXPANSION_FIELDS), build_expansion)(ImputeAndEncode)
storable("Expanded", build=build_expanded)(Expanded)
storable("Coding", build=build_category_encoding)(CategoryEncoding)
storable("Ensemble", build=build_ensemble)(Ensemble)
storable("RandomState", random_state_to_dict, build_random_state)(np.random.RandomState)
storable("Earnings", lambda gains: {"gains": gains.gains}, build_feature_gains)(FeatureGains)
