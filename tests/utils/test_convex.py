"""The minimum of a convex function of one variable."""

import numpy as np
import pytest

from rffboost_ext.utils.convex import minimiser_along


@pytest.mark.parametrize("power", [1, 3, 9])
@pytest.mark.parametrize("root", [0.3, -0.3, 1e-9, 1e-12, 1e-40, 40.0])
def test_flat_minima(power, root):
    minimiser = minimiser_along(lambda x: np.sign(x - root) * abs(x - root) ** power, 100.0)
    assert minimiser == pytest.approx(root, rel=1e-6)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_kink_at_zero_is_the_minimum(sign):
    """No bracket is so short that its tolerance underflows."""
    minimiser = minimiser_along(lambda x: sign if sign * x >= 0.0 else -sign, 100.0)
    assert minimiser == pytest.approx(0.0, abs=1e-200)
