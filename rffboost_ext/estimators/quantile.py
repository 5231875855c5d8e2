"""Regression of several quantiles that do not cross."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from .._signals import atomic_fit
from ..losses import Quantile
from ..persistence.checkpoint import Checkpoint
from ..persistence.model_file import ModelFileMixin
from ..preprocessing.column_summary import summarize_columns
from ..sources.core import Source
from ..sources.sample import Sample
from ..utils.param_validation import OPTIONAL, SEED, Check, Instance, Real, is_auto, require_all
from ..utils.typing import Array
from .given_rows import draw_uniform, drawn, drawn_sets, sample_of
from .parameters import copy_with_own_parts, explain_unknown
from .regressor import RFFBoostRegressor


@dataclass(frozen=True)
class QuantileLevelsCheck(Check):
    """Values of ``quantiles``: increasing numbers above 0 and below 1."""

    def fits(self, value: object) -> bool:
        if isinstance(value, np.ndarray):
            return value.ndim == 1 and value.dtype.kind == "f"
        inside = Real(0.0, 1.0, closed="neither")
        return isinstance(value, Sequence) and not isinstance(value, str) and all(map(inside.fits, value))

    def accepts(self, value: object) -> bool:
        if not self.fits(value):
            return False
        levels = np.asarray(value, dtype=np.float64)
        within = bool(((levels > 0.0) & (levels < 1.0)).all())
        return len(levels) > 0 and within and bool((np.diff(levels) > 0.0).all())

    def __str__(self) -> str:
        return "an increasing sequence of numbers > 0 and < 1"


class RFFBoostQuantileRegressor(RegressorMixin, ModelFileMixin, BaseEstimator):
    """Regression of several conditional quantiles; predictions do not cross.

    One booster is fitted to the pinball loss of each level. The predictions of each row are sorted, which brings
    them no farther from the true quantiles (Chernozhukov et al.).

    Parameters
    ----------
    quantiles : sequence of float, default=(0.05, 0.5, 0.95)
        The levels, increasing, each above 0 and below 1.
    estimator : RFFBoostRegressor, optional
        The booster, whose loss must be "auto"; :class:`~rffboost_ext.RFFBoostRegressor` with its defaults if None.
    random_state : int, RandomState or None, default=None
        Seed of all boosters; if None, the seed of `estimator`. If both are None one seed is drawn for all; with a
        :class:`~rffboost_ext.Checkpoint` each booster draws its own, which is stored in its file.

    Attributes
    ----------
    estimators_ : list of RFFBoostRegressor
        One fitted booster per level.
    n_features_in_ : int
        Number of features seen in fit.
    n_rows_seen_ : int
        Number of rows in fit; of a source all rows, of which a uniform sample may be kept.

    References
    ----------
    Koenker and Bassett, Regression quantiles, Econometrica 46, 1978. Chernozhukov, Fernández-Val and Galichon,
    Quantile and probability curves without crossing, Econometrica 78, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostQuantileRegressor, RFFBoostRegressor
    >>> X = np.linspace(-3, 3, 300)[:, None]
    >>> y = X[:, 0] + np.random.default_rng(0).standard_normal(300)
    >>> booster = RFFBoostRegressor(learner="rff_1", n_estimators=50, random_state=0)
    >>> model = RFFBoostQuantileRegressor((0.1, 0.5, 0.9), booster).fit(X, y)
    >>> low, median, high = model.predict(X).T
    >>> bool((low <= median).all() and (median <= high).all())
    True
    """

    constraints = {
        "quantiles": QuantileLevelsCheck(),
        "estimator": Instance(RFFBoostRegressor) | OPTIONAL,
        "random_state": SEED,
    }

    @explain_unknown
    def __init__(
        self,
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
        estimator: RFFBoostRegressor | None = None,
        random_state: Any = None,
    ) -> None:
        self.quantiles = quantiles
        self.estimator = estimator
        self.random_state = random_state

    @atomic_fit
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        groups: Any = None,
        base_margin: Any = None,
        base_margin_eval_set: Any = None,
    ) -> RFFBoostQuantileRegressor:
        """Fit a booster per level.

        Parameters
        ----------
        X : array-like of shape (n, d), or Source
            Features. A :class:`~rffboost_ext.sources.Source` also has targets, weights and groups.
        y : array-like of shape (n,), optional
            Targets.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; weight 2 is equivalent to the row twice, weight 0 to leaving it out. Early
            stopping holds out a row with all of its weight.
        eval_set : list of (X, y) pairs, (X, y, weight) triples or sources, or dict of such, optional
            Rows to evaluate each booster on; early stopping monitors the last set.
        groups : array-like of shape (n,), optional
            Labels of groups of rows, of any hashable type. Early stopping holds out whole groups.
        base_margin : array-like of shape (n,), optional
            An offset of each row, which is added to its quantiles. Predictions with the model then need it too.
        base_margin_eval_set : list of array-like, or dict of names to such, optional
            The offset of each set of ``eval_set``, by name if that is a dict.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If a parameter or the data are invalid; the message names it.
        """
        require_all(self, self.constraints)
        booster = self._booster()
        levels = [clone(booster).set_params(loss=Quantile(float(level))) for level in self.quantiles]
        for k, level in enumerate(levels):
            level.callbacks = callbacks_of_level(level.callbacks, k)
        X = drawn(self, X, y=y, sample_weight=sample_weight, groups=groups, base_margin=base_margin)
        eval_set, _ = drawn_sets(self, eval_set)
        given = {"sample_weight": sample_weight, "eval_set": eval_set, "groups": groups}
        given |= {"base_margin": base_margin, "base_margin_eval_set": base_margin_eval_set}
        self.estimators_ = [level.fit(X, y, **given) for level in levels]
        first = self.estimators_[0]
        self.n_features_in_, self.n_rows_seen_ = first.n_features_in_, first.n_rows_seen_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(first, "feature_names_in_"):
            self.feature_names_in_ = first.feature_names_in_
        return self

    @atomic_fit
    def refresh(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, base_margin: Any = None
    ) -> RFFBoostQuantileRegressor:
        """Refresh the booster of each level, as :meth:`RFFBoostRegressor.refresh` does.

        Parameters
        ----------
        X, y, sample_weight, groups, base_margin
            Rows as in :meth:`fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If the data are invalid, or the boosters cannot be refreshed.
        """
        check_is_fitted(self)
        rows = sample_of(self, X, y, sample_weight, groups, base_margin)
        # A refresh that fails leaves all levels as they are.
        self.estimators_ = [copy(one).refresh(rows, base_margin=base_margin) for one in self.estimators_]
        self.n_rows_seen_ = self.estimators_[0].n_rows_seen_
        return self

    def draw(self, source: Source, uniform: bool = True) -> Sample:
        """A uniform sample of a source, for all levels."""
        columns = partial(summarize_columns, type(self).__name__, self._booster().categorical_features)
        return draw_uniform(self, source, columns=columns)

    def with_boosters(self, boosters: list[RFFBoostRegressor]) -> RFFBoostQuantileRegressor:
        """A fitted copy with other boosters and with copies of the parameters."""
        made = copy_with_own_parts(self)
        made.estimators_ = boosters
        return made

    def _booster(self) -> RFFBoostRegressor:
        """The unfitted booster of all levels, without its loss; with `random_state` all share one seed."""
        booster = RFFBoostRegressor() if self.estimator is None else clone(self.estimator)
        if "loss" not in booster.get_params(deep=False):
            raise TypeError(
                f"{type(self).__name__}: estimator must be an RFFBoostRegressor, whose loss each level sets, got "
                f"{booster!r}, which has no parameter loss; predict_dist(X).ppf has quantiles of a distribution"
            )
        if not is_auto(booster.loss):
            raise ValueError(
                f"{type(self).__name__}: the loss of estimator must be 'auto', since each level has its own "
                f"Quantile loss, got {booster.loss!r}"
            )
        if self.random_state is None and (booster.random_state is not None or has_checkpoint(booster)):
            return booster
        return booster.set_params(random_state=check_random_state(self.random_state).randint(2**31 - 1))

    def predict(self, X: Any, base_margin: Any = None) -> Array:
        """The predicted quantiles of each row, increasing from column to column.

        Parameters
        ----------
        X : array-like of shape (n, d)
        base_margin : array-like of shape (n,), optional
            The offset of each row; required by a model that was fitted with one, else None.

        Returns
        -------
        ndarray of shape (n, Q), or (n,) for one level
        """
        check_is_fitted(self)
        quantiles = np.column_stack([estimator.predict(X, base_margin) for estimator in self.estimators_])
        return quantiles[:, 0] if quantiles.shape[1] == 1 else np.sort(quantiles, axis=1)

    def score(self, X: Any, y: Any, sample_weight: Any = None, base_margin: Any = None) -> float:
        """The fraction of pinball loss explained, relative to constant quantiles, averaged over levels.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Targets.
        sample_weight : array-like of shape (n,), optional
            Weights.
        base_margin : array-like of shape (n,), optional
            The offset of each row; required by a model that was fitted with one, else None.

        Returns
        -------
        float
            At most 1; see :func:`sklearn.metrics.d2_pinball_score`.
        """
        from sklearn.metrics import d2_pinball_score

        columns = self.predict(X, base_margin).reshape(-1, len(self.estimators_)).T
        levels = zip(self.quantiles, columns, strict=True)
        weight = {"sample_weight": sample_weight}
        return float(np.mean([d2_pinball_score(y, column, alpha=level, **weight) for level, column in levels]))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = get_tags(RFFBoostRegressor() if self.estimator is None else self.estimator).input_tags
        tags.input_tags.allow_nan, tags.input_tags.categorical = given.allow_nan, given.categorical
        return tags


def has_checkpoint(booster: RFFBoostRegressor) -> bool:
    """Whether one of the callbacks is a checkpoint."""
    given = booster.callbacks
    return isinstance(given, Sequence) and any(isinstance(one, Checkpoint) for one in given)


def callbacks_of_level(callbacks: Any, number: int) -> Any:
    """The callbacks of one of several fits, with a separate checkpoint."""
    if not isinstance(callbacks, Sequence):
        return callbacks
    return [one.part(number) if isinstance(one, Checkpoint) else one for one in callbacks]
