"""Factors of systems that may be singular."""

import numpy as np
import pytest

from rffboost_ext.utils.kernel_ridge import cholesky


@pytest.mark.parametrize(
    ("penalties", "expected"), [([1.0, 2.0], 1.0), ([-9.0, 2.0], 2.0), ([-9.0, -8.0, 3.0], 3.0), ([-9.0], None)]
)
def test_the_first_penalty_of_a_positive_definite_system_is_taken(penalties, expected):
    system = np.ones((3, 3))
    factor = cholesky(system, penalties)
    if expected is None:
        assert factor is None
        return
    lower = np.tril(factor)
    np.testing.assert_allclose(lower @ lower.T, system + expected * np.eye(3), rtol=0, atol=1e-12)
