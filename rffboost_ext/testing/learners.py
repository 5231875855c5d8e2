"""The laws of a learner, checked in rounds of a small fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from ..boosting.loop import boost
from ..boosting.parts import check_composition, default_step
from ..core import Learner, Loss, Observations, Round, Term
from ..core.spec import full_repr
from ..learners.design import Design
from ..learners.registry import LEARNERS
from ..losses.registry import LOSSES
from ..losses.units import scale_derivatives
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .comparison import named_errors, require, require_close, require_shape
from .terms import check_term

N_ROWS, N_FEATURES = 80, 3
LOSSES_TO_TRY = "squared_error", "exponential", "log_loss"
SINGLE_PRECISION = 1e-5
ARRAYS = "y", "raw", "gradient", "hessian", "weight"


def check_learner(learner: str | Learner, loss: str | Loss | None = None) -> None:
    """Raise an AssertionError that names the law that a learner breaks.

    Checked are, for one output and, if ``multi_output``, for two: that ``fit`` returns a term of the right shape,
    leaves the round and the learner unchanged and draws all random numbers from ``round.rng``; that outputs are
    within [-1, 1] if ``bounded``; that rows of weight 0 do not matter; that a step along the term lowers the loss,
    and five rounds do; that ``refit``, if it has one, leaves these rounds as they are on the same rows; ``clone``;
    and the laws of its terms, see :func:`check_term`.

    Parameters
    ----------
    learner : str or Learner
        A registered name or an instance.
    loss : str or Loss, optional
        The loss of the fits, for binary classification with labels 0 and 1 or for regression, with one column of
        targets; by default the first of squared error, exponential and log loss that the learner goes with.

    Raises
    ------
    AssertionError
        If the learner breaks a law.
    ValueError
        If the learner goes with none of the losses, or the loss takes targets of another kind.

    Examples
    --------
    >>> from rffboost_ext.testing import check_learner
    >>> check_learner("rff_newton")
    """
    with named_errors(f"learner {type(learner).__name__}: get_params"):
        repr(learner)
    learner = LEARNERS.create(learner)
    loss = LOSSES.create(suitable_loss(learner) if loss is None else loss)
    check_clone(learner)
    require_suitable(loss, learner)
    with named_errors(f"learner {learner!r}: fit, in one of a few rounds,"):
        check_rounds(learner, loss)


def check_rounds(learner: Learner, loss: Loss) -> None:
    """The laws of a fit for one target, and for two."""
    for n_targets in (1, 2) if learner.multi_output and loss.multi_output else (1,):
        check_fit(learner, loss, n_targets)
        check_weights(learner, loss, n_targets)
    check_progress(learner, loss)


def require_suitable(loss: Loss, learner: Learner) -> None:
    """Raise a ValueError unless a loss takes the targets of the rounds, and the learner its number of scores."""
    try:
        n_outputs = sample_round(loss, 1).raw.shape[1]
        check_composition(loss, learner, default_step(loss, learner), n_outputs)
    except Exception as error:  # a loss of other targets may raise anything
        raise ValueError(
            f"check_learner: loss {loss!r} must take one column of labels or of real numbers, and go with the "
            f"learner, got {type(error).__name__}: {error}"
        ) from error


def suitable_loss(learner: Learner) -> str:
    """The first of a few losses that a learner goes with."""
    errors = []
    for name in LOSSES_TO_TRY:
        try:
            loss = LOSSES.create(name)
            check_composition(loss, learner, default_step(loss, learner))
        except ValueError as error:
            errors.append(str(error))
        else:
            return name
    raise ValueError(f"learner {learner!r} goes with none of the losses {LOSSES_TO_TRY}: {'; '.join(errors)}")


def sample_target(loss: Loss, X: Array, n_targets: int) -> Array:
    """Targets (n, K) that depend on the features."""
    signal = np.column_stack([np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1], np.cos(X[:, 1]) - X[:, 2]])[:, :n_targets]
    if loss.task == "classification":
        return (signal[:, :1] > 0.0).astype(np.float64)
    return np.exp(signal) if loss.positive else signal


def sample_round(loss: Loss, n_targets: int, seed: int = 0) -> Round:
    """A round within a fit, of random features and scores."""
    rng = np.random.default_rng(0)
    X = 0.3 + 1.2 * rng.standard_normal((N_ROWS, N_FEATURES))
    weight, y = rng.uniform(0.5, 2.0, N_ROWS), sample_target(loss, X, n_targets)
    loss = loss.prepared(y, weight, 2 if loss.task == "classification" else None)
    raw = loss.baseline(y, weight) + 0.3 * rng.standard_normal((N_ROWS, loss.n_scores(y)))
    design = Design(X, np.full(N_FEATURES, 0.3), np.full(N_FEATURES, 1.2))
    derivatives = scale_derivatives(loss, Observations(y, weight).derivatives(loss, raw))
    return Round(design, loss, y, raw, *derivatives, weight, 0, np.random.default_rng(seed))


def fit_unchanged(learner: Learner, round: Round) -> tuple[Term, Array]:
    """The term of a round and its outputs.

    Raises an AssertionError unless the fit leaves the round and the learner as they are.
    """
    arrays = {name: getattr(round, name) for name in ARRAYS} | {"design.X": round.design.X}
    before, params = {name: values.copy() for name, values in arrays.items()}, full_repr(learner)
    fitted = learner.fit(round)
    for name, values in arrays.items():
        require(np.array_equal(values, before[name]), f"learner {learner!r}: fit must not change round.{name}")
    require(full_repr(learner) == params, f"learner {learner!r}: fit must not change its parameters")
    term = fitted[0] if isinstance(fitted, tuple) else fitted
    require(isinstance(term, Term), f"learner {learner!r}: fit must return a Term, got a {type(term).__name__}")
    return round.evaluated(fitted)


def check_fit(learner: Learner, loss: Loss, n_targets: int) -> None:
    """A fit returns a valid term, the same one again, whatever the global state of random numbers."""
    round = sample_round(loss, n_targets)
    term, outputs = fit_unchanged(learner, round)
    name, design, rows = f"learner {learner!r}", round.design, round.design.original
    restored = design.restore(term)
    require_shape(f"{name}: outputs of its term", outputs, round.raw.shape)
    state = np.random.get_state()  # noqa: NPY002 - the global state must not matter
    np.random.seed(1)  # noqa: NPY002
    again = sample_round(loss, n_targets)
    _, repeated = again.evaluated(learner.fit(again))
    np.random.set_state(state)  # noqa: NPY002
    require_close(
        f"{name}: outputs of a second fit must be the same, as random numbers are round.rng's",
        repeated,
        outputs,
        0.0,
    )
    largest = float(np.abs(outputs).max())
    require(
        not learner.bounded or largest <= 1.0 + 1e-9,
        f"{name}: outputs must be within [-1, 1], as it is 'bounded', got {largest:g}",
    )
    check_descent(name, round, outputs)
    what = f"{name}: outputs of its term on the rows in their own units"
    require_close(what, restored(rows), outputs, rtol=1e-5, atol=SINGLE_PRECISION * max(1.0, largest))
    other = sample_round(loss, n_targets, seed=1)
    check_term(restored, rows, other.design.restore(other.evaluated(learner.fit(other))[0]))


def check_weights(learner: Learner, loss: Loss, n_targets: int) -> None:
    """The derivatives and targets of rows of weight 0 do not matter."""
    outputs = []
    for shift in (0.0, 3.0):
        round = sample_round(loss, n_targets)
        rows = np.arange(N_ROWS) % 4 == 0
        for values in (round.gradient, round.raw):
            values[rows] += shift
        round.weight[rows] = 0.0
        outputs.append(round.evaluated(learner.fit(round))[1])
    what = f"learner {learner!r}: outputs must not depend on the derivatives of rows whose weight is 0"
    require_close(what, outputs[1], outputs[0], 1e-6, 1e-6 * float(np.abs(outputs[0]).max()))


def check_descent(name: str, round: Round, outputs: Array) -> None:
    """A short step along the outputs, forwards or backwards, lowers the loss."""
    slope = round.inner(round.gradient, outputs)
    length = -1e-3 * np.sign(slope) / max(float(np.abs(outputs).max()), 1e-300)
    moved = round.observations.losses(round.loss, round.raw + length * outputs)
    change = round.mean(moved - round.observations.losses(round.loss, round.raw))
    require(change < 0.0, f"{name}: a step along its term must lower the loss, got a change of {change:.3g}")


def check_progress(learner: Learner, loss: Loss) -> None:
    """Five rounds lower the loss on the training rows; replayed on these rows they stay the same."""
    round = sample_round(loss, 1)
    rows = round.design.original

    def fitted(replay: Ensemble | None = None) -> Ensemble:
        parts: dict[str, Any] = {"loss": loss, "learner": learner, "weight": round.weight, "replay": replay}
        return boost(rows, round.y, n_estimators=5, random_state=0, **parts)

    ensemble = fitted()
    before, after = (
        float(round.mean(round.observations.losses(round.loss, raw)))
        for raw in (np.tile(ensemble.baseline, (N_ROWS, 1)), ensemble.raw(rows))
    )
    require(
        after < before, f"learner {learner!r}: five rounds must lower the loss, got {after:.6g} from {before:.6g}"
    )
    if learner.refits:
        what = (
            f"learner {learner!r}: terms that are refitted to their own rows must stay the same, but their outputs"
        )
        require_close(what, fitted(ensemble).raw(rows), ensemble.raw(rows), 1e-6, 1e-6)


def check_clone(learner: Learner) -> None:
    """A clone has the same parameters."""
    learner.validate()
    twin = clone(learner)
    require(
        full_repr(twin) == full_repr(learner),
        f"learner {learner!r}: clone must have the same parameters, got {twin!r}",
    )
