"""Losses of rankings: sums over pairs of rows of a query, whose targets are relevance and code of the query."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..core import CoupledLoss, Loss
from ..kernels import compiled
from ..utils.param_validation import OPTIONAL, Integer, OneOf
from ..utils.typing import Array
from .links import IdentityLink
from .query_ranking import QueryRanking, ideal_dcg, require_constant_weight, require_relevance
from .registry import LOSSES
from .target_statistics import ScaledLoss, one_score_for_two_columns, round_to_24_bits

# What the weight of a pair depends on, as the kernels know it.
WEIGHTINGS = {"rank": 0, "difference": 1, "equal": 2}


class RankingLoss(CoupledLoss, ScaledLoss):
    r"""The sum over pairs of rows of one query, i more relevant than j, of ``v_ij log(1 + exp(raw_j - raw_i))``.

    The weights v of the pairs are those of the derived class. Each row of a pair has half of its loss. Sample
    weights are constant within a query, and so they are factors of the loss of a row.

    y has two columns, relevance and code of the query. Rows of a query need not be together.
    """

    link = IdentityLink()
    rows = "groups"
    weighting: str = "rank"
    """What the weight of a pair depends on: "rank", "difference" of relevance, or "equal"."""

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """One score for the two columns of y."""
        return one_score_for_two_columns(self, y, "relevance and code of the query")

    def check_target(self, y: Array) -> None:
        """Raise a ValueError unless relevance is from 0 to 31."""
        require_relevance(f"loss {self!r}: y", y[:, 0])

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss with its unit; a ValueError if weights are not constant within queries."""
        require_constant_weight(y[:, 1], weight)
        return super().prepared(y, weight, n_classes)

    def estimated_unit(self, y: Array, weight: Array) -> float:
        """1 over the mean hessian of equal scores."""
        hessian = np.average(self.derivatives(y, np.zeros((len(y), 1)))[1][:, 0], weights=weight)
        return round_to_24_bits(1.0 / hessian) if hessian > 0.0 else 1.0

    @abstractmethod
    def pairs(self, y: Array, score: Array) -> tuple[QueryRanking, Array, Array, Array]:
        """Rows in their order, and what weights their pairs: gain, discount and that of ties, (n,) each.

        As in ``rffboost_ext.kernels.ranking``; only weights by rank need rows in the order of scores (n,).
        """

    def value(self, y: Array, raw: Array, weight: Array | None = None) -> Array:
        return self._sums("pair_values", 1, y, raw)[0][:, 0]

    def derivatives(self, y: Array, raw: Array, weight: Array | None = None) -> tuple[Array, Array]:
        gradient, hessian = self._sums("pair_derivatives", 2, y, raw)
        return gradient, hessian

    def _sums(self, kernel: str, number: int, y: Array, raw: Array) -> list[Array]:
        """Sums over the pairs of each row, a `number` of arrays (n, 1), by a kernel."""
        rows, *pairs = self.pairs(y, raw[:, 0])
        sums, score = np.zeros((number, len(y))), raw[rows.order, 0]
        getattr(compiled("ranking"), kernel)(score, *pairs, WEIGHTINGS[self.weighting], rows.start, *sums)
        return [rows.unsorted(total)[:, None] for total in sums]

    def baseline(self, y: Array, weight: Array) -> Array:
        """0: a constant changes no ranking."""
        return np.zeros(1)


@LOSSES.register("lambdarank")
class LambdaRank(RankingLoss):
    r"""LambdaMART's loss: the weight of a pair is the change of NDCG@k if the two rows swapped their ranks.

    .. math:: v_{ij} = \frac{|2^{y_i} - 2^{y_j}| \, |D(r_i) - D(r_j)|}{\max_r \sum_i (2^{y_i} - 1) D(r_i)}, \quad
              D(r) = \frac{[r < k]}{\log_2(2 + r)}

    with ranks r from 0. The weights of tied rows are their means over all of their orders, so that the order of
    rows does not matter. The derivatives are exact but where the ranking changes, and the weights with it.

    Parameters
    ----------
    k : int or None, default=32
        Number of ranks that count; None for all. Pairs beyond are left out: a round takes time in proportion to
        k times the number of rows.
    unit : float or "auto", default="auto"
        Factor of the derivatives in a fit, so that the strength of regularisation does not depend on the queries.
        "auto" is 1 over the mean hessian of equal scores, computed in each fit; outside of a fit it is 1.

    References
    ----------
    C. J. C. Burges, From RankNet to LambdaRank to LambdaMART: an overview, MSR-TR-2010-82. X. Wang et al., The
    LambdaLoss framework for ranking metric optimization, CIKM 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRanker
    >>> from rffboost_ext.losses import LambdaRank
    >>> X, query = np.tile([[0.0], [1.0], [2.0]], (10, 1)), np.repeat(np.arange(10), 3)
    >>> model = RFFBoostRanker(LambdaRank(k=2), "tree", n_estimators=5).fit(X, X[:, 0], qid=query)
    >>> bool((np.diff(model.predict([[0.0], [1.0], [2.0]])) > 0.0).all())
    True
    """

    exact_gradient = False
    constraints = ScaledLoss.constraints | {"k": Integer(1) | OPTIONAL}

    def __init__(self, k: int | None = 32, unit: float | str = "auto") -> None:
        super().__init__(unit)
        self.k = k

    def pairs(self, y: Array, score: Array) -> tuple[QueryRanking, Array, Array, Array]:
        ranking = QueryRanking.of(y[:, 1], score)
        gain = np.exp2(y[:, 0]) - 1.0
        best = ideal_dcg(gain, y[:, 1], self.k)
        share = ranking.of_rows(np.divide(1.0, best, out=np.zeros_like(best), where=best > 0.0))
        tied = share * ranking.tied_difference(self.k)
        return ranking, gain[ranking.order], share * ranking.discount(self.k), tied


@LOSSES.register("pairwise")
class Pairwise(RankingLoss):
    r"""The logistic loss of pairs, whose weights do not depend on the ranking.

    .. math:: v_{ij} = \frac{|y_i - y_j|}{m},

    m being the number of rows of the query. With equal weights, 1 / m, this is RankNet's loss. A round takes time
    in proportion to the number of pairs: queries of thousands of rows are faster with :class:`LambdaRank`.

    Parameters
    ----------
    weighting : {"difference", "equal"}, default="difference"
        Whether the weight of a pair is the difference of the relevance of its rows, or the same for all pairs of
        rows of different relevance.
    unit : float or "auto", default="auto"
        Factor of the derivatives in a fit, as in :class:`LambdaRank`.

    References
    ----------
    C. Burges et al., Learning to rank using gradient descent, ICML 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRanker
    >>> X, query = np.tile([[0.0], [1.0], [2.0]], (10, 1)), np.repeat(np.arange(10), 3)
    >>> model = RFFBoostRanker("pairwise", "tree", n_estimators=5).fit(X, X[:, 0], qid=query)
    >>> bool((np.diff(model.predict([[0.0], [1.0], [2.0]])) > 0.0).all())
    True
    """

    constraints = ScaledLoss.constraints | {"weighting": OneOf(("difference", "equal"))}

    def __init__(self, weighting: str = "difference", unit: float | str = "auto") -> None:
        super().__init__(unit)
        self.weighting = weighting

    def pairs(self, y: Array, score: Array) -> tuple[QueryRanking, Array, Array, Array]:
        rows = QueryRanking.of(y[:, 1])
        share = rows.of_rows(1.0 / rows.size)
        return rows, y[rows.order, 0], share, share
