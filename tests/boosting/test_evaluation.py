"""What is watched during a fit is what a user would compute afterwards, for every loss and learner."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LinearRegression
from sklearn.metrics import (
    get_scorer,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_squared_error,
    roc_auc_score,
)

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, average, load_model
from rffboost_ext.losses import AbsoluteError, Huber

from ..cases import make_data, make_estimator, pairs

BINARY, THREE, REAL = (load(return_X_y=True) for load in (load_breast_cancer, load_iris, load_diabetes))
PLAIN = {
    "learner": "rff_newton",
    "n_estimators": 6,
    "learning_rate": 0.3,
    "early_stopping": False,
    "random_state": 0,
}


def halves(data):
    X, y = data
    rows = np.random.default_rng(0).permutation(len(y))
    first, second = rows[: len(y) // 2], rows[len(y) // 2 :]
    return X[first], y[first], X[second], y[second]


@pairs
def test_the_loss_is_watched_as_it_is(loss, learner):
    (X, y), (X_other, y_other) = make_data(loss, 0), make_data(loss, 1, n=40)
    model = make_estimator(loss, learner, n_estimators=4).fit(X, y, eval_set=[(X, y), (X_other, y_other)])
    for number, (rows, target) in enumerate([(X, y), (X_other, y_other)]):
        ((name, curve),) = model.evals_result_[f"validation_{number}"].items()
        encoded = target.reshape(len(rows), -1).astype(float)
        if model.task == "classification":
            encoded = np.searchsorted(model.classes_, target)[:, None].astype(float)
        stages = list(model.ensemble_.staged(rows))[1:]
        wanted = [model.loss_.value(encoded, raw).mean() for raw in stages]
        np.testing.assert_allclose(curve, wanted, rtol=1e-9)
        assert name


SCORERS = {
    "binary": (
        RFFBoostClassifier,
        BINARY,
        ["accuracy", "roc_auc", "neg_log_loss", "balanced_accuracy"],
    ),
    "three": (RFFBoostClassifier, THREE, ["accuracy", "roc_auc_ovr", "neg_log_loss", "f1_macro"]),
    "real": (RFFBoostRegressor, REAL, ["r2", "neg_mean_absolute_error", "explained_variance", "neg_max_error"]),
}


@pytest.mark.parametrize(("shell", "data", "names"), SCORERS.values(), ids=SCORERS)
def test_scorers_say_what_they_say_of_the_model(shell, data, names):
    X, y, X_other, y_other = halves(data)
    if data is THREE:
        y, y_other = np.array(["a", "b", "c"])[y], np.array(["a", "b", "c"])[y_other]
    model = shell(eval_metric=names, **PLAIN).fit(X, y, eval_set={"train": (X, y), "other": (X_other, y_other)})
    for name in names:
        assert model.evals_result_["train"][name][-1] == pytest.approx(get_scorer(name)(model, X, y))
        assert model.evals_result_["other"][name][-1] == pytest.approx(get_scorer(name)(model, X_other, y_other))
        assert len(model.evals_result_["other"][name]) == 6


def test_functions_see_targets_and_predictions():
    X, y, X_other, y_other = halves(BINARY)
    labels = np.array(["no", "yes"])

    def worst(y, prediction):
        return np.abs((y == "yes") - prediction).max()

    own = make_scorer(worst, response_method="predict_proba", greater_is_better=False)
    metrics = [worst, roc_auc_score, own]
    model = RFFBoostClassifier(eval_metric=metrics, **PLAIN)
    model.fit(X, labels[y], eval_set=[(X_other, labels[y_other])])
    curves = model.evals_result_["validation_0"]
    probability = model.predict_proba(X_other)[:, 1]
    assert list(curves) == ["worst", "roc_auc_score", "neg_worst"]
    assert curves["worst"][-1] == pytest.approx(worst(labels[y_other], probability))
    assert curves["roc_auc_score"][-1] == pytest.approx(roc_auc_score(y_other, probability))
    assert curves["neg_worst"] == pytest.approx(-np.array(curves["worst"]))


def test_other_losses_on_the_same_scale():
    X, y, X_other, y_other = halves(REAL)
    metrics = ["squared_error", "absolute_error", Huber(delta=30.0), mean_absolute_error]
    curves = RFFBoostRegressor(eval_metric=metrics, **PLAIN).fit(X, y, eval_set=(X_other, y_other))
    found = curves.evals_result_["validation_0"]
    gap = y_other - curves.predict(X_other)
    huber = np.where(np.abs(gap) <= 30.0, 0.5 * gap**2, 30.0 * (np.abs(gap) - 15.0))
    assert found["squared_error"][-1] == pytest.approx(
        curves.loss_.value(y_other[:, None], curves.predict(X_other)[:, None]).mean()
    )
    assert found["absolute_error"] == pytest.approx(found["mean_absolute_error"])
    assert found["huber"][-1] == pytest.approx(huber.mean())


@pytest.mark.parametrize(
    ("metric", "task", "error", "text"),
    [
        ("auc", "binary", ValueError, "unknown name 'auc'. Did you mean 'roc_auc'"),
        ("logloss", "binary", ValueError, "Did you mean 'log_loss'"),
        ("exponential", "binary", ValueError, "reads raw scores in another way"),
        ("poisson", "real", ValueError, "reads raw scores in another way"),
        (AbsoluteError(), "binary", ValueError, "reads raw scores in another way"),
        (["r2", "r2"], "real", ValueError, "names that differ, got r2"),
        ([], "real", ValueError, "at least one metric"),
        (3, "real", TypeError, "eval_metric must be None"),
        (LinearRegression, "real", TypeError, "eval_metric must be None"),
    ],
)
def test_bad_metrics_are_named_before_any_work(metric, task, error, text):
    shell, (X, y), _ = SCORERS[task]
    seen = []
    model = shell(eval_metric=metric, callbacks=[seen.append], **PLAIN)
    with pytest.raises(error, match=text):
        model.fit(X, y)
    assert not seen


@pytest.mark.parametrize(
    ("metric", "own_rows"),
    [("roc_auc", True), (log_loss, True), (log_loss, False)],
)
def test_stopping_watches_the_last_metric(metric, own_rows):
    X, y, X_other, y_other = halves(BINARY)
    params = PLAIN | {
        "early_stopping": True,
        "n_folds": 1,
        "refit": False,
        "n_estimators": 30,
        "n_iter_no_change": 6,
    }
    model = RFFBoostClassifier(eval_metric=["accuracy", metric], tol=0.0, **params)
    model.fit(X, y, eval_set=[(X, y), (X_other, y_other)] if own_rows else None)
    scores = model.validation_scores_
    assert model.n_estimators_ == scores.argmin()
    assert len(scores) == min(30, scores.argmin() + 6) + 1
    if own_rows:
        name = metric if isinstance(metric, str) else metric.__name__
        curve = np.array(model.evals_result_["validation_1"][name])
        # The rounds after the best one are no part of the model.
        # The intercept of the returned model is fitted anew, which does not change the order of rows.
        rtol = 1e-7 if "auc" in name else 0.02
        np.testing.assert_allclose(scores[1 : len(curve) + 1], curve if metric is log_loss else -curve, rtol)
        assert len(curve) == model.n_estimators_
    else:
        assert not hasattr(model, "evals_result_")


def test_an_interrupt_leaves_the_curves_of_what_was_done():
    X, y, X_other, y_other = halves(REAL)

    def interrupt(progress):
        if progress.round.index == 3:
            raise KeyboardInterrupt

    model = RFFBoostRegressor(callbacks=[interrupt], **PLAIN)
    with pytest.raises(KeyboardInterrupt, match="4 rounds"):
        model.fit(X, y, eval_set=[(X_other, y_other)])
    assert len(model.evals_result_["validation_0"]["squared_error"]) == model.n_estimators_ == 4


def test_weights_of_held_out_rows_are_used():
    X, y, *_ = halves(REAL)
    weight = np.random.default_rng(0).uniform(0.1, 3.0, len(y))
    seen = []

    def error(y, prediction, sample_weight=None):
        seen.append((len(y), sample_weight))
        return mean_squared_error(y, prediction, sample_weight=sample_weight)

    model = RFFBoostRegressor(eval_metric=error, **(PLAIN | {"early_stopping": True, "n_folds": 2}))
    model.fit(X, y, sample_weight=weight)
    assert all(len(w) == n for n, w in seen)
    assert sum({w.sum() for _, w in seen}) == pytest.approx(weight.sum())


def test_sets_may_have_weights():
    X, y, X_other, y_other = halves(BINARY)
    weight = np.random.default_rng(0).integers(0, 3, len(y_other))
    model = RFFBoostClassifier(eval_metric=["log_loss", "accuracy"], **PLAIN)
    repeated = np.repeat(X_other, weight, axis=0), np.repeat(y_other, weight)
    model.fit(X, y, eval_set={"weighted": (X_other, y_other, weight), "repeated": repeated})
    for metric, curve in model.evals_result_["weighted"].items():
        assert curve == pytest.approx(model.evals_result_["repeated"][metric])
    (alone,) = model.fit(X, y, eval_set=(X_other, y_other, weight)).evals_result_.values()
    assert alone["accuracy"] == pytest.approx(
        model.fit(X, y, eval_set=((X, y), repeated)).evals_result_["validation_1"]["accuracy"]
    )
    with pytest.raises(ValueError, match="eval_set 'validation_0': sample_weight must not be negative"):
        model.fit(X, y, eval_set=[(X_other, y_other, weight - 1)])


@pytest.mark.parametrize(
    ("metric", "error", "text"),
    [
        (lambda y: 1.0, TypeError, r"'<lambda>' makes no number of targets and means \(.*takes 1 positional"),
        (lambda y, prediction: None, TypeError, "'<lambda>' makes no number of targets and means .*NoneType"),
        (lambda y, prediction: {}["gone"], ValueError, "'<lambda>' makes no number .*KeyError"),
        (lambda y, prediction: 1 / 0, ValueError, "'<lambda>' makes no number .*Zero"),
        (np.subtract, TypeError, "'subtract' makes no number"),
        (max, ValueError, "'max' makes no number"),
        ("roc_auc", TypeError, "'roc_auc' makes no number .*predict_proba"),
    ],
)
def test_what_a_metric_cannot_do_is_named_before_the_first_round(metric, error, text):
    X, y, X_other, y_other = halves(REAL)
    seen = []
    with pytest.raises(error, match=f"eval_metric: {text}"):
        RFFBoostRegressor(eval_metric=metric, callbacks=[seen.append], **PLAIN).fit(
            X, y, eval_set=[(X_other, y_other)]
        )
    assert not seen


def test_the_result_is_kept_and_metrics_are_left_out_of_files(tmp_path):
    X, y, X_other, y_other = halves(REAL)
    model = RFFBoostRegressor(eval_metric=["r2", "squared_error"], **PLAIN).fit(
        X, y, eval_set=[(X_other, y_other)]
    )
    model.save_model(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.evals_result_ == model.evals_result_
    assert again.eval_metric == ["r2", "squared_error"]
    assert not hasattr(average([model, model]), "evals_result_")
    with pytest.warns(UserWarning, match="functions of eval_metric are no part of a model file"):
        model.set_params(eval_metric=mean_absolute_error).save_model(tmp_path / "model")
    assert load_model(tmp_path / "model").eval_metric is None


@pytest.mark.parametrize(("loss", "least"), [("poisson", 0.0), ("tweedie", 0.0), ("gamma", 1e-3)])
def test_targets_that_a_loss_is_not_for_are_named_with_their_set(loss, least):
    X, y = np.arange(20.0)[:, None], np.linspace(1.0, 2.0, 20)
    model = RFFBoostRegressor(loss, n_estimators=2, learner="tree", early_stopping=False)
    model.fit(X, y, eval_set={"fine": (X, np.full(20, least))})
    with pytest.raises(ValueError, match=rf"eval_set 'below': loss {type(model.loss_).__name__}\(.*y must be"):
        model.fit(X, y, eval_set={"fine": (X, y), "below": (X, y - 1.5)})
