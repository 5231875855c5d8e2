"""Checks of the term that a learner returns."""

from __future__ import annotations

import numpy as np

from ..core import Learner, Round, Term
from ..losses.validation import describe_returned, is_finite, require_unchanged
from ..terms.validation import check_term
from ..utils.typing import Array

OWNED = "y", "raw", "gradient", "hessian", "weight"
"""The arrays of a round that the loop goes on with."""


def fit_term(learner: Learner, round: Round) -> tuple[Term, Array]:
    """The term of a round and its outputs, checked."""
    if round.index:
        fitted = learner.fit(round)
    else:
        # Once tells whether a learner works in place.
        owned = {name: getattr(round, name) for name in OWNED}
        fitted = require_unchanged("learner {!r}: fit", learner, lambda: learner.fit(round), **owned)
    if not isinstance(fitted, Term):
        raise TypeError(f"learner {learner!r}: fit must return a Term, got {describe_returned(fitted)}")
    design = round.design
    try:
        check_term(fitted, design.n_features, round.raw.shape[1])
    except ValueError as error:
        raise ValueError(f"learner {learner!r}: its {type(fitted).__name__}: {error}") from error
    output = design.output(fitted)
    if not isinstance(output, np.ndarray) or output.dtype.kind not in "fiu":
        found = f"an array of {output.dtype}" if isinstance(output, np.ndarray) else f"a {type(output).__name__}"
        raise TypeError(f"learner {learner!r}: its term must yield an array of real numbers, got {found}")
    if output.shape != round.raw.shape:
        raise ValueError(f"learner {learner!r}: its term must yield shape {round.raw.shape}, got {output.shape}")
    if not is_finite(output):
        raise ValueError(
            f"learner {learner!r}: its term must yield finite numbers, got NaN or infinity in round {round.index}"
        )
    # Steps and scores are in double precision: a product with a float32 output would not be.
    return fitted, output.astype(np.float64, copy=False)
