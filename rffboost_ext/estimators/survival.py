"""Survival analysis: times to an event, which may be censored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ..boosting.loop import Parts
from ..core import Loss
from ..losses import SurvivalLoss
from ..metrics.survival import share_of_pairs
from ..rows.dataset import Dataset
from ..rows.survival_targets import SurvivalTargets
from ..rows.targets import TargetEncoder
from ..utils.typing import Array
from .base import BaseRFFBoost
from .docstrings import ATTRIBUTES, PARAMETERS
from .fit_rows import rows_to_score
from .parameters import has_attribute
from .step_function import StepFunction, smooth_values, survival_of_hazard


class RFFBoostSurvival(BaseRFFBoost):
    __doc__ = f"""Boosting of random Fourier features, trees or any learner, for survival analysis.

    Targets, predictions and scores are as in scikit-survival, whose metrics and searches over parameters work.
    With the loss "cox" the hazard of a row is ``exp(raw)`` times a baseline hazard. With "aft_normal",
    "aft_logistic" and "aft_extreme" the log of the time is ``raw + sigma Z``, and times may be bounded on both
    sides.

    Parameters
    ----------
    {PARAMETERS.format(loss='"cox"')}

    Attributes
    ----------
    unique_times_ : ndarray of shape (T,)
        The distinct times of the training rows, censored ones included, at which survival functions are given.
    event_times_ : ndarray of shape (E,)
        Those of them at which there was an event.
    cum_baseline_hazard_ : StepFunction
        The cumulative hazard of a raw score of 0.
    {ATTRIBUTES}

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 3))
    >>> time, censored = np.exp(-X[:, 0]) * rng.exponential(size=200), rng.exponential(3.0, 200)
    >>> y = np.zeros(200, dtype=[("event", bool), ("time", float)])
    >>> y["event"], y["time"] = time <= censored, np.minimum(time, censored)
    >>> model = RFFBoostSurvival(random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.7)
    True
    >>> survival = model.predict_survival_function(X[:2])[0]
    >>> bool(survival(0.1) > survival(1.0))
    True
    """

    task = "regression"
    kept_levels = "events"
    default_loss = "cox"
    loss_: SurvivalLoss
    unique_times_: Array
    event_times_: Array
    _baseline_hazard: Array

    @classmethod
    def takes_loss(cls, kind: type[Loss]) -> bool:
        return issubclass(kind, SurvivalLoss)

    def _targets(self) -> SurvivalTargets:
        """The encoder of targets for the loss."""
        return SurvivalTargets(type(self).__name__, has_attribute(self, "loss", "infinite"))

    def _check_target(self, parts: Parts, data: Dataset, targets: TargetEncoder) -> None:
        if not isinstance(parts.loss, SurvivalLoss):
            raise ValueError(
                f"{type(self).__name__}: loss must be one of survival analysis, such as 'cox' or 'aft_normal', or "
                f"derive from rffboost_ext.losses.SurvivalLoss, got {parts.loss!r}"
            )

    def _prepare(self, parts: Parts, data: Dataset, targets: TargetEncoder) -> Parts:
        """The prepared parts, with monotone constraints of the risk, which may fall with the raw score."""
        parts = super()._prepare(parts, data, targets)
        signs = getattr(parts.learner, "monotone_constraints", None)
        low, high = parts.loss.risk_link.inverse(np.array([[0.0], [1.0]]))[:, 0]
        if signs is None or low <= high:
            return parts
        return replace(parts, learner=clone(parts.learner).set_params(monotone_constraints=[-s for s in signs]))

    def _after_training(self, rows: Dataset, targets: TargetEncoder) -> None:
        """Estimate the baseline hazard from the rows of the fit."""
        y, raw = rows.y, rows.observations.total(self.ensemble_.raw(rows.X))
        bounds = self.loss_.bounds(y)
        is_exact = bounds[:, 0] == bounds[:, 1]
        self.event_times_ = np.unique(bounds[is_exact, 0])
        self.unique_times_ = np.unique(bounds[np.isfinite(bounds) & (bounds > 0.0) | is_exact[:, None]])
        self._baseline_hazard = self.loss_.baseline_hazard(y, raw, rows.weight, self.unique_times_)

    def average_fitted(self, models: Sequence[RFFBoostSurvival]) -> None:
        """Set the times to those of all models, and the baseline hazard at them to the mean."""
        self.event_times_, self.unique_times_ = (
            np.unique(np.concatenate([getattr(model, name) for model in models]))
            for name in ("event_times_", "unique_times_")
        )
        # 0 before the first time of a model, and the last hazard after its last one.
        baselines = [
            np.append(0.0, model._baseline_hazard)[
                np.searchsorted(model.unique_times_, self.unique_times_, side="right")
            ]
            for model in models
        ]
        # Sums of sorted numbers do not depend on the order of the models.
        self._baseline_hazard = np.sort(baselines, axis=0).mean(axis=0)
        if self.loss_.is_smooth:
            zero, times = np.zeros((1, 1)), self.unique_times_
            self._baseline_hazard = self.loss_.cumulative_hazard(zero, times, self._baseline_hazard)[0]

    @property
    def cum_baseline_hazard_(self) -> StepFunction:
        """The cumulative hazard of a raw score of 0 at the times of the fit."""
        return StepFunction(self.unique_times_, self._baseline_hazard)

    def _response(self, raw: Array) -> Array:
        return self.loss_.risk_link.inverse(raw)[:, 0]

    def predict_cumulative_hazard_function(
        self, X: Any, return_array: bool = False, base_margin: Any = None
    ) -> Array:
        """The cumulative hazard of each row as a function of time.

        Parameters
        ----------
        X : array-like of shape (n, d)
        {functions}
        """
        return self._functions(X, base_margin, return_array, np.asarray)

    def predict_survival_function(self, X: Any, return_array: bool = False, base_margin: Any = None) -> Array:
        """The probability of each row that the event comes later, as a function of time.

        It is ``exp(-H)`` with the cumulative hazard H.

        Parameters
        ----------
        X : array-like of shape (n, d)
        {functions}
        """
        return self._functions(X, base_margin, return_array, survival_of_hazard)

    def _functions(
        self, X: Any, base_margin: Any, return_array: bool, of_hazard: Callable[[Array], Array]
    ) -> Array:
        """A function of the cumulative hazard of each row, as functions of time or at the times of the fit."""
        raw = self.raw_scores(X, base_margin)
        values = of_hazard(self.loss_.cumulative_hazard(raw, self.unique_times_, self._baseline_hazard))
        if return_array:
            return values
        functions = np.empty(len(raw), dtype=object)
        for i, row in enumerate(values):
            smooth = partial(smooth_values, self.loss_, raw[i, 0], of_hazard) if self.loss_.is_smooth else None
            functions[i] = StepFunction(self.unique_times_, row, smooth)
        return functions

    def predict_median_time(self, X: Any, base_margin: Any = None) -> Array:
        """The median time of each row, (n,), infinite if the survival function stays above one half.

        Parameters
        ----------
        {rows}

        Returns
        -------
        ndarray of shape (n,)
            With "cox" it is one of ``unique_times_``.
        """
        raw = self.raw_scores(X, base_margin)
        return self.loss_.median_time(raw, self.unique_times_, self._baseline_hazard)

    def score(self, X: Any, y: Any, sample_weight: Any = None, base_margin: Any = None) -> float:
        """Harrell's concordance index: the share of pairs of rows whose risks are in the order of their events.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : structured array of shape (n,), or array-like of shape (n,) or (n, 2)
            Targets as in fit.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; a pair has their product.
        {margin}

        Returns
        -------
        float
            1 for a perfect order, 1/2 for a random one; NaN if no event is known to be before another.

        Raises
        ------
        ValueError, TypeError
            If the targets or weights are invalid.
        """
        y, raw, weight = rows_to_score(self, X, y, sample_weight, base_margin)
        self.loss_.check_target(y)
        return share_of_pairs(self.loss_.bounds(y), self._response(raw), weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = tags.target_tags.positive_only = True
        tags.target_tags.multi_output = True
        return tags
