"""scikit-learn's own checks: estimators at their defaults, every learner, and every loss on what losses decide."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from rffboost_ext import LEARNERS, LOSSES, RFFBoostClassifier, RFFBoostRegressor

from ..cases import LOSS_NAMED

Estimator = RFFBoostClassifier | RFFBoostRegressor
# Few rounds, long ones: enough for the checks that ask for a good fit.
BRIEF: dict[str, Any] = {"n_estimators": 10, "learning_rate": 0.5, "random_state": 0}

# What checks of a part are about: targets, weights, and what is computed from both.
OF_PARTS = ("classif", "regress", "sample_weight", "supervised", "fit_score", "dtypes", "invariance")

# They fit class indices from 0 on, whatever the tags say of the targets.
WITH_ZEROS = dict.fromkeys(
    ("check_transformer_data_not_an_array", "check_transformer_general", "check_transformer_preserve_dtypes"),
    "targets of 0, which the loss is not for",
)
# A row that occurs twice can be held out once; a row of weight 2 cannot.
HELD_OUT = {"check_sample_weight_equivalence_on_dense_data": "rows are held out one by one, whatever their weight"}


def of_defaults() -> Iterator[Estimator]:
    """Both estimators as they come, with early stopping, several outputs too."""
    yield RFFBoostClassifier(**BRIEF)
    yield RFFBoostRegressor(**BRIEF)


def of_learners() -> Iterator[Estimator]:
    """Each learner in a classifier."""
    for name in LEARNERS.names():
        yield RFFBoostClassifier(learner=name, early_stopping=False, **BRIEF)


def of_losses() -> Iterator[Estimator]:
    """Each loss with trees, the fastest of what takes every loss."""
    for name in sorted(LOSS_NAMED.keys() & set(LOSSES.names())):
        shell = RFFBoostClassifier if LOSSES.get(name).task == "classification" else RFFBoostRegressor
        yield shell(name, "tree", **BRIEF)
    yield RFFBoostClassifier("squared_error", "tree", **BRIEF)


def checks(estimators: Iterator[Estimator], about: tuple[str, ...] = ("",)) -> list[Any]:
    """The checks whose names hold one of some words, as parameters of a test; those known to fail are marked."""
    return [
        pytest.param(estimator, check, marks=expected(estimator, check), id=f"{title(estimator)}-{name_of(check)}")
        for model in estimators
        for estimator, check in estimator_checks_generator(model)
        if any(word in name_of(check) for word in about)
    ]


def expected(estimator: Estimator, check: Callable[[Any], None]) -> list[Any]:
    """The mark of a check that hands over what the loss is not for, or what early stopping cannot keep."""
    known = WITH_ZEROS if estimator.loss == "gamma" else HELD_OUT if estimator.learner == "auto" else {}
    reason = known.get(name_of(check))
    return [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]


def name_of(check: Any) -> str:
    """The function's name, and what it was given beforehand."""
    inner = check.func if isinstance(check, partial) else check
    given = check.keywords if isinstance(check, partial) else {}
    return "-".join([inner.__name__, *(f"{key}={value}" for key, value in given.items())])


def title(estimator: Estimator) -> str:
    """What tells the estimators of this file apart."""
    parts = type(estimator).__name__.removeprefix("RFFBoost"), estimator.loss, estimator.learner
    return " ".join(map(str, parts))


CHECKS = [*checks(of_defaults()), *checks(of_learners(), OF_PARTS), *checks(of_losses(), OF_PARTS)]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
