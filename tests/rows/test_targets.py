"""Classes, several targets, counts and quantiles, as a scikit-learn user meets them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.datasets import load_iris
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import mean_poisson_deviance
from sklearn.utils import get_tags

from rffboost_ext import LOSSES, RFF1, RFFBoostClassifier, RFFBoostRegressor, Tree, boost
from rffboost_ext.losses import MultinomialLogLoss

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (3000, 3))
SIGNAL = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
MEAN = np.exp(SIGNAL)
TRAIN, TEST = slice(0, 1500), slice(1500, None)
TREE = {"learner": Tree(max_depth=3), "n_estimators": 100, "random_state": 0, "early_stopping": False}
RFF_1 = TREE | {"learner": RFF1()}
PARAMS = {"tree": TREE, "rff_1": RFF_1}
learners = pytest.mark.parametrize("learner", PARAMS)


HUGE = np.array([2**63 + 1, 2**63, 5], dtype=np.uint64)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["c", "a", "b"], [7, -1, 3], HUGE], ids=str)
def test_three_classes(labels):
    data, codes = load_iris(return_X_y=True)
    y = np.asarray(labels)[codes]
    clf = RFFBoostClassifier(**TREE).fit(data[::2], y[::2])
    np.testing.assert_array_equal(clf.classes_, np.unique(labels))
    decision, probability, predicted = (
        getattr(clf, name)(data[1::2]) for name in ("decision_function", "predict_proba", "predict")
    )
    assert decision.shape == probability.shape == (75, 3)
    np.testing.assert_array_equal(predicted, clf.classes_[decision.argmax(axis=1)])
    np.testing.assert_array_equal(predicted, clf.classes_[probability.argmax(axis=1)])
    assert (predicted == y[1::2]).mean() > 0.9
    assert repr(clf.loss_) == "MultinomialLogLoss(n_classes=3)"


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"loss": "exponential", "learner": "tree"},
            r"supported by loss Exponential\(\): y must have 2 .* got 3$",
        ),
        (
            {"learner": "rff_1"},
            r"by learner RFF1\(\): y must have 2 classes, got 3; .* several outputs are .*'tree'",
        ),
        ({"loss": "squared_error", "learner": "tree"}, r"by loss LabelRegression\(loss=SquaredError\(\)\)"),
        ({"loss": MultinomialLogLoss(4), "learner": "tree"}, "y must have 4 classes, got 3"),
    ],
)
def test_parts_for_two_classes_only(params, message):
    with pytest.raises(ValueError, match=message):
        RFFBoostClassifier(**params, n_estimators=2).fit(*load_iris(return_X_y=True))


@pytest.mark.parametrize(
    ("loss", "learner"), [("log_loss", "tree"), ("log_loss", "rff_1"), ("exponential", "tree")]
)
def test_tags_say_how_many_classes(loss, learner):
    tags = get_tags(RFFBoostClassifier(loss, learner))
    assert tags.classifier_tags.multi_class == ((loss, learner) == ("log_loss", "tree"))


def test_multiple_targets():
    Y = np.column_stack([SIGNAL, -3.0 * X[:, 2], X[:, 0] * X[:, 1]])
    model = RFFBoostRegressor(**TREE).fit(X[TRAIN], Y[TRAIN])
    assert model.predict(X[TEST]).shape == (1500, 3)
    assert model.score(X[TEST], Y[TEST]) > 0.9
    for column in range(3):
        alone = RFFBoostRegressor(**TREE).fit(X[TRAIN], Y[TRAIN, column])
        np.testing.assert_allclose(model.predict(X[TEST])[:, column], alone.predict(X[TEST]), atol=1e-5)
    assert get_tags(model).target_tags.multi_output
    assert not get_tags(RFFBoostRegressor(**RFF_1)).target_tags.multi_output
    assert not get_tags(RFFBoostRegressor("huber", **TREE)).target_tags.multi_output


@learners
def test_a_column_is_one_target(learner):
    model, flat = (RFFBoostRegressor(**PARAMS[learner] | {"n_estimators": 5}) for _ in range(2))
    flat.fit(X[:200], SIGNAL[:200])
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model.fit(X[:200], SIGNAL[:200, None])
    np.testing.assert_array_equal(model.predict(X), flat.predict(X))


@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        (RFF_1, np.zeros((50, 2)), r"learner RFF1.* is incompatible with loss SquaredError.* 2 outputs.*'tree'"),
        (TREE | {"loss": "huber"}, np.zeros((50, 2)), "y must have one column for loss"),
        (TREE, np.zeros((50, 2, 2)), r"y must have shape .* got \(50, 2, 2\)"),
        (TREE, np.array(["1.5"] * 50), "y must be real numbers, got .*1.5"),
        (TREE, np.array(["1.5", 2.0] * 25, dtype=object), "y must be real numbers, got '1.5' as entry 0"),
        (TREE, np.array([1.0 + 2.0j] * 50), "y must be real numbers|Complex data not supported"),
        (TREE, np.full((50, 2), np.nan), "y must be real numbers, got .*nan.* as entry 0: a missing value"),
        (TREE, np.full((50, 2), np.inf), "y must be finite, got inf"),
        (TREE | {"loss": "gamma"}, np.linspace(0.0, 1.0, 50), r"loss Gamma\(\): y must be positive, got 0"),
        (
            TREE | {"loss": "poisson"},
            np.linspace(-1.0, 1.0, 50),
            r"loss Poisson\(\): y must be at least 0, got -1",
        ),
    ],
)
def test_targets_that_cannot_be_fitted(params, y, message):
    with pytest.raises(ValueError, match=message):
        RFFBoostRegressor(**params).fit(X[:50], y)


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_tags_name_losses_for_positive_targets(loss):
    assert get_tags(RFFBoostRegressor(loss, "tree")).target_tags.positive_only


@learners
@pytest.mark.parametrize("q", [0.1, 0.9])
def test_quantiles_cover_their_share_of_new_rows(learner, q):
    spread = 0.3 + 0.2 * np.abs(X[:, 2])
    y = SIGNAL + spread * RNG.standard_normal(len(X))
    model = RFFBoostRegressor(LOSSES.create("quantile", quantile=q), **PARAMS[learner]).fit(X[TRAIN], y[TRAIN])
    predicted = model.predict(X[TEST])
    assert np.mean(y[TEST] <= predicted) == pytest.approx(q, abs=0.07)
    assert np.corrcoef(predicted, (SIGNAL + norm.ppf(q) * spread)[TEST])[0, 1] > 0.8


@learners
@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_means_of_positive_targets(learner, loss):
    y = RNG.gamma(3.0, MEAN / 3.0) if loss == "gamma" else RNG.poisson(MEAN).astype(float)
    model = RFFBoostRegressor(loss, **PARAMS[learner]).fit(X[TRAIN], y[TRAIN])
    predicted = model.predict(X[TEST])
    assert predicted.min() > 0.0
    assert predicted.mean() == pytest.approx(MEAN[TEST].mean(), rel=0.15)
    assert np.abs(np.log(predicted) - SIGNAL[TEST]).mean() < 0.3
    best = mean_poisson_deviance(y[TEST], MEAN[TEST])
    constant = mean_poisson_deviance(y[TEST], np.full(1500, y[TRAIN].mean()))
    assert mean_poisson_deviance(y[TEST], predicted) < 0.7 * best + 0.3 * constant


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "poisson", "squared_error"])
def test_a_warm_start_keeps_what_the_loss_took_from_the_first_target(loss):
    model = RFFBoostRegressor(loss, **(TREE | {"n_estimators": 5, "warm_start": True})).fit(X, MEAN)
    first = model.loss_
    model.set_params(n_estimators=8).fit(X[:500], 10.0 * MEAN[:500])
    assert len(model.ensemble_) == 8
    assert repr(model.loss_) == repr(first)
    with pytest.raises(ValueError, match="loss must be that of the previous fit"):
        model.set_params(loss="tweedie", n_estimators=10).fit(X, MEAN)


def test_the_loop_goes_on_with_rows_that_lack_a_class():
    data, y = load_iris(return_X_y=True)
    params = {"loss": "log_loss", "learner": "tree", "random_state": 0}
    first = boost(data, y[:, None].astype(float), n_estimators=2, **params)
    rows = y != 2
    second = boost(data[rows], y[rows, None].astype(float), n_estimators=4, init=first, **params)
    assert second.raw(data).shape == (150, 3)


GAPS = [
    np.array(["a", None] * 20, dtype=object),
    np.array([1.0, np.nan] * 20),
    pd.Series(["a", pd.NA] * 20),
    np.array(["2020-01-01", "NaT"] * 20, dtype="M8[D]"),
]


@pytest.mark.parametrize("labels", GAPS, ids=lambda labels: f"{type(labels).__name__} {labels.dtype}")
@pytest.mark.parametrize("classes", ["ab", [1, 2]], ids=str)
def test_missing_labels_are_named(labels, classes):
    X = np.arange(80.0).reshape(40, 2)
    model = RFFBoostClassifier(learner="tree", n_estimators=2)
    with pytest.raises(ValueError, match=r"y must hold labels, got .* as entry 1, a missing value"):
        model.fit(X, labels)
    with pytest.raises(ValueError, match=r"eval_set 'validation_0': y must hold labels, got .* as entry 1, a"):
        model.fit(X, np.array([*classes])[np.arange(40) % 2], eval_set=[(X, labels)])


@pytest.mark.parametrize(
    ("classes", "odd", "named"),
    [([1, 2], "1", "'1'"), (["a", "b"], 1, "1"), ([1, 2], np.datetime64("2020-01-01"), "2020")],
)
@pytest.mark.parametrize("mixed", [True, False])
def test_labels_of_another_kind_are_named(classes, odd, named, mixed):
    X, y = np.arange(80.0).reshape(40, 2), np.array(classes)[np.arange(40) % 2]
    labels = np.array([classes[0], odd] * 20, dtype=object) if mixed else np.array([odd] * 40)
    model = RFFBoostClassifier(learner="tree", n_estimators=2)
    with pytest.raises(ValueError, match=f"eval_set 'validation_0': y must have the classes .* got .*{named}"):
        model.fit(X, y, eval_set=[(X, labels)])


def test_labels_of_a_set_may_be_objects():
    X, y = np.arange(80.0).reshape(40, 2), np.arange(40) % 2
    model = RFFBoostClassifier(learner="tree", n_estimators=2)
    curves = [model.fit(X, y, eval_set=[(X, labels)]).evals_result_ for labels in (y, y.astype(object), y == 1)]
    assert curves[0] == curves[1] == curves[2]
