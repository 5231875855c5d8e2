"""What a fit starts from: nothing, the rounds of the previous fit, or a model that the user hands over."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..core import Loss
from ..data.dataset import Dataset
from ..preprocessing.feature_encoder import ColumnsMixin
from ..terms.ensemble import Ensemble
from ..utils.typing import Array

if TYPE_CHECKING:
    from .init_model import InitModel


class BeginningMixin(ColumnsMixin):
    """Finds what a fit starts from, and keeps what the next one needs for that."""

    task: ClassVar[str]
    n_estimators: int | None
    warm_start: bool
    ensemble_: Ensemble
    loss_: Loss
    _scores: tuple[str, Array | None] | None = None
    _rounds_given: int = 0
    _learner_state: dict[Hashable, Any]

    def _beginning(
        self, given: InitModel | None, loss: Loss, rows: Dataset, classes: Array | None
    ) -> tuple[Ensemble | None, int]:
        """The ensemble that the fit continues from, and how many of its rounds come on top of ``n_estimators``."""
        if given is None:
            return self._initial(loss), self._rounds_given if self._goes_on() else 0
        init = self._given(given, loss, rows, classes)
        return init, len(init)

    def _initial(self, loss: Loss) -> Ensemble | None:
        """The ensemble that a warm start continues from."""
        if not self._goes_on():
            return None
        if repr(loss) != repr(self.loss_):
            raise ValueError(
                f"{type(self).__name__}: loss must be that of the previous fit, {self.loss_!r}, when warm_start "
                f"is set, got {loss!r}"
            )
        return self.ensemble_

    def _require_columns(self, y: Array) -> None:
        """Raise a ValueError if a target does not have the columns of the fit that a warm start continues."""
        wanted = self.ensemble_.n_outputs
        if self.task == "regression" and y.shape[1] != wanted:
            raise ValueError(
                f"{type(self).__name__}: y must have the {wanted} columns of the previous fit when warm_start is "
                f"set, got {y.shape[1]}"
            )

    def _require_room(self, init: Ensemble | None, n_rounds: int) -> None:
        """Raise a ValueError if the model to continue from has more rounds than requested."""
        if init is not None and len(init) > n_rounds:
            given = self.n_estimators or f"None, for {n_rounds}"
            raise ValueError(
                f"{type(self).__name__}: n_estimators must be at least the {len(init)} rounds already fitted when "
                f"warm_start is set (all models of a fit with early stopping counted), got {given}"
            )

    def _read(self, init_model: Any) -> InitModel | None:
        """What is known of the user's model to continue from, if there is one."""
        if init_model is None:
            return None
        if self._goes_on():
            raise ValueError(
                f"{type(self).__name__}: init_model must be None when warm_start goes on from the previous fit"
            )
        from .init_model import read_init_model

        return read_init_model(init_model)

    def _given(self, given: InitModel, loss: Loss, rows: Dataset, classes: Array | None) -> Ensemble:
        """The ensemble of the user's model, whose rounds come on top of ``n_estimators``."""
        from .init_model import compatible_ensemble

        n_outputs = np.size(loss.baseline(rows.y, rows.weight))
        names = getattr(self, "feature_names_in_", None)
        init = compatible_ensemble(given, loss, rows.X.shape[1], n_outputs, classes, self._coding, names)
        self._require_scores(init, rows.X)
        return init

    def _goes_on(self) -> bool:
        """Whether a fit continues from the rounds of the previous one."""
        return bool(self.warm_start) and hasattr(self, "ensemble_")

    def _scores_left_by_last_fit(self, rows: Dataset) -> Array | None:
        if not self._goes_on() or self._scores is None or self._scores[0] != _data_key(rows):
            return None
        raw = self._scores[1]
        # A fit in pools leaves the scores of its last pool.
        return raw if raw is not None and len(raw) == len(rows) else None

    def _keep_state(
        self, rows: Dataset, raw: Array | None, learner_state: dict[Hashable, Any], stops: bool
    ) -> None:
        """Keep what a warm start needs to continue from this fit, if it can."""
        resumable = self.warm_start and not stops
        self._scores = (_data_key(rows), raw) if resumable else None
        self._learner_state = learner_state if resumable else {}


def _data_key(rows: Dataset) -> str:
    """A hash that identifies the data."""
    from joblib import hash

    return str(hash((rows.X, rows.y, rows.weight)))
