"""The check of a learner."""

from __future__ import annotations

from ..boosting.loop import boost
from ..boosting.plan import check_composition, default_step
from ..contracts.comparison import contract_errors
from ..contracts.learners import LAWS, LearnerSample
from ..core import Learner, Loss
from ..learners.registry import LEARNERS
from ..losses.registry import LOSSES
from ..losses.target_statistics import takes_several_targets

LOSSES_TO_TRY = "squared_error", "exponential", "log_loss"


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
    with contract_errors(f"learner {type(learner).__name__}: get_params"):
        repr(learner)
    learner = LEARNERS.create(learner)
    loss = LOSSES.create(suitable_loss(learner) if loss is None else loss)
    require_suitable(loss, learner)
    for n_targets in (1, 2) if learner.multi_output and takes_several_targets(loss) else (1,):
        sample = LearnerSample(learner, loss, n_targets, boost)
        for law in LAWS:
            with contract_errors(f"{sample.name}: {law.__name__}"):
                law(sample)


def require_suitable(loss: Loss, learner: Learner) -> None:
    """Raise a ValueError unless a loss takes the targets of the rounds, and the learner its number of scores."""
    try:
        n_outputs = LearnerSample(learner, loss, 1, boost).round().raw.shape[1]
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
