"""What single losses promise: scikit-learn's values, parabolas above them, units, targets that they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn._loss.loss import (
    AbsoluteError,
    HalfBinomialLoss,
    HalfGammaLoss,
    HalfMultinomialLoss,
    HalfPoissonLoss,
    HalfSquaredError,
    HalfTweedieLoss,
    HuberLoss,
    PinballLoss,
)
from sklearn.metrics import (
    d2_tweedie_score,
    mean_gamma_deviance,
    mean_poisson_deviance,
)
from sklearn.metrics import mean_tweedie_deviance as tweedie_deviance

from rffboost_ext import LOSSES, RFFBoostRegressor, Tree, boost
from rffboost_ext.losses import LogLoss, MultinomialLogLoss, Tweedie
from rffboost_ext.losses.robust import ERROR_FLOOR, huber_location
from rffboost_ext.losses.target_statistics import typical_deviation, weighted_quantile

from ..cases import LOSS_NAMED, Array

N = 50
SKLEARN = {
    "log_loss": HalfBinomialLoss(),
    "log_loss of 3 classes": HalfMultinomialLoss(n_classes=3),
    "squared_error": HalfSquaredError(),
    "absolute_error": AbsoluteError(),
    "quantile": PinballLoss(quantile=0.5),
    "quantile 0.8": PinballLoss(quantile=0.8),
    "huber with a given delta": HuberLoss(delta=0.7),
    "poisson": HalfPoissonLoss(),
    "gamma": HalfGammaLoss(),
    "tweedie": HalfTweedieLoss(power=1.5),
}
DEVIANCE = {
    "poisson": mean_poisson_deviance,
    "gamma": mean_gamma_deviance,
    "tweedie": lambda y, p: tweedie_deviance(y, p, power=1.5),
}
POSITIVE = ["poisson", "gamma", "tweedie"]
ROBUST = ["absolute_error", "quantile", "quantile 0.8", "huber", "huber with a given delta"]


def state(name: str, seed: int = 0) -> tuple[Array, Array]:
    """Targets and scores."""
    case, rng = LOSS_NAMED[name], np.random.default_rng(seed)
    return case.targets(rng, N), 1.5 * rng.standard_normal((N, case.n_outputs))


@pytest.mark.parametrize("name", SKLEARN)
def test_values_and_gradients_are_scikit_learns(name):
    y, raw = state(name)
    ours, theirs, scores = LOSS_NAMED[name].prepared(y), SKLEARN[name], raw if raw.shape[1] > 1 else raw[:, 0]
    gap = ours.value(y, raw) - theirs.loss(y[:, 0], scores)
    if name in POSITIVE:  # scikit-learn leaves out what y alone decides.
        gap = gap - (ours.value(y, 0.0 * raw) - theirs.loss(y[:, 0], 0.0 * scores))
    np.testing.assert_allclose(gap, gap[0], rtol=0, atol=1e-12)
    gradient = theirs.gradient(y[:, 0], scores).reshape(raw.shape)
    np.testing.assert_allclose(ours.derivatives(y, raw)[0], gradient, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", POSITIVE)
def test_the_mean_is_half_the_deviance(name):
    (y, raw), loss = state(name), LOSS_NAMED[name].make()
    assert loss.value(y, raw).mean() == pytest.approx(0.5 * DEVIANCE[name](y[:, 0], np.exp(raw[:, 0])), rel=1e-10)


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_a_perfect_score_has_no_loss(name, size):
    loss, y = LOSS_NAMED[name].make(), size * np.array([[0.3], [1.0], [4.0]])
    per_row = loss.value(y, np.log(y) + 0.01) + 1e-300
    assert (np.abs(loss.value(y, np.log(y))) < 1e-9 * per_row).all()


@pytest.mark.parametrize("power", [1.0 + 1e-9, 1.001, 1.5, 1.999, 2.0 - 1e-9])
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_tweedies_loss_is_half_a_square_near_a_perfect_score_whatever_its_power(power, size):
    loss, y, away = Tweedie(power), size * np.array([[0.3], [1.0], [4.0]]), 1e-6
    assert (loss.value(y, np.log(y)) >= 0.0).all()
    means = [loss.value(y, np.log(y) + move).mean() for move in (away, -away)]
    np.testing.assert_allclose(means, 0.5 * np.mean(y ** (2.0 - power)) * away**2, rtol=1e-5)


@pytest.mark.parametrize("name", POSITIVE)
@pytest.mark.parametrize("size", [1e-9, 1e9])
def test_what_is_worth_a_round_does_not_depend_on_the_unit(name, size):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 4))
    mean = np.exp(X[:, 0] + np.sin(2.0 * X[:, 1]))
    y = mean * rng.gamma(4.0, 0.25, len(X))
    rounds = [RFFBoostRegressor(loss=name, quality="fast", random_state=0).fit(X, u * y) for u in (1.0, size)]
    one, other = (model.predict(X) for model in rounds)
    np.testing.assert_allclose(other / size, one, rtol=0.2)
    # By a tolerance in units of the target it would be a few, or as many as there may be.
    assert 0.5 < len(rounds[1].validation_scores_) / len(rounds[0].validation_scores_) < 2.0


@pytest.mark.parametrize("name", ["poisson", "tweedie"])
def test_targets_of_nearly_zero_count_as_zero(name):
    loss, raw = LOSS_NAMED[name].make(), np.array([[-1.0], [0.0], [2.0]])
    losses, at_zero = (loss.value(np.full_like(raw, y), raw) for y in (1e-300, 0.0))
    np.testing.assert_allclose(losses, at_zero, rtol=1e-12)


def test_counts_of_little_variation_are_learned():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 3))
    y = rng.poisson(5000.0 * np.exp(0.03 * (X[:, 0] + np.sin(2.0 * X[:, 1])))).astype(float)
    model = RFFBoostRegressor(loss="poisson", quality="fast", random_state=0).fit(X[:600], y[:600])
    assert d2_tweedie_score(y[600:], model.predict(X[600:]), power=1) > 0.7


def test_two_classes_of_the_multinomial_loss_are_the_binary_one():
    y, raw = state("log_loss")
    both = np.hstack([-0.5 * raw, 0.5 * raw])
    np.testing.assert_allclose(MultinomialLogLoss(2).value(y, both), LogLoss().value(y, raw), rtol=1e-12)
    np.testing.assert_allclose(MultinomialLogLoss(2).link.inverse(both), LogLoss().link.inverse(raw), rtol=1e-12)
    ours, theirs = MultinomialLogLoss(2).derivatives(y, both)[0], LogLoss().derivatives(y, raw)[0]
    np.testing.assert_allclose(ours, np.hstack([-theirs, theirs]), rtol=1e-10)


def test_the_multinomial_loss_keeps_the_digits_of_small_gradients():
    raw = np.array([[50.0, 0.0, 0.0]])
    gradient, hessian = MultinomialLogLoss(3).derivatives(np.zeros((1, 1)), raw)
    np.testing.assert_allclose(gradient, np.exp(-50.0) * np.array([[-2.0, 1.0, 1.0]]), rtol=1e-12)
    assert (hessian > 0.0).all()


@pytest.mark.parametrize("name", ROBUST)
@settings(max_examples=60, deadline=None)
@given(error=st.floats(-20.0, 20.0), move=st.floats(-40.0, 40.0))
def test_robust_losses_lie_below_their_parabola(name, error, move):
    loss = LOSS_NAMED[name].make()
    y, raw, moved = np.zeros((1, 1)), np.array([[error]]), np.array([[error + move]])
    gradient, hessian = loss.derivatives(y, raw)
    parabola = loss.value(y, raw) + (gradient * move + 0.5 * hessian * move**2)[:, 0]
    # Nearer to 0 than the floor no parabola of its curvature touches and lies above.
    slack = 0.0 if "huber" in name or abs(error) >= ERROR_FLOOR else 2.0 * ERROR_FLOOR
    assert loss.value(y, moved) <= parabola + slack + 1e-12 * np.abs(parabola) + np.finfo(float).tiny


@pytest.mark.parametrize("loss", [*map(LOSSES.create, POSITIVE), Tweedie(1.1), Tweedie(1.9)], ids=repr)
@settings(max_examples=60, deadline=None)
@given(y=st.floats(1e-6, 1e6), raw=st.floats(-20.0, 20.0))
def test_a_newton_step_of_one_row_does_not_overshoot(loss, y, raw):
    gradient, hessian = loss.derivatives(np.array([[y]]), np.array([[raw]]))
    distance, step = np.log(y) - raw, float(-(gradient / hessian)[0, 0])
    assert step * distance >= 0.0
    assert abs(step) <= abs(distance) * (1.0 + 1e-9)


def scaled(loss: str, factor: float, weight: Array | None = None) -> Array:
    """Predictions of a few rounds for targets times a factor, divided by it."""
    case, rng = LOSS_NAMED[loss], np.random.default_rng(1)
    X, made = rng.standard_normal((400, 3)), case.make()
    y = case.targets(rng, 400) * np.exp(0.3 * X[:, :1])
    params = {"learner": Tree(max_depth=3, min_child_weight=5.0), "n_estimators": 20, "random_state": 0}
    fitted = boost(X, factor * y, loss=made, weight=weight, **params)
    return made.link.inverse(fitted.raw(X)) / factor


@pytest.mark.parametrize(
    "name", ["squared_error", "absolute_error", "quantile", "quantile 0.8", "huber", *POSITIVE]
)
@pytest.mark.parametrize("factor", [1e-20, 1e3, 1e20])
def test_a_fit_does_not_depend_on_the_unit_of_the_target(name, factor):
    here, there = scaled(name, 1.0), scaled(name, factor)
    assert np.ptp(here) > 0.5
    # XGBoost computes in float32.
    np.testing.assert_allclose(there, here, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", sorted(POSITIVE))
def test_targets_without_room_for_scores_are_refused(name):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = np.exp(X[:, 0])
    plain = {"loss": LOSS_NAMED[name].make(), "n_estimators": 20, "early_stopping": False, "random_state": 0}
    for unit in (1e-148, 1e148):
        prediction = RFFBoostRegressor(**plain).fit(X, unit * y).predict(X) / unit
        assert np.corrcoef(prediction, y)[0, 1] > 0.9
    for unit in (1e-210, 1e210, 1e-320):
        with pytest.raises(ValueError, match=r"y must .* between .* other units"):
            RFFBoostRegressor(**plain).fit(X, unit * y)


def test_a_unit_can_be_fixed():
    y, raw = state("absolute_error")
    loss = LOSSES.create("absolute_error", unit=100.0)
    assert loss.prepared(y, np.ones(N)) is loss
    near = np.full_like(raw, y[0, 0])
    assert loss.derivatives(y, near)[1].max() == 1.0 / (ERROR_FLOOR * 100.0)


def test_the_unit_is_the_median_deviation():
    y = np.array([[0.0], [1.0], [2.0], [4.0], [1e9]])
    ones = np.ones(5)
    assert LOSSES.create("absolute_error").prepared(y, ones).unit == 2.0
    assert LOSSES.create("huber").prepared(y, ones).delta == pytest.approx(1.35 * 1.4826 * 2.0)
    mostly_one = np.array([[1.0], [1.0], [1.0], [1.0], [6.0]])
    assert LOSSES.create("absolute_error").prepared(mostly_one, ones).unit == pytest.approx(1.0)
    constant = np.full((5, 1), 3.0)
    assert LOSSES.create("absolute_error").prepared(constant, ones).unit == 1.0
    assert typical_deviation(np.array([0.0, 0.0, 0.0, 8.0]), np.ones(4)) == 2.0


@given(
    values=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12),
    weight=st.lists(st.integers(1, 4), min_size=12, max_size=12),
    q=st.sampled_from([0.1, 0.25, 0.5, 0.8]),
)
def test_quantiles_are_numpys(values, weight, q):
    values, weight = np.array(values), np.array(weight[: len(values)])
    repeated = np.repeat(values, weight)
    expected = np.quantile(repeated, q, method="averaged_inverted_cdf")
    assert weighted_quantile(values, weight.astype(float), q) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(
    values=st.lists(st.floats(-100.0, 100.0), min_size=1, max_size=12),
    delta=st.floats(0.01, 300.0) | st.sampled_from([1e-300, 1e-16, 1e16, 1e300]),
    seed=st.integers(0, 100),
)
def test_hubers_location_balances_the_cut_errors(values, delta, seed):
    values = np.array(values)
    weight = np.random.default_rng(seed).uniform(0.1, 3.0, len(values))
    center = huber_location(values, weight, delta)
    assert values.min() - 1e-9 <= center <= values.max() + 1e-9
    # It falls from one side of the center to the other, where a hair is all that is left of the digits.
    hair = 1e-9 * (1.0 + np.abs(values).max())
    left, right = (weight @ np.clip((values - at) / delta, -1.0, 1.0) for at in (center - hair, center + hair))
    assert left >= -1e-9 * weight.sum()
    assert right <= 1e-9 * weight.sum()


REFUSED = [
    ("poisson", [[1.0], [-2.0]], r"loss Poisson\(\): y must be at least 0, got -2"),
    ("poisson", [[0.0], [0.0]], r"loss Poisson\(\): y must have a positive sum"),
    ("tweedie", [[1.0], [-0.5]], r"loss Tweedie\(\): y must be at least 0, got -0.5"),
    ("gamma", [[1.0], [0.0]], r"loss Gamma\(\): y must be positive, got 0"),
    ("log_loss", [[0.0], [0.5]], r"loss LogLoss\(\): y must hold class indices"),
    ("log_loss", [[-1.0], [1.0]], r"loss LogLoss\(\): y must hold class indices"),
    ("log_loss", [[0.0], [3.0]], "class indices 0 .. 3, each of them, got no row of class 1"),
    ("absolute_error", [[0.0, 1.0], [1.0, 2.0]], r"y must have one column for loss AbsoluteError"),
]


@pytest.mark.parametrize(("loss", "y", "message"), REFUSED)
def test_targets_that_a_loss_is_not_for(loss, y, message):
    with pytest.raises(ValueError, match=message):
        boost(np.array([[0.0], [1.0]]), np.array(y), loss=loss, learner="tree")


def test_a_split_may_lack_a_class():
    y, ones = np.array([[0.0], [2.0], [0.0]]), np.ones(3)
    assert repr(LogLoss().prepared(y, ones, 4)) == "MultinomialLogLoss(n_classes=4)"
    assert np.isfinite(MultinomialLogLoss(4).prepared(y, ones).baseline(y, ones)).all()
    with pytest.raises(ValueError, match=r"class indices 0 \.\. 1"):
        MultinomialLogLoss(2).prepared(y, ones)
    with pytest.raises(ValueError, match="y must have 2 classes, got 3"):
        MultinomialLogLoss(2).prepared(y, ones, 3)
