"""scikit-learn's own checks: estimators at their defaults, and what other targets and each learner decide."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import estimator_checks_generator

from rffboost_ext import (
    LEARNERS,
    ConformalRegressor,
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostQuantileRegressor,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
)

# An estimator, and why some checks fail.
Case = tuple[BaseEstimator, dict[str, str]]
# Few rounds, long ones: enough for the checks that ask for a good fit.
BRIEF: dict[str, Any] = {"n_estimators": 10, "learning_rate": 0.5, "random_state": 0}

# What checks of a part are about: targets, weights, and what is computed from both.
OF_PARTS = ("classif", "regress", "sample_weight", "supervised", "fit_score", "dtypes", "invariance")
OF_LEARNERS = ("classifiers_train", "classifiers_classes", "one_label", "sample_weight_equivalence", "invariance")

# A row that occurs twice can be held out once; a row of weight 2 cannot.
WEIGHTS = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
OVERWRITTEN = "check_sample_weights_not_overwritten"
HELD_OUT = dict.fromkeys(WEIGHTS, "rows are held out one by one, whatever their weight")


def of_defaults() -> Iterator[Case]:
    """Intervals, and estimators of one target with early stopping of two folds."""
    for kind in (RFFBoostClassifier, RFFBoostRegressor):
        yield kind(n_folds=2, quality="fast", **BRIEF), HELD_OUT
    quantiles = RFFBoostQuantileRegressor((0.3, 0.5, 0.7), "tree", **BRIEF | {"n_estimators": 3})
    yield (
        ConformalRegressor(quantiles, random_state=0),
        dict.fromkeys(WEIGHTS, "a split separates copies of a row"),
    )


def of_others() -> Iterator[Case]:
    """Estimators of other targets and predictions."""
    few = BRIEF | {"n_estimators": 3}
    yield (
        RFFBoostSurvival(learner="tree", early_stopping=False, **few),
        dict.fromkeys(WEIGHTS, "ties have Efron's weights"),
    )
    yield RFFBoostRanker(**few), dict.fromkeys((*WEIGHTS, OVERWRITTEN), "weights are of queries")
    yield RFFBoostDistribution(learner="tree", n_estimators=5), {}
    columns = {"check_regressors_train": "predictions have a column per quantile"}
    yield RFFBoostQuantileRegressor((0.1, 0.5, 0.9), "tree", **BRIEF), columns


def of_learners() -> Iterator[Case]:
    """Each learner in a classifier."""
    for name in LEARNERS.names():
        yield RFFBoostClassifier(learner=name, early_stopping=False, **BRIEF), {}


# Variants of a check that differ in where rows lie in memory, not in what a part computes.
OF_MEMORY = ("readonly_memmap=True", "pandas_series", "sample_weights_list", "not_an_array")


def checks(cases: Iterator[Case], about: tuple[str, ...] = ()) -> Iterator[Any]:
    """All checks, or those about some subjects of a part; those known to fail are marked."""
    for model, refused in cases:
        for estimator, check in estimator_checks_generator(model):
            name = name_of(check)
            reason = refused.get(name.partition("-")[0])
            marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
            if not about or (any(word in name for word in about) and not name.endswith(OF_MEMORY)):
                yield pytest.param(estimator, check, marks=marks, id=f"{title(estimator)}-{name}")


def name_of(check: Any) -> str:
    """The function's name, and what it was given beforehand."""
    inner = check.func if isinstance(check, partial) else check
    given = check.keywords if isinstance(check, partial) else {}
    return "-".join([inner.__name__, *(f"{key}={value}" for key, value in given.items())])


def title(estimator: BaseEstimator) -> str:
    """The class and the parts of an estimator."""
    parts = (getattr(estimator, name, "") for name in ("loss", "learner"))
    return " ".join([type(estimator).__name__.removeprefix("RFFBoost"), *map(str, parts)])


CHECKS = [
    *checks(of_defaults()),
    *checks(of_others(), OF_PARTS),
    *checks(of_learners(), OF_LEARNERS),
]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
