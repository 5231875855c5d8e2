"""Targets of several columns and scores of any number inside both hosts, as in our own loop."""

from __future__ import annotations

import pickle

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from scipy.special import expit
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV

from rffboost_ext import LOSSES, STEPS, Observations, RFFBoostClassifier, RFFBoostRegressor, Shrunk, Tree, boost
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from ..cases import ternary
from .interop_cases import BINARY, LIGHTGBM, SIGNAL, XGBOOST, X, hosts
from .target_cases import TARGET_CASES, CumulativeLogit, WeightedSquare

N, ROUNDS = 60, 3
FEW = {
    "xgboost": {"n_estimators": ROUNDS, "learning_rate": 0.1},
    "lightgbm": {"n_estimators": ROUNDS, "min_child_samples": 5},
}
NATIVE = {"xgboost": {"eta": 0.1}, "lightgbm": {"min_child_samples": 5}}
targets = pytest.mark.parametrize("case", TARGET_CASES, ids=str)


def made(host, loss, **params):
    return host.estimator(loss, **FEW[host.name] | params)


def rows_of(case, n=N):
    """Features (n, 3), targets (n, K) as a loss takes them, and what a user gives, and weights (n,)."""
    rng = np.random.default_rng(0)
    y = case.targets(rng, n)
    return rng.normal(size=(n, 3)), y, y[:, 0] if y.shape[1] == 1 else y, np.ones(n)


def mean_loss(loss, y, raw):
    return float(
        np.mean(Observations(np.asarray(y, float).reshape(len(raw), -1), np.ones(len(raw))).losses(loss, raw))
    )


@targets
def test_xgboost_grows_the_trees_of_our_own_loop(case):
    X, y, given, _ = rows_of(case, 200)
    # In deeper trees two features may separate the same rows.
    model = made(XGBOOST, case.make(), tree_method="hist", max_bin=256, max_depth=2).fit(X, given)
    step = Shrunk(STEPS.create("unit"), 0.1)
    own = boost(X, y, loss=case.make(), learner=Tree(2), step=step, n_estimators=ROUNDS)
    np.testing.assert_allclose(XGBOOST.scores(model, X), own.raw(X), rtol=1e-4, atol=1e-4)


# LightGBM passes targets on alike: some losses of the package, and those of users.
OF_LIGHTGBM = [case for k, case in enumerate(TARGET_CASES) if k % 3 == 0 or case.name not in LOSSES.names()]


@pytest.mark.parametrize(
    ("host", "case"),
    [*((XGBOOST, case) for case in TARGET_CASES), *((LIGHTGBM, case) for case in OF_LIGHTGBM)],
    ids=str,
)
def test_estimators_and_native_loops_agree(host, case):
    X, y, given, weight = rows_of(case)
    model = made(host, case.make()).fit(X, given, **host.watch(X, given))
    matrix = host.matrix(X, weight=weight)
    host.ours.attach(matrix, y=y)
    bound, history = host.bound(matrix, case.make(), ROUNDS, **NATIVE[host.name])
    np.testing.assert_allclose(bound.raw_scores(X), host.scores(model, X), rtol=1e-4, atol=1e-4)
    (values,) = host.curve(model).values()
    wanted = mean_loss(model.loss_, y, host.scores(model, X))
    # XGBoost prints six decimals.
    np.testing.assert_allclose([values[-1], history[-1]], wanted, rtol=1e-4, atol=1e-6)
    assert wanted < values[0]
    response = np.asarray(model.loss_.link.inverse(host.scores(model, X)))
    if case.make().task == "classification":
        np.testing.assert_allclose(model.predict_proba(X), response)
        np.testing.assert_array_equal(model.predict(X), response.argmax(axis=1))
    else:
        np.testing.assert_allclose(model.predict(X).reshape(response.shape), response, rtol=1e-6)


CHOSEN = [case for case in TARGET_CASES if case.make().__module__.endswith("target_cases")]
CHOSEN += [case for case in TARGET_CASES if case.name in ("cox", "normal")]


