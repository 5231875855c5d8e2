"""Trees against XGBoost: the stored form predicts as it does, and the loop grows the same trees."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

from rffboost_ext import Design, Mixture, RFFBoostClassifier, RFFBoostRegressor, Shrunk, Tree, Trees, boost
from rffboost_ext.boosting.steps import Unit

from ..cases import LOSS_CASES, as_targets, make_data


def test_a_tree_that_cannot_split_is_a_leaf():
    design = Design(np.zeros((20, 2)))
    y = np.linspace(0.0, 1.0, 20)[:, None]
    fitted = boost(design, y, loss="squared_error", learner="tree", n_estimators=2, random_state=0)
    np.testing.assert_allclose(fitted.raw(design.original), 0.5, atol=1e-6)


class Loops:
    """The same data and parameters in our loop and in XGBoost's, 20 rounds each."""

    def __init__(self, loss, params, weighted):
        self.X, y = make_data(loss, seed=2, n=500)
        self.y, self.params, self.rate, self.rounds = as_targets(y), params, 0.1, 20
        n = len(self.X)
        self.weight = np.random.default_rng(1).uniform(0.5, 2.0, n) if weighted else np.ones(n)
        self.loss = loss.prepared(self.y, self.weight)
        self.baseline = self.loss.baseline(self.y, self.weight)
        self.seen = []

    def derivatives(self, raw):
        return [self.loss.scales.unit * values for values in self.loss.derivatives(self.y, raw)]

    def ours(self):
        parts = {"loss": self.loss, "learner": Tree(**self.params), "step": Shrunk(Unit(), self.rate)}
        fit = {"n_estimators": self.rounds, "weight": self.weight, "random_state": 0, "callbacks": [self.note]}
        return boost(self.X, self.y, **parts, **fit)

    def note(self, progress):
        self.seen.append((progress.round.gradient, progress.round.hessian))

    def theirs(self, derivatives):
        """XGBoost's margins, (n, C), `derivatives` being a function of margins of that shape."""
        margin, weight = np.tile(self.baseline, (len(self.X), 1)), self.weight[:, None]
        even = (self.weight == 1.0).all()
        matrix = xgb.QuantileDMatrix(self.X, weight=None if even else self.weight, base_margin=margin, max_bin=256)
        fixed = {"eta": self.rate, "tree_method": "hist", "base_score": 0.0, "nthread": 1}
        if margin.shape[1] > 1:
            fixed |= {"num_class": margin.shape[1], "objective": "multi:softprob"}

        def objective(scores, _):
            found = derivatives(scores.reshape(margin.shape).astype(float))
            return [(values * weight).reshape(scores.shape) for values in found]

        booster = xgb.train(fixed | self.params, matrix, self.rounds, obj=objective)
        return booster.predict(matrix, output_margin=True).reshape(margin.shape)


tree_cases = pytest.mark.parametrize(
    ("params", "weighted"), [({"max_depth": 3}, False), ({"max_depth": 5, "reg_alpha": 0.1}, True)], ids=str
)


# XGBoost's margins are float32. Where derivatives jump, at errors near 0, or have few values, so that splits are
# of equal gain, that decides between splits sooner or later.
SMOOTH = [case for case in LOSS_CASES if case.make().exact_hessian]


@pytest.mark.parametrize("loss", [case for case in LOSS_CASES if case not in SMOOTH], ids=str)
@tree_cases
def test_derivatives_become_the_trees_of_xgboosts_own(loss, params, weighted):
    loops = Loops(loss, params, weighted)
    ours, replay = loops.ours(), iter(loops.seen)
    theirs = loops.theirs(lambda raw: next(replay))
    assert np.ptp(theirs) > 0.5
    np.testing.assert_allclose(ours.raw(loops.X), theirs, rtol=1e-6, atol=1e-5)
    assert all(isinstance(term, Trees) for term in ours.terms)


