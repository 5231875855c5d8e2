"""The estimators for dask arrays and tables."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Generic, TypeVar, cast

from dask.base import is_dask_collection
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..boosting.evaluation import arrays_of_sets, named_sets
from ..estimators.classifier import RFFBoostClassifier
from ..estimators.parameters import copy_with_own_parts
from ..estimators.quantile import RFFBoostQuantileRegressor
from ..estimators.ranker import RFFBoostRanker
from ..estimators.regressor import RFFBoostRegressor
from ..sources.prediction import score
from .engine import current_client, models_on_workers
from .prediction import predict_lazily
from .rows import DaskRows

E = TypeVar("E", bound=Any)
D = TypeVar("D", bound="DaskEstimator[Any]")

DESCRIPTION = """{name} for the arrays and tables of a Dask cluster.

The workers read the rows in passes over their blocks and keep a sample of at most ``max_rows`` of them, to which
an ordinary model is fitted. It has the same bits for any blocks and any number of workers. With no more rows than
``max_rows`` these are the bits of a fit in memory. Members of a stack and folds are trained on different workers.

Parameters
----------
{parameters}
client : distributed.Client, optional
    The cluster. By default the current client, or threads of this process where there is none.
max_rows : int or "auto", default="auto"
    Maximum number of rows that the fit keeps in memory; "auto" is as many as fit in a bound on bytes.

Notes
-----
:meth:`local` returns the fitted :class:`~rffboost_ext.{name}`.
Its attributes, such as ``n_features_in_``, are attributes of this estimator, too. Pickles do not hold the client.
With ``callbacks`` or ``verbose`` all models are trained in the process of the client.

Examples
--------
>>> import dask.array as da
>>> from rffboost_ext.dask import Dask{name}
>>> X = da.random.default_rng(0).standard_normal((200, 2), chunks=(100, 2))
>>> model = Dask{name}(learner="tree", n_estimators=5).fit(X, {target})
>>> model.n_rows_seen_, model.predict(X).shape[0]
(200, 200)
"""
CLUSTER = {"client": None, "max_rows": "auto"}
"""The parameters that the wrapped estimators do not have."""


class DaskEstimator(BaseEstimator, Generic[E]):
    """Base class of estimators for a cluster, each of which wraps one for rows in memory.

    Attributes
    ----------
    wrapped : type
        The class of the wrapped estimator.
    """

    wrapped: ClassVar[type[Any]]
    client: Any
    max_rows: int | str
    _fitted: E

    def __init_subclass__(cls, wrapped: type[Any], target: str = "X[:, 0]", **options: Any) -> None:
        super().__init_subclass__(**options)
        signature = inspect.signature(wrapped.__init__)
        own = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
            for name, value in CLUSTER.items()
        ]

        def __init__(self: Any, *args: Any, **params: Any) -> None:
            cluster = {name: params.pop(name, default) for name, default in CLUSTER.items()}
            vars(self).update(wrapped(*args, **params).get_params(deep=False) | cluster)

        __init__.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *own])  # type: ignore[attr-defined]
        parameters = inspect.getdoc(wrapped).partition("Parameters\n----------\n")[2].partition("\n\n")[0]  # type: ignore[union-attr]
        cls.__doc__ = DESCRIPTION.format(name=wrapped.__name__, parameters=parameters, target=target)
        cls.__init__, cls.wrapped = __init__, wrapped  # type: ignore[method-assign]

    def local(self) -> E:
        """The fitted estimator for rows in memory, without the client.

        Returns
        -------
        estimator
        """
        check_is_fitted(self)
        return self._fitted

    def set_params(self, **params: Any) -> Any:
        """Set parameters, including nested ones such as ``learner__gamma``.

        Parameters
        ----------
        **params
            Names and values.

        Returns
        -------
        self
        """
        cluster = {name: params.pop(name) for name in CLUSTER.keys() & params.keys()}
        vars(self).update(self._unfitted().set_params(**params).get_params(deep=False) | cluster)
        return self

    def _unfitted(self) -> E:
        """The wrapped estimator with these parameters."""
        params = {name: value for name, value in self.get_params(deep=False).items() if name not in CLUSTER}
        return cast(E, self.wrapped(**params))

    def fit(self: D, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None, groups: Any = None) -> D:
        """Fit to X and y.

        Parameters
        ----------
        X : dask Array of shape (n, d) or dask DataFrame
            Features. Blocks may be sparse, sizes of chunks unknown, partitions empty, and categories unknown.
        y : dask Array, Series or DataFrame
            Targets, in blocks of the same rows as X.
        sample_weight : dask Array or Series of shape (n,), optional
            Non-negative weights.
        eval_set : list of (X, y) pairs or (X, y, weight) triples, or dict of names to such, optional
            Rows to evaluate on, of which at most ``max_rows`` are kept; early stopping monitors the last set.
        groups : dask Array or Series of shape (n,), optional
            Labels of groups of rows, which are held out and sampled as a whole.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data are invalid; the message names it.
        RuntimeError
            If blocks of the data are lost.
        """
        return self._fit(X, y, sample_weight, groups, eval_set, {})

    def _fit(
        self: D, X: Any, y: Any, sample_weight: Any, group: Any, eval_set: Any, eval_groups: Mapping[str, Any]
    ) -> D:
        sets = {
            name: self._rows(X, y, weight[0] if weight else None, eval_groups.get(name), f": eval_set {name!r}")
            for name, (X, y, *weight) in named_sets(type(self).__name__, eval_set).items()
        }
        rows, model = self._rows(X, y, sample_weight, group), self._unfitted()
        if model.warm_start and "_fitted" in vars(self):
            model = copy(self._fitted).set_params(**model.get_params(deep=False))
        model = copy_with_own_parts(model)
        try:
            with models_on_workers(rows.client):
                model.fit(rows, eval_set=sets or None)
        finally:
            # A fit that the user interrupts has the rounds that were done.
            if hasattr(model, "n_features_in_"):
                self._fitted = model
        return self

    def _rows(self, X: Any, y: Any, sample_weight: Any, group: Any, suffix: str = "") -> DaskRows:
        owner = type(self).__name__
        client = current_client(owner, self.client)
        return DaskRows(X, y, sample_weight, group, client, self.max_rows, owner + suffix)

    def predict(self, X: Any) -> Any:
        """Predictions of the wrapped estimator, lazy for dask collections.

        Parameters
        ----------
        X : dask Array of shape (n, d), dask DataFrame, or array-like in memory

        Returns
        -------
        dask Array, Series or DataFrame, or ndarray
            In the blocks or the partitions of X, and with its index.

        Raises
        ------
        ValueError
            If X does not have the columns of the fit.
        """
        return predict_lazily(self.local(), "predict", X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of the wrapped estimator on all rows, as :func:`rffboost_ext.sources.score` computes it.

        Parameters
        ----------
        X : dask Array of shape (n, d), dask DataFrame, or array-like in memory
            Features.
        y : dask Array, Series or DataFrame, or array-like in memory
            Targets, in blocks of the same rows as X.
        sample_weight : dask Array or Series of shape (n,), or array-like, optional
            Non-negative weights.

        Returns
        -------
        float
        """
        if not is_dask_collection(X):
            return float(self.local().score(X, y, sample_weight))
        return score(self.local(), self._rows(X, y, sample_weight, None))

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_") and "_fitted" in vars(self):
            return getattr(self._fitted, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}

    def __sklearn_clone__(self) -> Any:
        # A client cannot be copied.
        params = {
            name: clone(one, safe=False) for name, one in self.get_params(deep=False).items() if name != "client"
        }
        return type(self)(client=self.client, **params)

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in vars(self)

    def __sklearn_tags__(self) -> Any:
        return get_tags(self._unfitted())


