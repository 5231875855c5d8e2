"""An estimator made of parts: a loss, a learner and a step, each given by name or as an instance."""

from __future__ import annotations

from copy import copy
from typing import Any, ClassVar, TypeVar

from sklearn.base import BaseEstimator, clone

from ..boosting.steps import STEPS, default_step
from ..core import Learner, Loss, Step
from ..learners.composition import check_composition
from ..learners.registry import LEARNERS
from ..losses import LabelRegression
from ..losses.registry import LOSSES
from ..utils.param_validation import Check, is_auto, require_all
from ..utils.registry import Registry, resolve_names

C = TypeVar("C", bound="ComposedEstimator")
B = TypeVar("B", bound=BaseEstimator)

DEFAULT_LEARNER = "mixture"
ROLES: dict[str, Registry[Any]] = {"loss": LOSSES, "learner": LEARNERS, "step": STEPS}


class ComposedEstimator(BaseEstimator):
    """Resolves the parts of a booster, checks them against one another, and sets their parameters."""

    task: ClassVar[str]
    default_loss: ClassVar[str]
    constraints: ClassVar[dict[str, Check]]
    loss: str | Loss
    learner: str | Learner
    step: str | Step

    def set_params(self: C, **params: Any) -> C:
        """Set parameters, including nested ones such as ``learner__gamma``, also of a part given by name.

        Parameters
        ----------
        **params
            Names and values.

        Returns
        -------
        self
        """
        if any(name.startswith("step__") for name in params) and is_auto(params.get("step", self.step)):
            raise ValueError(
                f"{type(self).__name__}: step='auto' has no parameters of its own; choose one of {STEPS.names()}"
            )
        for role, name in (("loss", self.default_loss), ("learner", DEFAULT_LEARNER)):
            if any(key.startswith(f"{role}__") for key in params) and is_auto(
                params.get(role, getattr(self, role))
            ):
                params[role] = name
        return super().set_params(**resolve_names(self, params, ROLES))

    def _parts(self) -> tuple[Loss, Learner, Step]:
        """The parts of this booster, checked one by one and against one another."""
        require_all(self, self.constraints)
        loss = LOSSES.create(self.default_loss if is_auto(self.loss) else self.loss)
        learner = LEARNERS.create(DEFAULT_LEARNER if is_auto(self.learner) else self.learner)
        if self.task == "classification" and loss.task == "regression":
            loss = LOSSES.create(LabelRegression(loss))
        if loss.task != self.task:
            raise ValueError(f"{type(self).__name__}: loss {self.loss!r} is for {loss.task}, not for {self.task}")
        return loss, learner, self._step_for(loss, learner)

    def _step_for(self, loss: Loss, learner: Learner, n_outputs: int = 1) -> Step:
        """The step that suits a loss and a learner, checked against both."""
        step = default_step(loss, learner) if is_auto(self.step) else STEPS.create(self.step)
        check_composition(loss, learner, step, n_outputs)
        return step

    def _fact(self, role: str, name: str) -> bool:
        """A boolean attribute of a part, for scikit-learn's tags, which are read before the part is checked."""
        part = getattr(self, role)
        if is_auto(part):
            part = {"loss": self.default_loss, "learner": DEFAULT_LEARNER}[role]
        return bool(getattr(ROLES[role].make(part), name, False))


def with_own_parts(estimator: B) -> B:
    """A copy of a fitted estimator whose parts are copies too: nested parameters are then set on its own."""
    made = copy(estimator)
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, BaseEstimator):
            setattr(made, name, clone(value))
    return made
