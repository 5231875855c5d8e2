"""Storage of objects of this package: parts outside the registries, fitted terms, ensembles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..boosting.loop import Shrunk
from ..boosting.steps import Decay
from ..losses import LabelRegression, MultilabelLogLoss, MultinomialLogLoss
from ..rows.category_encoding import CategoryEncoding
from ..terms import KINDS, ClipAndLog, FeatureMap, ImputeAndEncode
from ..terms.cosine_arrays import Projection
from ..terms.ensemble import Ensemble
from .values import storable


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


for _part in (LabelRegression, MultilabelLogLoss, MultinomialLogLoss, Shrunk, Decay, *KINDS):
    storable(_part.__name__)(_part)
for _checked_by_owner in (FeatureMap, ImputeAndEncode, ClipAndLog, CategoryEncoding, Ensemble):
    # Terms and estimators check these, as they know the number of columns.
    storable(_checked_by_owner.__name__)(_checked_by_owner)
storable("Projection", build=lambda state: Projection.of(**state))(Projection)
storable("RandomState", random_state_to_dict, build_random_state)(np.random.RandomState)
