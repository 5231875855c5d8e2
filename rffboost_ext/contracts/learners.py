"""The laws of a learner, each a function of a case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ..core import CoupledLoss, Learner, Loss, Observations, Round, Term
from ..learners.design import Design
from ..losses.wrapper import LossWrapper
from ..terms import FeatureMap
from ..terms.ensemble import Ensemble
from ..utils.registry import full_repr
from ..utils.typing import Array
from .comparison import keep_laws, keeping_nothing, require_close, require_that
from .fit import fit_term, unchanged_fit
from .terms import LAWS as LAWS_OF_TERMS
from .terms import LAWS_OF_METHODS, TermCase, advice_on_jumps

N_ROWS, N_FEATURES = 80, 3
# Share of the decrease of the loss that terms have again when they are refitted to their own rows: kernel machines
# choose their penalty anew.
LEAST_AGAIN = 0.8


@dataclass(frozen=True)
class LearnerCase:
    """A learner with a loss that goes with it, for rounds of random features and scores.

    Attributes
    ----------
    learner, loss : Learner, Loss
    n_targets : int
        Columns of the targets.
    boost : callable
        The boosting loop, :func:`~rffboost_ext.boost`.
    """

    learner: Learner
    loss: Loss
    n_targets: int
    boost: Callable[..., Ensemble]

    @property
    def name(self) -> str:
        """The learner, for messages."""
        return f"learner {self.learner!r}"

    def round(self, seed: int = 0, unit: float = 1.0, rows: int = 0, n_features: int = N_FEATURES) -> Round:
        """A round within a fit; the same one for any seed, but for its random numbers.

        Features are measured in a unit, from another origin, that ``design.X`` does not depend on. Further sets of
        rows have other targets.
        """
        rng, n = np.random.default_rng(rows), N_ROWS - 10 * rows
        X = 0.3 + 1.2 * rng.standard_normal((n, n_features))
        weight, y = rng.uniform(0.5, 2.0, n), self.targets(X, rows)
        loss = self.loss.prepared(y, weight, 2 if self.loss.task == "classification" else None)
        raw = loss.baseline(y, weight) + 0.3 * rng.standard_normal((n, loss.n_scores(y)))
        center, scale = np.full(n_features, 0.3 * unit + unit - 1.0), np.full(n_features, 1.2 * unit)
        design = Design(unit * X + unit - 1.0, FeatureMap(center=center, scale=scale))
        derivatives = loss.scales.apply(Observations(y, weight).derivatives(loss, raw))
        return Round(design, loss, y, raw, *derivatives, weight, 0, np.random.default_rng(seed))

    def targets(self, X: Array, rows: int = 0) -> Array:
        """Targets (n, K) that depend on the features; those of further rows fall where those of the first rise."""
        signals = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1], np.cos(X[:, 1]) - X[:, 2]
        if rows:
            signals = 1.5 * X[:, 2] - signals[0], 1.5 * X[:, 0] - signals[1]
        signal = np.column_stack(signals)[:, : self.n_targets]
        if self.loss.task == "classification":
            return (signal[:, :1] > 0.0).astype(np.float64)
        return np.exp(signal) if self.loss.positive else signal

    def fit(self, round: Round) -> tuple[Term, Array]:
        """The term of a round and its outputs, checked as in a fit."""
        return fit_term(self.learner, round)


def clones_are_equal(case: LearnerCase) -> None:
    """A clone has the same parameters."""
    twin = clone(case.learner)
    same = full_repr(twin) == full_repr(case.learner)
    require_that(same, f"{case.name}: clone must have the same parameters, got {twin!r}")


def fits_leave_the_round(case: LearnerCase) -> None:
    """A fit returns a term with finite outputs, and changes neither the round nor the learner."""
    round, learner = case.round(), clone(case.learner)
    with keeping_nothing(f"{case.name}: fit", learner):
        unchanged_fit(learner, round, lambda: learner.fit(round))
    case.fit(case.round())


def fits_repeat(case: LearnerCase) -> None:
    """A fit returns the same term again, whatever the global state of random numbers."""
    _, outputs = case.fit(case.round())
    state = np.random.get_state()  # noqa: NPY002 - the global state must not matter
    np.random.seed(1)  # noqa: NPY002
    _, repeated = case.fit(case.round())
    np.random.set_state(state)  # noqa: NPY002
    what = f"{case.name}: outputs of a second fit must be the same, as random numbers are round.rng's"
    require_close(what, repeated, outputs, 0.0)


def fits_keep_nothing(case: LearnerCase) -> None:
    """A fit does not depend on earlier fits of the same instance, to rows of another number and width."""
    for n_features in (N_FEATURES, N_FEATURES + 1):
        try:
            _, fresh = fit_term(clone(case.learner), case.round(1, rows=1, n_features=n_features))
        except Exception:  # parameters may be for a number of features
            continue
        case.fit(case.round())
        what = f"{case.name}: outputs must not depend on earlier fits, as 'fit' must keep nothing on self"
        actual = case.fit(case.round(1, rows=1, n_features=n_features))[1]
        require_close(what, actual, fresh, 0.0)


def units_do_not_matter(case: LearnerCase) -> None:
    """A fit does not depend on units and origins of the features, as it reads ``design.X``."""
    rounds = [case.round(unit=unit) for unit in (1.0, 4.0)]
    (term, outputs), (_, others) = (case.fit(round) for round in rounds)
    what = f"{case.name}: outputs must be functions of design.X; for features in another unit than design.original"
    require_same_outputs(what, others, outputs, 1e-5 * float(np.abs(outputs).max()), rounds[0], term)


def require_same_outputs(what: str, actual: Array, expected: Array, atol: float, round: Round, term: Term) -> None:
    """Raise a ContractError unless outputs on the rows of a round agree; it says whether the term jumps there."""
    wrong = np.flatnonzero((np.abs(actual - expected) > atol + 1e-5 * np.abs(expected)).any(axis=1))
    if len(wrong):
        what += advice_on_jumps(round.design.restore(term).at, round.design.original, wrong)
    require_close(what, actual, expected, 1e-5, atol)


class Recoded(LossWrapper):
    """A loss of targets y that are stored as ``-3 y``."""

    def inner_target(self, y: Array) -> Array:
        return y / -3.0


def derivatives_decide(case: LearnerCase) -> None:
    """A fit sees the targets through the loss only."""
    if isinstance(case.loss, CoupledLoss):
        return
    round = case.round()
    recoded = replace(round, loss=Recoded(round.loss), y=-3.0 * round.y)
    what = f"{case.name}: outputs must depend on round.residual, not on y - raw; for targets that a loss recodes"
    outputs = case.fit(case.round())[1]
    require_close(what, case.fit(recoded)[1], outputs, 1e-6, 1e-6 * float(np.abs(outputs).max()))


def outputs_are_bounded(case: LearnerCase) -> None:
    """Outputs are within [-1, 1] if the learner is ``bounded``."""
    largest = float(np.abs(case.fit(case.round())[1]).max())
    within = not case.learner.bounded or largest <= 1.0 + 1e-9
    require_that(within, f"{case.name}: outputs must be within [-1, 1], as it is 'bounded', got {largest:g}")


def steps_descend(case: LearnerCase) -> None:
    """A short step along the outputs, forwards or backwards, lowers the loss."""
    round = case.round()
    _, outputs = case.fit(round)
    slope = round.inner(round.gradient, outputs)
    length = -1e-3 * np.sign(slope) / max(float(np.abs(outputs).max()), 1e-300)
    moved = round.observations.losses(round.loss, round.raw + length * outputs)
    change = round.mean(moved - round.observations.losses(round.loss, round.raw))
    require_that(change < 0.0, f"{case.name}: a step along its term must lower the loss, got {change:.3g} more")


def weights_select(case: LearnerCase) -> None:
    """The derivatives and scores of rows of weight 0 do not matter."""
    outputs = []
    for shift in (0.0, 3.0):
        round, rows = case.round(), np.arange(N_ROWS) % 4 == 0
        for values in (round.gradient, round.raw):
            values[rows] += shift
        round.weight[rows] = 0.0
        outputs.append(case.fit(round)[1])
    what = f"{case.name}: outputs must not depend on the derivatives of rows whose weight is 0"
    require_close(what, outputs[1], outputs[0], 1e-6, 1e-6 * float(np.abs(outputs[0]).max()))


def terms_are_valid(case: LearnerCase) -> None:
    """The terms of two fits have the outputs that the fits returned, and keep the laws of terms."""
    rounds = [case.round(seed) for seed in (0, 1)]
    pairs = [case.fit(round) for round in rounds]
    rows, restored = rounds[0].design.original, [rounds[0].design.restore(term) for term, _ in pairs]
    what = f"{case.name}: outputs of its term on the rows in their own units"
    for (term, outputs), round, whole in zip(pairs, rounds, restored, strict=True):
        atol = 1e-5 * max(1.0, float(np.abs(outputs).max()))
        require_same_outputs(what, whole(rows), outputs, atol, round, term)
    alike = [term for term in restored if term.family == restored[0].family]
    keep_laws(TermCase(alike, rows), LAWS_OF_TERMS + LAWS_OF_METHODS)


def rounds_make_progress(case: LearnerCase) -> None:
    """Five rounds lower the loss on the training rows, and do so again when they are replayed on these rows."""
    round = case.round()
    rows = round.design.original

    def fitted(replay: Ensemble | None = None) -> Ensemble:
        parts: dict[str, Any] = {"loss": case.loss, "learner": case.learner, "weight": round.weight}
        return case.boost(rows, round.y, n_estimators=5, random_state=0, replay=replay, **parts)

    def loss_at(raw: Array) -> float:
        return float(round.mean(round.observations.losses(round.loss, raw)))

    ensemble = fitted()
    before, after = loss_at(np.tile(ensemble.baseline, (N_ROWS, 1))), loss_at(ensemble.raw(rows))
    require_that(
        after < before, f"{case.name}: five rounds must lower the loss, got {after:.4g} from {before:.4g}"
    )
    if case.learner.refits:
        again = loss_at(fitted(ensemble).raw(rows))
        require_that(
            before - again >= LEAST_AGAIN * (before - after),
            f"{case.name}: terms that are refitted to their own rows must lower the loss as before, to "
            f"{after:.4g}, got {again:.4g} from {before:.4g}",
        )


def refits_follow_the_rows(case: LearnerCase) -> None:
    """A term that is refitted to other rows, with other targets, is fitted to them and keeps its structure."""
    if not case.learner.refits:
        return
    term, round = case.fit(case.round(2))[0].materialized(), case.round(rows=1)
    again, anew = (
        [fit_term(case.learner, case.round(seed, rows=1), earlier) for seed in (0, 1)] for earlier in (term, None)
    )
    slope, is_old = round.inner(round.gradient, again[0][1]), np.array_equal(again[0][1], round.evaluated(term)[1])
    require_that(
        not is_old and (slope < 0.0 or case.learner.step != "unit"),
        f"{case.name}: refit must fit the values of the term to the rows of the round, and lower their loss, "
        f"got {'the same term' if is_old else f'a slope of {slope:.3g}'}",
    )
    # Learners without a structure, such as ridge regression, fit anew, too.
    drawn = np.abs(anew[0][1] - anew[1][1]).max() > 0.5 * np.abs(anew[0][1]).max()
    is_anew = all(np.array_equal(one[1], other[1]) for one, other in zip(again, anew, strict=True))
    require_that(
        not is_anew or (not drawn and has_structure(round, term, again[0][0])),
        f"{case.name}: refit must keep the structure of the term, such as splits or frequencies, and fit its "
        f"values only, got another structure",
    )


def has_structure(round: Round, term: Term, refitted: Term) -> bool:
    """Whether a term is constant where another one is, as in leaves, and depends on the features of that only."""
    X, functions = round.design.original, [round.design.restore(one).at for one in (term, refitted)]
    old, outputs = (function(X) for function in functions)
    _, first, leaf = np.unique(old, axis=0, return_index=True, return_inverse=True)
    if not np.array_equal(outputs, outputs[first[leaf.ravel()]]):
        return False
    for j in range(X.shape[1]):
        moved = X.copy()
        moved[:, j] = X[::-1, j]
        ignored = [
            np.array_equal(function(moved), values)
            for function, values in zip(functions, (old, outputs), strict=True)
        ]
        if ignored == [True, False]:
            return False
    return True


LAWS = (
    clones_are_equal,
    fits_leave_the_round,
    fits_repeat,
    outputs_are_bounded,
    steps_descend,
    weights_select,
    fits_keep_nothing,
    units_do_not_matter,
    derivatives_decide,
    terms_are_valid,
    rounds_make_progress,
    refits_follow_the_rows,
)
"""The laws of a learner. A fit relies on the second, which it checks in its own first round."""
