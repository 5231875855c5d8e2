"""What a fit checks of its parts: the prepared loss, and in each round derivatives, terms and outputs.

The laws that a fit relies on are checked once for each class that is not one of this package.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..core import Fitted, Learner, Loss, Observations, Round, Scales, Spec, Term
from ..losses.classification import require_class_indices
from ..losses.constant_scores import constant_scores
from ..terms.ensemble import group_by_family
from ..utils.param_validation import POSITIVE, POSITIVE_SEQUENCE, Instance, Integer, require
from ..utils.registry import full_repr
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .comparison import (
    ContractError,
    contract_errors,
    describe,
    keep_laws,
    keeping_nothing,
    require_derivatives,
    require_shape,
    require_that,
    require_unchanged,
)
from .derivatives import gradient_is_the_derivative
from .loss_case import ADVICE, LossCase, cases_of_fit
from .losses import (
    LAWS_OF_FIT,
    both_classes_matter,
    constants_are_predicted,
    nothing_is_kept,
    rows_may_repeat,
    rows_stand_alone,
    translation,
)
from .terms import LAWS, TOLERANCE_OF_FIT, TermCase

PACKAGE = __name__.partition(".")[0]
# Gradients and hessians below which penalties, for hessians of about 1, leave nothing to learn.
SMALL = 1e-3
PASSED: WeakKeyDictionary[type[Loss], set[tuple[str, bool]]] = WeakKeyDictionary()
"""The classes of losses that have passed in a fit: their parameters, and whether there was an offset."""
# Rows of a fit on which the laws of terms are checked.
ROWS_OF_FIT = 32
ARRAYS = "y", "raw", "gradient", "hessian", "weight"
"""The arrays of a round."""
POSITIVE_INTEGER = Integer(1)
LAWS_OF_SPREAD = rows_stand_alone, rows_may_repeat, both_classes_matter
"""Laws that a fit checks at scores that differ from row to row."""
# Gradients in a fit may differ from differences by this share, and so many are checked if rows are coupled.
TOLERANCE_OF_GRADIENT, FEW_DERIVATIVES = 0.1, 6


def is_foreign(part: Spec | Term) -> bool:
    """Whether the class of a part, or of a part in it, is not one of this package."""
    if isinstance(part, Term):
        part = part.innermost
    if type(part).__module__.partition(".")[0] != PACKAGE:
        return True
    inner = [value for value in vars(part).values() if isinstance(value, Spec)]
    return any(map(is_foreign, inner))


def is_finite_array(values: Any, shape: tuple[int, ...]) -> bool:
    """Whether an object is a finite array of a shape. A sum is cheap, but may overflow although all are finite."""
    if not isinstance(values, np.ndarray) or values.shape != shape or values.dtype.kind not in "fiu":
        return False
    return math.isfinite(np.add.reduce(values, axis=None)) or bool(np.isfinite(values).all())


def prepare(loss: Loss, rows: Observations, n_classes: int | None = None) -> tuple[Loss, Array]:
    """The prepared loss and the constant scores that minimise it, (C,).

    Parameters
    ----------
    loss : Loss
    rows : Observations
        All rows of the fit.
    n_classes : int, optional
        Number of classes; rows may lack some unless it is given.

    Raises
    ------
    ValueError
        If the loss refuses the targets, or breaks a law of its contract that a fit relies on.
    """
    prepared = prepared_loss(loss, rows, n_classes)
    baseline = baseline_of(prepared, rows, n_classes)
    if is_foreign(prepared):
        check_in_fit(prepared, rows, baseline, n_classes)
    return prepared, baseline


def prepared_loss(loss: Loss, rows: Observations, n_classes: int | None = None) -> Loss:
    """The loss prepared for the targets, or a ValueError if it refuses them."""
    y, weight = rows.target(loss), rows.weight
    # With an offset targets may have a column for each score.
    count_scores(loss, rows.y, n_classes)
    if is_foreign(loss):
        return watched_preparation(loss, y, weight, n_classes)
    loss.check_target(y)
    return loss.prepared(y, weight, n_classes)


def watched_preparation(loss: Loss, y: Array, weight: Array, n_classes: int | None) -> Loss:
    """What ``prepared`` of a user's loss returns, or a ContractError if that changes the loss or the arrays."""
    require_accepted_target(loss, y)
    before = dict(vars(loss))
    what = f"loss {loss!r}: prepared"
    prepared = require_unchanged(what, lambda: loss.prepared(y, weight, n_classes), y=y, weight=weight)
    changed = [name for name, value in vars(loss).items() if name not in before or before[name] is not value]
    if changed:
        raise ContractError(
            f"{what} must not change the loss, whose {', '.join(changed)} other fits share: "
            f"return a clone with parameters"
        )
    if not isinstance(prepared, Loss):
        raise TypeError(f"{what} must return a Loss, got {describe(prepared)}")
    require(type(prepared).__name__, "scales", prepared.scales, Instance(Scales))
    require(type(prepared).__name__, "scales.unit", prepared.scales.unit, POSITIVE | POSITIVE_SEQUENCE)
    return prepared


