"""float32, the default, against float64: the same accuracies, and the same numbers where nothing is chaotic."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons

from rffboost_ext import presets

from ..cases import PAIRS, make_data, make_estimator, over_pairs

# Second-order cosines draw candidates in the precision of the passes: other numbers, not the same ones rounded.
SAME_DRAWS = [(loss, learner) for loss, learner in PAIRS if learner.name not in ("rff_newton", "mixture")]


@over_pairs(SAME_DRAWS)
def test_one_round_is_that_of_float64(loss, learner):
    # Before the searches of many rounds have multiplied the roundings.
    X, y = make_data(loss, n=300)
    one, two = (
        make_estimator(loss, learner, precision=precision, n_estimators=1).fit(X, y).ensemble_.raw(X)
        for precision in ("float32", "float64")
    )
    scale = np.ptp(two)
    assert scale > 0.0
    np.testing.assert_allclose(one, two, rtol=0, atol=0.02 * scale)


@pytest.mark.parametrize("preset", ["gbrff05", "gbrff15"])
def test_without_a_search_of_many_dimensions_rounds_stay_together(preset):
    X, y = make_moons(500, noise=0.2, random_state=0)
    one, two = (
        getattr(presets, preset)(20, random_state=0, precision=precision).fit(X, y).decision_function(X)
        for precision in ("float32", "float64")
    )
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-3 * np.ptp(two))


def test_precision_is_that_of_the_passes_and_results_are_float64():
    X, y = make_moons(200, noise=0.2, random_state=0)
    fits = {p: presets.gbrff2(10, random_state=0, precision=p).fit(X, y) for p in ("float32", "float64")}
    assert np.abs(fits["float32"].decision_function(X) - fits["float64"].decision_function(X)).max() > 0.0
    for model in fits.values():
        for X_ in (X, X.astype(np.float32)):
            assert model.decision_function(X_).dtype == np.float64
        assert all(term.omega.dtype == np.float64 for term in model.ensemble_.terms)
