"""Losses of coupled rows: their laws, their groups, and the rows that checks call them with."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import boost
from rffboost_ext.losses import Cox, Huber, LambdaRank
from rffboost_ext.losses.coupling import Grouped, group_codes, whole_groups
from rffboost_ext.testing import check_loss

from ..coupled_losses import COUPLED, PairwiseLogistic, coupled_rows, require_whole_groups

kinds = pytest.mark.parametrize("kind", COUPLED)
Y = np.column_stack([np.arange(2_000.0) % 3, np.arange(2_000.0), np.arange(2_000.0) // 7])


@kinds
def test_laws_hold_for_the_total_of_a_set(kind) -> None:
    _, y, _ = coupled_rows(kind, 60)
    check_loss(kind(), y)


@kinds
def test_checks_of_the_loop_call_a_loss_with_whole_groups(kind) -> None:
    X, y, weight = coupled_rows(kind, 1_200)
    boost(X, y, loss=kind(), learner="rff_newton", n_estimators=1, weight=weight.astype(float), random_state=0)
    sizes = set(map(len, require_whole_groups(kind, y, weight)))
    assert max(sizes) == 1_200


@pytest.mark.parametrize(("loss", "size"), [(PairwiseLogistic(), 7), (Cox(), 2_000), (Huber(), 2)], ids=str)
def test_rows_with_those_that_are_coupled_with_them(loss, size) -> None:
    rows = whole_groups(loss, Y, np.array([701, 703]))
    assert len(rows) == size
    assert {701, 703} <= set(rows)


def test_groups_are_numbers_from_zero() -> None:
    mixed = np.array([[0.0, 9.5], [1.0, -2.0], [2.0, 9.5]])
    for part in (LambdaRank(), Grouped(LambdaRank())):
        np.testing.assert_array_equal(group_codes(part, mixed), [1, 0, 1])


@pytest.mark.parametrize(
    ("groups", "message"),
    [(np.zeros((5, 1)), r"groups must have shape \(n,\) = \(5,\)"), (np.full(5, np.nan), "groups must be finite")],
)
def test_invalid_groups_are_refused(groups, message) -> None:
    class Wrong(PairwiseLogistic):
        def groups(self, y):
            return groups

    with pytest.raises(ValueError, match=message):
        group_codes(Wrong(), Y[:5])
