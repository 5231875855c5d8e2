"""The parts of an estimator: from its parameters to a loss, a learner and a step."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

from sklearn.base import BaseEstimator, clone

from ..boosting.parts import Parts
from ..boosting.steps import STEPS
from ..core import Loss
from ..learners.registry import LEARNERS
from ..losses import LabelRegression
from ..losses.registry import LOSSES
from ..losses.target_statistics import has_own_columns, scores_for, takes_several_targets
from ..utils.param_validation import is_auto, require_all
from ..utils.registry import Registry, resolve_names

B = TypeVar("B", bound=BaseEstimator)

DEFAULT_LEARNER = "mixture"
ROLES: dict[str, Registry[Any]] = {"loss": LOSSES, "learner": LEARNERS, "step": STEPS}


def compose(estimator: Any) -> Parts:
    """The parts of an estimator, resolved and checked one by one.

    Raises
    ------
    ValueError, TypeError
        If a parameter or a part is invalid.
    """
    require_all(estimator, estimator.constraints)
    task = estimator.task
    loss = estimator.default_loss if is_auto(estimator.loss) else estimator.loss
    learner = DEFAULT_LEARNER if is_auto(estimator.learner) else estimator.learner
    parts = Parts.resolved(loss, learner, estimator.step)
    if task == "classification" and parts.loss.task == "regression":
        return replace(parts, loss=LOSSES.create(LabelRegression(parts.loss)))
    if parts.loss.task != task:
        found = parts.loss.task
        raise ValueError(f"{type(estimator).__name__}: loss {estimator.loss!r} is for {found}, not for {task}")
    return parts


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
    return loss is not None and scores_for(loss, 2, 3) == 2


def accepts_classes(estimator: Any) -> bool:
    """Whether the loss of a classifier accepts more than two classes, for scikit-learn's tags."""
    loss = loss_of_classes(estimator)
    return loss is not None and scores_for(loss, 1, 3) is not None


def accepts_several_targets(estimator: Any) -> bool:
    """Whether the loss of a regressor accepts several targets, for scikit-learn's tags."""
    loss = LOSSES.make(estimator.default_loss if is_auto(estimator.loss) else estimator.loss)
    return isinstance(loss, Loss) and takes_several_targets(loss)


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
