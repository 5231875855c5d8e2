"""The parts of an estimator, a loss, a learner and a step, resolved and checked against one another."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, clone

from ..boosting.steps import STEPS, default_step
from ..core import Learner, Loss, Step
from ..learners.composition import check_composition, multi_output_learners
from ..learners.registry import LEARNERS
from ..losses import LabelRegression
from ..losses.registry import LOSSES
from ..losses.target_statistics import has_own_columns
from ..losses.units import warn_if_small
from ..losses.validation import prepare_with_baseline, require_multiclass
from ..utils.param_validation import is_auto, require_all
from ..utils.registry import Registry, resolve_names
from ..utils.typing import Array

B = TypeVar("B", bound=BaseEstimator)

DEFAULT_LEARNER = "mixture"
ROLES: dict[str, Registry[Any]] = {"loss": LOSSES, "learner": LEARNERS, "step": STEPS}


@dataclass(frozen=True)
class Parts:
    """The parts of a fit.

    Parameters
    ----------
    loss, learner : Loss, Learner
    step : Step
        The step that goes with both.
    given_step : str or Step
        The step that the user chose, "auto" for one that suits loss and learner.
    """

    loss: Loss
    learner: Learner
    step: Step
    given_step: str | Step = "auto"

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Parts:
        """The parts with the loss prepared for a target (n, K), checked for its numbers of scores and classes."""
        loss, baseline = prepare_with_baseline(self.loss, y, weight, n_classes)
        warn_if_small(loss, y, weight, baseline)
        return replace(self, loss=loss, step=suitable_step(self.given_step, loss, self.learner, len(baseline)))

    def with_learner(self, learner: Learner) -> Parts:
        """The same loss with another learner and a step that suits it."""
        return replace(self, learner=learner, step=suitable_step(self.given_step, self.loss, learner))

    def require_multiclass(self, y: Array, n_classes: int) -> None:
        """Raise a ValueError that names the part that is limited to two classes."""
        require_multiclass(self.loss, n_classes)
        if n_classes > 2 and not self.learner.multi_output and self.loss.n_scores(y, n_classes) > 1:
            raise ValueError(
                f"Only binary classification is supported by learner {self.learner!r}: y must have 2 classes, got "
                f"{n_classes}; learners of several outputs are {multi_output_learners()}"
            )


def compose(estimator: Any) -> Parts:
    """The parts of an estimator, checked one by one and against one another.

    Raises
    ------
    ValueError, TypeError
        If a parameter or a part is invalid, or two parts do not go together.
    """
    require_all(estimator, estimator.constraints)
    task = estimator.task
    loss = LOSSES.create(estimator.default_loss if is_auto(estimator.loss) else estimator.loss)
    learner = LEARNERS.create(DEFAULT_LEARNER if is_auto(estimator.learner) else estimator.learner)
    if task == "classification" and loss.task == "regression":
        loss = LOSSES.create(LabelRegression(loss))
    if loss.task != task:
        raise ValueError(f"{type(estimator).__name__}: loss {estimator.loss!r} is for {loss.task}, not for {task}")
    return Parts(loss, learner, suitable_step(estimator.step, loss, learner), estimator.step)


def suitable_step(given: str | Step, loss: Loss, learner: Learner, n_outputs: int = 1) -> Step:
    """The given step, or the default one of a loss and a learner, checked against both."""
    step = default_step(loss, learner) if is_auto(given) else STEPS.create(given)
    check_composition(loss, learner, step, n_outputs)
    return step


def resolve_nested(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """`params` for ``set_params``, extended so that nested ones also work for parts given by name or "auto"."""
    nested = {name.partition("__")[0] for name in params if "__" in name}
    for role in nested & ROLES.keys():
        if not is_auto(params.get(role, getattr(estimator, role))):
            continue
        if role == "step":
            raise ValueError(
                f"{type(estimator).__name__}: step='auto' has no parameters of its own; choose one of "
                f"{STEPS.names()}"
            )
        params[role] = default_part(estimator, role)
    return resolve_names(estimator, params, ROLES)


def has_attribute(estimator: Any, role: str, name: str) -> bool:
    """A boolean attribute of a part, for scikit-learn's tags, which are read before the part is checked."""
    part = getattr(estimator, role)
    if is_auto(part):
        part = default_part(estimator, role)
    return bool(getattr(ROLES[role].make(part), name, False))


def accepts_labels(estimator: Any) -> bool:
    """Whether the loss of a classifier accepts the indicators of several labels, for scikit-learn's tags."""
    loss = loss_of_classes(estimator)
    try:
        return loss is not None and loss.n_scores(np.eye(2), 3) == 2
    except ValueError:
        return False


def accepts_columns(estimator: Any, n_columns: int) -> bool:
    """Whether the loss of a classifier reads several columns as a label and numbers of its own."""
    loss = loss_of_classes(estimator)
    return loss is not None and has_own_columns(loss, n_columns)


def loss_of_classes(estimator: Any) -> Loss | None:
    """The loss of a classifier before a fit; None if it is none of classes."""
    loss = LOSSES.make(estimator.default_loss if is_auto(estimator.loss) else estimator.loss)
    return loss if isinstance(loss, Loss) and loss.task == "classification" else None


def default_part(estimator: Any, role: str) -> Any:
    """The loss or the learner where it is "auto"."""
    return estimator.default_loss if role == "loss" else DEFAULT_LEARNER


def copy_with_own_parts(estimator: B) -> B:
    """A copy of a fitted estimator whose parts are copies too: nested parameters are then set on its own."""
    copied = copy(estimator)
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, BaseEstimator):
            setattr(copied, name, clone(value))
    return copied
