"""Targets of survival analysis: structured arrays of event and time, bounds of times, or observed times."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from ..losses.aft import require_no_events
from ..utils.typing import Array
from .tables import number_array
from .targets import RealTargets

ADVICE = "such as sksurv.util.Surv.from_arrays(event, time) makes"


class SurvivalTargets(RealTargets):
    """Times that may be censored, in the two columns that a loss takes.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    infinite : bool
        Whether the loss takes lower and upper bounds of times, rather than event and time.
    """

    def columns(self, y: Any) -> Any:
        """Two columns, (n, 2), of a structured array, of event and time, or of observed times (n,)."""
        event, time = self._event_and_time(y)
        if event is None:
            return time
        return np.column_stack([time, np.where(event > 0.0, time, np.inf)] if self.infinite else [event, time])

    def _event_and_time(self, y: Any) -> tuple[Array | None, Array]:
        """Whether each event was observed, and its time or that of censoring; None and bounds for bounds."""
        if isinstance(y, np.ndarray) and y.dtype.names:
            return self._fields(y)
        values = number_array(y)
        if values.ndim == 2 and values.shape[1] == 1:
            values = column_or_1d(values, warn=True)
        if values.ndim == 2 and values.shape[1] == 2:
            if self.infinite:
                require_no_events(f"{self.owner}: y", np.asarray(values, dtype=np.float64))
                return None, values
            return self._truth_values_and_times(*values.T.astype(np.float64))
        if values.ndim != 1:
            raise ValueError(f"{self.owner}: y must have shape (n,) or (n, 2), got {values.shape}")
        return np.ones(len(values)), values

    def _fields(self, y: Array) -> tuple[Array, Array]:
        """The two fields of a structured array, of any names."""
        kinds = [y.dtype[name].kind for name in y.dtype.names or ()]
        if len(kinds) != 2 or kinds[0] not in "biuf" or kinds[1] not in "iuf" or y.ndim != 1:
            raise ValueError(
                f"{self.owner}: y must be a structured array of shape (n,) whose first field says whether the "
                f"event was observed, and whose second is the time, {ADVICE}, got shape {y.shape} and {y.dtype}"
            )
        return self._truth_values_and_times(*(y[name].astype(np.float64) for name in y.dtype.names or ()))

    def _truth_values_and_times(self, event: Array, time: Array) -> tuple[Array, Array]:
        if not np.isin(event, (0.0, 1.0)).all() or np.isnan(time).any():
            raise ValueError(
                f"{self.owner}: y must be a structured array or columns of truth values and times, {ADVICE}, got "
                f"other numbers or NaN; bounds are for the losses aft_normal, aft_logistic and aft_extreme"
            )
        return event, time

    def read(self, y: Any) -> Array:
        return np.asarray(self.columns(y))
