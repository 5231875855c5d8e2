"""Bad input: a ValueError or TypeError that names the parameter, what came and what is allowed."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import f1_score

from rffboost_ext import RFF1, RFFK, Decay, RFFBoostClassifier, RFFBoostRegressor, boost
from rffboost_ext.boosting.steps import LineSearch
from rffboost_ext.learners.optimizers import LBFGS
from rffboost_ext.losses import Exponential, SquaredError
from tests.own_parts import LeastSquares

X = np.random.default_rng(0).standard_normal((30, 3))
Y = (X[:, 0] > 0).astype(int)
LONG = boost(X, Y[:, None].astype(float), loss="log_loss", learner="rff_1", n_estimators=3, random_state=0)

PARAMETERS = [
    ({"learning_rate": Decay(rate=0.0)}, ValueError, "Decay: rate must be .*, got 0.0"),
    ({"learner": RFFK(n_components=0)}, ValueError, "RFFK: n_components must be .*, got 0"),
    ({"learner": RFF1(optimizer=LBFGS(max_iter=0))}, ValueError, "LBFGS: max_iter must be .*, got 0"),
    ({"step": LineSearch(tol=0.0)}, ValueError, "LineSearch: tol must be .*, got 0.0"),
    ({"learner": RFFK(placement="lerned")}, ValueError, "unknown placement 'lerned'"),
    ({"learner": "rff1"}, ValueError, "unknown learner 'rff1'"),
    ({"loss": "exponentail"}, ValueError, "unknown loss 'exponentail'"),
    ({"step": "newtn"}, ValueError, "unknown step 'newtn'"),
    ({"loss": Exponential}, TypeError, "loss must be .* pass an instance, Exponential()"),
    ({"learner": 3}, TypeError, "learner must be .* got 3 of type int"),
    ({"learner": SquaredError()}, TypeError, "learner must be a registered name"),
    ({"loss": "log_loss", "step": "confidence_rated"}, ValueError, r"ConfidenceRated.* LogLoss.*bounded_ratio"),
    ({"loss": "exponential", "learner": "tree", "step": "confidence_rated"}, ValueError, "Tree.*'bounded'"),
]


@pytest.mark.parametrize(
    ("params", "error", "message"), PARAMETERS, ids=[f"{case[0]}".partition(" at 0x")[0] for case in PARAMETERS]
)
def test_parameters(params, error, message):
    worked = []
    params = {"n_estimators": 2, "callbacks": [worked.append]} | params
    with pytest.raises(error, match=message.replace("()", r"\(\)")):
        RFFBoostClassifier(**params).fit(X, Y)
    assert not worked, "checked before any work"


EXPONENTIAL, CLASSIFIER = RFFBoostClassifier("exponential", n_estimators=2), RFFBoostClassifier(n_estimators=2)
REGRESSOR, GROUP = RFFBoostRegressor(n_estimators=2), np.arange(30) % 10
SET, OFFSET = [(X + 1.0, Y)], {"base_margin": np.zeros(30)}
HOLES = np.where(X[:, :1] < X, np.nan, X)
FITS = [
    (
        EXPONENTIAL,
        {"y": np.zeros(30, dtype=int)},
        ValueError,
        "y must have at least 2 classes, got one .*0",
    ),
    (EXPONENTIAL, {"y": np.linspace(0.0, 1.0, 30)}, ValueError, "continuous"),
    (EXPONENTIAL, {"y": Y[:20]}, ValueError, "inconsistent numbers of samples"),
    (CLASSIFIER, {"y": np.array(["1" if label else 0 for label in Y], dtype=object)}, TypeError, "int and str"),
    (RFFBoostRegressor("exponential"), {}, ValueError, "loss must be for regression, got Exponential"),
    (REGRESSOR, {"X": X[:1], "y": Y[:1]}, ValueError, "X must have at least 2 rows, .* n_samples=1"),
    (
        RFFBoostRegressor(n_folds=4),
        {"X": X[:3], "y": Y[:3]},
        ValueError,
        "at least 4 rows, .* got n_samples=3",
    ),
    (EXPONENTIAL, {"sample_weight": np.where(Y, -0.5, 1.0)}, ValueError, "sample_weight must not be neg.*-0.5"),
    (EXPONENTIAL, {"sample_weight": np.zeros(30)}, ValueError, "sample_weight must not sum to zero"),
    (EXPONENTIAL, {"sample_weight": np.full(30, np.nan)}, ValueError, "sample_weight must be finite"),
    (EXPONENTIAL, {"sample_weight": np.ones(29)}, ValueError, r"sample_weight .* shape \(30,\), got \(29,\)"),
    (EXPONENTIAL, {"sample_weight": np.ones((30, 1))}, ValueError, "sample_weight must have one entry per row"),
    (EXPONENTIAL, {"sample_weight": Y.astype(float)}, ValueError, "y must have at least 2 classes, got one class"),
    (EXPONENTIAL, {"sample_weight": np.ones(30) + 1j}, ValueError, "sample_weight must be finite real .* entry 0"),
    (RFFBoostRegressor(learner="tree"), {"sample_weight": np.full(30, 1e100)}, ValueError, "tree: sample_weight"),
    (REGRESSOR, {"groups": GROUP[:-1]}, ValueError, "groups must have a label for each of the 30 rows, got 29"),
    (REGRESSOR, {"groups": GROUP[:, None]}, ValueError, "groups must have shape"),
    (REGRESSOR, {"groups": 3}, TypeError, "groups must be a sequence of hashable labels, got 3"),
    (REGRESSOR, {"groups": [[1]] * 30}, TypeError, r"groups must be a sequence of hashable labels, got \[\[1\]"),
    (REGRESSOR, {"groups": np.zeros(30)}, ValueError, "groups must name at least 2 groups, .*, got 1"),
    (RFFBoostRegressor(n_folds=4), {"groups": GROUP % 3}, ValueError, "groups .* at least 4 groups, .* got 3"),
    (CLASSIFIER, {"eval_set": 3}, TypeError, "eval_set must be a list of .*, got 3"),
    (CLASSIFIER, {"eval_set": {"own": [1, 2]}}, TypeError, "eval_set must be a list of .*, got for 'own' a list"),
    (
        CLASSIFIER,
        {"eval_set": {1: (X, Y), "1": (X, Y)}},
        ValueError,
        "eval_set must have a name of its own",
    ),
    (
        CLASSIFIER,
        {"eval_set": [(X[:3], [0, 1])]},
        ValueError,
        "'validation_0': .* inconsistent numbers of samples",
    ),
    (CLASSIFIER, {"eval_set": [(X[:3], [0, 1, 7])]}, ValueError, r"y must have the classes of the fit, .* got 7"),
    (CLASSIFIER, {"eval_set": [(X[:3], X[:3, :2])]}, ValueError, "'validation_0': y should be a 1d array"),
    (
        CLASSIFIER,
        {"eval_set": [(X[:3], [0, 1, 1], [1, 1])]},
        ValueError,
        "'validation_0': sample_weight must",
    ),
    (CLASSIFIER, {"eval_set": [(X[:, :2], Y)]}, ValueError, "eval_set 'validation_0': .*features"),
    (REGRESSOR, {"eval_set": [(X, HOLES[:, 1])]}, ValueError, "'validation_0': y must be real numbers, got .*nan"),
    (REGRESSOR, {"eval_set": (X, X)}, ValueError, "'validation_0': y must have as many columns as .* 1, got 3"),
    (
        RFFBoostClassifier(eval_metric=f1_score, n_estimators=2),
        {"eval_set": SET},
        ValueError,
        "eval_metric: 'f1_score' makes no number of labels and probabilities; a scorer",
    ),
    (REGRESSOR, OFFSET | {"eval_set": SET}, ValueError, "base_margin_eval_set must be .*'validation_0'"),
    (REGRESSOR, {"eval_set": SET, "base_margin_eval_set": [Y]}, ValueError, "base_margin_eval_set must be None"),
    (
        REGRESSOR,
        OFFSET | {"eval_set": SET, "base_margin_eval_set": [Y, Y]},
        ValueError,
        "base_margin_eval_set must be a list .* got 2",
    ),
    (
        REGRESSOR,
        OFFSET | {"eval_set": SET, "base_margin_eval_set": [Y[1:]]},
        ValueError,
        "'validation_0': base_margin must have shape",
    ),
    (RFFBoostRegressor(learning_rate=lambda index: 0.0), {}, ValueError, "learning_rate: .* for round 0 must be"),
    (RFFBoostRegressor(learning_rate=lambda index: "a"), {}, TypeError, "learning_rate: .* for round 0 must be"),
    (RFFBoostRegressor(learning_rate=Decay(factor=1.5)), {}, ValueError, "Decay: factor must be"),
]


@pytest.mark.parametrize(("model", "given", "error", "message"), FITS, ids=[case[3] for case in FITS])
def test_arguments_of_a_fit(model, given, error, message):
    with pytest.raises(error, match=message):
        clone(model).fit(**{"X": X, "y": Y} | given)


def test_warm_start_goes_on_with_the_same_kind_of_data():
    clf = RFFBoostClassifier(n_estimators=3, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match=r"n_estimators must be at least the 3 rounds already fitted .* got 2"):
        clf.set_params(n_estimators=2).fit(X, Y)
    clf.set_params(n_estimators=5)
    with pytest.raises(ValueError, match="X has 2 features, but RFFBoostClassifier is expecting 3"):
        clf.fit(X[:, :2], Y)
    with pytest.raises(ValueError, match="y must have the classes of the previous fit"):
        clf.fit(X, np.where(Y == 1, "yes", "no"))


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"n_estimators": 0}, ValueError, "n_estimators must be an integer >= 1"),
        ({"design": X[:, 0]}, ValueError, r"design must be .*\(n, d\)"),
        ({"y": Y.astype(float)}, ValueError, r"y must have shape \(30, K\), got \(30,\)"),
        ({"y": Y[:20, None].astype(float)}, ValueError, r"y must have shape \(30, K\), got \(20, 1\)"),
        ({"weight": np.ones(3)}, ValueError, r"weight must have shape \(30,\), got \(3,\)"),
        ({"weight": np.full(30, -1.0)}, ValueError, "weight must be positive"),
        ({"weight": np.full(30, np.inf)}, ValueError, "weight must have a finite sum, got inf"),
        ({"init": LONG, "n_estimators": 2}, ValueError, "n_estimators must be at least the 3 rounds .* got 2"),
        ({"init": "last"}, TypeError, "init must be an instance of Ensemble or None, got 'last'"),
        (
            {"replay": LONG, "learner": LeastSquares()},
            ValueError,
            "learner must have a method refit with replay",
        ),
        ({"replay": LONG, "learner": "symmetric_tree"}, ValueError, "at least n_estimators=100 rounds, got 3"),
        (
            {"replay": LONG, "learner": "symmetric_tree", "n_estimators": 3},
            ValueError,
            "replay must have SymmetricTrees in each round, got Cosines",
        ),
        ({"random_state": -1}, ValueError, "random_state must be an integer >= 0 or None, got -1"),
        ({"loss": "mse"}, ValueError, "unknown loss 'mse'"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_the_loop_itself(params, error, message):
    given = {"design": X, "y": Y[:, None].astype(float), "loss": "log_loss", "learner": "rff_1"} | params
    with pytest.raises(error, match=message):
        boost(given.pop("design"), given.pop("y"), **given)


class Failing(SquaredError):
    """Its gradient is a number until `late`."""

    late = False

    def derivatives(self, y, raw):
        gradient, hessian = super().derivatives(y, raw)
        return gradient * np.nan if Failing.late else gradient, hessian


@pytest.mark.parametrize("learner", ["rff_1", "rff_k", "rff_newton", "tree", "mixture"])
def test_derivatives_that_fail_late_are_named(learner, monkeypatch):
    callbacks = [lambda progress: monkeypatch.setattr(Failing, "late", progress.round.index == 3)]
    model = RFFBoostRegressor(Failing(), learner, early_stopping=False, callbacks=callbacks, random_state=0)
    with pytest.raises(ValueError, match=r"gradient must be finite, got .* in round 4"):
        model.fit(X, 10.0 * X[:, 0])


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
@pytest.mark.parametrize("unit", [1e-149, 1e149])
def test_targets_of_any_size_are_fitted_as_well(loss, unit):
    model = RFFBoostRegressor(loss, n_estimators=5, early_stopping=False, random_state=0)
    plain, scaled = (clone(model).fit(X, factor * X[:, 0]) for factor in (1.0, unit))
    np.testing.assert_allclose(scaled.predict(X) / unit, plain.predict(X), atol=0.01)
    np.testing.assert_allclose(scaled.feature_importances_, plain.feature_importances_, atol=0.01)


@pytest.mark.parametrize("size", [5e-324, 1e-151, 1e151, 1e308])
def test_targets_whose_squares_are_no_numbers_are_refused(size):
    y, expected = np.where(Y, size, 0.0), r"y must be 0 or have a largest magnitude between 1e-150 and 1e\+150"
    for targets in (y, -y, np.column_stack([X[:, 0], y])):
        with pytest.raises(ValueError, match=expected):
            RFFBoostRegressor(n_estimators=2, early_stopping=False).fit(X, targets)
        with pytest.raises(ValueError, match=rf"eval_set .*{expected}"):
            RFFBoostRegressor(n_estimators=2).fit(X, np.sign(targets), eval_set=[(X, targets)])


def test_labels_of_a_narrow_type():
    y = np.where(Y, 100, -100).astype(np.int8)
    model = RFFBoostClassifier(n_estimators=2, early_stopping=False).fit(X, y)
    assert model.classes_.tolist() == [-100, 100]


@pytest.mark.parametrize("name", ["X", "y", "sample_weight"])
def test_masked_arrays_are_refused(name):
    given = {"X": X, "y": X[:, 0], "sample_weight": np.ones(len(X))}
    model = RFFBoostRegressor(n_estimators=2).fit(**given | {name: np.ma.array(given[name], mask=False)})
    masked = np.ma.array(given[name], mask=np.arange(given[name].size).reshape(given[name].shape) == 1)
    with pytest.raises(ValueError, match=f"{name} must not be masked, got 1 masked values"):
        model.fit(**given | {name: masked})
    if name == "X":
        with pytest.raises(ValueError, match="X must not be masked"):
            model.predict(masked)
