"""Replays: the terms of a fitted model are fitted again to other rows, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..data.dataset import Dataset, Index
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .early_stopping.stacking import stacking_weights
from .early_stopping.validation_split import validation_splits
from .plan import Result
from .run import stacked, weights_scores
from .training import Trainer


@dataclass(frozen=True)
class Replay:
    """A replay of all models of a fit.

    Parameters
    ----------
    trainers : sequence of Trainer
        One for each member, prepared for the new rows.
    models : sequence of sequences of Ensemble
        The models of each member, one for each fold.
    rows : Dataset
        The new rows.
    init : Ensemble, optional
        The first rounds of all models, which stay as they are.
    prior_weight : float
        Weight of the old values, in rows.
    """

    trainers: Sequence[Trainer]
    models: Sequence[Sequence[Ensemble]]
    rows: Dataset
    init: Ensemble | None = None
    prior_weight: float = 0.0

    def result(self, weight: Array | None, fraction: float, seed: int) -> Result:
        """The models fitted again, and their new weights.

        Parameters
        ----------
        weight : ndarray of shape (m,) or (m, C), optional
            The weights of the members so far, which stay if no rows can be held out; None for a fit without early
            stopping.
        fraction : float
            Share of the rows that a single model of a member holds out for the weights; it is fitted to all rows
            in the end. Models of folds hold out folds, as in the fit; those of a member that ``replays`` are
            fitted to all rows in the end, too.
        seed : int
            Seed of the division.
        """
        if weight is None:
            model = self._replayed(0, 0, self.rows)
            return Result(model, n_rounds=[[len(model)]])
        loss, n_folds = self.trainers[0].loss, max(map(len, self.models))
        splits: Sequence[tuple[Index, Dataset]] = []
        if max(n_folds, len(weight)) > 1 and self.rows.n_groups > 1:
            splits = validation_splits(self.rows, min(n_folds, self.rows.n_groups), fraction, seed, loss)
        parts = [self._of_splits(member, splits) for member in range(len(weight))]
        if splits and len(weight) > 1:
            weight = self._weights(parts, [held for _, held in splits])
        used = np.flatnonzero(weight.reshape(len(weight), -1).any(axis=1)).tolist()
        holds_out = [
            len(row) > 1 and not one.member.replays for row, one in zip(self.models, self.trainers, strict=True)
        ]
        models = [parts[k] if splits and holds_out[k] else self._of_all_rows(k) for k in used]
        ensemble = stacked(loss, self.rows, models, weight[used])
        learners, n_rounds = (
            [self.trainers[k].member.learner for k in used],
            [list(map(len, row)) for row in models],
        )
        return Result(ensemble, learners=learners, weight=weight[used], n_folds=n_folds, n_rounds=n_rounds)

    def _replayed(self, member: int, fold: int, rows: Dataset) -> Ensemble:
        """A model of a member on some rows."""
        models = self.models[member]
        return (
            self.trainers[member]
            .independent(fold)
            .replay(rows, models[fold % len(models)], self.init, self.prior_weight)
        )

    def _of_all_rows(self, member: int) -> list[Ensemble]:
        """The models of a member on all rows."""
        return [self._replayed(member, fold, self.rows) for fold in range(len(self.models[member]))]

    def _of_splits(self, member: int, splits: Sequence[tuple[Index, Dataset]]) -> list[Ensemble]:
        """The models of a member, at least one for each split, on the rows that it does not hold out."""
        folds = range(max(len(splits), len(self.models[member])) if splits else 0)
        return [self._replayed(member, fold, self.rows.take(splits[fold % len(splits)][0])) for fold in folds]

    def _weights(self, models: Sequence[Sequence[Ensemble]], held: Sequence[Dataset]) -> Array:
        """The weights of the members by held-out rows, (m,) or (m, C)."""
        loss = self.trainers[0].loss
        raw = [[model.raw(out.X) for model, out in zip(row, held, strict=False)] for row in models]
        by_score = weights_scores(loss, self.rows.y, models)
        return stacking_weights(loss, models[0][: len(held)], raw, held, by_score)
