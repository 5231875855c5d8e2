"""The parts of a fit, a loss, a learner and a step: which go together, and which step suits the others."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..contracts.preparation import prepare
from ..core import Learner, Loss, Observations, Spec, Step
from ..learners.registry import LEARNERS
from ..losses.registry import LOSSES
from ..utils.param_validation import is_auto
from ..utils.typing import Array
from .steps import STEPS, ConfidenceRated, LineSearch, Newton

REQUIREMENTS = {
    "bounded_ratio": "|gradient| <= hessian everywhere",
    "bounded": "outputs within [-1, 1]",
    "exact_hessian": "the exact second derivative",
}


@dataclass(frozen=True)
class Parts:
    """The parts of a fit, resolved and checked one by one.

    Parameters
    ----------
    loss, learner : Loss, Learner
    given_step : Step, optional
        The step that the user chose; None for one that suits loss and learner.
    """

    loss: Loss
    learner: Learner
    given_step: Step | None = None

    @classmethod
    def resolved(cls, loss: str | Loss, learner: str | Learner, step: str | Step = "auto") -> Parts:
        """Parts from instances or registered names; a ValueError or TypeError names an invalid parameter."""
        given_step = None if is_auto(step) else STEPS.create(step)
        return cls(LOSSES.create(loss), LEARNERS.create(learner), given_step)

    @property
    def step(self) -> Step:
        """The given step, or the default one of the loss and the learner."""
        return default_step(self.loss, self.learner) if self.given_step is None else self.given_step

    def prepared(self, rows: Observations, n_classes: int | None = None) -> Parts:
        """The parts with the loss prepared for some rows, checked against one another and the targets."""
        loss, baseline = prepare(self.loss, rows, n_classes)
        return replace(self, loss=loss).checked(len(baseline))

    def with_learner(self, learner: Learner) -> Parts:
        """The same loss with another learner, checked against it."""
        return replace(self, learner=learner).checked()

    def checked(self, n_outputs: int = 1) -> Parts:
        """The parts themselves, or a ValueError that names two incompatible ones."""
        check_composition(self.loss, self.learner, self.step, n_outputs)
        return self

    def require_multiclass(self, y: Array, n_classes: int) -> None:
        """Raise a ValueError that names the part that is limited to two classes."""
        if self.loss.n_scores(y, n_classes) > 1 and n_classes > 2 and not self.learner.multi_output:
            raise ValueError(
                f"Only binary classification is supported by learner {self.learner!r}: y must have 2 classes, got "
                f"{n_classes}; learners of several outputs are {multi_output_learners()}"
            )


def default_step(loss: Loss, learner: Learner) -> Step:
    """The step for ``step="auto"``: the learner's own, else the best that the loss allows."""
    if learner.step is not None:
        return STEPS.make(learner.step)
    if loss.bounded_ratio and learner.bounded:
        return ConfidenceRated()
    return Newton() if loss.exact_hessian else LineSearch()


def check_composition(loss: Loss, learner: Learner, step: Step, n_outputs: int = 1) -> None:
    """Raise a ValueError that names two incompatible parts and the missing attribute.

    Each part lists in ``needs`` the attributes that the others must provide.
    """
    roles: dict[str, Spec] = {"loss": loss, "learner": learner, "step": step}
    for role, part in roles.items():
        for other, facts in part.needs.items():
            for fact in facts:
                if not getattr(roles[other], fact, False):
                    raise ValueError(
                        f"{role} {part!r} is incompatible with {other} {roles[other]!r}: it needs a {other} "
                        f"with {REQUIREMENTS.get(fact, fact)} (attribute {fact!r})"
                    )
    if n_outputs > 1 and not learner.multi_output:
        raise ValueError(
            f"learner {learner!r} is incompatible with loss {loss!r}: the loss has {n_outputs} outputs and the "
            f"learner fits one (attribute 'multi_output'); several outputs need one of {multi_output_learners()}"
        )


def multi_output_learners() -> str:
    """The names of registered learners that can fit several outputs."""
    return ", ".join(repr(name) for name in LEARNERS.names() if LEARNERS.get(name).multi_output is True)
