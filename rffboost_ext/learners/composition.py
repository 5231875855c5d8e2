"""Whether a loss, a learner and a step go together."""

from __future__ import annotations

from ..core import Learner, Loss, Spec, Step

FACTS = {
    "bounded_ratio": "|gradient| <= hessian everywhere",
    "bounded": "outputs within [-1, 1]",
    "exact_hessian": "the exact second derivative",
}


def check_composition(loss: Loss, learner: Learner, step: Step, n_outputs: int = 1) -> None:
    """Raise a ValueError that names two incompatible parts and what is missing.

    Each part lists in ``needs`` the attributes that the others must provide.
    """
    roles: dict[str, Spec] = {"loss": loss, "learner": learner, "step": step}
    for role, part in roles.items():
        for other, facts in part.needs.items():
            for fact in facts:
                if not getattr(roles[other], fact, False):
                    raise ValueError(
                        f"{role} {part!r} does not go with {other} {roles[other]!r}: it needs a {other} "
                        f"with {FACTS.get(fact, fact)} (attribute {fact!r})"
                    )
    if n_outputs > 1 and not learner.multi_output:
        raise ValueError(
            f"learner {learner!r} does not go with loss {loss!r} here: the loss has {n_outputs} outputs and the "
            f"learner fits one (attribute 'multi_output'); of several outputs are {multi_output_learners()}"
        )


def multi_output_learners() -> str:
    """The names of registered learners that can fit several outputs."""
    from .registry import LEARNERS

    return ", ".join(repr(name) for name in LEARNERS.names() if LEARNERS.get(name).multi_output is True)
