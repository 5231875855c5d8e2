"""What an estimator does where it is left the choice: stopping, folds and the stack."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from .composed import ComposedEstimator, is_auto
from .core import Array, Learner
from .early_stopping import Patience
from .ensemble import Ensemble
from .learners import Mixture, RFFNewton
from .stopping import FEW, Plan, folds_for
from .training import Rows, Trainer

# Rounds of a fit that is not told how many, and its ceiling where early stopping is on.
ROUNDS, CEILING = 100, 2_000
# With so many rows, those that are held out are not missed.
NO_REFIT = 10_000
# Of more rows, a fit also waits for this share of the rounds before. Beside a third, a tenth takes 0.83 of the
# time, at +0.02 points (standard error 0.03) over 36 fits of 9 sets; above `NO_REFIT` 0.75, at -0.05 (0.06) over
# 15 fits of 5.
SHARE_OF_ROUNDS = 0.1
# Of few rows, a held-out loss of a classifier below the first share of what it was before the first round has
# settled where so many rounds take less than the second off it. Fits take 0.7 of the time; over 104 splits of 13
# small sets accuracy changes by -0.01 points (standard error 0.02), the log loss by 0.001.
SETTLED = 0.2, 0.01
# The relative rate of cosines in a stack: of those alone, and of those in the mixture beside them up to `FEW` rows
# and of more. By `earned` a long step earns less, so that the mixture turns to trees where cosines have a model of
# their own. Over 216 fits of 18 small sets accuracy changes by +0.1 points (standard error 0.06), the log loss by
# -0.002, the time by 0.8.
ALONE, MIXED = 2.0, (2.0, 3.0)


@dataclass(frozen=True)
class Pace:
    """How fast early stopping goes.

    Parameters
    ----------
    rate : float
        Learning rate.
    patience : int
        Rounds without improvement that end a fit.
    n_folds : int, optional
        Models, where that is not left to the number of rows.
    """

    rate: float
    patience: int
    n_folds: int | None = None


FINE = Pace(0.1, 40)
MIDDLING = 1_000
# From 1,000 to 3,000 rows, where a fit takes seconds, more models of longer steps take 0.6 of the time of fewer
# ones of shorter steps, at the same accuracy (36 fits of 9 sets: 0.00 points, standard error 0.11; with several
# classes between -0.8 and +1.2). Classifiers are the more patient ones: beside 14 rounds, 25 take 0.011 off the
# log loss (20 fits of 5 sets) for 1.2 of the time, and nothing off the error of regressions. Without the stack,
# four models of steps between the two take half of its time, and lose 0.9 points (24 fits of 8 sets, 0.2).
PACES = {
    ("auto", "classification"): Pace(0.3, 25, 8),
    ("auto", "regression"): Pace(0.3, 14, 8),
    ("fast", "classification"): Pace(0.2, 20),
    ("fast", "regression"): Pace(0.2, 20),
}


class PolicyEstimator(ComposedEstimator):
    """Settles what is ``"auto"`` by the number of rows."""

    task: ClassVar[str]
    eval_metric: Any
    learning_rate: float | str | Callable[[int], float]
    early_stopping: bool | str
    validation_fraction: float
    n_iter_no_change: int | str
    tol: float
    n_folds: int | str
    refit: bool | str
    quality: str
    warm_start: bool

    def _stops(self, learner: Learner, held: Rows | None) -> bool:
        """Whether the fit uses early stopping."""
        if is_auto(self.early_stopping):
            return held is not None or ((learner.stops_early or self._asks_to_stop()) and not self.warm_start)
        return bool(self.early_stopping)

    def _asks_to_stop(self) -> bool:
        """Whether a parameter is given that means nothing without early stopping."""
        return self.quality == "high" or not (is_auto(self.n_folds) and is_auto(self.n_iter_no_change))

    def _stacks(self, init: Ensemble | None) -> bool:
        """Whether early stopping trains two kinds of models."""
        free = self.quality == "auto" and is_auto(self.learner) and not self._is_one(init)
        return self.quality == "high" or free

    def _is_one(self, init: Ensemble | None) -> bool:
        """Whether a single model is to grow: from another one, or so that a warm start can go on from it."""
        return init is not None or bool(self.warm_start)

    def _pace(self, n_samples: int, held: Rows | None, init: Ensemble | None) -> Pace:
        """How fast early stopping goes with so many rows, where nothing is said of it."""
        free = is_auto(self.learning_rate) and is_auto(self.n_folds) and is_auto(self.learner)
        middling = held is None and not self._is_one(init) and MIDDLING <= n_samples <= FEW
        return PACES.get((self.quality, self.task), FINE) if free and middling else FINE

    def _rate(self, pace: Pace) -> float | Callable[[int], float]:
        """The learning rate, as a number or a function of the round."""
        return pace.rate if isinstance(self.learning_rate, str) else self.learning_rate

    def _trainers(self, trainer: Trainer, n_samples: int, init: Ensemble | None) -> list[Trainer]:
        """What is trained: one model, or the models of a stack."""
        if not self._stacks(init):
            return [trainer]
        alone, mixed = RFFNewton(relative_rate=ALONE), RFFNewton(relative_rate=MIXED[n_samples > FEW])
        first = replace(trainer, learner=Mixture(mixed)) if is_auto(self.learner) else trainer
        step = copy(trainer.step).set_params(step=self._step_for(trainer.loss, alone))
        return [first, replace(trainer, learner=alone, step=step)]

    def _most_folds(self, y: Array) -> int:
        """Folds of which each has a row of every class, as metrics may need them; at least 2."""
        if self.task == "regression" or self.eval_metric is None:
            return len(y)
        counts = np.bincount(y[:, 0].astype(np.int64))
        return max(2, int(counts[counts > 0].min()))

    def _plan(
        self,
        n_samples: int,
        n_rounds: int,
        init: Ensemble | None,
        pace: Pace = FINE,
        most_folds: int | None = None,
    ) -> Plan:
        """How early stopping goes about so many rows."""
        by_rows = 1 if self._is_one(init) else folds_for(n_samples, self._stacks(init), self.quality == "high")
        suitable = min(pace.n_folds or by_rows, most_folds or n_samples)
        n_folds = suitable if is_auto(self.n_folds) else int(self.n_folds)
        single = n_folds == 1 and n_samples < NO_REFIT
        refit = single if is_auto(self.refit) else bool(self.refit)
        return Plan(n_folds, self.validation_fraction, refit, n_rounds, self._patience(n_samples, pace), self.tol)

    def _patience(self, n_samples: int, pace: Pace = FINE) -> Patience:
        """How long early stopping waits: the longer, the more rounds so many rows can use."""
        if not is_auto(self.n_iter_no_change):
            return Patience(int(self.n_iter_no_change))
        if n_samples > FEW:
            return Patience(pace.patience, SHARE_OF_ROUNDS)
        settles = self.task == "classification" and self.eval_metric is None
        return Patience(pace.patience, 0.0, *(SETTLED if settles else ()))
