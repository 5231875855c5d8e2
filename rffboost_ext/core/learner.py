"""What fits the term of a round."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from .round import Fitted, Round
from .spec import Spec
from .term import Term


class Learner(Spec, ABC):
    """Fits one term per round.

    A learner reads ``round.design.X``, ``round.residual`` (or gradient and hessian) and ``round.weight``. Laws:
    the term is a function of ``round.design.X``, and all random numbers are drawn from ``round.rng``.
    """

    step: ClassVar[str | None] = None
    """Name of the default step; None if it depends on the loss."""
    bounded: ClassVar[bool] = False
    """Whether outputs of terms are within [-1, 1]."""
    multi_output: ClassVar[bool] = False
    """Whether a term can have several outputs."""

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """Names of hyperparameters that constrain every term, such as monotone constraints.

        A model satisfies a constraint only if all learners of its terms do. By default there are none.
        """
        return ()

    @property
    def refits(self) -> bool:
        """Whether a term can be fitted again to other rows: whether the class has a method :meth:`refit`."""
        return type(self).refit is not Learner.refit

    @abstractmethod
    def fit(self, round: Round) -> Fitted:
        """The term of this round, or a pair of the term and its outputs on the rows of the round, (n, C).

        A learner that has the outputs anyway returns them, so that the term is not evaluated on these rows;
        :meth:`Round.evaluated` yields the pair in either case.
        """

    def refit(self, term: Term, round: Round) -> Fitted:
        """The term for this round that has the structure of `term`, which was fitted to other rows.

        The result is a term or a pair, as that of :meth:`fit`. Of trees, for example, the splits stay and the
        leaves are fitted again. A refit of an estimator with one held-out part replays the rounds by this method.
        """
        raise NotImplementedError(f"{type(self).__name__}.refit")
