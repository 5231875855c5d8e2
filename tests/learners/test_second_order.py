"""Second-order cosines: the closed form, the candidates and the refinement, against plain NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import chisquare

from rffboost_ext import Design, Optimizer, RFFNewton, Round, boost
from rffboost_ext.kernels.second_order_cosines import score_pass
from rffboost_ext.learners.fourier.second_order import DerivativeSample, ProfiledGain, RowsOfSample
from rffboost_ext.learners.fourier.sparse_supports import add_gain, draw_candidates, feature_probability

from ..cases import LOSS_CASES, make_round

Array = np.ndarray


def expansion(round, output: Array, rows: Array) -> float:
    """The second-order expansion of the weighted loss along an output, over some rows."""
    terms = (round.gradient[rows] + 0.5 * round.hessian[rows] * output) * output
    return float(round.weight[rows] @ terms.sum(axis=1))


def best_expansion(round, omega: Array, rows: Array, l2: float) -> float:
    """Its minimum over the amplitudes of cosine and sine, by linear least squares, one output after the other."""
    z = round.design.X[rows] @ omega
    basis = np.column_stack([np.cos(z), np.sin(z)])
    total = 0.0
    for c in range(round.raw.shape[1]):
        g, h = round.weight[rows] * round.gradient[rows, c], round.weight[rows] * round.hessian[rows, c]
        curvature = basis.T @ (h[:, None] * basis) + l2 * np.eye(2)
        slope = basis.T @ g
        pair = -np.linalg.solve(curvature, slope)
        total += slope @ pair + 0.5 * pair @ curvature @ pair
    return total


def sample_of(round: Round, features: Array) -> DerivativeSample:
    """The rows of positive weight with some features."""
    rows = RowsOfSample.all_of(round).drawn(round.rng, len(round.weight))
    return rows.weighted(round.design.tiles.gather(rows.numbers, features), None)


@pytest.mark.parametrize("case", LOSS_CASES, ids=str)
def test_scores_of_candidates_are_minima_over_amplitudes(case) -> None:
    round = make_round(case, n=80, d=5)
    rng, rows = np.random.default_rng(0), np.arange(0, 80, 2)
    drawn = draw_candidates(rng, 12, np.full(5, 0.2), 0.3, (0.1, 4.0), np.dtype(np.float64))
    sample = sample_of(replace(round, weight=np.where(np.arange(80) % 2, 0.0, round.weight)), np.arange(5))
    gains = np.empty(12)
    unit = sample.gradient_unit**2 / sample.hessian_unit
    # Gains are sums over outputs without a unit.
    balanced = replace(round, gradient=round.balanced_gradient)
    score_pass(sample.x, *drawn, sample.g, sample.h, sample.scaled_penalty(0.5), gains, 0, len(gains))
    for gain, size, features, omega in zip(gains, *drawn, strict=True):
        full = np.zeros(5)
        full[features[:size]] = omega[:size]
        assert gain * unit == pytest.approx(-best_expansion(balanced, full, rows, 0.5), rel=1e-9)


@pytest.mark.parametrize("case", LOSS_CASES, ids=str)
def test_the_gradient_of_the_profile_is_its_derivative(case) -> None:
    round = make_round(case, n=70, d=6)
    features = np.array([0, 2, 3, 5])
    profile = ProfiledGain(sample_of(round, features), 1.0)
    omega = np.random.default_rng(1).normal(size=4)
    size = np.abs(profile(omega)[1]).max()
    assert check_grad(lambda w: profile(w)[0], lambda w: profile(w)[1], omega) < 1e-5 * max(size, 1e-3)


def test_a_round_without_a_gradient_changes_nothing() -> None:
    round = make_round(LOSS_CASES[0], n=70)
    _, output = RFFNewton(l2=0.0).fit(replace(round, gradient=np.zeros_like(round.gradient)))
    np.testing.assert_array_equal(output, 0.0)


def with_least_hessian(round, share: float):
    """The round whose hessians are at least a share of their mean, output by output."""
    least = share * np.average(round.hessian, axis=0, weights=round.weight)
    return replace(round, hessian=np.maximum(round.hessian, least))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("case", LOSS_CASES, ids=str)
def test_a_round_gains_the_minimum_over_amplitudes_at_its_frequency(case, share: float) -> None:
    round = make_round(case, n=90, d=4)
    term, output = RFFNewton(l2=0.3, min_hessian=share).fit(round)
    everything = np.arange(90)
    if share:
        round = with_least_hessian(round, share)
    penalty = 0.15 * float(np.square(term.weight).sum())
    reached = expansion(round, output, everything) + penalty
    least = best_expansion(round, term.omega[0], everything, 0.3)
    assert reached == pytest.approx(least, rel=1e-6)
    assert reached < 0.0


def test_the_least_hessian_is_that_of_the_first_round() -> None:
    first = make_round(LOSS_CASES[0], n=90, d=4)
    learner = RFFNewton(l2=0.0, min_hessian=1.0)
    learner.fit(first)
    later = replace(first, hessian=1e-6 * first.hessian)
    term, output = learner.fit(later)
    even = replace(first, hessian=np.broadcast_to(first.weight @ first.hessian / first.weight.sum(), (90, 1)))
    reached = expansion(even, output, np.arange(90))
    assert reached == pytest.approx(best_expansion(even, term.omega[0], np.arange(90), 0.0), rel=1e-6)


class Still(Optimizer):
    """Stays where it is."""

    def minimise(self, fun, x0):
        return x0


def test_refinement_gains_and_stays_on_the_support() -> None:
    rough, fine = (
        RFFNewton(optimizer=how).fit(make_round(LOSS_CASES[1], n=200, d=8))[0] for how in (Still(), "auto")
    )
    np.testing.assert_array_equal(rough.omega != 0.0, fine.omega != 0.0)
    round, everything = make_round(LOSS_CASES[1], n=200, d=8), np.arange(200)
    least = [best_expansion(round, term.omega[0], everything, 1.0) for term in (rough, fine)]
    assert least[1] < least[0]


def test_candidates_are_scored_on_some_of_the_rows_that_one_is_refined_on(monkeypatch) -> None:
    taken, weighted = [], RowsOfSample.weighted

    def noted(rows, x, floor):
        taken.append(rows.numbers)
        return weighted(rows, x, floor)

    monkeypatch.setattr(RowsOfSample, "weighted", noted)
    RFFNewton(max_samples=200, n_scored=50).fit(make_round(LOSS_CASES[0], n=900))
    scored, refined_on = taken
    assert np.isin(scored, refined_on).all()
    assert len(scored) == pytest.approx(50, abs=35)
    assert len(refined_on) == pytest.approx(200, abs=60)


def test_several_outputs_share_their_frequency() -> None:
    case = next(case for case in LOSS_CASES if case.n_outputs == 3)
    term, _ = RFFNewton().fit(make_round(case))
    assert term.omega.shape[0] == 2
    assert term.weight.shape == (2, 3)
    np.testing.assert_array_equal(term.omega[0], term.omega[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_supports_have_the_law_that_is_stated(dtype: type) -> None:
    rng, d, dense = np.random.default_rng(0), 15, 0.25
    sizes, features, omega = draw_candidates(rng, 20_000, np.full(d, 1.0 / d), dense, (0.5, 0.5), np.dtype(dtype))
    # floor(2^u), u uniform in [0, 4): 1 with probability 1/4, 2 and 3 share 1/4, 4 .. 7, and 8 .. 15.
    size = np.arange(1, d + 1)
    share = (1.0 - dense) * np.log2((size + 1) / size) / 4.0
    share[-1] += dense
    assert chisquare(np.bincount(sizes, minlength=d + 1)[1:], 20_000 * share).pvalue > 1e-4
    for j in range(200):
        assert (np.diff(features[j, : sizes[j]]) > 0).all()
        assert not omega[j, sizes[j] :].any()
    # Frequencies N(0, 2 gamma / s): their squared norm has the mean 2 gamma for every size.
    assert np.square(omega).sum(axis=1).mean() == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("probability", [[0.5, 0.3, 0.15, 0.05], [0.0, 0.0, 0.7, 0.0, 0.3, 0.0]], ids=str)
def test_features_are_drawn_by_their_probability(probability) -> None:
    probability = np.array(probability)
    rng, dtype = np.random.default_rng(1), np.dtype(np.float64)
    sizes, features, _ = draw_candidates(rng, 40_000, probability, 0.0, (1.0, 1.0), dtype)
    single, possible = features[sizes == 1, 0], np.flatnonzero(probability)
    counts = np.bincount(single, minlength=len(probability))[possible]
    assert chisquare(counts, len(single) * probability[possible]).pvalue > 1e-4
    assert sizes.max() <= len(possible)
    assert {feature for j in range(2_000) for feature in features[j, : sizes[j]]} == set(possible)


def test_what_features_earn_becomes_their_probability() -> None:
    gains = np.zeros(4)
    np.testing.assert_allclose(feature_probability(gains, 0.5), 0.25)
    add_gain(gains, np.array([1, 3]), np.array([2.0, 1.0]), 5.0)
    np.testing.assert_allclose(gains, [0.0, 4.0, 0.0, 1.0])
    np.testing.assert_allclose(feature_probability(gains, 0.5), [0.125, 0.525, 0.125, 0.225])
    add_gain(gains, np.array([0]), np.array([1.0]), -1.0)
    np.testing.assert_allclose(feature_probability(gains, 0.0), 0.25)


def test_signal_earns_more_than_noise() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 20))
    y = np.sin(2.0 * X[:, :1]) + X[:, 1:2]
    design = Design(X)
    boost(design, y, loss="squared_error", learner=RFFNewton(), n_estimators=40, random_state=0)
    odds = feature_probability(design.learner_state((RFFNewton, "earnings"), lambda: np.zeros(20)), 1.0)
    assert odds[:2].sum() > 0.8


FACTORS = [(0.5, 3.0, 2.0), (1.0, 3.0, 1.0), (2.0, 3.0, 1.0), (0.1, 0.5, 0.5), (1.0, 0.5, 0.5)]


@pytest.mark.parametrize(
    ("case", "shrinkage", "relative_rate", "factor"),
    [*((case, 0.1, 3.0, 3.0) for case in LOSS_CASES), *((LOSS_CASES[0], *one) for one in FACTORS)],
    ids=str,
)
def test_a_relative_rate_lengthens_a_step_up_to_a_full_one(case, shrinkage, relative_rate, factor) -> None:
    full, shrunk = make_round(case), replace(make_round(case), shrinkage=shrinkage)
    term, output = RFFNewton(relative_rate=relative_rate).fit(shrunk)
    X = full.design.X
    np.testing.assert_allclose(term(X), factor * RFFNewton().fit(full)[0](X), rtol=1e-10)
    np.testing.assert_allclose(output, term(X), atol=1e-4 * np.abs(term(X)).max())


@pytest.mark.parametrize(("n_samples", "most"), [(20, 10), (60, 30), (200, 50)])
def test_a_support_has_at_most_half_as_many_features_as_there_are_rows(n_samples: int, most: int) -> None:
    X = np.random.default_rng(0).standard_normal((n_samples, 50))
    learner = RFFNewton()
    ensemble = boost(
        X, X[:, :1] * X[:, 1:2], loss="squared_error", learner=learner, n_estimators=40, random_state=0
    )
    sizes = [np.count_nonzero(term.omega) for term in ensemble.terms]
    assert max(sizes) == most
