"""What estimators do where parameters are "auto": early stopping, folds and the stack.

Figures in comments compare variants as ``benchmarks/defaults.py`` does, on splits that no table uses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..boosting.early_stopping import Patience, PatienceLimit
from ..boosting.fit_plan import FitPlan
from ..boosting.training import Trainer
from ..boosting.training_condition import TrainingCondition
from ..boosting.validation_split import FEW, default_n_folds
from ..core import Learner
from ..data.dataset import Dataset
from ..learners import RFFIRLS, Mixture, RFFNewton, RFFRidge
from ..learners.mixture import MANY_FEATURES
from ..terms.ensemble import Ensemble
from ..utils.param_validation import is_auto
from ..utils.typing import Array
from .composition import ComposedEstimator

# Default number of rounds, and default maximum with early stopping.
ROUNDS, CEILING = 100, 2_000
# From this number of rows on, a refit that includes the held-out rows is not worth its time. With more than
# `FEW`, it is worth it for the mixture alone: trees tell rows apart, single cosines hardly do. Without a refit of
# these accuracy changes by +0.01 points (32 fits of 10 sets, standard error 0.03), the time of all by 0.8. A
# mixture that keeps the first 0.4 of its rounds, and sees all rows from there on, loses 0.8 points (24 fits of 3
# sets, 0.2).
NO_REFIT = 10_000
# With more than `FEW` rows, patience is at least this share of the rounds up to the best. Compared with a third, a
# tenth takes 0.83 of the time, at +0.02 points (standard error 0.03) over 36 fits of 9 sets; above `NO_REFIT`
# 0.75, at -0.05 (0.06) over 15 fits of 5.
SHARE_OF_ROUNDS = 0.1
# With few rows, a classifier whose validation loss is below the first share of its initial value also stops when
# as many rounds as its patience reduce it by less than the second share. Fits take 0.7 of the time; over 104
# splits of 13 small sets accuracy changes by -0.01 points (standard error 0.02), the log loss by 0.001.
SETTLED = 0.2, 0.01
# With more rows likewise, where both are shares of the log loss of a coin. If classes can be told apart without
# error, rounds never cease to reduce the loss: with 5,000 rows of 10 features on two sides of a plane this takes
# 0.6 of the time. Many classes seldom get there, as they gain accuracy until late.
SETTLED_OF_MANY = 0.05, 1e-3
# The relative rate of cosines in a stack, with up to `FEW` rows and with more: in the model of cosines alone, and
# in the mixture. By `earned` a long step earns less, so that the mixture prefers trees where cosines have a model
# of their own. Over 216 fits of 18 small sets accuracy changes by +0.1 points (standard error 0.06), the log loss
# by -0.002, the time by 0.8.
ALONE, MIXED = (2.0, 3.0), (2.0, 4.0)
# Cosines with more than `FEW` rows. More candidates, scored on more rows, find frequencies that bear longer steps:
# beside 32 candidates, 1,000 rows and a rate of 2, models of cosines alone have 0.8 % less loss (60 fits of 10
# sets, standard error 0.4) and accuracy changes by +0.07 points (0.1), at 0.8 of the time. With hessians of at
# least 0.1 of their mean, scores hold better where there are no rows: with 5,000 rows on two sides of a plane 0.99
# of the points just beyond them are on the right side, without 0.97; in 10 dimensions 0.94 and 0.80. With few rows
# that would cost 0.12 points of accuracy (114 fits of 19 sets, standard error 0.05), with many 0.01 (34 fits of 17
# sets, 0.03).
OF_MANY = {"n_candidates": 96, "n_scored": 2_000, "earned": 0.7, "min_hessian": 0.1}
# The relative rate of kernel machines, which take full steps where the rate is 0.2 or more, and the limits of
# their patience in a stack: what a few full steps do not find is not there. Compared with a tolerance of 1e-4
# accuracy changes by -0.02 points (72 fits of 18 sets, standard error 0.01), the time of all models by 0.9. At
# lower rates steps are shorter; six of them add up before a gain counts as none.
OF_RIDGE, HASTE = 5.0, PatienceLimit(6, 1e-3)
# The same with up to `FEW` rows of many features, whose rate is lower: full steps by default there too.
OF_RIDGE_WIDE = 10.0
# Their most frequencies, below `MIDDLING` rows and from there on, and how many for each degree of freedom: noise
# leaves few of these. Beside 512 or 256 random ones, that and four directions for each add 0.09 points (306 fits
# of 26 sets, standard error 0.05), at 0.977 of the loss (0.010) and the same time. Eight directions add no more
# than four (282 fits of 19 sets).
COMPONENTS, PER_DEGREE = (512, 256), 6.0
# The same for quality="high", and below `MIDDLING` rows for as many features as `SPACIOUS`: the more dimensions,
# the more frequencies a kernel needs. There they add 0.20 points of accuracy or R2 (108 fits of nine sets,
# standard error 0.10), at 0.976 of the loss (0.006) and 1.10 times the time; with fewer features -0.07 (176 fits,
# 0.07). From `MIDDLING` rows on they add 0.19 (12 fits of 4 sets, 0.07) at 1.4 times the time, on splice at twice.
SPACIOUS, MANY_COMPONENTS, MORE = 50, (2_048, 1_024), 12.0
# How often rows are divided into folds for quality="high". Over 161 fits of ten small sets accuracy rises by 0.10
# points (standard error 0.10), the log loss is 0.96 (0.013) of that of the defaults, at 2.25 times the time; five
# folds with steps of 0.1 in their place have 1.02 times the loss (192 fits, 0.018) at 2.2 times the time.
REPEATS = 2
# When kernel machines by reweighted least squares are trained, below `MIDDLING` rows and from there on: where
# classes can be told apart, but not yet without error. Over 80 fits of the ten small sets that call for them,
# accuracy rises by 0.52 points (standard error 0.11) and the log loss is 0.78 of that without (geometric mean), at
# 1.36 times the time; on Gaussian quantiles of 2,100 rows the loss is 0.3 of it. With 11 and 19 classes, each of
# which takes its time, the log loss fell by a sixth at three times the time, and accuracy by 0.2 points (4 fits).
# In the place of other kernel machines, not beside them, they lose 0.43 points (44 fits of 11 sets, 0.15). From
# `MIDDLING` rows on they were of use where the other kernel machines were the best model (three fits of one set),
# and given up in 22 fits of six sets; in 17 of these the others left more than 1.2 times the least loss.
# That of the best fold counts: on one of five splits of the Gaussian quantiles others fail in most folds, and
# without these machines 13 points are lost.
CLEAR = TrainingCondition(0.02, 0.45, 1.5, 4), TrainingCondition(0.02, 0.65, 0.9, 4, akin=1.1)
OF_IRLS = PatienceLimit(3, 1e-3)


@dataclass(frozen=True)
class TrainingDefaults:
    """Learning rate, patience and folds of a fit with early stopping.

    Parameters
    ----------
    rate : float
        Learning rate.
    patience : int
        Rounds without improvement after which a fit ends.
    n_folds : int, optional
        Number of folds; None to choose it by the number of rows.
    n_repeats : int, default=1
        How often rows are divided into folds.
    """

    rate: float
    patience: int
    n_folds: int | None = None
    n_repeats: int = 1


# Where something else is given, and with more than `FEW` rows. There a patience of 40 is worth 0.22 points beside
# 25 (30 fits of 10 sets, standard error 0.10), and 0.09 beside 20 (27 fits of 9 sets, with other cosines, 0.06),
# which takes 0.74 of the time; steps of 0.15 take as much, at -0.25 (0.15).
FINE, LONG = TrainingDefaults(0.1, 40), TrainingDefaults(0.1, 25)
MIDDLING = 1_000
# Below `MIDDLING` rows, and from there to `FEW`. Below, compared with steps of 0.1, a patience of 40 and cosines
# alone in the place of kernel machines, accuracy changes by +0.45 points (161 fits of 38 sets, standard error
# 0.16) at 0.55 of the time; a third kind of models changes it by -0.16 (0.09) and steps of 0.15 by 0.00 (0.06), at
# 1.2 and 1.1 times the time, and a patience of 12 in the place of 15 by 0.00 (160 fits of 32 sets, 0.04) at 0.96
# of it. Steps of 0.3 take 0.86 of the time of 0.2, at +0.01 points (375 fits of 39 sets, 0.05) and 0.992 of the
# loss (0.003), those of 0.4 0.81, at -0.08 (0.05); with 0.3 a patience of 9 takes 0.92, at -0.03 (0.02) and 1.007
# of the loss (0.002); from `MIDDLING` rows on 0.4 takes 0.91 of the time of 0.3, at -0.10 (45 fits of 15 sets,
# 0.05). From `MIDDLING` on cosines alone are needed beside kernel machines: without them five classes of 30
# features lose 4 points. Four folds take 0.75 of the time of five below `MIDDLING`, at -0.02 points (228 fits of
# 38 sets, 0.08), three lose 0.20 (0.10). From there on four take 0.65 of the time of six, at 0.00 (42 fits of 7
# sets, 0.06), of others -0.18 (30 fits of 15 sets, 0.10); five take 0.84, at -0.06 (42 fits, 0.06).
QUICK, MIDDLE = TrainingDefaults(0.3, 12, 4), TrainingDefaults(0.3, 15, 5)
# With up to `FEW` rows of at least `MANY_FEATURES` features, as they were given. There often few features matter,
# and these are found by short steps; so are single cosines worth their time as a third kind of models. They add
# 1.9 points of accuracy or R2 (45 fits of 15 sets, most of them generated, standard error 0.5), trees of 64 bins
# included, at 1.5 times the time.
WIDE, MIDDLE_WIDE = TrainingDefaults(0.1, 20, 4), TrainingDefaults(0.1, 20, 5)


@dataclass(frozen=True)
class TableSize:
    """The size of a table, by which defaults are chosen.

    Parameters
    ----------
    n_samples, n_features : int
        Rows, and columns as they were given.
    """

    n_samples: int
    n_features: int

    @property
    def many(self) -> bool:
        """Whether one model or two are trained on all rows, instead of several on folds."""
        return self.n_samples > FEW

    @property
    def middling(self) -> bool:
        """Whether there are few rows, but not very few."""
        return MIDDLING <= self.n_samples <= FEW

    @property
    def wide(self) -> bool:
        """Whether there are few rows of many features."""
        return self.n_samples <= FEW and self.n_features >= MANY_FEATURES

    @property
    def spacious(self) -> bool:
        """Whether there are very few rows, of more features than a few frequencies can cover."""
        return self.n_samples < MIDDLING and self.n_features >= SPACIOUS

    @property
    def thorough(self) -> bool:
        """Whether single cosines are a third kind of models, and kernel machines compare scales of features.

        From `MIDDLING` rows on scales add 0.42 points of accuracy or R2 (42 fits of 14 sets, standard error 0.11),
        of which 0.21 are those of the units that features were given in, and where there are many features 1.7 (36
        fits of 12 sets of 369 to 2,100 rows, most of them generated, 0.3) at 1.06 times the time. With fewer rows
        and features units change it by -0.01 (315 fits of 45 sets, 0.04), gains of trees by -0.05 (114 fits of 38
        sets, 0.13).
        """
        return self.middling or self.wide


class PolicyEstimator(ComposedEstimator):
    """Chooses what is ``"auto"`` by the number of rows."""

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

    def _stops(self, learner: Learner, held: Dataset | None, n_samples: int) -> bool:
        """Whether the fit uses early stopping.

        Raises
        ------
        ValueError
            If a stack would break what the learner promises, or there are too few rows to hold some of them out.
        """
        stops = bool(self.early_stopping)
        if is_auto(self.early_stopping):
            stops = held is not None or ((learner.stops_early or self._asks_to_stop()) and not self.warm_start)
        if stops and self.quality == "high" and learner.active_constraints:
            raise ValueError(
                f"{type(self).__name__}: quality must be 'auto' or 'fast' where learner has "
                f"{' and '.join(learner.active_constraints)}, got 'high', which stacks it with "
                f"cosines, and these do not keep to them"
            )
        if stops and held is None:
            self._require_rows(n_samples)
        return stops

    def _require_rows(self, n_samples: int) -> None:
        """Raise a ValueError if there are too few rows to hold some of them out."""
        owner = type(self).__name__
        if n_samples < 2:
            raise ValueError(
                f"{owner}: X must have at least 2 rows, of which early stopping holds out some, got "
                f"n_samples={n_samples}; early_stopping=False takes a single one"
            )
        if not is_auto(self.n_folds) and int(self.n_folds) > n_samples:
            raise ValueError(
                f"{owner}: n_folds must be at most the number of rows; got n_folds={self.n_folds} and "
                f"n_samples={n_samples}"
            )

    def _asks_to_stop(self) -> bool:
        """Whether a parameter is given that has no effect without early stopping."""
        return self.quality == "high" or not (is_auto(self.n_folds) and is_auto(self.n_iter_no_change))

    def _stacks(self, init: Ensemble | None) -> bool:
        """Whether early stopping trains models of several kinds."""
        single = not is_auto(self.learner) or self._is_one(init) or self.quality == "fast"
        return not single or self.quality == "high"

    def _is_one(self, init: Ensemble | None) -> bool:
        """Whether to train a single model: from another one, or so that a warm start can continue from it."""
        return init is not None or bool(self.warm_start)

    def _pace(self, size: TableSize, held: Dataset | None, init: Ensemble | None) -> TrainingDefaults:
        """Default learning rate, patience and folds of early stopping for a table of this size."""
        high = self.quality == "high"
        free = is_auto(self.learning_rate) and is_auto(self.learner)
        if free and size.many and not high:
            return LONG
        if not free or size.many or held is not None or self._is_one(init):
            return FINE
        pace = ((WIDE, MIDDLE_WIDE) if size.wide else (QUICK, MIDDLE))[size.middling]
        return replace(pace, n_repeats=REPEATS) if high and is_auto(self.n_folds) else pace

    def _rate(self, pace: TrainingDefaults) -> float | Callable[[int], float]:
        """The learning rate, as a number or a function of the round."""
        return pace.rate if isinstance(self.learning_rate, str) else self.learning_rate

    def _trainers(self, trainer: Trainer, size: TableSize, init: Ensemble | None) -> list[Trainer]:
        """What is trained: one model, or the models of a stack."""
        if not self._stacks(init):
            return [trainer]
        given: dict[str, Any] = OF_MANY if size.many else {}
        mixed = Mixture(RFFNewton(relative_rate=MIXED[size.many], **given))
        first = replace(trainer, learner=mixed if is_auto(self.learner) else trainer.learner)
        cosines = self._beside(trainer, RFFNewton(relative_rate=ALONE[size.many], **given))
        if size.many:
            return [first, replace(cosines, refits=not is_auto(self.refit))]
        rate = OF_RIDGE_WIDE if size.wide else OF_RIDGE
        many = self.quality == "high" or size.spacious
        n_components, per_degree = (MANY_COMPONENTS, MORE) if many else (COMPONENTS, PER_DEGREE)
        given = {"n_components": n_components[size.middling], "compare_scales": size.thorough}
        machine = RFFRidge(**given, per_degree=per_degree, relative_rate=rate)
        others = [self._beside(trainer, machine, HASTE), cosines][: 1 + size.thorough]
        if self.task == "classification":
            newton = RFFIRLS(**given)
            others.append(replace(self._beside(trainer, newton, OF_IRLS), demand=CLEAR[size.middling]))
        return [first, *others]

    def _beside(self, trainer: Trainer, learner: Learner, haste: PatienceLimit | None = None) -> Trainer:
        """The same parts with another learner."""
        step = copy(trainer.step).set_params(step=self._step_for(trainer.loss, learner))
        return replace(trainer, learner=learner, step=step, haste=haste)

    def _most_folds(self, y: Array) -> int:
        """The most folds that each have a row of every class, as metrics may need; at least 2."""
        if self.task == "regression" or self.eval_metric is None:
            return len(y)
        counts = np.bincount(y[:, 0].astype(np.int64))
        return max(2, int(counts[counts > 0].min()))

    def _plan(self, y: Array, n_rounds: int, init: Ensemble | None, pace: TrainingDefaults = FINE) -> FitPlan:
        """The plan of early stopping for this target, (n, C) or codes of classes, (n, 1)."""
        n_samples = len(y)
        by_rows = (
            1 if self._is_one(init) else default_n_folds(n_samples, self._stacks(init), self.quality == "high")
        )
        suitable = min(pace.n_folds or by_rows, max(1, n_samples // 2), self._most_folds(y))
        n_folds = suitable if is_auto(self.n_folds) else int(self.n_folds)
        single = n_folds == 1 and n_samples < NO_REFIT
        refit = single if is_auto(self.refit) else bool(self.refit)
        n_classes = int(y.max()) + 1 if self.task == "classification" else 2
        patience = self._patience(n_samples, pace, n_classes)
        return FitPlan(n_folds, self.validation_fraction, refit, n_rounds, patience, self.tol, pace.n_repeats)

    def _patience(self, n_samples: int, pace: TrainingDefaults = FINE, n_classes: int = 2) -> Patience:
        """How long early stopping waits: longer with more rows, which benefit from more rounds."""
        if not is_auto(self.n_iter_no_change):
            return Patience(int(self.n_iter_no_change))
        share = SHARE_OF_ROUNDS if n_samples > FEW else 0.0
        if self.task != "classification" or self.eval_metric is not None:
            return Patience(pace.patience, share)
        if n_samples <= FEW:
            return Patience(pace.patience, share, *SETTLED)
        return Patience(pace.patience, share, *(part / math.log2(n_classes) for part in SETTLED_OF_MANY))
