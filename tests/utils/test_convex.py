"""The minimum of a convex function of one variable."""

import numpy as np
import pytest

from rffboost_ext.utils.convex import minimiser_along


@pytest.mark.parametrize("power", [1, 3, 9])
@pytest.mark.parametrize("root", [0.3, -0.3, 1e-9, 1e-40, -1e-40, 1e-200, 40.0])
def test_flat_minima(power, root):
    # In units of the root, as powers of small numbers underflow; the default of `abs` is larger than most roots.
    with np.errstate(over="ignore"):
        minimiser = minimiser_along(lambda x: np.sign(x - root) * np.abs((x - root) / root) ** power, 100.0)
    assert minimiser == pytest.approx(root, rel=1e-11, abs=0.0)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_kink_at_zero_is_the_minimum(sign):
    """No bracket is so short that its tolerance underflows."""
    minimiser = minimiser_along(lambda x: sign if sign * x >= 0.0 else -sign, 100.0)
    assert minimiser == pytest.approx(0.0, abs=1e-200)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_without_a_minimum_the_longest_step_is_the_result(sign):
    assert minimiser_along(lambda x: sign, 5.5) == -5.5 * sign
    # A minimum in the last stride before the limit is found.
    assert minimiser_along(lambda x: x - 3.0 * sign, 4.0) == pytest.approx(3.0 * sign)


def test_a_start_without_a_slope_is_the_minimum():
    assert minimiser_along(lambda x: x, 4.0) == 0.0