def baseline_of(loss: Loss, rows: Observations, n_classes: int | None = None) -> Array:
    """The constant scores that minimise a prepared loss, (C,), of the number that ``n_scores`` says."""

    def find() -> Array:
        return loss.baseline(rows.y, rows.weight) if rows.offset is None else constant_scores(loss, rows)

    if is_foreign(loss):
        with contract_errors(f"loss {loss!r}: baseline", ADVICE):
            baseline = require_unchanged(f"loss {loss!r}: baseline", find, y=rows.y, weight=rows.weight)
    else:
        baseline = find()
    require_baseline(loss, baseline, rows.y, n_classes)
    return baseline


def require_baseline(loss: Loss, baseline: Any, y: Array, n_classes: int | None = None) -> None:
    """Raise a ValueError unless constant scores are finite, and as many as a target y (n, K) needs.

    Rows may lack some classes: then scores are counted only where `n_classes` is given.
    """
    if not isinstance(baseline, np.ndarray) or baseline.ndim != 1 or not np.isfinite(baseline).all():
        raise ContractError(f"loss {loss!r}: baseline must be a finite array of shape (C,), got {baseline!r}")
    if loss.task == "classification" and n_classes is None:
        return
    if len(baseline) != (n_scores := count_scores(loss, y, n_classes)):
        raise ContractError(
            f"loss {loss!r}: baseline must have an entry for each of {n_scores} scores, as n_scores says, got "
            f"{baseline!r}"
        )


def count_scores(loss: Loss, y: Array, n_classes: int | None = None) -> int:
    """``loss.n_scores(y, n_classes)``, or a ValueError unless it is a positive integer."""
    n_scores = loss.n_scores(y, n_classes)
    if not POSITIVE_INTEGER.accepts(n_scores):
        raise ContractError(f"loss {loss!r}: n_scores must return {POSITIVE_INTEGER}, got {n_scores!r}")
    return int(n_scores)


def require_accepted_target(loss: Loss, y: Array) -> None:
    """Raise a ValueError if a loss does not accept the values of a target, or changes them in place."""
    if is_foreign(loss):
        require_unchanged(f"loss {loss!r}: check_target", lambda: loss.check_target(y), y=y)
    else:
        loss.check_target(y)


def require_known_classes(loss: Loss, y: Array, scores: Array) -> None:
    """Raise a ValueError unless targets of classes are indices of the columns of the response at scores (C,)."""
    if loss.task == "classification":
        require_class_indices(loss, y[:, :1], np.shape(loss.link.inverse(scores[None]))[1])


def require_finite_target(loss: Loss, y: Array) -> None:
    """Raise a ValueError if a target (n, K) is NaN, or infinite where the loss does not take that."""
    if np.isnan(y).any() or not (loss.infinite or np.isfinite(y).all()):
        allowed = "numbers or infinity, got NaN" if loss.infinite else "finite, got NaN or infinity"
        raise ValueError(f"loss {loss!r}: y must be {allowed}")


def check_in_fit(loss: Loss, rows: Observations, baseline: Array, n_classes: int | None) -> None:
    """Raise a ContractError if a user's prepared loss breaks a law that a fit relies on, on at most 100 rows."""
    near, spread = cases_of_fit(loss, rows, baseline, n_classes)
    passed, variant = PASSED.setdefault(type(loss), set()), (full_repr(loss), rows.offset is not None)
    if variant not in passed:
        for law in LAWS_OF_FIT:
            law(near)
        for law in LAWS_OF_SPREAD:
            law(spread)
        gradient_is_the_derivative(spread, TOLERANCE_OF_GRADIENT, FEW_DERIVATIVES)
        if rows.offset is not None:
            translation(near)
        passed.add(variant)
    warn_if_wrong(near)
    warn_if_small(near)


def warn_if_wrong(case: LossCase) -> None:
    """Warn if the loss keeps something, the link is not its own, or no score has a gradient at the baseline."""
    for law in (nothing_is_kept, constants_are_predicted):
        try:
            keep_laws(case, [law])
        except ContractError as error:
            warn_user(str(error))
    if not case.derivatives(case.raw)[0].any() and (case.rows.y != case.rows.y[0]).any():
        warn_user(
            f"{case.name}: all gradients are 0 at the baseline, so that a fit learns nothing; base_margin gives "
            f"it another start"
        )