@pytest.mark.parametrize("loss", SMOOTH, ids=str)
@tree_cases
def test_the_loop_is_that_of_xgboosts_own(loss, params, weighted):
    loops = Loops(loss, params, weighted)
    ours, theirs = loops.ours().raw(loops.X), loops.theirs(loops.derivatives)
    tolerance = 1e-4 if loops.loss.fit_criterion == "exponential" else 1e-5
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=tolerance)


SHARES = [
    {"subsample": 0.5},
    {"colsample_bytree": 0.4},
    {"colsample_bylevel": 0.4},
    {"subsample": 0.7, "colsample_bynode": 0.4},
]


@pytest.mark.parametrize("params", SHARES, ids=str)
def test_draws_are_the_rounds_own(params):
    X, y = make_data(LOSS_CASES[0], n=300)
    matrix = xgb.DMatrix(X, y)

    def disturb(progress):
        xgb.train({"subsample": 0.5, "colsample_bynode": 0.5, "seed": progress.round.index}, matrix, 2)

    def fit(rounds, seed=0, **more):
        more |= {"n_estimators": rounds, "random_state": seed, "early_stopping": False}
        return RFFBoostClassifier("log_loss", Tree(3, **params), **more).fit(X, y)

    wanted = fit(12).decision_function(X)
    np.testing.assert_array_equal(fit(12, callbacks=[disturb]).decision_function(X), wanted)
    goes_on = fit(5, warm_start=True).set_params(n_estimators=12).fit(X, y)
    # The same trees; the booster's own scores, in float32, start anew.
    np.testing.assert_allclose(goes_on.decision_function(X), wanted, atol=1e-6)
    assert np.abs(fit(12, seed=1).decision_function(X) - wanted).max() > 1e-3


@pytest.mark.parametrize("share", [0.05, 0.3, 0.7, 0.999])
def test_a_tree_sees_its_share_of_the_columns_whatever_was_drawn_before(share):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 10))
    y = X @ rng.uniform(0.9, 1.1, 10)
    learner = Tree(6, colsample_bytree=share)
    terms = boost(X, y[:, None], loss="squared_error", learner=learner, n_estimators=30, random_state=0).terms
    seen = [np.unique(term.feature[term.left >= 0]) for term in terms]
    assert max(len(columns) for columns in seen) == max(1, int(share * 10))
    assert len({tuple(columns) for columns in seen}) > 5
    assert len(np.unique(np.concatenate(seen))) == 10


def test_a_tree_sees_all_columns_whatever_was_drawn_before():
    """Trees of both kinds grow on one matrix, which keeps the columns of the last one."""
    X = np.random.default_rng(0).standard_normal((200, 6))
    y = X @ np.arange(1.0, 7.0)
    learner = Mixture(Tree(3, colsample_bytree=0.2), Tree(3), subsample=1.0)
    fitted = boost(X, y[:, None], loss="squared_error", learner=learner, n_estimators=8, random_state=0)
    for k in range(1, 8, 2):
        raw = fitted[:k].raw(X)
        alone = boost(X, y[:, None] - raw, loss="squared_error", learner=Tree(3), n_estimators=1)
        assert fitted.terms[k].feature.tolist() == alone.terms[0].feature.tolist()


def test_rows_without_a_positive_count_do_not_set_the_unit():
    """The baseline of such a sample is 0, and gradients there are far from those of the round."""
    X = np.random.default_rng(0).normal(size=(200, 4))
    y = np.append(np.full(3, 1_000.0), np.zeros(197))
    for seed in range(8):
        params = {"learner": Mixture(subsample=0.5), "early_stopping": False, "random_state": seed}
        model = RFFBoostRegressor("tweedie", n_estimators=5, **params).fit(X, y)
        assert np.isfinite(model.predict(X)).all()