@hosts
@pytest.mark.parametrize("case", CHOSEN, ids=str)
def test_estimators_are_stored_searched_and_continued(host, case, tmp_path):
    X, y, given, _ = rows_of(case)
    model = made(host, case.make()).fit(X, given)
    for again in (pickle.loads(pickle.dumps(model)), clone(model).fit(X, given)):
        np.testing.assert_array_equal(host.scores(again, X), host.scores(model, X))
    if host is XGBOOST:
        model.save_model(tmp_path / "m.json")
        loaded = type(model)(loss=case.make())
        loaded.load_model(tmp_path / "m.json")
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    longer = clone(model).set_params(n_estimators=2 * ROUNDS).fit(X, given)
    twice = clone(model).fit(X, given, **{host.continued: model})
    np.testing.assert_allclose(host.scores(twice, X), host.scores(longer, X), rtol=1e-5, atol=1e-5)
    own = RFFBoostClassifier if model.task == "classification" else RFFBoostRegressor
    own = own(case.make(), "tree", n_estimators=1, early_stopping=False, learning_rate=1e-9)
    np.testing.assert_allclose(own.fit(X, given, init_model=model).raw_scores(X), host.scores(model, X), atol=1e-5)
    search = GridSearchCV(clone(model), {"n_estimators": [1, 3]}, cv=2, error_score="raise").fit(X, given)
    assert np.isfinite(search.best_score_)
    if model.task == "regression":
        assert model.score(X, given) == pytest.approx(-mean_loss(model.loss_, y, host.scores(model, X)), rel=1e-5)


def fold_curve(loss, X, y, parts):
    """The loss on held-out rows after each round of a training of XGBoost."""
    matrices = [xgb.DMatrix(X[part]) for part in parts]
    for matrix, part in zip(matrices, parts, strict=True):
        rxgb.attach(matrix, y=y[part])
    objective, metric = rxgb.objective(loss), rxgb.objective(loss).metric
    own = {"base_score": 0.0, "max_depth": 6}
    return XGBOOST.train(matrices[0], objective, ROUNDS, metric, matrices[1:], **own)[1][1]


@pytest.mark.filterwarnings("ignore:training starts from")
def test_slices_keep_the_columns_of_their_rows():
    rng, loss = np.random.default_rng(0), WeightedSquare()
    X, y = rng.normal(size=(90, 3)), np.column_stack([rng.normal(size=90), rng.exponential(size=90)])
    order = rng.permutation(90)
    folds = [(order[30:], order[:30]), (order[:60], order[60:])]
    whole = xgb.DMatrix(X)
    rxgb.attach(whole, y=y)
    params = XGBOOST.native | {"base_score": 0.0, "max_depth": 6}
    parts = {"obj": rxgb.objective(loss), "custom_metric": rxgb.objective(loss).metric}
    found = xgb.cv(params, whole, ROUNDS, folds=folds, **parts)["test-WeightedSquare-mean"]
    np.testing.assert_allclose(
        found, np.mean([fold_curve(loss, X, y, parts) for parts in folds], axis=0), rtol=1e-6
    )
    data = lgb.Dataset(X, free_raw_data=False)
    rlgb.attach(data, y=y)
    np.testing.assert_array_equal(data.subset([5, 2]).get_label(), y[[2, 5]])


@hosts
def test_columns_that_are_missing_are_named(host):
    model = made(host, WeightedSquare())
    with pytest.raises(ValueError, match=r"loss WeightedSquare\(\): .* further columns of y"):
        model.fit(X, SIGNAL)
    with pytest.raises(ValueError, match="y must have the 2 columns of the fit, got 1"):
        model.fit(X, np.column_stack([SIGNAL, np.ones(400)]), eval_set=[(X, SIGNAL)])


def test_labels_of_two_columns_are_two_targets_of_xgboost():
    matrix = xgb.DMatrix(X, np.column_stack([SIGNAL, np.ones(400)]))
    with pytest.raises(ValueError, match=r"has 1 scores for this target, the host grows 2: .* attach\(matrix, y="):
        xgb.train({}, matrix, 1, obj=rxgb.objective(WeightedSquare()))
    with pytest.raises(ValueError, match=r"attach: y must have shape \(400, K\), got \(5, 1\)"):
        rxgb.attach(matrix, y=np.ones(5))


@hosts
def test_users_metrics_see_all_columns_and_the_response(host):
    rng, seen = np.random.default_rng(0), []

    def metric(y, prediction):
        seen.append((y.shape, prediction.shape))
        return 0.0 if host is XGBOOST else ("mine", 0.0, False)

    rows = rng.normal(size=(N, 3))
    for loss, y in ((WeightedSquare(), np.ones((N, 2))), (CumulativeLogit(), ternary(rng, N)[:, 0])):
        y = np.column_stack([rng.normal(size=N), y[:, 1]]) if y.ndim == 2 else y
        in_model, in_fit = ({"eval_metric": metric}, {})[:: 1 if host is XGBOOST else -1]
        made(host, loss, **in_model).fit(rows, y, **host.watch(rows, y), **in_fit)
    assert set(seen) == {((N, 2), (N,)), ((N,), (N, 3))}


