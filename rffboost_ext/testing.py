"""Checks of users' own losses, learners and terms, as scikit-learn's ``check_estimator`` is for estimators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .boosting.boost import boost
from .boosting.loop import check_composition, default_step
from .contracts import learners, losses
from .contracts.comparison import contract_errors, keep_laws, require_that
from .contracts.fit import baseline_of, prepared_loss, require_finite_target
from .contracts.learners import LearnerCase
from .contracts.loss_case import MAX_ROWS, random_cases, sample_weights
from .contracts.terms import LAWS, LAWS_OF_METHODS, TermCase
from .core import CoupledLoss, Learner, Loss, Observations, Term
from .learners.registry import LEARNERS
from .losses.registry import LOSSES
from .losses.target_statistics import is_multioutput

__all__ = ["check_learner", "check_loss", "check_term"]

LOSSES_TO_TRY = "squared_error", "exponential", "log_loss"


def check_loss(loss: str | Loss, y: Any, n_classes: int | None = None) -> None:
    """Raise an AssertionError that names the law that a loss breaks.

    Checked are: the number of scores; shapes, finite numbers and arguments left unchanged; the gradient if
    ``exact_gradient``, by differences of the loss, or of its weighted total if rows are coupled; the hessian by
    differences of the gradient if ``exact_hessian``, its sign, and that nearly half a Newton step lowers the loss;
    ``bounded_ratio``; that values stay with their rows when rows are permuted, twice (``rows = "set"``), alone
    (``rows = "independent"``) or a group at a time (``rows = "groups"``); that the baseline minimises the weighted
    sum; that weight 2 is the row twice; that the link, its inverse and the response agree and have one width;
    ``translation_invariant``, ``positive``, ``canonical`` and ``monotone``; that rows of both classes have
    gradients, and that a constant target is predicted as itself; that ``prediction`` is by row; that no method
    leaves anything on the loss; and ``prepared`` and ``clone``.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.
    y : array-like of shape (n,) or (n, K)
        A typical target: class indices 0 .. K-1 for classification, all columns that the loss takes otherwise. Up
        to 500 rows are used, or all if they are coupled.
    n_classes : int, optional
        Number of classes; by default the largest class index plus 1.

    Raises
    ------
    AssertionError
        If the loss breaks a law, or refuses y.
    ValueError
        If y is no array of finite numbers; it may be infinite if ``infinite``.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.testing import check_loss
    >>> check_loss("huber", np.random.default_rng(0).standard_normal(50))
    """
    with contract_errors(f"loss {type(loss).__name__}: get_params"):
        repr(loss)
    with contract_errors(f"loss {type(loss).__name__}: validate"):
        loss = LOSSES.create(loss)
    y = np.asarray(y, dtype=np.float64)
    if not len(y) or y.ndim > 2:
        raise ValueError(f"check_loss: y must have shape (n,) or (n, K) with at least one row, got {y.shape}")
    y = y.reshape(len(y), -1)[: None if isinstance(loss, CoupledLoss) else MAX_ROWS].copy()
    require_finite_target(loss, y)
    if loss.task == "classification" and n_classes is None:
        n_classes = max(2, int(y[:, 0].max()) + 1)
    with contract_errors(f"loss {loss!r}: the preparation for y"):
        rows = Observations(y, sample_weights(loss, y))
        prepared = prepared_loss(loss, rows, n_classes)
        baseline = baseline_of(prepared, rows, n_classes)
    for case in random_cases(prepared, rows, baseline, n_classes):
        keep_laws(case, losses.LAWS)


def check_learner(learner: str | Learner, loss: str | Loss | None = None) -> None:
    """Raise an AssertionError that names the law that a learner breaks.

    Checked are, for one output and, if ``multi_output``, for two: that ``fit`` returns a term of the right shape,
    leaves the round and the learner unchanged, keeps nothing on the learner and draws all random numbers from
    ``round.rng``; that outputs depend on ``design.X`` and not on the units of the features, and on the derivatives
    and not on other differences of targets and scores; that outputs are within [-1, 1] if ``bounded``; that rows
    of weight 0 do not matter; that a step along the term lowers the loss, and five rounds do; that ``refit``, if
    it has one, does so again on the same rows, and on other rows fits the values and keeps the structure;
    ``clone``; and the laws of its terms, see :func:`check_term`.

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
    with contract_errors(f"learner {type(learner).__name__}: get_params"):
        repr(learner)
    learner = LEARNERS.create(learner)
    loss = suitable_loss(learner, LOSSES_TO_TRY if loss is None else [loss])
    for n_targets in (1, 2) if learner.multi_output and is_multioutput(loss) else (1,):
        keep_laws(LearnerCase(learner, loss, n_targets, boost), learners.LAWS)


def suitable_loss(learner: Learner, losses: Sequence[str | Loss]) -> Loss:
    """The first of some losses that takes the targets of the rounds, and goes with the learner."""
    reasons = []
    for candidate in losses:
        loss = LOSSES.create(candidate)
        try:
            n_outputs = LearnerCase(learner, loss, 1, boost).round().raw.shape[1]
            check_composition(loss, learner, default_step(loss, learner), n_outputs)
        except Exception as error:  # a loss of other targets may raise anything
            reasons.append(f"{loss!r}: {type(error).__name__}: {error}")
        else:
            return loss
    raise ValueError(
        f"check_learner: loss must take one column of labels or of real numbers, and go with the learner, got "
        f"{'; '.join(reasons)}"
    )


def check_term(term: Term, X: Any, *others: Term) -> None:
    """Raise an AssertionError that names the law that a term breaks.

    Checked are, up to 1e-6 of the largest output: outputs of shape (n, C), finite, for any number of rows and any
    layout of X; rows that do not depend on one another; ``term.scaled(a)(X) == a * term(X)``; ``stack`` as the sum
    of terms of one family, also of stacked ones; ``features`` of shape (n, p); ``merged``, ``materialized`` and
    pickled terms as the same function; and arguments that are left unchanged. If a term has them, ``gradient`` is
    compared with differences, Shapley values with an enumeration, and ``variances`` with total effects.

    Parameters
    ----------
    term : Term
        The term.
    X : array-like of shape (n, d)
        Rows in the units that the term takes, at least two.
    *others : Term
        Further terms of the same learner, which should differ from `term` in everything that can differ: they are
        stacked with it if their ``family`` is the same.

    Raises
    ------
    AssertionError
        If the term breaks a law.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import Cosines
    >>> from rffboost_ext.testing import check_term
    >>> rng = np.random.default_rng(0)
    >>> first, second = (Cosines(rng.standard_normal((2, 3)), np.ones(2), np.ones((2, 1))) for _ in range(2))
    >>> check_term(first, rng.standard_normal((20, 3)), second)
    """
    X = np.array(X, dtype=np.float64)
    require_that(isinstance(term, Term), f"term must be a Term, got a {type(term).__name__}")
    require_that(
        X.ndim == 2 and len(X) >= 2, f"X must have shape (n, d) with at least two rows, got {np.shape(X)}"
    )
    terms = [term, *(other for other in others if other.family == term.family)]
    keep_laws(TermCase(terms, X), LAWS + LAWS_OF_METHODS)
