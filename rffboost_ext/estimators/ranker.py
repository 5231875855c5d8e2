"""The ranker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from ..boosting.evaluation import arrays_of_sets, named_sets
from ..boosting.loop import Parts
from ..core import Loss
from ..losses.coupling import Coupling, Grouped
from ..losses.target_statistics import scores_for
from ..metrics import ndcg_score
from ..rows.columns import column_array
from ..rows.dataset import Dataset
from ..rows.row_arguments import label_codes
from ..rows.tables import number_array
from ..rows.targets import RealTargets, TargetEncoder, squeeze
from ..sources.sample import FitRows
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .base import BaseRFFBoost
from .docstrings import ATTRIBUTES, PARAMETERS
from .fit_rows import drawn_sets, sample_of
from .refresh import PRIOR_WEIGHT


class RFFBoostRanker(BaseRFFBoost):
    __doc__ = f"""Boosting of random Fourier features, trees or any learner, to rank the rows of queries.

    Parameters
    ----------
    {PARAMETERS.format(loss='"pairwise"')}

    Attributes
    ----------
    {ATTRIBUTES}

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRanker
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.standard_normal((600, 3)), np.repeat(np.arange(60), 10)
    >>> relevance = np.digitize(X[:, 0] + np.sin(2 * X[:, 1]), [0, 1, 2])
    >>> model = RFFBoostRanker(random_state=0).fit(X, relevance, qid=qid)
    >>> bool(model.score(X, relevance, qid=qid) > 0.9)
    True
    """

    task = "regression"
    kept_levels = "labels"
    default_loss = "pairwise"

    def fit(  # type: ignore[override]
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        init_model: Any = None,
        eval_set: Any = None,
        qid: Any = None,
        eval_qid: Any = None,
        base_margin: Any = None,
        base_margin_eval_set: Any = None,
    ) -> RFFBoostRanker:
        """Fit to the rows of queries.

        Parameters
        ----------
        {X}
        y : array-like of shape (n,), optional
            Relevance of each row to its query, from 0, irrelevant, to 31.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the queries, on each row of a query the same. Rows of weight 0 are left out.
        {init_model}
        {eval_set}
        qid : array-like of shape (n,), optional
            The query of each row, of any hashable type and in any order. Early stopping holds out whole queries.
            Without it all rows are of one query, with a warning.
        eval_qid : list of array-like, or dict of names to such, optional
            The queries of the rows of each set of ``eval_set``, by name if that is a dict; required for them if
            `qid` is given.
        {base_margin}
        {base_margin_eval_set}

        {raises}
        """
        owner, sample = type(self).__name__, self._sample_of_queries(X, y, sample_weight, qid, base_margin)
        eval_set, own = drawn_sets(self, eval_set)
        codes = arrays_of_sets(owner, "eval_qid", own or eval_qid, eval_set, sample.groups)
        sets = {
            name: (rows, ranking_target(owner, rows, labels, codes.get(name), f"eval_qid of {name!r}"), *weight)
            for name, (rows, labels, *weight) in named_sets(owner, eval_set).items()
        }
        margins = arrays_of_sets(owner, "base_margin_eval_set", base_margin_eval_set, eval_set, base_margin)
        sample = replace(sample, groups=None)
        return super().fit(sample, None, None, init_model, sets or None, None, base_margin, margins or None)

    def refresh(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        qid: Any = None,
        base_margin: Any = None,
        prior_weight: float = PRIOR_WEIGHT,
    ) -> RFFBoostRanker:
        """Fit the values of the model again to the rows of other queries, and keep its structure.

        {refresh}

        Parameters
        ----------
        X, y, sample_weight, qid, base_margin
            Rows as in :meth:`fit`.
        {prior_weight}

        {raises_refresh}
        """
        sample = self._sample_of_queries(X, y, sample_weight, qid, base_margin)
        return super().refresh(replace(sample, groups=None), None, None, None, base_margin, prior_weight)

    def _sample_of_queries(self, X: Any, y: Any, sample_weight: Any, qid: Any, base_margin: Any) -> FitRows:
        """The rows of a fit, whose target has the relevance and the code of the query, (n, 2)."""
        owner = type(self).__name__
        sample = sample_of(self, X, y, sample_weight, qid, base_margin, "qid")
        if sample.groups is None:
            warn_user(f"{owner}: without qid all rows are of one query, and early stopping has none to hold out")
        target = ranking_target(owner, sample.X, sample.y, sample.groups, "qid")
        require_weights_of_rows(owner, sample.weight, target)
        return replace(sample, y=target)

    @classmethod
    def takes_loss(cls, kind: type[Loss]) -> bool:
        return kind.rows == "groups"

    def _targets(self) -> RealTargets:
        return RealTargets(type(self).__name__)

    def _couplings(self, loss: Loss) -> list[Coupling]:
        """Queries are held out as a whole, whatever the loss."""
        return [loss, Grouped(loss)]

    def _check_target(self, parts: Parts, data: Dataset, targets: TargetEncoder) -> None:
        if scores_for(parts.loss, 2) != 1:
            raise ValueError(
                f"{type(self).__name__}: loss must have one score for y of two columns, relevance and query, as "
                f"'lambdarank' and 'pairwise' have, got {parts.loss!r}"
            )

    def _response(self, raw: Array) -> Array:
        return squeeze(raw)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        qid: Any = None,
        k: int | None = None,
        base_margin: Any = None,
    ) -> float:
        """The mean NDCG of the queries, :func:`~rffboost_ext.metrics.ndcg_score`.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Relevance, from 0 to 31.
        sample_weight : array-like of shape (n,), optional
            Weights, constant within a query.
        qid : array-like of shape (n,), optional
            The query of each row. Without it all rows are of one query, with a warning.
        k : int, optional
            Number of ranks that count; all by default.
        {margin}

        Returns
        -------
        float

        Raises
        ------
        ValueError, TypeError
            If an argument is invalid, or no query has a relevant row.
        """
        check_is_fitted(self)
        if qid is None:
            warn_user(f"{type(self).__name__}: without qid score takes all rows for one query")
            qid = np.zeros(_num_samples(X))
        return ndcg_score(y, self.predict(X, base_margin), qid, k=k, sample_weight=sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags


def ranking_target(owner: str, X: Any, y: Any, qid: Any, name: str) -> Any:
    """Relevance and code of the query, (n, 2), as losses of rankings take them; y itself if it is None."""
    if y is None:
        return None
    relevance, n_samples = column_or_1d(number_array(y), warn=True), _num_samples(X)
    if len(relevance) != n_samples:
        raise ValueError(
            f"{owner}: y must have an entry for each of the {n_samples} rows of X, got {len(relevance)}"
        )
    code = np.zeros(n_samples) if qid is None else label_codes(owner, qid, X, name)
    return np.column_stack([relevance, code])


def require_weights_of_rows(owner: str, sample_weight: Any, target: Array | None) -> None:
    """Raise a ValueError if there is a weight for each query instead of each row, as XGBoost takes them."""
    if target is None or sample_weight is None:
        return
    n_queries = len(np.unique(target[:, 1]))
    if column_array(sample_weight).shape == (n_queries,) != (len(target),):
        raise ValueError(
            f"{owner}: sample_weight must have an entry for each of {len(target)} rows, the weight of its query, "
            f"got one for each of {n_queries} queries: pass weight[np.unique(qid, return_inverse=True)[1]] for "
            f"weights in the order of the sorted queries"
        )
