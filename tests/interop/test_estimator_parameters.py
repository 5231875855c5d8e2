"""What the estimators of both hosts have in common: the loss as a parameter, where they start, failed fits."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import LogLoss, Quantile, SquaredError

from .interop_cases import BINARY, CLASSES, HOSTS, LIGHTGBM, SIGNAL, XGBOOST, X, hosts


@hosts
@pytest.mark.parametrize("given", ["quantile", Quantile()], ids=["name", "instance"])
def test_parameters_of_the_loss_are_set(host, given):
    model = host.estimator(clone(given, safe=False)).set_params(loss__quantile=0.9, n_estimators=20)
    assert model.get_params()["loss__quantile"] == 0.9
    assert model.get_params()["n_estimators"] == 20
    wanted = host.estimator(Quantile(0.9), n_estimators=20).fit(X, SIGNAL).predict(X)
    for each in (model, clone(model)):
        np.testing.assert_array_equal(each.fit(X, SIGNAL).predict(X), wanted)
    assert np.mean(wanted >= SIGNAL) > 0.85
    with pytest.raises(ValueError, match="'alpha' for estimator Quantile"):
        model.set_params(loss__alpha=0.9, n_estimators=7)
    assert model.get_params()["n_estimators"] == 20


@hosts
def test_parameters_of_the_loss_are_searched(host):
    search = GridSearchCV(host.estimator("quantile"), {"loss__quantile": [0.1, 0.9]}, cv=2, error_score="raise")
    search.fit(X, SIGNAL)
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    assert search.best_estimator_.loss_.quantile == search.best_params_["loss__quantile"]


def test_what_xgboost_would_pass_over_is_named():
    with pytest.raises(ValueError, match="loss__quantile must be unset"):
        XGBOOST.estimator("quantile", loss__quantile=0.9).fit(X, SIGNAL)


IGNORED = {
    "xgboost": {
        "quantile_alpha": 0.9,
        "tweedie_variance_power": 1.2,
        "aft_loss_distribution": "normal",
        "lambdarank_unbiased": True,
    },
    "lightgbm": {"alpha": 0.9, "fair_c": 2.0, "reg_sqrt": True, "is_unbalance": True, "label_gain": [0, 1]},
}


@pytest.mark.parametrize(("host", "name"), [(host, name) for host in HOSTS for name in IGNORED[host.name]])
def test_what_the_hosts_losses_alone_would_see_is_named(host, name):
    given = {name: IGNORED[host.name][name]}
    for model, y in ((host.estimator(**given), SIGNAL), (host.classifier().set_params(**given), BINARY)):
        with pytest.raises(ValueError, match=f"{type(model).__name__}: {name} must be unset, got "):
            model.fit(X, y)


@pytest.mark.parametrize(
    ("host", "params"),
    [
        (XGBOOST, {"alpha": 0.5, "max_delta_step": 0.1}),
        (
            LIGHTGBM,
            {"reg_alpha": 0.5, "reg_sqrt": False, "boost_from_average": True},
        ),
        (LIGHTGBM, {"lambda_l1": 0.5, "max_delta_step": 0.1}),
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_trees_see_stays(host, params):
    found, plain = host.estimator(**params).fit(X, SIGNAL).predict(X), host.estimator().fit(X, SIGNAL).predict(X)
    assert not np.array_equal(found, plain)


@hosts
def test_weights_that_cannot_be_are_named(host):
    for model, y in ((host.estimator(), SIGNAL), (host.classifier(), BINARY)):
        with pytest.raises(ValueError, match="sample_weight must not be negative, got -1"):
            model.fit(X, y, sample_weight=-np.ones(400))


FAR = SIGNAL + 100.0


def starts(host, model, folder):
    """An earlier model as users may pass it."""
    booster = model.get_booster() if host is XGBOOST else model.booster_
    booster.save_model(folder / "m.txt" if host is LIGHTGBM else folder / "m.json")
    return model, booster, str(next(folder.iterdir()))


@hosts
@pytest.mark.parametrize(("loss", "y"), [("squared_error", FAR), ("log_loss", BINARY)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_fits_that_continue_keep_where_they_started(host, loss, y, tmp_path):
    kind, name = "Regressor" if y is FAR else "Classifier", host.continued
    first = host.theirs(kind).fit(X, y)
    # Rows with another baseline: a fit that begins anew would begin there.
    rows = np.argsort(y, kind="stable")[:300]
    for given in starts(host, first, tmp_path):
        wanted = host.theirs(kind).fit(X[rows], y[rows], **{name: given})
        model = host.estimator(loss).fit(X[rows], y[rows], **{name: given})
        np.testing.assert_allclose(host.scores(model, X), host.scores(wanted, X), rtol=1e-3, atol=0.05)
        still = host.estimator(loss, learning_rate=1e-12).fit(X[rows], y[rows], **{name: given})
        np.testing.assert_allclose(host.scores(still, X), host.scores(first, X), rtol=1e-5, atol=1e-4)


@hosts
@pytest.mark.parametrize("loss", ["exponential", "log_loss"])
def test_fits_that_continue_ours_keep_its_baseline(host, loss):
    name, first = host.continued, host.estimator(loss).fit(X, BINARY)
    model = host.estimator(loss, learning_rate=1e-12).fit(X[:300], BINARY[:300], **{name: first})
    np.testing.assert_allclose(model.predict_proba(X), first.predict_proba(X), rtol=1e-4)
    longer = host.estimator(loss).fit(X, BINARY, **{name: first})
    whole = host.estimator(loss, n_estimators=16).fit(X, BINARY)
    np.testing.assert_allclose(longer.predict_proba(X), whole.predict_proba(X), atol=2e-3)


def test_files_tell_the_loss_that_a_fit_goes_on_from(tmp_path):
    first = XGBOOST.estimator("poisson").fit(X, FAR)
    first.save_model(tmp_path / "m.json")
    still = XGBOOST.estimator("poisson", learning_rate=1e-12)
    still.fit(X[:9], FAR[:9], xgb_model=str(tmp_path / "m.json"))
    np.testing.assert_allclose(still.predict(X), first.predict(X), rtol=1e-4)


@hosts
def test_earlier_models_that_do_not_suit_the_loss_are_named(host):
    name, objective = host.continued, "count:poisson" if host is XGBOOST else "poisson"
    poisson = host.theirs("Regressor", objective=objective).fit(X, FAR)
    with pytest.raises(ValueError, match=f"{name} must have the link of loss"):
        host.estimator().fit(X, FAR, **{name: poisson})
    host.estimator("poisson").fit(X, FAR, **{name: poisson})
    several = host.theirs("Classifier").fit(X, CLASSES)
    with pytest.raises(ValueError, match=f"{name} must have 1 outputs, got 3"):
        host.classifier().fit(X, BINARY, **{name: several})
    with pytest.raises(TypeError, match=f"{name} must be a model of"):
        host.estimator().fit(X, FAR, **{name: 3})


@hosts
def test_a_fit_that_fails_leaves_the_model_as_it_was(host):
    model = host.estimator().fit(X, SIGNAL)
    before, state = model.predict(X), set(vars(model))
    with pytest.raises((ValueError, lgb.basic.LightGBMError)):
        model.fit(X, FAR, **{host.continued: "there is no such file"})
    with pytest.raises(ValueError):
        model.fit(np.full(X.shape, "a"), FAR)
    np.testing.assert_array_equal(model.predict(X), before)
    assert set(vars(model)) == state


@pytest.mark.parametrize("kind", [0, 1], ids=["regressor", "classifier"])
@pytest.mark.parametrize("file", ["foreign", "other kind", "no model", "missing", "unknown loss"])
def test_a_model_that_cannot_be_loaded_changes_nothing(kind, file, tmp_path):
    made, y = (rxgb.XGBRegressor, rxgb.XGBClassifier)[kind], (FAR, BINARY)[kind]
    path, params = tmp_path / "m.json", XGBOOST.params
    if file == "foreign":
        (xgb.XGBRegressor, xgb.XGBClassifier)[kind](**params).fit(X, y).save_model(path)
    elif file == "other kind":
        (rxgb.XGBClassifier, rxgb.XGBRegressor)[kind](**params).fit(X, BINARY).save_model(path)
    elif file == "no model":
        path.write_text('{"learner": 1}')
    elif file == "unknown loss":
        loss = type("Own", (SquaredError, LogLoss)[kind : kind + 1], {})()
        made(loss=loss, **params).fit(X, y).save_model(path)
    for model in (made(loss="poisson" if kind == 0 else "exponential", **params).fit(X, y), made()):
        before, fitted = dict(vars(model)), hasattr(model, "loss_")
        wanted = model.get_booster().save_raw() if fitted else None
        with pytest.raises((ValueError, TypeError)):
            model.load_model(path)
        assert vars(model) == before
        assert wanted is None or model.get_booster().save_raw() == wanted


FALLING = np.random.default_rng(0).poisson(np.exp(1.0 - 0.3 * X[:, 0]))
MONOTONE = ["squared_error", "poisson", "quantile", "huber", "lognormal"]


@hosts
@pytest.mark.parametrize("loss", MONOTONE)
def test_monotone_constraints_hold_for_predictions(host, loss):
    y = FALLING + 1.0 * (loss == "lognormal")
    grid = np.column_stack([np.linspace(-2.0, 2.0, 50), np.zeros((50, 3))])
    for sign in (-1, 1):
        model = host.estimator(loss, n_estimators=20, monotone_constraints=(sign, 0, 0, 0)).fit(X, y)
        response = model.predict(grid)
        steps = sign * np.diff(model.loss_.mean(response) if loss == "lognormal" else response)
        assert steps.min() > -1e-5
        assert sign == 1 or steps.max() > 1e-3


@hosts
@pytest.mark.parametrize("loss", ["normal", "zero_inflated_poisson", "negative_binomial"])
def test_monotone_constraints_that_would_bind_a_spread_are_refused(host, loss):
    for name in ("monotone_constraints", "monotonic_cst") if host is LIGHTGBM else ("monotone_constraints",):
        with pytest.raises(ValueError, match=f"{name} binds all scores and must be unset.* got "):
            host.estimator(loss).set_params(**{name: (1, 0, 0, 0)}).fit(X, FALLING)
