"""Links between raw scores and responses, which losses, other libraries' loops and ONNX export share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..core import Link
from ..utils.arrays import row_max, row_sum
from ..utils.typing import Array

# Scores beyond this occur only in diverging fits; clipped at it, sums of exp over rows stay finite.
LARGEST_EXPONENT = 500.0


@dataclass(frozen=True)
class IdentityLink(Link):
    """The response is the raw score.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import IdentityLink
    >>> IdentityLink().inverse(np.array([[-2.0]]))
    array([[-2.]])
    """

    def inverse(self, raw: Array) -> Array:
        return raw


@dataclass(frozen=True)
class SortedLink(Link):
    """The response is the raw scores of each row in increasing order, such as quantiles.

    Parameters
    ----------
    size : int
        How many scores there are.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import SortedLink
    >>> SortedLink(size=3).inverse(np.array([[2.0, 0.0, 1.0]]))
    array([[0., 1., 2.]])
    """

    size: int

    def inverse(self, raw: Array) -> Array:
        return np.sort(raw, axis=1)


@dataclass(frozen=True)
class LogLink(Link):
    """The log of a positive mean: the response is ``exp(raw)``.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import LogLink
    >>> LogLink().inverse(np.array([[0.0]]))
    array([[1.]])
    """

    def inverse(self, raw: Array) -> Array:
        return np.exp(clip_exponent(raw))


@dataclass(frozen=True)
class LogitLink(Link):
    """The log-odds of a mean between 0 and 1: the response is ``1 / (1 + exp(-slope raw))``.

    Parameters
    ----------
    slope : float, default=1.0
        Log-odds per unit of raw score.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import LogitLink
    >>> LogitLink(slope=2.0).inverse(np.array([[0.0]]))
    array([[0.5]])
    """

    slope: float = 1.0

    def inverse(self, raw: Array) -> Array:
        return sigmoid(self.slope * raw)


@dataclass(frozen=True)
class BinaryLogitLink(Link):
    """The log-odds of the second of two classes: the response, (n, 2), has the probability of each class.

    Parameters
    ----------
    slope : float, default=1.0
        Log-odds per unit of raw score; 2 for the exponential loss.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import BinaryLogitLink
    >>> BinaryLogitLink().inverse(np.array([[0.0]]))
    array([[0.5, 0.5]])
    """

    slope: float = 1.0

    def inverse(self, raw: Array) -> Array:
        log_odds = self.slope * raw
        return sigmoid(np.hstack([-log_odds, log_odds]))


@dataclass(frozen=True)
class MultinomialLogitLink(Link):
    """One raw score per class: the response is ``softmax(raw)``.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import MultinomialLogitLink
    >>> MultinomialLogitLink().inverse(np.array([[1.0, 1.0]]))
    array([[0.5, 0.5]])
    """

    def inverse(self, raw: Array) -> Array:
        p = raw - row_max(raw)[:, None]
        np.exp(p, out=p)
        p /= row_sum(p)[:, None]
        return p


@dataclass(frozen=True)
class LabelMeanLink(Link):
    """The link of the mean of labels -1 and +1: the response, (n, 2), has the probability of each label.

    Parameters
    ----------
    mean : Link
        The link whose response is the mean.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import IdentityLink, LabelMeanLink
    >>> LabelMeanLink(IdentityLink()).inverse(np.array([[0.5]]))
    array([[0.25, 0.75]])
    """

    mean: Link

    def inverse(self, raw: Array) -> Array:
        mean = np.clip(self.mean.inverse(raw), -1.0, 1.0)
        return np.hstack([0.5 * (1.0 - mean), 0.5 * (1.0 + mean)])


@dataclass(frozen=True)
class FunctionLink(Link):
    """The link of a function that has no link of its own: ONNX export needs a class of links instead.

    Links are equal if their functions are the same object. A link with parameters is therefore a frozen dataclass
    that derives from :class:`~rffboost_ext.Link`.

    Parameters
    ----------
    function : callable
        From raw scores (n, C) to the response, (n, K) or (n, W).
    names : tuple of str, optional
        Names of the columns of the response.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import FunctionLink
    >>> FunctionLink(np.square).inverse(np.array([[3.0]]))
    array([[9.]])
    """

    function: Callable[[Array], Array]

    def inverse(self, raw: Array) -> Array:
        return self.function(raw)


@dataclass(frozen=True)
class AffineLink(Link):
    """The response is ``shift + factor * response`` of another link, such as 1 + 2 exp(raw).

    Parameters
    ----------
    link : Link
        The other link.
    shift, factor : float

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import AffineLink, LogLink
    >>> AffineLink(LogLink(), shift=1.0, factor=2.0).inverse(np.array([[0.0]]))
    array([[3.]])
    """

    link: Link
    shift: float
    factor: float

    def inverse(self, raw: Array) -> Array:
        return self.shift + self.factor * self.link.inverse(raw)


@dataclass(frozen=True)
class ParameterLink(Link):
    """The link of a response of several parameters, each a product of functions of single scores.

    Parameters
    ----------
    columns : tuple of tuples of (int, Link)
        For each column of the response its factors: the index of a score, and the link that is applied to it.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import IdentityLink, LogLink, ParameterLink
    >>> link = ParameterLink((((0, IdentityLink()),), ((1, LogLink()),)), names=("loc", "scale"))
    >>> link.inverse(np.array([[5.0, 0.0]]))
    array([[5., 1.]])
    """

    columns: tuple[tuple[tuple[int, Link], ...], ...]

    @classmethod
    def of_scores(cls, **links: Link) -> ParameterLink:
        """The link of as many parameters as scores, each a function of its own score, by name."""
        columns = tuple(((index, link),) for index, link in enumerate(links.values()))
        return cls(columns, names=tuple(links))

    def inverse(self, raw: Array) -> Array:
        factors = [[link.inverse(raw[:, index : index + 1]) for index, link in column] for column in self.columns]
        return np.hstack([reduce(np.multiply, column) for column in factors])


@dataclass(frozen=True)
class RankingLink(Link):
    """The link of ranking objectives, whose scores have an order but no response: it is NaN."""

    def inverse(self, raw: Array) -> Array:
        return np.full(raw.shape, np.nan)


@dataclass(frozen=True)
class HingeLink(Link):
    """The link of the hinge loss: the probability, (n, 2), of the class with the sign of the score is 1."""

    def inverse(self, raw: Array) -> Array:
        return np.hstack([raw <= 0.0, raw > 0.0]).astype(np.float64)


@dataclass(frozen=True)
class OneVsRestLink(Link):
    """One log-odds per class: the response, (n, K), is ``1 / (1 + exp(-slope raw))`` and does not sum to 1.

    Parameters
    ----------
    slope : float, default=1.0
        Log-odds per unit of raw score.
    """

    slope: float = 1.0

    def inverse(self, raw: Array) -> Array:
        return sigmoid(self.slope * raw)


@dataclass(frozen=True)
class SoftplusLink(Link):
    """The response is ``log(1 + exp(raw))``."""

    def inverse(self, raw: Array) -> Array:
        return np.logaddexp(0.0, raw)


@dataclass(frozen=True)
class SignedSquareLink(Link):
    """The response is ``sign(raw) raw^2``, for targets of which the square root was taken."""

    def inverse(self, raw: Array) -> Array:
        return np.abs(raw) * raw


def clip_exponent(raw: Array) -> Array:
    """Raw scores clipped to [-500, 500]."""
    return np.clip(raw, -LARGEST_EXPONENT, LARGEST_EXPONENT)


def sigmoid(raw: Array) -> Array:
    """``1 / (1 + exp(-raw))``, without overflow and with full precision for small probabilities."""
    tail = np.exp(-np.abs(raw))
    return np.where(raw < 0.0, tail, 1.0) / (1.0 + tail)
