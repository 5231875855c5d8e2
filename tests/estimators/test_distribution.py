"""RFFBoostDistribution: predictions of every distribution, and whatever else an estimator is asked for."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from onnx_export.derived_links import convert_mean
from rffboost_ext import DISTRIBUTIONS, RFFBoostDistribution, RFFBoostRegressor
from rffboost_ext.losses import NegativeBinomial, Normal
from rffboost_ext.metrics import crps

RNG = np.random.default_rng(0)
N = 600
X = RNG.uniform(-2.0, 2.0, (N, 3))
CENTER, SPREAD = np.sin(2.0 * X[:, 0]), np.exp(0.5 * X[:, 1] - 1.0)
SHAPE = 1.0 / SPREAD**2
TARGETS = {
    "normal": CENTER + SPREAD * RNG.standard_normal(N),
    "laplace": CENTER + RNG.laplace(0.0, SPREAD),
    "lognormal": np.exp(CENTER + SPREAD * RNG.standard_normal(N)),
    "student_t": CENTER + SPREAD * RNG.standard_t(4.0, N),
    "gamma": RNG.gamma(SHAPE, np.exp(CENTER) / SHAPE),
    "beta": RNG.beta(np.exp(CENTER + 1.0), np.exp(1.0 + X[:, 1])),
    "poisson": RNG.poisson(np.exp(CENTER + 1.0)),
    "negative_binomial": RNG.poisson(RNG.gamma(SHAPE, np.exp(CENTER + 1.0) / SHAPE)),
    "zero_inflated_poisson": RNG.poisson(np.exp(CENTER + 1.0)) * (RNG.random(N) > 0.3),
}
TRAIN, TEST = slice(0, 450), slice(450, N)
Y = TARGETS["normal"]


def fitted(distribution="normal", learner="tree", rows=TRAIN, **params):
    """A small model of the signal."""
    params = {"n_estimators": 30, "learning_rate": 0.2, "early_stopping": False, "random_state": 0} | params
    name = distribution if isinstance(distribution, str) else "normal"
    return RFFBoostDistribution(distribution, learner, **params).fit(X[rows], TARGETS[name][rows])


@pytest.fixture(scope="module")
def model():
    return fitted()


@pytest.mark.parametrize("name", DISTRIBUTIONS.names())
def test_every_distribution_beats_its_baseline(name):
    y, model = TARGETS[name][TEST], fitted(name)
    frozen = model.predict_dist(X[TEST])
    density = frozen.logpmf(y) if hasattr(frozen.dist, "pmf") else frozen.logpdf(y)
    assert model.score(X[TEST], y) == pytest.approx(density.mean())
    constant = np.tile(model.ensemble_.baseline, (len(y), 1))
    assert model.score(X[TEST], y) > 0.05 - model.loss_.value(y[:, None].astype(float), constant).mean()
    at_baseline = model.loss_.frozen(model.loss_.link.inverse(constant))
    assert crps(y, frozen) < 0.95 * crps(y, at_baseline)
    np.testing.assert_allclose(model.predict(X[TEST]), frozen.mean())
    assert 0.7 < (frozen.ppf(0.05) <= y).mean() - (frozen.ppf(0.95) < y).mean() < 0.99


@pytest.mark.parametrize("name", ["normal", "laplace", "gamma", "beta"])
def test_a_fit_to_equal_targets_ends(name):
    value = 0.4 if name == "beta" else 3.0
    model = RFFBoostDistribution(name, random_state=0).fit(X[:60], np.full(60, value))
    assert len(model.validation_scores_) < 20
    np.testing.assert_allclose(model.predict(X[:60]), value, rtol=1e-4)


def test_a_regressor_of_the_loss_is_the_same_model(model):
    params = {"n_estimators": 30, "learning_rate": 0.2, "early_stopping": False, "random_state": 0}
    other = RFFBoostRegressor("normal", "tree", **params).fit(X[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(other.raw_scores(X), model.raw_scores(X))
    np.testing.assert_array_equal(other.predict(X), model.loss_.link.inverse(model.raw_scores(X)))
    assert other.score(X[TEST], Y[TEST]) == model.score(X[TEST], Y[TEST])


def test_parameters_are_checked():
    assert clone(RFFBoostDistribution(NegativeBinomial(unit=2.0))).distribution.unit == 2.0
    assert RFFBoostDistribution().set_params(distribution__unit=2.0).distribution.unit == 2.0
    assert "loss" not in RFFBoostDistribution().get_params()
    with pytest.raises(ValueError, match=r"unknown distribution 'normall'. Did you mean 'normal'"):
        RFFBoostDistribution("normall").fit(X, Y)
    with pytest.raises(TypeError, match=r"distribution must be a registered name .* got 3"):
        RFFBoostDistribution(3).fit(X, Y)
    with pytest.raises(ValueError, match="y must be whole numbers of at least 0, got"):
        RFFBoostDistribution("poisson").fit(X, Y)
    with pytest.raises(ValueError, match="unit"):
        RFFBoostDistribution(Normal(unit=-1.0)).fit(X, Y)


@pytest.mark.parametrize("name", DISTRIBUTIONS.names())
def test_onnx_files_have_the_mean_and_the_parameters(name):
    model = fitted(name, n_estimators=5)
    wanted = model.loss_.link.inverse(model.raw_scores(X[TEST]))
    graph = to_onnx(model, dtype="float64")
    found = OnnxPredictor(graph)
    np.testing.assert_allclose(found.predict(X[TEST]), model.predict(X[TEST]), rtol=1e-6)
    for parameter, values in zip(model.loss_.link.names, wanted.T, strict=True):
        np.testing.assert_allclose(found.output(parameter, X[TEST]), values, rtol=1e-6)
    verify_onnx(model, graph, X[TEST], raise_on_mismatch=True)


class Doubled(Normal):
    """A distribution whose mean is not its first parameter."""

    def mean(self, response):
        return 2.0 * response[:, 0]


def test_a_mean_of_a_users_own_is_registered_for_export():
    model = RFFBoostDistribution(Doubled(), learner="tree", n_estimators=2).fit(X, Y)
    with pytest.raises(
        ValueError, match=r"the prediction of the loss Doubled has no ONNX form.*convert_mean.register"
    ):
        to_onnx(model)
    known = convert_mean.dispatch(Normal)
    two = convert_mean.register(Doubled)(
        lambda distribution, graph, parameters: graph.node(
            "Mul", known(distribution, graph, parameters), graph.constant(2.0, "two")
        )
    )
    assert two is convert_mean.dispatch(Doubled)
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)
