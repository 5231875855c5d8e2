"""RFFBoostSurvival: the conventions of scikit-survival, and what all estimators can do."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from rffboost_ext import RFFBoostSurvival, average
from rffboost_ext.metrics import concordance_index

FEW = {"learner": "tree", "n_estimators": 20, "early_stopping": False, "random_state": 0}
LOSSES = ["cox", "aft_normal", "aft_logistic", "aft_extreme"]
# One loss of each kind: of proportional hazards, and of accelerated failure times.
kinds = pytest.mark.parametrize("loss", LOSSES[::2])
N = 200


def target(event, time):
    y = np.empty(len(time), dtype=[("died", bool), ("days", float)])
    y["died"], y["days"] = event, time
    return y


def sample(seed=0, n=N):
    """Features, and Weibull times that depend on two of them, a third of them censored, with ties."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    time = np.exp(2.0 + 0.7 * X[:, 0] - 0.5 * X[:, 1] ** 2) * rng.exponential(size=n) ** 0.6
    censored = rng.exponential(2.0 * np.median(time), n)
    return X, target(time <= censored, np.minimum(time, censored).round(1) + 0.1)


X, Y = sample()


@pytest.fixture(scope="module", params=LOSSES)
def model(request):
    return RFFBoostSurvival(request.param, **FEW).fit(X, Y)


@pytest.fixture(scope="module")
def cox():
    return RFFBoostSurvival(**FEW).fit(X, Y)


def test_functions_are_monotone_and_agree(model):
    survival = model.predict_survival_function(X, return_array=True)
    hazard = model.predict_cumulative_hazard_function(X, return_array=True)
    assert survival.shape == hazard.shape == (N, len(model.unique_times_))
    assert (np.diff(survival) <= 0.0).all()
    assert (survival >= 0.0).all()
    assert (survival <= 1.0).all()
    np.testing.assert_allclose(survival, np.exp(-hazard), rtol=1e-12)
    # The higher the risk, the lower the probability to survive any time.
    assert (np.diff(survival[np.argsort(model.predict(X))], axis=0) <= 1e-12).all()
    for row, functions in enumerate(model.predict_survival_function(X[:3])):
        np.testing.assert_array_equal(functions(functions.x), survival[row])
        np.testing.assert_array_equal(functions.x, model.unique_times_)


def test_times_are_those_of_the_rows(model):
    np.testing.assert_array_equal(model.unique_times_, np.unique(Y["days"]))
    np.testing.assert_array_equal(model.event_times_, np.unique(Y["days"][Y["died"]]))


def test_functions_are_defined_from_0_to_the_last_time(cox):
    survival = cox.predict_survival_function(X[:1])[0]
    low, high = survival.domain_
    assert (low, high) == survival.domain == (0.0, Y["days"].max())
    assert survival(low) == survival.y[0]
    assert survival(high) == survival.y[-1]
    middle = 0.5 * (survival.x[4] + survival.x[5])
    np.testing.assert_array_equal(survival([middle, survival.x[5]]), survival.y[[4, 5]])
    for time in (-1.0, high + 1.0, np.nan):
        with pytest.raises(ValueError, match=r"x must be within \[0, "):
            survival([1.0, time])


def test_breslow_is_the_sum_over_risk_sets():
    weight = np.random.default_rng(3).uniform(0.5, 2.0, N)
    model = RFFBoostSurvival(**FEW).fit(X, Y, sample_weight=weight)
    risk, hazard = weight * np.exp(model.predict(X)), 0.0
    for time, found in zip(model.cum_baseline_hazard_.x, model.cum_baseline_hazard_.y, strict=True):
        hazard += (weight * Y["died"])[Y["days"] == time].sum() / risk[Y["days"] >= time].sum()
        assert found == pytest.approx(hazard, rel=1e-10)


