"""The public function of the boosting loop, with the checks of its arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..contracts.fit import (
    check_in_fit,
    count_scores,
    is_foreign,
    prepared_loss,
    require_baseline,
    require_finite_target,
    require_known_classes,
)
from ..core import Learner, Loss, Observations, Step, Term
from ..learners.design import Design
from ..rows.row_arguments import check_base_margin
from ..terms.ensemble import Ensemble
from ..utils.param_validation import OPTIONAL, Instance, Integer, require
from ..utils.typing import Array
from .callbacks import CALLBACKS, Callback, ModelLabel
from .loop import Parts, RoundFitter, boost_rounds, initial_ensemble
from .training import CallbackForwarder

PARAMETERS = {
    "n_estimators": Integer(1),
    "callbacks": CALLBACKS,
    "random_state": Integer(0) | OPTIONAL,
    "init": Instance(Ensemble) | OPTIONAL,
    "replay": Instance(Ensemble) | OPTIONAL,
}


def boost(
    design: Design | Array,
    y: Array,
    *,
    loss: str | Loss,
    learner: str | Learner,
    step: str | Step = "auto",
    n_estimators: int = 100,
    weight: Array | None = None,
    random_state: int | None = None,
    callbacks: Sequence[Callback] = (),
    init: Ensemble | None = None,
    base_margin: Array | None = None,
    replay: Ensemble | None = None,
) -> Ensemble:
    """Boost: one loop for every combination of loss, learner and step.

    In each round the learner fits a term to the derivatives of the loss, the step determines its length, and the
    raw scores are updated.

    Parameters
    ----------
    design : Design or ndarray of shape (n, d)
        The features.
    y : ndarray of shape (n, K)
        The target: class indices or real values, in one column or in those that the loss takes. The loss
        ``loss.prepared(y, weight)`` is minimised.
    loss, learner, step : str or instance
        The parts. ``step="auto"`` chooses a step that suits loss and learner.
    n_estimators : int, default=100
        Rounds.
    weight : ndarray of shape (n,), optional
        Sample weights, positive; 1 by default.
    random_state : int, optional
        Seed of every random draw: round t uses ``SeedSequence(random_state, spawn_key=(t,))``. None draws one.
    callbacks : sequence of callable
        Each is called with a :class:`~rffboost_ext.boosting.callbacks.Progress` after every round; a true result
        ends the loop.
    init : Ensemble, optional
        The ensemble to continue from; its rounds come first in the result and count towards `n_estimators`.
    base_margin : ndarray of shape (n,) or (n, C), optional
        An offset of each row: the loss is minimised at raw scores plus the offset.
    replay : Ensemble, optional
        A model of at least `n_estimators` rounds, whose terms are fitted again to these rows by
        :meth:`~rffboost_ext.Learner.refit`: of trees the splits stay and the leaves change.

    Returns
    -------
    Ensemble
        Its raw scores, like those that callbacks see, are without the offset.

    Raises
    ------
    ValueError, TypeError
        If a part is unknown or invalid, or two parts are incompatible, before any work is done; in a round, if a
        custom loss, learner or step returns an invalid result; after two rounds, if custom terms
        break a law of :class:`~rffboost_ext.Term` on some of the rows.
    KeyboardInterrupt
        If the user interrupts it; its attribute ``ensemble`` holds the completed rounds.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import boost
    >>> X = np.linspace(-3, 3, 50)[:, None]
    >>> fitted = boost(X, np.sin(X), loss="squared_error", learner="rff_1", n_estimators=20, random_state=0)
    >>> bool(np.abs(fitted.raw(X) - np.sin(X)).mean() < 0.05)
    True
    """
    parts = Parts.resolved(loss, learner, step)
    arguments = {"n_estimators": n_estimators, "callbacks": callbacks, "random_state": random_state, "init": init}
    arguments["replay"] = replay
    for name, check in PARAMETERS.items():
        require("boost", name, arguments[name], check)
    design, y, weight = check_data(design, y, weight, parts.loss)
    # The rows may lack some classes of an initial ensemble.
    n_outputs = 1 if init is None or parts.loss.task == "regression" else init.n_outputs
    n_classes = n_outputs if n_outputs > 1 else None
    if base_margin is not None:
        base_margin = check_base_margin(base_margin, len(y), count_scores(parts.loss, y, n_classes))
    rows = Observations(y, weight, base_margin)
    loss = prepared_loss(parts.loss, rows, n_classes)
    if init is not None:
        require_baseline(loss, init.baseline, rows.y)
    start = initial_ensemble(loss, rows) if init is None else init
    require_known_classes(loss, rows.y, start.baseline)
    if is_foreign(loss):
        check_in_fit(loss, rows, start.baseline, n_classes)
    parts = replace(parts, loss=loss).checked(start.n_outputs)
    terms = () if replay is None else terms_to_refit(parts.learner, replay, n_estimators)
    seed = np.random.SeedSequence(random_state).entropy
    fitter = RoundFitter(design, rows, replace(parts, own_step=parts.step), seed, terms)
    if len(start) > n_estimators:
        raise ValueError(
            f"boost: n_estimators must be at least the {len(start)} rounds of init, got {n_estimators}"
        )
    forwarder = CallbackForwarder(callbacks, None, n_estimators, ModelLabel(), start.baseline)
    return boost_rounds(fitter, start, None, n_estimators, forwarder)


def terms_to_refit(learner: Learner, replay: Ensemble, n_estimators: int) -> tuple[Term, ...]:
    """The terms of a model that is to be replayed, or a ValueError."""
    if not learner.refits:
        raise ValueError(f"boost: learner must have a method refit with replay, got {learner!r}")
    if len(replay) < n_estimators:
        raise ValueError(f"boost: replay must have at least n_estimators={n_estimators} rounds, got {len(replay)}")
    return replay.terms


def check_data(design: Design | Array, y: Array, weight: Array | None, loss: Loss) -> tuple[Design, Array, Array]:
    """The validated data of :func:`boost`, or a ValueError."""
    if not isinstance(design, Design):
        if np.ndim(design) != 2:
            raise ValueError(f"boost: design must be a Design or have shape (n, d), got {np.shape(design)}")
        design = Design(check_real_array("design", design))
        if not np.isfinite(design.original).all():
            raise ValueError("boost: design must be finite, got NaN or infinity")
    n, y = design.n_samples, check_real_array("y", y).astype(np.float64, copy=False)
    if n == 0:
        raise ValueError("boost: design must have at least one row, got none")
    if y.ndim != 2 or len(y) != n:
        raise ValueError(f"boost: y must have shape ({n}, K), got {y.shape}")
    require_finite_target(loss, y)
    weight = np.ones(n) if weight is None else check_real_array("weight", weight).astype(np.float64, copy=False)
    if weight.shape != (n,):
        raise ValueError(f"boost: weight must have shape ({n},), got {weight.shape}")
    if not (weight > 0.0).all():
        raise ValueError(f"boost: weight must be positive, got {weight.min():g}")
    if not np.isfinite(weight.sum()):
        raise ValueError(f"boost: weight must have a finite sum, got {weight.sum():g}")
    return design, y, weight


def check_real_array(name: str, array: Any) -> Array:
    """A parameter as an array of float32 or float64, or a TypeError that names it."""
    values = np.asarray(array)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"boost: {name} must be real numbers, got an array of type {values.dtype}")
    # Kernels support only these two types.
    return values if values.dtype in (np.float32, np.float64) else values.astype(np.float64)
