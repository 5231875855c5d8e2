"""Data at the edge: finite results, and not a warning from NumPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from rffboost_ext import LEARNERS, RFFBoostClassifier, RFFBoostRegressor, boost

from ..cases import LOSS_CASES, PAIRS, each_learner, make_data, make_estimator, pairs, positive

RNG = np.random.default_rng(0)
SIGN = np.arange(40) % 2


def with_constants(X):
    return np.hstack([X, np.zeros((len(X), 1)), np.full((len(X), 1), 1e6), np.full((len(X), 1), 0.1)])


DATA = {
    "separable": (np.column_stack([SIGN - 0.5, RNG.standard_normal(40)]), SIGN),
    "separable by far": (1e6 * (SIGN[:, None] - 0.5), SIGN),
    "constant columns": (with_constants(RNG.standard_normal((40, 2))), SIGN),
    "only constant columns": (np.ones((40, 3)), SIGN),
    "fewer rows than columns": (RNG.standard_normal((6, 50)), SIGN[:6]),
    "one row per class": (RNG.standard_normal((2, 3)), SIGN[:2]),
    "the same row in both classes": (np.ones((2, 3)), SIGN[:2]),
    "one row of the second class": (RNG.standard_normal((40, 3)), (np.arange(40) == 7).astype(int)),
    "huge and tiny units": (RNG.standard_normal((40, 2)) * [1e12, 1e-12], SIGN),
    "an outlier": (np.vstack([RNG.standard_normal((39, 2)), [[1e8, -1e8]]]), SIGN),
    "one column": (RNG.standard_normal((40, 1)), SIGN),
}


def data_for(loss, name):
    """The data of that name, with targets that the loss is for."""
    X, y = DATA[name]
    return X, y + 1 if loss.targets is positive else y


# The data where derivatives become small, large or few.
OF_LOSSES = ["separable by far", "one row per class", "the same row in both classes", "an outlier"]


@pytest.mark.parametrize(
    ("loss", "learner", "name"),
    [
        *((*pair, name) for pair in PAIRS if pair[0].name == "exponential" for name in DATA),
        *((*pair, name) for pair in PAIRS if pair[1].name == "rff_newton" for name in OF_LOSSES),
    ],
    ids=str,
)
def test_finite_and_silent(loss, learner, name):
    X, y = data_for(loss, name)
    with warnings.catch_warnings(), np.errstate(divide="raise", over="raise", invalid="raise"):
        warnings.simplefilter("error")
        model = make_estimator(loss, learner, n_estimators=10, learning_rate=1.0).fit(X, y)
        outputs = [model.predict(X), model.ensemble_.outputs(X), *model.ensemble_.staged(X)]
        if hasattr(model, "predict_proba"):
            outputs.append(model.predict_proba(X))
    assert all(np.isfinite(output).all() for output in outputs)


@pairs
def test_separable_data_are_separated_in_many_rounds(loss, learner):
    X, y = data_for(loss, "separable")
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        model = make_estimator(loss, learner, n_estimators=40, learning_rate=1.0).fit(X, y)
    prediction = model.predict(X)
    assert np.isfinite(prediction).all()
    np.testing.assert_array_equal(prediction > np.mean(y), y > np.mean(y))


@pytest.mark.parametrize(
    ("loss", "learner"), [pair for pair in PAIRS if pair[0].make().task == "regression"], ids=str
)
def test_a_constant_target_of_a_regression(loss, learner):
    X, _ = make_data(loss)
    model = make_estimator(loss, learner).fit(X, np.full(len(X), 3.5))
    np.testing.assert_allclose(model.predict(X), 3.5, rtol=0, atol=1e-6)


@pairs
def test_extreme_weights(loss, learner):
    X, y = make_data(loss)
    weight = np.where(np.arange(len(y)) % 2 == 0, 1e-12, 1e12)
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        model = make_estimator(loss, learner).fit(X, y, sample_weight=weight)
    assert np.isfinite(model.predict(X)).all()


def test_one_class_in_the_loop_is_finite():
    X = RNG.standard_normal((20, 2))
    fitted = boost(X, np.ones((20, 1)), loss="exponential", learner="rff_1", n_estimators=5, random_state=0)
    assert np.isfinite(fitted.raw(X)).all()


@each_learner
def test_a_constant_column_of_any_size_says_nothing(loss, learner):
    X, y = make_data(loss)
    model = make_estimator(loss, learner)
    scores = []
    for value in (0.0, 1e9, -1e30):
        constant = np.column_stack([X, np.full(len(X), value)])
        scores.append(model.fit(constant, y).raw_scores(constant))
    for found in scores[1:]:
        np.testing.assert_allclose(found, scores[0], rtol=1e-9, atol=1e-9)
    # Nor does it where it is no longer what it was.
    np.testing.assert_array_equal(model.raw_scores(np.column_stack([X, np.linspace(-9.0, 9.0, len(X))])), found)


@pytest.mark.parametrize("learner", LEARNERS.names())
def test_a_column_of_gaps_says_nothing_later_either(learner):
    X, y = make_data(LOSS_CASES[0])
    gaps = np.column_stack([X, np.full(len(X), np.nan)])
    model = RFFBoostClassifier(learner=learner, n_estimators=10, early_stopping=False, random_state=0).fit(gaps, y)
    later = np.column_stack([X, np.full(len(X), 5.0)])
    np.testing.assert_array_equal(model.decision_function(later), model.decision_function(gaps))


@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_the_only_target_above_zero_may_be_held_out(loss):
    X, y = np.random.default_rng(0).standard_normal((60, 2)), np.zeros(60)
    y[7] = 1.0
    model = RFFBoostRegressor(loss=loss, quality="fast", random_state=0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert model.predict(X).argmax() == 7
