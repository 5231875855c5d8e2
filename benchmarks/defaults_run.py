"""The variants of the defaults, and the tasks that measure them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any
from unittest.mock import patch

from sklearn.base import clone

from rffboost_ext.estimators.planning import plan_fit
from rffboost_ext.experiments.records import Record
from rffboost_ext.experiments.runner import Task
from rffboost_ext.learners import Tree

from .accuracy_data import SOURCES, load_dataset
from .accuracy_run import warm_up
from .accuracy_systems import rffboost

FIRST_SPLIT = 1001
REFERENCE = "defaults"
# Parameters of one kind of learner in a stack instead of parameters of the estimator; None removes that learner.
MIXTURE, KERNELS, NEWTON, SYMMETRIC = "Mixture", "RFFRidge", "RFFIRLS", "SymmetricTree"

GROUPS: dict[str, tuple[str, ...]] = {
    "small": (
        *("wine", "sonar", "newthyroid", "heart", "bupa", "iono", "wdbc", "balance", "australian", "pima"),
        *("vehicle", "german", "splice", "spambase"),
    ),
    "larger": ("electricity", "magic", "elevators", "winequality_white"),
    "made": ("classification_2", "classification_5", "gaussian_quantiles", "friedman1", "friedman2", "friedman3"),
    "wide": ("classification_wide", "clusters_wide", "friedman1_wide", "linear_wide"),
    # Of the table `further`, where three quarters of the columns of numbers have a skewness beyond 1.
    "skewed": ("biopsy", "cells", "credit", "hpc", "biomass", "check_times", "cpus", "nmes_visits"),
}

Key = tuple[str, str, int]


@dataclass(frozen=True)
class DefaultsRecord(Record):
    """Test accuracy or R2 of a variant in percent, processor time in seconds, and rounds of the model."""

    variant: str
    dataset: str
    split: int
    score: float
    seconds: float
    rounds: float

    @property
    def key(self) -> Key:
        return self.variant, self.dataset, self.split

    @property
    def kind(self) -> tuple[str, ...]:
        return self.dataset, self.variant

    @property
    def unit_seconds(self) -> float:
        return self.seconds


@dataclass(frozen=True)
class DefaultsTask(Task[DefaultsRecord]):
    """One variant, the system, on one split of one data set."""

    data_dir: Path | None = None

    @property
    def keys(self) -> list[Key]:
        return [(self.system, self.dataset, self.split)]

    @property
    def kind(self) -> tuple[str, ...]:
        return self.dataset, self.system

    def measure(self) -> list[DefaultsRecord]:
        data = load_dataset(self.dataset, self.data_dir)
        train, test = data.split(self.split)
        warm_up("rffboost", data.task, 1)
        model = estimator(data.task, self.threads, variants()[self.system])
        start = process_time()
        model.fit(data.X[train], data.y[train])
        seconds = process_time() - start
        score = 100.0 * float(model.score(data.X[test], data.y[test]))
        return [DefaultsRecord(*self.keys[0], score, seconds, float(model.n_estimators_))]


def make_tasks(
    names: Sequence[str], datasets: Sequence[str], splits: int, threads: int, data_dir: Path | None
) -> list[DefaultsTask]:
    """The tasks by split and data set; variants alternate, so that the load of the machine is the same for all."""
    return [
        DefaultsTask(dataset, variant, split, data_dir, threads=threads)
        for split in range(FIRST_SPLIT, FIRST_SPLIT + splits)
        for dataset in datasets
        if not SOURCES[dataset].missing(data_dir)
        for variant in names
    ]


def variants() -> dict[str, dict[str, Any]]:
    """Parameters of the estimators by the name of the variant."""
    return {
        REFERENCE: {},
        "fast": {"quality": "fast"},
        "high": {"quality": "high"},
        "short steps": {"learning_rate": 0.1},
        "8 folds": {"n_folds": 8},
        "one model, refit": {"quality": "fast", "n_folds": 1, "refit": True},
        "rff_newton only": {"learner": "rff_newton"},
        "rff_ridge only": {"learner": "rff_ridge"},
        "trees only": {"learner": "tree", "early_stopping": True, "n_estimators": 2_000},
        "rate 0.05": {"learning_rate": 0.05},
        "rate 0.3": {"learning_rate": 0.3},
        "patience 80": {"n_iter_no_change": 80},
        "all rows, learners alternate": {MIXTURE: {"subsample": 1.0}},
        "trees of 64 bins": {MIXTURE: {"trees": Tree(max_depth=4, colsample_bytree=0.6, max_bin=64)}},
        "trees of depth 6": {MIXTURE: {"trees": Tree(max_depth=6, colsample_bytree=0.6)}},
        "trees see all features": {MIXTURE: {"trees": Tree(max_depth=4)}},
        "nodes see 0.6 of the features": {MIXTURE: {"trees": Tree(max_depth=4, colsample_bynode=0.6)}},
        "features drawn evenly": {MIXTURE: {"cosines__earned": 0.0}},
        "cosines at the rate of trees": {MIXTURE: {"cosines__relative_rate": 1.0}},
        "hessians of at least 0.1": {MIXTURE: {"cosines__min_hessian": 0.1}},
        "kernels of standardised features": {KERNELS: {"compare_scales": False}},
        "no reweighted kernels": {NEWTON: None},
        "no symmetric trees": {SYMMETRIC: None},
        "linear leaves of symmetric trees": {SYMMETRIC: {"leaf": "linear"}},
        "features as they are": {"standardize": True},
        "random frequencies": {KERNELS: {"n_directions": 1, "per_degree": None}, NEWTON: {"n_directions": 1}},
    }


def estimator(task: str, threads: int, parameters: Mapping[str, Any]) -> Any:
    """The estimator of a variant."""
    given = dict(parameters)
    changed = {kind: given.pop(kind) for kind in (MIXTURE, KERNELS, NEWTON, SYMMETRIC) if kind in given}
    model = rffboost(task, threads, **given)
    if changed:
        model.fit = partial(fit_changed, model.fit, changed)
    return model


def fit_changed(fit: Callable[..., Any], changed: Mapping[str, Mapping[str, Any] | None], *data: Any) -> Any:
    """Fit with changed parameters of the planned learners; None removes a learner."""

    def plan(*given: Any) -> Any:
        planned = plan_fit(*given)
        wanted = [(member, changed.get(type(member.learner).__name__, {})) for member in planned.members]
        members = [
            replace(member, learner=clone(member.learner).set_params(**params))
            for member, params in wanted
            if params is not None
        ]
        return replace(planned, members=members)

    with patch("rffboost_ext.estimators.base.plan_fit", plan):
        return fit(*data)
