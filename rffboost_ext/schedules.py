"""Learning rates that change from round to round."""

from __future__ import annotations

from .checks import POSITIVE, Real
from .core import Spec
from .storage import storable


@storable("Decay")
class Decay(Spec):
    r"""A learning rate that falls geometrically: :math:`\max(\text{least}, \text{rate} \cdot \text{factor}^t)`.

    For the parameter ``learning_rate`` of the estimators, as is any function of the round t = 0, 1, ... that
    returns a number above 0. This one is also stored in model files and known again by checkpoints, and
    ``learning_rate__factor`` can be searched over.

    Parameters
    ----------
    rate : float, default=0.3
        The learning rate of the first round.
    factor : float, default=0.99
        What each round multiplies it by, at most 1.
    least : float, default=0.02
        What it does not fall below.

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