@pytest.mark.parametrize(
    ("loss", "law"),
    [("aft_normal", stats.norm), ("aft_logistic", stats.logistic), ("aft_extreme", stats.gumbel_l)],
)
def test_survival_of_accelerated_times_is_that_of_the_distribution(loss, law):
    model = RFFBoostSurvival(loss, **FEW).fit(X, Y)
    z = (np.log(model.unique_times_) + model.predict(X)[:, None]) / model.loss_.sigma
    np.testing.assert_allclose(model.predict_survival_function(X, return_array=True), law.sf(z), rtol=1e-9)
    times, first = np.array([0.0, 0.01, 3.3, 1e4]), model.predict_survival_function(X[:1])[0]
    with np.errstate(divide="ignore"):
        wanted = law.sf((np.log(times) + model.predict(X[:1])) / model.loss_.sigma)
    np.testing.assert_allclose(first(times), wanted, rtol=1e-9)
    assert first.domain_ == (0.0, np.inf)
    assert pickle.loads(pickle.dumps(first))(3.3) == first(3.3)
    with pytest.raises(ValueError, match="x must be within"):
        first(-1.0)


@pytest.mark.parametrize("sigma", [0.02, 0.9, 3.0])
def test_medians_are_those_of_survival_functions(model, sigma):
    if model.loss != "cox":
        model = clone(model).set_params(loss__sigma=sigma).fit(X, Y)
    for i, function in enumerate(model.predict_survival_function(X[:4])):
        median = model.predict_median_time(X[i : i + 1])[0]
        assert function(median) <= 0.5 + 1e-9
        assert function(median * (1.0 - 1e-6)) >= 0.5 - 1e-9


def test_medians_beyond_the_last_time_are_infinite():
    model = RFFBoostSurvival(**FEW).fit(X, target(np.arange(N) < 5, Y["days"]))
    last = model.predict_survival_function(X, return_array=True)[:, -1]
    np.testing.assert_array_equal(np.isinf(model.predict_median_time(X)), last > 0.5)
    assert (last > 0.5).any()


@kinds
def test_scores_on_new_rows(loss):
    model = RFFBoostSurvival(loss, random_state=0).fit(X, Y)
    X_new, y_new = sample(1)
    truth = 0.7 * X_new[:, 0] - 0.5 * X_new[:, 1] ** 2
    assert model.score(X_new, y_new) > concordance_index(y_new, -truth) - 0.04
    assert model.n_folds_ == 4


def test_concordance_is_a_count_of_pairs():
    rng = np.random.default_rng(0)
    low = rng.integers(1, 9, 40).astype(float)
    bounds = np.column_stack([low, low + rng.choice([0.0, 0.0, 2.0, np.inf], 40)])
    risk, weight = rng.integers(0, 9, 40) / 8.0, rng.uniform(0.5, 2.0, 40)
    concordant = comparable = 0.0
    for i, j in np.ndindex(40, 40):
        if bounds[i, 1] < bounds[j, 0] or (bounds[i, 1] == bounds[j, 0] < bounds[j, 1]):
            comparable += weight[i] * weight[j]
            concordant += weight[i] * weight[j] * (0.5 + 0.5 * np.sign(risk[i] - risk[j]))
    assert concordance_index(bounds, risk, sample_weight=weight) == pytest.approx(
        concordant / comparable, rel=1e-12
    )


@kinds
def test_kinds_of_targets(loss):
    observed = RFFBoostSurvival(loss, **FEW).fit(X, Y["days"])
    same = RFFBoostSurvival(loss, **FEW).fit(X, target(np.ones(N), Y["days"]))
    np.testing.assert_array_equal(observed.predict(X), same.predict(X))
    numbers = Y.astype([("a", np.int64), ("b", np.float32)])
    np.testing.assert_allclose(
        RFFBoostSurvival(loss, **FEW).fit(X, numbers).predict(X),
        RFFBoostSurvival(loss, **FEW).fit(X, Y).predict(X),
        rtol=1e-4,
        atol=1e-4,
    )


def test_bounds_of_right_censored_times_are_the_structured_target():
    bounds = np.column_stack([Y["days"], np.where(Y["died"], Y["days"], np.inf)])
    fits = [RFFBoostSurvival("aft_logistic", **FEW).fit(X, y) for y in (Y, bounds)]
    np.testing.assert_array_equal(*(fit.predict(X) for fit in fits))
    assert fits[0].score(X, Y) == fits[1].score(X, bounds)


def test_times_censored_to_intervals():
    days = Y["days"]
    low, high = np.floor(days / 5.0) * 5.0, np.floor(days / 5.0) * 5.0 + 5.0
    bounds = np.column_stack([low, np.where(Y["died"], high, np.inf)])
    model = RFFBoostSurvival("aft_logistic", random_state=0, quality="fast").fit(X, bounds)
    assert concordance_index(Y, model.predict(X)) > 0.7
    assert model.predict_survival_function(X[:2])[0].x[0] > 0.0


