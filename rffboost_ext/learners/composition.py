"""Checks that a loss, a learner and a step are compatible."""

from __future__ import annotations

from ..core import Learner, Loss, Spec, Step

REQUIREMENTS = {
    "bounded_ratio": "|gradient| <= hessian everywhere",
    "bounded": "outputs within [-1, 1]",
    "exact_hessian": "the exact second derivative",
}


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
    from .registry import LEARNERS

    return ", ".join(repr(name) for name in LEARNERS.names() if LEARNERS.get(name).multi_output is True)
