"""float32, the default, against float64: the same accuracies, and the same numbers where nothing is chaotic."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine, make_circles, make_classification, make_moons
from sklearn.model_selection import ShuffleSplit

from rffboost_ext import presets

from ..cases import PAIRS, Array, make_data, make_estimator, over_pairs


@cache
def data_sets() -> dict[str, tuple[Array, Array]]:
    """Small tables, and synthetic ones with large test sets, which make accuracies less noisy."""
    X, y = load_wine(return_X_y=True)
    made = {
        "wine": (X, y == 1),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "moons": make_moons(2000, noise=0.3, random_state=0),
        "circles": make_circles(2000, noise=0.2, factor=0.5, random_state=0),
    }
    for seed, informative in enumerate((3, 6, 10)):
        made[f"classification {seed}"] = make_classification(
            2000, 15, n_informative=informative, n_clusters_per_class=3, flip_y=0.05, random_state=seed
        )
    return made


def gains(preset: str, n_splits: int) -> Array:
    """Points of test accuracy by which float32 is ahead of float64, for each data set and split."""
    points = []
    for X, y in data_sets().values():
        splits = ShuffleSplit(n_splits, train_size=min(400, len(X) // 2), random_state=0).split(X)
        for seed, (train, test) in enumerate(splits):
            scores = [
                getattr(presets, preset)(random_state=seed, precision=precision)
                .fit(X[train], y[train])
                .score(X[test], y[test])
                for precision in ("float32", "float64")
            ]
            points.append(100.0 * (scores[0] - scores[1]))
    return np.array(points)


@pytest.mark.parametrize("preset", ["gbrff1", "gbrff2"])
@pytest.mark.parametrize(
    ("n_splits", "bound"), [(4, 1.0), pytest.param(30, 0.3, marks=pytest.mark.slow)], ids=["few", "many"]
)
@pytest.mark.slow
def test_accuracies_are_those_of_float64(preset, n_splits, bound):
    # Searches that part ways make single splits differ by points, either way: few splits tell 1 point, many 0.3.
    points = gains(preset, n_splits)
    assert len(points) >= 7 * n_splits
    assert abs(points.mean()) <= bound, f"standard error {points.std() / np.sqrt(len(points)):.2f}"


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