FAULTS = [
    ("cox", np.column_stack([Y["days"], Y["days"]]), "y must be a structured array .*aft_normal"),
    ("cox", Y[["days", "died"]], "y must be a structured array of shape .* whose first field"),
    ("cox", target(np.zeros(N), Y["days"]), "y must have an event"),
    ("cox", target(Y["died"], -Y["days"]), "y must hold times of at least 0"),
    ("aft_normal", target(Y["died"], 0.0 * Y["days"]), "y must hold bounds of times"),
    ("aft_normal", np.column_stack([Y["died"], Y["days"]]), "y must hold bounds .* got 0 and 1 in the first"),
    ("cox", target(Y["died"], np.nan * Y["days"]), "truth values and times.*other numbers"),
    ("cox", np.ones((N, 3)), r"y must have shape \(n,\) or \(n, 2\)"),
    ("squared_error", Y["days"], "loss must be one of survival analysis, such as 'cox'"),
]


@pytest.mark.parametrize(("loss", "y", "fault"), FAULTS)
def test_invalid_input_is_named(loss, y, fault):
    with pytest.raises(ValueError, match=fault):
        RFFBoostSurvival(loss, **FEW).fit(X, y)


@kinds
def test_early_stopping_monitors_the_concordance(loss):
    held = sample(2)
    model = RFFBoostSurvival(loss, learner="tree", n_estimators=60, eval_metric="concordance", random_state=0)
    model.fit(X, Y, eval_set=[held])
    curve = model.evals_result_["validation_0"]["concordance"]
    assert curve[-1] == pytest.approx(model.score(*held), rel=1e-9)
    assert model.best_score_ == max(curve)
    risks = list(model.staged_predict(held[0]))
    assert concordance_index(held[1], risks[3]) == pytest.approx(curve[3], rel=1e-9)


def test_average_of_other_rows():
    models = [RFFBoostSurvival(**FEW).fit(*sample(seed)) for seed in (1, 2)]
    both = average(models)
    assert len(both.unique_times_) > max(len(model.unique_times_) for model in models)
    survival = both.predict_survival_function(X, return_array=True)
    assert (np.diff(survival) <= 0.0).all()
    np.testing.assert_allclose(both.predict(X), np.mean([model.predict(X) for model in models], axis=0), rtol=1e-6)


def test_scikit_survival_agrees(cox):
    metrics = pytest.importorskip("sksurv.metrics")
    coxph = pytest.importorskip("sksurv.linear_model.coxph")
    event, time = Y["died"], Y["days"]
    assert cox.score(X, Y) == pytest.approx(metrics.concordance_index_censored(event, time, cox.predict(X))[0])
    theirs = coxph.BreslowEstimator().fit(cox.predict(X), event, time)
    np.testing.assert_array_equal(cox.unique_times_, theirs.unique_times_)
    np.testing.assert_allclose(cox.cum_baseline_hazard_.y, theirs.cum_baseline_hazard_.y, rtol=1e-9)
    pairs = zip(
        [*cox.predict_survival_function(X[:9]), *cox.predict_cumulative_hazard_function(X[:9])],
        [
            *theirs.get_survival_function(cox.predict(X[:9])),
            *theirs.get_cumulative_hazard_function(cox.predict(X[:9])),
        ],
        strict=True,
    )
    times = np.linspace(0.0, time.max(), 77)
    for ours, other in pairs:
        np.testing.assert_allclose(ours(times), other(times), rtol=1e-9)
        assert ours.domain == other.domain
        assert isinstance(ours(3.0), float) == isinstance(other(3.0), float)
    times = np.percentile(time, [20, 40, 60, 80])
    scorer = metrics.as_integrated_brier_score_scorer(RFFBoostSurvival(**FEW), times)
    search = GridSearchCV(scorer, {"estimator__learner__max_depth": [1, 3]}, cv=3).fit(X, Y)
    assert -0.25 < search.best_score_ < 0.0
    scorer = metrics.as_concordance_index_ipcw_scorer(RFFBoostSurvival(**FEW)).fit(X, Y)
    assert scorer.score(X, Y) > 0.7
