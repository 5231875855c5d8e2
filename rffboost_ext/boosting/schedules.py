"""Learning rates that change from round to round."""

from __future__ import annotations

from ..core import Spec
from ..utils.param_validation import POSITIVE, Real


class Decay(Spec):
    r"""A learning rate that decays geometrically: :math:`\max(\text{least}, \text{rate} \cdot \text{factor}^t)`.

    For the parameter ``learning_rate`` of the estimators, which takes any function of the round t = 0, 1, ... that
    returns a positive number. This one can also be stored in model files and recognised by checkpoints, and
    ``learning_rate__factor`` can be tuned.

    Parameters
    ----------
    rate : float, default=0.3
        The learning rate of the first round.
    factor : float, default=0.99
        Factor per round, at most 1.
    least : float, default=0.02
        Lower bound of the learning rate.

    Examples
    --------
    >>> from rffboost_ext import Decay
    >>> [Decay(0.4, 0.5, 0.1)(t) for t in range(4)]
    [0.4, 0.2, 0.1, 0.1]
    """

    constraints = {"rate": POSITIVE, "factor": Real(0.0, 1.0), "least": POSITIVE}

    def __init__(self, rate: float = 0.3, factor: float = 0.99, least: float = 0.02) -> None:
        self.rate = rate
        self.factor = factor
        self.least = least

    def __call__(self, index: int) -> float:
        """The learning rate of round `index`, from 0."""
        return max(self.least, self.rate * self.factor**index)
