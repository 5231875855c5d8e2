"""What estimators do where parameters are "auto", as a table by the size of the data.

The measurements behind each choice are in ``benchmarks/defaults.md``; ``benchmarks/defaults.py`` repeats them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..boosting.early_stopping.training_condition import TrainingCondition
from ..boosting.early_stopping.validation_split import FEW
from ..learners.mixture import MANY_FEATURES

# Number of rounds without early stopping, and the maximum with it.
ROUNDS, MAX_ROUNDS = 100, 2_000
# Up to FEW rows models of folds are averaged; below NO_REFIT rows a single model is fitted again to all rows.
MEDIUM, NO_REFIT = 1_000, 10_000
# From this number of features on, fewer than MEDIUM rows need more frequencies.
SPACIOUS = 50


@dataclass(frozen=True)
class TrainingDefaults:
    """One row of the table.

    Parameters
    ----------
    learning_rate : float
    patience : int
        Rounds without improvement after which a fit ends.
    n_folds : int, optional
        Number of folds; None to choose it by the number of rows.
    n_repeats : int, default=1
        How often the rows are divided into folds.
    share : float
        Patience is at least this share of the rounds up to the best.
    converged : tuple of float
        A classifier also stops once its log loss is below the first share of the initial one and a stretch of
        rounds lowers it by less than the second.
    cosines : dict
        Parameters of RFFNewton.
    relative_rates : tuple of float
        Relative learning rate of cosines in the mixture, and in a model of their own.
    alone : bool
        Whether cosines alone are a further member.
    symmetric_trees : bool
        Whether symmetric trees alone are a further member.
    kernel : dict, optional
        Parameters of kernel machines, which are a further member; None for no such member.
    ridge : dict
        Parameters of RFFRidge beyond these.
    irls : TrainingCondition, optional
        When kernel machines by reweighted least squares are a further member of a classifier.
    """

    learning_rate: float
    patience: int
    n_folds: int | None = None
    n_repeats: int = 1
    share: float = 0.0
    converged: tuple[float, float] = (0.2, 0.01)
    cosines: dict[str, Any] = field(default_factory=dict)
    relative_rates: tuple[float, float] = (2.0, 2.0)
    alone: bool = True
    symmetric_trees: bool = False
    kernel: dict[str, Any] | None = None
    ridge: dict[str, Any] = field(default_factory=dict)
    irls: TrainingCondition | None = None


SMALL = TrainingDefaults(
    *(0.3, 12, 4),
    alone=False,
    kernel={"n_components": 512, "compare_scales": False},
    ridge={"per_degree": 6.0, "relative_rate": 5.0},
    irls=TrainingCondition(0.02, 0.45, 1.5, 4),
)
# A loss that compares all rows with each other, as that of Cox does, says little about few held-out rows.
SMALL_COMPARED = replace(SMALL, n_folds=3, patience=8)
MIDDLE = TrainingDefaults(
    *(0.3, 15, 5),
    kernel={"n_components": 256, "compare_scales": True},
    ridge={"per_degree": 6.0, "relative_rate": 5.0},
    irls=TrainingCondition(0.02, 0.65, 0.9, 4, max_similar_ratio=1.1),
)
# With many features often few of them matter: short steps find these.
WIDE: dict[str, Any] = {"learning_rate": 0.1, "patience": 20, "ridge": {"per_degree": 6.0, "relative_rate": 10.0}}
SMALL_WIDE = replace(SMALL, alone=True, kernel={"n_components": 512, "compare_scales": True}, **WIDE)
MIDDLE_WIDE = replace(MIDDLE, **WIDE)
LARGE = TrainingDefaults(
    *(0.1, 25),
    share=0.1,
    converged=(0.05, 1e-3),
    cosines={"n_candidates": 96, "n_scored": 2_000, "earned": 0.7, "min_hessian": 0.1},
    relative_rates=(4.0, 3.0),
    symmetric_trees=True,
)
# Where few rows have most of the weight, as those of a rare class, long steps and logistic regression overfit.
# So few are they if the effective number of rows is below this share of all rows.
UNEQUAL_SIZE = 0.5
UNEQUAL: dict[str, Any] = {"learning_rate": 0.1, "patience": 40, "irls": None}
# Where a learner, a learning rate, a model to continue from or an evaluation set is given.
GIVEN: dict[str, Any] = {"learning_rate": 0.1, "patience": 40, "n_folds": None}


def table_row(n_samples: int, n_features: int, compares_rows: bool = False) -> TrainingDefaults:
    """The row of the table for data of some size and a loss that may compare all rows with each other."""
    if n_samples > FEW:
        return LARGE
    small = SMALL_COMPARED if compares_rows else SMALL
    rows = (SMALL_WIDE, MIDDLE_WIDE) if n_features >= MANY_FEATURES else (small, MIDDLE)
    row = rows[n_samples >= MEDIUM]
    return with_more_frequencies(row) if n_samples < MEDIUM and n_features >= SPACIOUS else row


def with_more_frequencies(row: TrainingDefaults) -> TrainingDefaults:
    """The row with four times the frequencies of kernel machines, and twice as many for each degree of freedom."""
    if row.kernel is None or row.ridge["per_degree"] > 6.0:
        return row
    kernel = row.kernel | {"n_components": 4 * row.kernel["n_components"]}
    return replace(row, kernel=kernel, ridge=row.ridge | {"per_degree": 12.0})