WEIGHTED = [
    (LIGHTGBM, {"is_unbalance": False}),
    (LIGHTGBM, {"boost_from_average": False}),
    (LIGHTGBM, {"class_weight": "balanced"}),
    (LIGHTGBM, {"class_weight": {0: 2.0, 1: 5.0}}),
]


@pytest.mark.parametrize(("host", "params"), WEIGHTED, ids=str)
def test_weights_of_classes_and_starts_are_those_of_the_hosts(host, params):
    rare, weight = (SIGNAL > 1.2).astype(int), np.random.default_rng(0).uniform(0.5, 2.0, 400)
    given = {"n_estimators": 30} | params
    own, ours = host.theirs("Classifier", **given), host.classifier(**given)
    wanted, found = (model.fit(X, rare, sample_weight=weight).predict_proba(X) for model in (own, ours))
    np.testing.assert_allclose(found, wanted, atol=1e-4)
    assert {name: ours.get_params()[name] for name in params} == params


Y = np.column_stack([BINARY, SIGNAL > 0.0, X[:, 2] > 0.5]).astype(int)


def test_several_labels_of_a_row_are_models_of_each_in_lightgbm():
    model = rlgb.LGBMClassifier(**LIGHTGBM.params)
    rows = {"eval_set": [(X, Y), (X[:100], Y[:100])], "sample_weight": np.linspace(0.5, 2.0, 400)}
    model.fit(X, Y, **rows)
    each = [
        lgb.LGBMClassifier(**LIGHTGBM.params).fit(X, y, sample_weight=rows["sample_weight"]).predict_proba(X)[:, 1]
        for y in Y.T
    ]
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability, np.column_stack(each), atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), probability > 0.5)
    wanted = log_loss(Y[:100].ravel(), probability[:100].ravel()) * 3
    assert model.evals_result_["valid_1"]["log_loss"][-1] == pytest.approx(wanted)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.fit(X, BINARY).predict_proba(X).shape == (400, 2)


def test_several_labels_of_a_row_are_xgboosts_own(tmp_path):
    own, ours = (module.XGBClassifier(**XGBOOST.params).fit(X, Y) for module in (xgb, rxgb))
    np.testing.assert_allclose(ours.predict_proba(X), own.predict_proba(X), atol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), own.predict(X))
    matrix = xgb.DMatrix(X, Y)
    native = xgb.train(rxgb.intercept("log_loss", matrix), matrix, 3, obj=rxgb.objective("log_loss"))
    bound = rxgb.bind(native, "log_loss")
    np.testing.assert_allclose(bound.predict_proba(X), expit(native.predict(matrix)), atol=1e-6)
    np.testing.assert_array_equal(bound.predict(X), native.predict(matrix) > 0.0)
    ours.save_model(tmp_path / "m.json")
    for module in (xgb, rxgb):
        loaded = module.XGBClassifier()
        loaded.load_model(tmp_path / "m.json")
        np.testing.assert_allclose(loaded.predict_proba(X), ours.predict_proba(X), atol=1e-6)


def test_evaluation_sets_of_lightgbm_may_be_two_arguments():
    y, loss = np.column_stack([SIGNAL, np.ones(400)]), WeightedSquare()
    curves = []
    for sets in ({"eval_set": [(X, y), (X[:90], y[:90])]}, {"eval_X": (X, X[:90]), "eval_y": (y, y[:90])}):
        curves.append(made(LIGHTGBM, loss).fit(X, y, **sets).evals_result_)
    assert curves[0] == curves[1]
    one = made(LIGHTGBM, loss).fit(X, y, eval_X=X[:90], eval_y=y[:90]).evals_result_
    assert [*one.values()] == [curves[0]["valid_1"]]


def test_class_weights_of_lightgbm_are_for_one_label():
    with pytest.raises(ValueError, match=r"class_weight must be None .* got 'balanced'"):
        rlgb.LGBMRegressor(class_weight="balanced").fit(X, SIGNAL)
    with pytest.raises(ValueError, match=r"class_weight must be None .* got 'balanced'"):
        rlgb.LGBMClassifier(class_weight="balanced").fit(X, Y)
