"""XGBoost's models as ensembles."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import xgboost as xgb
from sklearn.metrics import log_loss

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import LOSSES, RFFBoostClassifier
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.learners.trees.xgboost_model import column_categories, model_categories, parse_model

from .interop_cases import BINARY, Probit, X


def random_model(seed):
    """A model of random shape, objective and data with missing values."""
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((200, 5))
    data[rng.uniform(size=data.shape) < rng.choice([0.0, 0.3])] = np.nan
    kind = ["reg:squarederror", "binary:logistic", "multi:softprob", "count:poisson"][seed % 4]
    y = rng.integers(0, 3, 200) if kind.startswith("multi") else rng.integers(0, 2, 200)
    params = {
        "objective": kind,
        "booster": ["gbtree", "dart"][seed % 3 == 0],
        "max_depth": int(rng.integers(1, 7)),
        "eta": float(rng.uniform(0.1, 1.0)),
        "num_parallel_tree": int(rng.choice([1, 1, 3])),
        "subsample": 0.7,
        "seed": seed,
        "nthread": 1,
    }
    if kind.startswith("multi"):
        params["num_class"] = 3
    if params["booster"] == "dart":
        params["rate_drop"] = 0.5
    if seed % 5 == 0:
        params["base_score"] = 0.3
    return xgb.train(params, xgb.DMatrix(data, y), int(rng.integers(1, 12))), data


@pytest.mark.parametrize("seed", range(20))
def test_models_are_read(seed):
    booster, data = random_model(seed)
    ensemble = rxgb.to_ensemble(booster)
    wanted = booster.predict(xgb.DMatrix(data), output_margin=True).reshape(len(data), -1)
    np.testing.assert_allclose(ensemble.raw(data), wanted, rtol=1e-5, atol=1e-5)
    assert len(ensemble) == booster.num_boosted_rounds()
    if len(ensemble) > 2 and seed % 3:
        first = booster.predict(xgb.DMatrix(data), output_margin=True, iteration_range=(0, 2)).reshape(
            len(data), -1
        )
        np.testing.assert_allclose(ensemble[:2].raw(data), first, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(rxgb.to_ensemble(booster[:2]).raw(data), first, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob"])
def test_trees_of_which_nodes_were_deleted_are_read(objective):
    params = {"objective": objective, "tree_method": "exact", "gamma": 3.0, "max_depth": 6, "nthread": 1}
    many = {"num_class": 3} if objective.startswith("multi") else {}
    y = np.random.default_rng(2).integers(0, 3 if many else 2, len(X))
    booster = xgb.train(params | many, xgb.DMatrix(X, y), 5)
    kept = parse_model(booster)["gradient_booster"]["model"]["trees"]
    assert any(int(tree["tree_param"]["num_deleted"]) for tree in kept)
    theirs = booster.predict(xgb.DMatrix(X), output_margin=True).reshape(len(X), -1)
    np.testing.assert_allclose(rxgb.to_ensemble(booster).raw(X), theirs, atol=1e-5)
    verify_onnx(booster, to_onnx(booster), X)


def test_the_best_iteration_is_respected():
    noise = np.random.default_rng(1).integers(0, 2, 400)
    model = xgb.XGBClassifier(n_estimators=60, early_stopping_rounds=2, n_jobs=1)
    model.fit(X[:200], noise[:200], eval_set=[(X[200:], noise[200:])], verbose=False)
    rounds = model.best_iteration + 1
    assert rounds < model.get_booster().num_boosted_rounds()
    wanted = model.predict(X, output_margin=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for read in (rxgb.to_ensemble(model), rxgb.to_ensemble(model.get_booster()[:rounds])):
            assert len(read) == rounds
            np.testing.assert_allclose(read.raw(X)[:, 0], wanted, atol=1e-5)


@pytest.mark.parametrize("kind", ["to_ensemble", "bind", "init_model"])
def test_rounds_after_an_earlier_stop_are_not_dropped(kind):
    noise = np.random.default_rng(1).integers(0, 2, 400)
    train, held = xgb.DMatrix(X[:200], noise[:200]), xgb.DMatrix(X[200:], noise[200:])
    params = {"objective": "binary:logistic", "nthread": 1}
    watch = {"evals": [(held, "held")], "early_stopping_rounds": 4, "verbose_eval": False}
    stopped = xgb.train(params, train, 200, **watch)
    booster = xgb.train(params, train, 20, xgb_model=stopped)
    total = stopped.num_boosted_rounds() + 20
    assert booster.num_boosted_rounds() == total
    continued = RFFBoostClassifier("log_loss", "rff_1", n_estimators=1, early_stopping=False)
    read = {
        "to_ensemble": lambda: rxgb.to_ensemble(booster),
        "bind": lambda: rxgb.bind(booster, "log_loss").ensemble_,
        "init_model": lambda: continued.fit(X, noise, init_model=booster).ensemble_[:total],
    }[kind]
    np.testing.assert_allclose(read().raw(X[200:])[:, 0], booster.predict(held, output_margin=True), atol=1e-5)


@pytest.mark.parametrize("unit", [1.0, 1e12])
def test_models_of_any_unit_are_read(unit):
    data = np.r_[np.zeros((50, 1)), np.random.default_rng(0).uniform(0.0, 2.0, (500, 1))].astype(np.float32)
    model = xgb.XGBRegressor(n_estimators=200, n_jobs=1).fit(data, unit * data[:, 0])
    raw = rxgb.to_ensemble(model).raw(data)[:, 0]
    np.testing.assert_allclose(raw, model.predict(data), atol=1e-5 * unit)
    verify_onnx(model, to_onnx(model), data, raise_on_mismatch=True)


@pytest.mark.parametrize("text", ["plain", "é and ü", "日本", ""])
def test_text_of_categories_is_read_from_signed_bytes(text):
    content = np.frombuffer(text.encode(), dtype=np.int8).tolist()
    assert column_categories({"values": content, "offsets": [0, len(content)]}).tolist() == [text]


def test_what_cannot_be_read_is_named():
    with pytest.raises(ValueError, match="missing must be NaN"):
        rxgb.to_ensemble(xgb.XGBRegressor(n_estimators=2, missing=-1.0).fit(X, BINARY))
    with pytest.raises(TypeError, match="Booster"):
        rxgb.to_ensemble("model.json")


RARE = np.where(BINARY, 1e-9, 1.0)
STARTS = {
    "log_loss": ("log_loss", None, True),
    "rare": ("log_loss", RARE, False),
    "usual": ("exponential", np.where(BINARY, 1e-5, 1.0), True),
    "common": ("exponential", np.where(BINARY, 1.0, 1e-7), False),
    **{f"scale {scale:g}": (Probit(scale), None, False) for scale in (1.0, 30.0, 1e3, 1e6)},
}


@pytest.mark.parametrize("name", STARTS)
def test_classifiers_start_at_the_baseline_wherever_it_is(name, tmp_path):
    loss, weight, logistic = STARTS[name]
    still = {"loss": loss, "n_estimators": 1, "learning_rate": 1e-12, "n_jobs": 1}
    fit = {"sample_weight": weight, "verbose": False}
    seen = []

    def watch(y, p):
        seen.append(p)
        return 0.0

    model = rxgb.XGBClassifier(**still, eval_metric=watch).fit(X, BINARY, eval_set=[(X, BINARY)], **fit)
    made = LOSSES.create(loss)
    baseline = made.baseline(BINARY[:, None].astype(float), np.ones(400) if weight is None else weight)
    tolerance = {"rtol": 1e-6, "atol": 0.01 * logistic}
    wanted = made.link.inverse(baseline[:, None])[0]
    model.save_model(tmp_path / "m.json")
    loaded = rxgb.XGBClassifier(loss=loss)
    loaded.load_model(tmp_path / "m.json")
    longer = rxgb.XGBClassifier(**still).fit(X[:9], BINARY[:9], xgb_model=model)
    for each in (model, loaded, longer):
        np.testing.assert_allclose(each.predict(X, output_margin=True), baseline[0], **tolerance)
        np.testing.assert_allclose(each.predict_proba(X)[0], wanted, rtol=0.01)
        np.testing.assert_allclose(each.baseline_, baseline, **tolerance)
        np.testing.assert_allclose(rxgb.to_ensemble(each).baseline, baseline, **tolerance)
    np.testing.assert_allclose(seen[-1], wanted[1], rtol=0.01)
    assert model.get_params()["callbacks"] is None
    recorded = parse_model(model.get_booster())["objective"]["name"]
    assert recorded == ("binary:logistic" if logistic else "binary:logitraw")


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e3])
def test_classifiers_learn_alike_on_any_scale(scale):
    free = {
        "min_child_weight": 0.0,
        "reg_lambda": 0.0,
        "gamma": 0.0,
        "n_jobs": 1,
        "n_estimators": 8,
        "max_depth": 3,
    }
    found, wanted = (
        rxgb.XGBClassifier(loss=Probit(each), **free).fit(X, BINARY).predict_proba(X) for each in (scale, 1.0)
    )
    np.testing.assert_allclose(found, wanted, atol=1e-3)
    assert log_loss(BINARY, found) < 0.25


@pytest.mark.parametrize("objective", ["binary:logistic", "reg:logistic"])
@pytest.mark.parametrize("label", [0, 1])
def test_targets_that_are_all_the_same(objective, label):
    booster = xgb.train({"objective": objective, "nthread": 1}, xgb.DMatrix(X, np.full(len(X), label)), 3)
    margin = booster.predict(xgb.DMatrix(X), output_margin=True)
    np.testing.assert_allclose(rxgb.to_ensemble(booster).raw(X)[:, 0], margin, rtol=1e-5)


@pytest.mark.parametrize(
    ("version", "offsets", "kept"),
    [([3, 4, 0], [0, 2, 3], True), ([3, 4, 0], [0, 1, 2], False), ([3, 3, 0], [0, 2, 3], False)],
)
def test_text_beyond_ascii_is_taken_from_versions_that_keep_it(version, offsets, kept):
    entry = {"values": list("éb".encode()), "offsets": offsets}
    learner = {"version": version, "gradient_booster": {"model": {"cats": {"enc": [entry]}}}}
    if kept:
        assert [known.tolist() for known in model_categories(learner)] == [["é", "b"]]
        return
    with pytest.raises(ValueError, match="column 0 of the model must have categories of ASCII letters"):
        model_categories(learner)
