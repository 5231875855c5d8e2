"""Checks of the state that learners of this package keep across rounds, where it comes from a file."""

from __future__ import annotations

from typing import Any

from ..terms.cosine_arrays import Projection
from ..terms.stored_fields import require_field, require_instance
from .fourier.second_order import RFFNewton
from .kernel_machines.base import KernelMachine
from .kernel_machines.irls import RFFIRLS
from .mixture import Mixture
from .trees.symmetric.learner import SymmetricTree


def check_learner_state(state: Any, n_features: int, n_outputs: int) -> None:
    """Raise a ValueError unless values have the types and shapes that ``Design.learner_state`` gives to learners.

    `n_features` is the number of columns of ``Design.X``. States of learners of other packages are not checked.
    """
    if not isinstance(state, dict):
        raise ValueError(f"holds a state of learners that is no dict, {state!r}")
    sizes: dict[Any, int] = {
        (RFFNewton, "earnings"): n_features,
        (RFFNewton, "hessian"): n_outputs,
        (Mixture, "books"): 2,
    }
    for key, value in state.items():
        if not (isinstance(key, tuple) and key and isinstance(key[0], type)):
            continue
        learner, name = key[0], key[-1]
        try:
            if (learner, name) in sizes:
                require_field(name, value, (sizes[learner, name],))
            elif (learner, name) == (SymmetricTree, "crosses"):
                require_field(name, value, (None,), "i")
            elif issubclass(learner, KernelMachine) and name == "kernel":
                require_kernel(value, issubclass(learner, RFFIRLS), n_features, n_outputs)
        except (TypeError, ValueError) as error:
            raise ValueError(f"holds a state of {learner.__name__} whose {name} cannot be: {error}") from error


def require_kernel(value: Any, has_bounds: bool, n_features: int, n_outputs: int) -> None:
    """Raise an error unless a value holds frequencies, a projection, and a penalty, or two bounds and a round."""
    omega, projection, *bounds, last = value
    if projection is not None:
        require_instance("projection", projection, Projection)
        require_field("matrix", projection.matrix, (None, n_features))
        n_features = len(projection.matrix)
    require_field("frequencies", omega, (None, n_features))
    for bound, _ in zip(bounds, range(2 * has_bounds), strict=True):
        require_field("bounds", bound, (n_outputs,))
    require_instance("round" if has_bounds else "penalty", last, int if has_bounds else float)
