"""Checks of the terms that learners return."""

from __future__ import annotations

import numpy as np

from ..core import Fitted, Learner, Round, Term
from ..losses.validation import describe_returned, is_finite, require_unchanged
from ..utils.typing import Array
from .design import Design

# Rows whose features are compared with those before a fit.
N_ROWS = 100
LOOP_ARRAYS = "y", "raw", "gradient", "hessian", "weight"
"""The arrays of a round that the loop uses after the fit."""


def require_same_features(learner: Learner, round: Round) -> None:
    """Raise a ValueError if a learner has changed the standardised features of some rows in place."""
    design = round.design
    if "X" not in vars(design):
        return
    columns = design.center, design.scale, design.n_jobs, design.precision, None, design.expansion, design.clipping
    few = Design(design.original[:N_ROWS], *columns).X
    if not np.allclose(design.X[:N_ROWS], few, atol=1e-6):
        raise ValueError(f"learner {learner!r}: fit must not change design.X in place")


def fit_term(learner: Learner, round: Round, earlier: Term | None = None) -> tuple[Term, Array]:
    """Fit the learner, or an earlier term again; return the term and its outputs on the training rows, checked."""

    def fit() -> Fitted:
        return learner.fit(round) if earlier is None else learner.refit(earlier, round)

    if round.index:
        fitted = fit()
    else:
        # One check is enough to detect learners that change their input.
        owned = {name: getattr(round, name) for name in LOOP_ARRAYS}
        owned["design.original"] = round.design.original
        fitted = require_unchanged("learner {!r}: fit", learner, fit, **owned)
        require_same_features(learner, round)
    term = fitted[0] if isinstance(fitted, tuple) and len(fitted) == 2 else fitted
    if not isinstance(term, Term):
        raise TypeError(
            f"learner {learner!r}: fit must return a Term or a pair (Term, outputs), got {describe_returned(term)}"
        )
    try:
        term.check(round.design.n_features, round.raw.shape[1])
    except ValueError as error:
        raise ValueError(f"learner {learner!r}: its {type(term).__name__}: {error}") from error
    _, output = round.evaluated(fitted)
    if not isinstance(output, np.ndarray) or output.dtype.kind not in "fiu":
        actual = f"an array of {output.dtype}" if isinstance(output, np.ndarray) else f"a {type(output).__name__}"
        raise TypeError(f"learner {learner!r}: its term must yield an array of real numbers, got {actual}")
    if output.shape != round.raw.shape:
        raise ValueError(f"learner {learner!r}: its term must yield shape {round.raw.shape}, got {output.shape}")
    if not is_finite(output):
        raise ValueError(
            f"learner {learner!r}: its term must yield finite numbers, got NaN or infinity in round {round.index}"
        )
    # Steps and scores are in double precision.
    return term, output.astype(np.float64, copy=False)