def warn_if_small(case: LossCase) -> None:
    """Warn if all gradients and hessians of a score are far below 1 at the baseline."""
    loss = case.loss
    derivatives = loss.scales.apply(case.derivatives(case.raw))
    gradient, hessian = (np.abs(values).max(axis=0) for values in derivatives)
    small = (gradient > 0.0) & (gradient < SMALL) & (hessian > 0.0) & (hessian < SMALL)
    if small.any():
        unit = np.where(small, 1.0 / np.where(small, hessian, 1.0), 1.0) * np.asarray(loss.scales.unit)
        units = ", ".join(f"{one:.1g}" for one in np.broadcast_to(unit, small.shape))
        warn_user(
            f"loss {loss!r}: hessians are at most {hessian[small].max():.1g} at the baseline; penalties such as "
            f"l2, reg_lambda and min_child_weight are for hessians of about 1. The loss needs "
            f"scales = Scales(unit={f'({units})' if len(small) > 1 else units})"
        )


def check_derivatives(loss: Loss, derivatives: Any, raw: Array, where: str) -> None:
    """Raise a ContractError that says `where` unless derivatives are finite and of the shape of `raw` (n, C)."""
    is_pair = isinstance(derivatives, tuple | list) and len(derivatives) == 2
    if not (
        is_pair
        and is_finite_array(derivatives[0], raw.shape)
        and is_finite_array(derivatives[1], raw.shape)
        and derivatives[1].min() >= 0.0
    ):
        require_derivatives(loss, derivatives, raw, where)


def fit_term(
    learner: Learner, round: Round, earlier: Term | None = None, foreign: bool = True
) -> tuple[Term, Array]:
    """Fit a learner, or an earlier term again; return the term and its outputs (n, C) on the rows of the round.

    The arrays of terms are checked if the learner is `foreign`, which is one that is not of this package.

    Raises
    ------
    ValueError, TypeError
        If the learner returns no term, or outputs of another shape or not finite; or, if its class is not one of
        this package, changes the round or itself in the first round.
    """

    def fit() -> Fitted:
        return learner.fit(round) if earlier is None else learner.refit(earlier, round)

    if round.index == 0 and foreign:
        with keeping_nothing(f"learner {learner!r}: fit", learner, warn_user):
            fitted = unchanged_fit(learner, round, fit)
    else:
        fitted = fit()
    term = fitted[0] if isinstance(fitted, tuple) and len(fitted) == 2 else fitted
    if not isinstance(term, Term):
        raise TypeError(
            f"learner {learner!r}: fit must return a Term or a pair (Term, outputs), got {describe(term)}"
        )
    if foreign:
        try:
            n_features = round.design.original.shape[1] if term.on_original else round.design.n_features
            term.check(n_features, round.raw.shape[1])
        except ValueError as error:
            raise ValueError(f"learner {learner!r}: its {type(term).__name__}: {error}") from error
    _, output = round.evaluated(fitted)
    if not is_finite_array(output, round.raw.shape):
        what = f"learner {learner!r}: what its term yields"
        require_shape(what, output, round.raw.shape, where=f" in round {round.index}")
    # Steps and scores are in double precision.
    return term, output.astype(np.float64, copy=False)


def unchanged_fit(learner: Learner, round: Round, fit: Callable[[], Fitted]) -> Fitted:
    """What a fit returns, or a ContractError if it changes the round or the parameters of the learner."""
    arrays = {f"round.{name}": getattr(round, name) for name in ARRAYS}
    arrays |= {"design.X": round.design.X, "design.original": round.design.original}
    params = full_repr(learner)
    fitted: Fitted = require_unchanged(f"learner {learner!r}: fit", fit, **arrays)
    require_that(full_repr(learner) == params, f"learner {learner!r}: fit must not change its parameters")
    return fitted


def check_terms_of_fit(terms: Sequence[Term], X: Array, outputs: Array | None = None) -> None:
    """Raise a ContractError that names the law if a user's term breaks one on some rows of a fit, at most 32.

    Parameters
    ----------
    terms : sequence of Term
        Terms of a fit; terms of this package are not checked.
    X : ndarray of shape (n, d)
        Its rows.
    outputs : ndarray of shape (n, C), optional
        What the fit takes as the outputs of the last term on these rows, such as those that its learner returned.
    """
    rows = np.unique(np.linspace(0, len(X) - 1, min(len(X), ROWS_OF_FIT)).astype(np.intp))
    for family in group_by_family([term for term in terms if is_foreign(term)]).values():
        case = TermCase(family, np.asarray(X[rows]), TOLERANCE_OF_FIT, rows)
        keep_laws(case, LAWS)
        if outputs is not None and family[-1] is terms[-1]:
            law, size = "the outputs that the learner returned must be term(X)", np.abs(outputs).max(axis=0)
            case.require_same(law, outputs[rows], terms[-1], X[rows], size)