def test_features_beyond_float32_are_named():
    X, y = make_data(LOSS_CASES[0], n=50)
    X[7, 1] = -1e39
    with pytest.raises(ValueError, match=r"X must be within the range of float32.*-1e\+39 in column 1"):
        boost(X, y[:, None].astype(float), loss="log_loss", learner="tree", n_estimators=1)
    X[7, 1] = 3e38
    boost(X, y[:, None].astype(float), loss="log_loss", learner="tree", n_estimators=1)


def native_margins(X, y, params, missing=np.nan, rounds=20):
    """XGBoost's own logistic loop with the same parameters."""
    matrix = xgb.QuantileDMatrix(X, y, max_bin=256, missing=missing)
    fixed = {"objective": "binary:logistic", "eta": 0.1, "tree_method": "hist", "nthread": 1}
    booster = xgb.train(fixed | {"base_score": float(y.mean())} | params, matrix, rounds)
    return booster.predict(matrix, output_margin=True)


@pytest.mark.parametrize(
    "params",
    [
        {"max_depth": 5},
        {"max_depth": 0, "max_leaves": 12, "grow_policy": "lossguide"},
        {"max_depth": 4, "max_delta_step": 0.3, "min_child_weight": 3.0, "min_split_loss": 0.5},
        {"max_depth": 4, "monotone_constraints": (1, -1, 0)},
        {"max_depth": 4, "interaction_constraints": [[0, 1], [2]]},
    ],
    ids=str,
)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_margins_are_those_of_native_logistic_trees(params, missing):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((1000, 3)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + rng.standard_normal(1000) > 0.0).astype(float)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    native = dict(params)
    if "interaction_constraints" in params:
        native["interaction_constraints"] = str(params["interaction_constraints"])
    step = Shrunk(Unit(), 0.1)
    ours = boost(
        Design(X), y[:, None], loss="log_loss", learner=Tree(**params), step=step, n_estimators=20, random_state=0
    )
    np.testing.assert_allclose(ours.raw(X)[:, 0], native_margins(X, y, native), rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"monotone_constraints": (2, 0, 0)}, "monotone_constraints must"),
        ({"monotone_constraints": (1, 0)}, "monotone_constraints must .* got 2"),
        ({"interaction_constraints": [[0, -1]]}, "interaction_constraints must"),
        ({"interaction_constraints": [[0, 3]]}, "interaction_constraints must .* got 3"),
    ],
)
def test_constraints_that_make_no_sense_are_named(params, words):
    X, y = np.random.default_rng(0).standard_normal((30, 3)), np.arange(30.0)[:, None]
    with pytest.raises(ValueError, match=words):
        boost(X, y, loss="squared_error", learner=Tree(**params), n_estimators=1)


CONSTRAINED = {"monotone_constraints": (1, 0)}, {"interaction_constraints": [[0], [1]]}


@pytest.mark.parametrize("params", CONSTRAINED, ids=str)
def test_constraints_that_cosines_would_break_are_refused(params):
    X, y, seen = np.random.default_rng(0).standard_normal((200, 2)), np.arange(200.0), []
    (name,) = params
    made = [
        RFFBoostRegressor(learner=Mixture(trees=Tree(**params))),
        RFFBoostRegressor(learner=Mixture(Tree(**params), "tree")),
        RFFBoostRegressor(learner=Mixture(trees="tree")).set_params(**{f"learner__trees__{name}": params[name]}),
    ]
    for model in made:
        with pytest.raises(ValueError, match=f"Mixture: {name} of .* learner='tree'"):
            model.set_params(callbacks=[seen.append]).fit(X, y)
    assert not seen


@pytest.mark.parametrize("unit", [2.0**-8, 1.0, 2.0**24])
def test_leaves_are_limited_in_the_unit_of_the_target(unit):
    X = np.random.default_rng(0).standard_normal((200, 3))
    learner = Tree(2, max_delta_step=0.25 * unit)
    term = boost(X, unit * X[:, :1], loss="squared_error", learner=learner, n_estimators=1).terms[0]
    assert np.abs(term(X)).max() == pytest.approx(0.25 * unit, rel=1e-5)
