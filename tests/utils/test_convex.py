"""The minimum of a convex function of one variable."""

import numpy as np
import pytest

from rffboost_ext.utils.convex import minimiser_along


@pytest.mark.parametrize("power", [1, 3, 9])
@pytest.mark.parametrize("root", [0.3, -0.3, 1e-9, 1e-12, 40.0])
def test_flat_minima_are_found(power, root):
    found = minimiser_along(lambda x: np.sign(x - root) * abs(x - root) ** power, 100.0)
    assert found == pytest.approx(root, rel=1e-6)
