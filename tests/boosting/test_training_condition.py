"""When a further kind of models is trained."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext.boosting.early_stopping.patience import Model, TrainingCondition

DEMAND = TrainingCondition(0.02, 0.5, 1.5, 3)


def run(*scores, n_outputs=1, floor=0.0):
    return Model(None, np.array(scores), np.zeros((2, n_outputs)), floor)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ([[run(1.0, 0.3), run(2.0, 1.2)]], True),
        ([[run(1.0, 0.3), run(1.0, 0.8)]], False),
        ([[run(1.0, 0.8)], [run(1.0, 0.3)]], True),
        ([[run(1.0, 0.01)]], False),
        ([[run(0.0, 0.0)]], False),
        ([[run(-1.0, -2.0)]], False),
        ([[run(8.0, 7.3, floor=7.0)]], True),
        ([[run(-6.0, -6.2, floor=-7.0)]], False),
        ([[run(1.0, 0.3, n_outputs=3)]], True),
        ([[run(1.0, 0.3, n_outputs=4)]], False),
    ],
)
def test_the_best_of_other_kinds_decides(others, expected) -> None:
    assert DEMAND.is_met([], others) == expected


@pytest.mark.parametrize(("least", "expected"), [(0.2, True), (0.29, True), (0.31, False)])
def test_kinds_that_are_far_behind_are_given_up(least, expected) -> None:
    others = [[run(1.0, 0.4), run(1.0, 0.1)], [run(1.0, 0.2), run(1.0, 0.4)]]
    assert DEMAND.is_met([run(1.0, least)], others) == expected


@pytest.mark.parametrize(("share", "expected"), [(0.2, True), (0.23, True), (0.25, False)])
@pytest.mark.parametrize("more", [[], [[run(1.0, 0.9)]]])
def test_kinds_that_are_like_one_that_is_far_behind_are_not_tried(share, expected, more) -> None:
    demand = TrainingCondition(0.02, 0.5, 1.5, 3, max_similar_ratio=1.2)
    assert demand.is_met([], [[run(1.0, 0.2)], [run(1.0, share)], *more]) == expected


def test_the_kind_that_is_like_may_be_the_best_or_missing() -> None:
    demand = TrainingCondition(0.02, 0.5, 1.5, 3, max_similar_ratio=1.2)
    assert demand.is_met([], [[run(1.0, 0.4)], [run(1.0, 0.1)]])
    assert demand.is_met([], [[run(1.0, 0.4)]])


def test_models_of_the_kind_that_is_like_may_fail() -> None:
    demand = TrainingCondition(0.02, 0.5, 1.5, 3, max_similar_ratio=1.2)
    assert demand.is_met([], [[run(1.0, 0.4), run(1.0, 0.4)], [run(1.0, 0.8), run(1.0, 0.3)]])
