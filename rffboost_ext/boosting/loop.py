"""The loop over the rounds of a model, and the parts that it takes: loss, learner and step."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .._signals import raise_dropped
from ..contracts.fit import baseline_of, check_derivatives, check_terms_of_fit, fit_term, is_foreign, prepare
from ..core import Learner, Loss, Observations, Round, Spec, Step, Term
from ..learners.design import Design
from ..learners.registry import LEARNERS
from ..losses.registry import LOSSES
from ..terms.ensemble import Ensemble
from ..terms.mapped import unmapped
from ..utils.parallel import raise_if_abandoned
from ..utils.param_validation import POSITIVE, Integer, is_auto, require
from ..utils.typing import Array
from .plan import Interrupted
from .steps import RATE, STEPS, ConfidenceRated, LineSearch, Newton

REQUIREMENTS = {
    "bounded_ratio": "|gradient| <= hessian everywhere",
    "bounded": "outputs within [-1, 1]",
    "exact_hessian": "the exact second derivative",
}
NO_ROUND = -1, 1.0
"""Index and learning rate before a round has been started."""


@dataclass(frozen=True)
class Parts:
    """The parts of a fit, resolved and checked one by one.

    Parameters
    ----------
    loss, learner : Loss, Learner
    own_step : Step, optional
        The step that the user chose; None for one that suits loss and learner.
    """

    loss: Loss
    learner: Learner
    own_step: Step | None = None

    @classmethod
    def resolved(cls, loss: str | Loss, learner: str | Learner, step: str | Step = "auto") -> Parts:
        """Parts from instances or registered names; a ValueError or TypeError names an invalid parameter."""
        own_step = None if is_auto(step) else STEPS.create(step)
        return cls(LOSSES.create(loss), LEARNERS.create(learner), own_step)

    @cached_property
    def step(self) -> Step:
        """The given step, or the default one of the loss and the learner."""
        return default_step(self.loss, self.learner) if self.own_step is None else self.own_step

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
    return ", ".join(repr(name) for name in LEARNERS.names() if LEARNERS.make(name).multi_output)


class Shrunk(Step):
    """Another step, shortened by a learning rate.

    Parameters
    ----------
    step : Step
        The step to shorten.
    rate : float or callable
        Factor on its length, above 0, or a function that returns it for each round, ``rate(index) -> float``, and
        is called once per round.
    first : int, default=0
        The round in which `index` is 0: the number of rounds of an initial model.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import STEPS, RFFBoostRegressor
    >>> from rffboost_ext import Shrunk
    >>> X = np.arange(50.0)[:, None]
    >>> step = Shrunk(STEPS.make("unit"), rate=lambda index: 0.5 / (1 + index))
    >>> RFFBoostRegressor(learner="tree", step=step, n_estimators=3).fit(X, X[:, 0]).ensemble_.moves.shape
    (3, 2)
    """

    constraints = {"rate": RATE, "first": Integer(0)}
    _latest = NO_ROUND

    def __init__(self, step: Step, rate: float | Callable[[int], float], first: int = 0) -> None:
        self.step = step
        self.rate = rate
        self.first = first

    @property
    def needs(self):  # type: ignore[no-untyped-def,override]
        """The needs of the inner step."""
        return self.step.needs

    def move(self, round: Round, output: Array) -> tuple[float, float]:
        keep, length = take_step(self.step, round, output)
        # A function may return another value in a second call.
        (index, rate), self._latest = self._latest, NO_ROUND
        return keep, (
            rate if index == round.index else learning_rate_at(self.rate, round.index - self.first)
        ) * length

    def __getstate__(self) -> dict[str, Any]:
        # A fit leaves no trace in a step, by which caches know an estimator.
        return {name: value for name, value in super().__getstate__().items() if name != "_latest"}

    def shrinkage(self, index: int) -> float:
        rate = learning_rate_at(self.rate, index - self.first)
        self._latest = index, rate
        return rate * self.step.shrinkage(index)


def take_step(step: Step, round: Round, output: Array) -> tuple[float, float]:
    """The result of a step, two finite numbers, or a TypeError or ValueError that names the step."""
    move = step.move(round, output)
    try:
        keep, length = move
        finite = math.isfinite(keep) and math.isfinite(length)
    except (TypeError, ValueError) as error:
        raise TypeError(f"step {step!r}: move must return two numbers, (keep, length), got {move!r}") from error
    if not finite:
        raise ValueError(f"step {step!r}: move must return finite numbers, got {move!r} in round {round.index}")
    return keep, length


def learning_rate_at(rate: float | Callable[[int], float], index: int) -> float:
    """The learning rate of a round: a number, or the checked result of a function."""
    if not callable(rate):
        return rate
    value = rate(index)
    require("learning_rate", f"what the function returns for round {index}", value, POSITIVE)
    return float(value)


@dataclass(frozen=True)
class RoundFitter:
    """Fits the rounds of a model; round t draws from ``SeedSequence(seed, spawn_key=(t,))``."""

    design: Design
    rows: Observations
    parts: Parts
    seed: int | Sequence[int] | None
    replay: Sequence[Term] = ()
    """Terms of the rounds of another fit, which are fitted again."""
    prior_weight: float = 0.0
    """Weight of their old values, in rows."""

    @cached_property
    def is_foreign(self) -> bool:
        """Whether the learner is not one of this package, so that its terms are checked."""
        return is_foreign(self.parts.learner)

    def fit(self, index: int, raw: Array) -> tuple[Round, Term, Array, float, float]:
        """Fit round `index` at raw scores (n, C), with checks of what loss, learner and step return.

        The result is the state before the update, the term, in the original units of the features, its outputs
        (n, C) on the training rows, and what the step returns, `keep` and `length`.
        """
        loss, step = self.parts.loss, self.parts.step
        derivatives = loss.scales.apply(self.rows.derivatives(loss, raw))
        check_derivatives(loss, derivatives, raw, f"in round {index}")
        # As default_rng, which takes twice the time.
        rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(self.seed, spawn_key=(index,))))
        shrinkage = step.shrinkage(index)
        y, weight, offset = self.rows.y, self.rows.weight, self.rows.offset
        design, earlier = self.design, None
        if self.replay:
            earlier, feature_map = unmapped(self.replay[index])
            design = design.through(feature_map)
        state = y, raw, *derivatives, weight, index, rng, shrinkage
        round = Round(design, loss, *state, offset=offset, prior_weight=self.prior_weight)
        fitted, output = fit_term(self.parts.learner, round, earlier, self.is_foreign)
        keep, length = take_step(step, round, output)
        return round, design.restore(fitted), output, keep, length


def boost_rounds(
    fitter: RoundFitter,
    start: Ensemble,
    init_raw: Array | None,
    n_estimators: int,
    report: Callable[[Round, Term, float, float, Array], bool],
) -> Ensemble:
    """The ensemble `start` with further rounds up to `n_estimators`, from its scores on.

    After each round ``report(round, term, keep, length, raw)`` gets the scores and says whether to end.
    """
    raw = start.raw(fitter.design.original) if init_raw is None else init_raw
    terms, moves = list(start.terms), list(start.moves)
    try:
        for index in range(len(start), n_estimators):
            round, term, output, keep, length = fitter.fit(index, raw)
            raw = (raw if keep == 1.0 else keep * raw) + length * output
            terms.append(term)
            moves.append(np.array([keep, length]))
            if index == len(start) + 1:
                check_terms_of_fit(terms[-2:], fitter.design.original, output)
            if report(round, term, keep, length, raw):
                break
            raise_dropped()
            raise_if_abandoned()
            # Free the arrays of this round before the next.
            del round, output
    except KeyboardInterrupt as error:
        raise Interrupted(build_ensemble(start, terms, moves)) from error
    if len(terms) < len(start) + 2:
        # With the last term of the initial ensemble, as a fit may continue round by round.
        check_terms_of_fit(terms[-2:], fitter.design.original)
    return build_ensemble(start, terms, moves)


def initial_ensemble(loss: Loss, rows: Observations) -> Ensemble:
    """The ensemble before the first round: the loss's baseline."""
    return Ensemble(baseline_of(loss, rows), (), np.empty((0, 2)))


def build_ensemble(start: Ensemble, terms: Sequence[Term], moves: Sequence[Array]) -> Ensemble:
    """The ensemble of the completed rounds: an interrupt may come between a term and its move."""
    done = tuple(term.materialized() for term in terms[: len(moves)])
    return Ensemble(start.baseline, done, np.reshape(moves, (-1, 2)))