class DaskRFFBoostClassifier(
    DaskEstimator[RFFBoostClassifier], wrapped=RFFBoostClassifier, target="X[:, 0] > 0.0"
):
    def predict_proba(self, X: Any) -> Any:
        """Class probabilities, (n, K), as lazy as :meth:`predict`; columns of tables are named by ``classes_``.

        Parameters
        ----------
        X : dask Array of shape (n, d), dask DataFrame, or array-like in memory

        Returns
        -------
        dask Array or DataFrame, or ndarray
        """
        return predict_lazily(self.local(), "predict_proba", X)

    def decision_function(self, X: Any) -> Any:
        """Raw scores, (n,) or (n, K), as lazy as :meth:`predict`.

        Parameters
        ----------
        X : dask Array of shape (n, d), dask DataFrame, or array-like in memory

        Returns
        -------
        dask Array, Series or DataFrame, or ndarray
        """
        return predict_lazily(self.local(), "decision_function", X)


class DaskRFFBoostRegressor(DaskEstimator[RFFBoostRegressor], wrapped=RFFBoostRegressor):
    pass


class DaskRFFBoostQuantileRegressor(DaskEstimator[RFFBoostQuantileRegressor], wrapped=RFFBoostQuantileRegressor):
    pass


class DaskRFFBoostRanker(
    DaskEstimator[RFFBoostRanker], wrapped=RFFBoostRanker, target="X[:, 0] > 0.0, qid=X[:, 1] > 0.0"
):
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        eval_set: Any = None,
        qid: Any = None,
        eval_qid: Any = None,
    ) -> DaskRFFBoostRanker:
        """Fit to the rows of queries, which are kept as a whole.

        Parameters
        ----------
        X : dask Array of shape (n, d) or dask DataFrame
            Features.
        y : dask Array or Series of shape (n,)
            Relevance of each row to its query, from 0 to 31.
        sample_weight : dask Array or Series of shape (n,), optional
            Non-negative weights of the queries, on each row of a query the same.
        eval_set : list of (X, y) pairs or (X, y, weight) triples, or dict of names to such, optional
            Rows to evaluate on; early stopping monitors the last set.
        qid : dask Array or Series of shape (n,), optional
            The query of each row. The rows of a query may be in several blocks.
        eval_qid : list of dask Array or Series, or dict of names to such, optional
            The queries of the rows of each set of ``eval_set``.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data are invalid; the message names it.
        RuntimeError
            If blocks of the data are lost.
        """
        groups = arrays_of_sets(type(self).__name__, "eval_qid", eval_qid, eval_set, qid)
        return self._fit(X, y, sample_weight, qid, eval_set, groups)

    def score(self, X: Any, y: Any, sample_weight: Any = None, qid: Any = None) -> float:
        """The mean NDCG of queries, of a sample of whole ones if there are more rows than ``max_rows``.

        Parameters
        ----------
        X, y, sample_weight, qid
            Rows as in :meth:`fit`, or in memory.

        Returns
        -------
        float
        """
        if not is_dask_collection(X):
            return float(self.local().score(X, y, sample_weight, qid))
        return score(self.local(), self._rows(X, y, sample_weight, qid))
