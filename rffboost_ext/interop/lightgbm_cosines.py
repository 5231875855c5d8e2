"""Cosines in LightGBM's training loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import Booster, Dataset
from lightgbm.basic import LightGBMError

from ..core import Term
from ..utils.typing import Array
from .cosine_objective import DOC, CosineObjectiveBase, require_same_features
from .cosine_training import CosineTraining, assign_trees
from .lightgbm_model import certain_names_of, parse_model, read_rounds

BOOSTING = {"boosting", "boosting_type", "boost"}
CHANGING = {"dart": "earlier trees change", "rf": "trees are averaged"}
"""Kinds of boosting that are rejected, and why."""


class CosineObjective(CosineObjectiveBase):
    __doc__ = f"""{DOC}
    Notes
    -----
    Pass it as ``params["objective"]``; ``feval=hybrid.metric`` evaluates the sum of both parts. LightGBM frees the
    features of a Dataset: construct it with ``free_raw_data=False``, or provide them by ``attach(data, X)``.
    """

    def __deepcopy__(self, memo: dict[int, Any]) -> CosineObjective:
        # lightgbm.train works on a deep copy of its parameters; the learned state must be in this object.
        return self

    def metric(self, scores: Array, data: Dataset) -> tuple[str, float, bool]:
        """``feval`` of ``lightgbm.train``: the mean loss at the sum of both parts, for early stopping."""
        return *self.evaluate(scores, data), False

    def _n_features(self, matrix: Dataset) -> int | None:
        try:
            return int(matrix.num_feature())
        except LightGBMError:
            # The Dataset is not constructed before training.
            return None

    def _check_attached(self, matrix: Dataset, X: Array) -> None:
        # The features are unknown if they come from a file or were freed.
        known = not isinstance(matrix.data, str | Path | list)
        found = dense(matrix.data) if known else np.empty(0)
        if found.ndim == 2 and found.dtype.kind in "biuf":
            require_same_features(found, X)

    def _features(self, matrix: Dataset) -> Array:
        if matrix.free_raw_data or isinstance(matrix.data, str):
            raise ValueError(
                "the Dataset does not return its features: construct it from an array with free_raw_data=False, "
                "or pass them by attach(data, X) before training"
            )
        return dense(matrix.get_data())

    def _tree_inputs(self, matrix: Dataset, rows: Array) -> Array | None:
        if matrix.free_raw_data or isinstance(matrix.data, str):
            return None
        found = self._features(matrix)[rows]
        # A table with non-numeric columns has dtype object.
        return None if found.dtype.kind == "O" else found

    def _start_training(self, host: Array, matrix: Dataset) -> CosineTraining:
        # train() passes its parameters to a Dataset that was not constructed before; bind() checks the others.
        params = matrix.params or {}
        for spelling in BOOSTING & {*params}:
            require_unchanging_trees(params[spelling])
        return super()._start_training(host, matrix)

    def _read_trees(self, booster: Booster, training: CosineTraining) -> tuple[list[Term | None], int]:
        model = booster.model_to_string()
        text = parse_model(model)
        for boosting, found in (("dart", "[boosting: dart]" in model), ("rf", "average_output" in text.header)):
            require_unchanging_trees(boosting if found else "gbdt")
        best = booster.best_iteration if booster.best_iteration > 0 else None
        return assign_trees(read_rounds(text), training.tree_grown, best), booster.num_feature()

    def _feature_names(self, booster: Booster) -> Array | None:
        return certain_names_of(booster)


def dense(data: Any) -> Array:
    """A table as an array, also if it is sparse."""
    return np.asarray(data.toarray() if hasattr(data, "toarray") else data)


def require_unchanging_trees(boosting: str) -> None:
    """Raise a ValueError unless the scores of a kind of boosting are the sum of the trees of all rounds."""
    if boosting in CHANGING:
        raise ValueError(
            f"boosting must be 'gbdt' with a CosineObjective, got {boosting!r}, whose {CHANGING[boosting]}"
        )
