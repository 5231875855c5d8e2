"""Terms that derive from ours and compute something else: no closed form of the base is taken for theirs."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import Cosines, Ensemble, Learner, RFFBoostRegressor, Term, Trees
from rffboost_ext.terms import Standardized

RNG = np.random.default_rng(0)
X = 3.0 + 2.0 * RNG.standard_normal((150, 2))
Y = np.cos(X[:, 0]) ** 2 + 0.1 * X[:, 1]


class Squared(Cosines):
    """Cosines squared, one by one."""

    def __call__(self, X):
        return np.square(np.cos(X @ self.omega.T - self.phase)) @ self.weight


class Alike(Cosines):
    """Cosines with more to say, that compute what cosines do."""


class OneCosine(Learner):
    """The term of a random frequency that fits best."""

    step = "newton"

    def __init__(self, kind=Cosines):
        self.kind = kind

    def fit(self, round):
        term = self.kind(round.rng.standard_normal((1, 2)), np.zeros(1), np.ones((1, 1)))
        return term.scaled(float(np.sign(round.inner(round.residual, term(round.design.X))) or 1.0))


def fitted(kind, **params):
    given = {"n_estimators": 6, "random_state": 0, "early_stopping": False} | params
    return RFFBoostRegressor(learner=OneCosine(kind), **given).fit(X, Y)


@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("extrapolation", ["constant", "continue"])
def test_an_overridden_term_stays_what_it_is(standardize, extrapolation):
    model = fitted(Squared, standardize=standardize, extrapolation=extrapolation)
    term = model.ensemble_.terms[0]
    inner = term.term if standardize else term
    assert type(inner) is Squared
    at = (X - term.center) / term.scale if standardize else X
    np.testing.assert_allclose(term(X), np.square(np.cos(at @ inner.omega.T - inner.phase)) @ inner.weight)
    *_, last = model.staged_predict(X)
    np.testing.assert_allclose(model.predict(X), last, atol=1e-12)
    for method in (lambda: model.gradient(X[:2]), lambda: model.shap_values(X[:2], X[:3])):
        with pytest.raises(TypeError, match=r"(of|for) a Squared"):
            method()
    with pytest.raises(AttributeError, match="a rule for each type of term"):
        _ = model.feature_importances_


def test_a_term_that_computes_the_same_is_served_like_its_base():
    model, plain = fitted(Alike), fitted(Cosines)
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    np.testing.assert_array_equal(model.gradient(X), plain.gradient(X))
    assert not isinstance(model.ensemble_.terms[0], Standardized)


class SquaredSum(Cosines):
    """The square of a sum of cosines, which is no sum of such squares."""

    def __call__(self, X):
        return super().__call__(X) ** 2


class Clipped(Cosines):
    """Cosines that stay within a range, which grows with none of their weights."""

    def __call__(self, X):
        return np.clip(super().__call__(X), -5.0, 5.0)


class Largest(Cosines):
    """The largest of some cosines, scaled by a factor of its own."""

    factor = 1.0

    def __call__(self, X):
        return self.factor * (np.cos(X @ self.omega.T - self.phase)[:, :, None] * self.weight).max(axis=1)

    def scaled(self, factor):
        term = type(self)(self.omega, self.phase, self.weight)
        object.__setattr__(term, "factor", factor * self.factor)
        return term


class Sums(Term):
    """The square of a sum of cosines, as a term that keeps the laws."""

    def __init__(self, parts):
        self.parts = parts

    @classmethod
    def of(cls, *arrays):
        return cls([(1.0, Cosines(*arrays))])

    def __call__(self, X):
        return sum(factor * term(X) ** 2 for factor, term in self.parts)

    def scaled(self, factor):
        return Sums([(factor * own, term) for own, term in self.parts])

    @classmethod
    def stack(cls, terms):
        return cls([part for term in terms for part in term.parts])


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (SquaredSum, r"scaled\(a\)\(X\) must be a \* t\(X\)"),
        (Clipped, r"scaled\(a\)\(X\) must be a \* t\(X\)"),
        (Largest, r"stack\(\[t, t\]\)\(X\) must be 2 \* t\(X\)"),
    ],
)
@pytest.mark.parametrize("standardize", [True, False])
def test_a_term_that_cannot_be_summed_as_its_base_is_refused(kind, law, standardize):
    with pytest.raises(TypeError, match=rf"its {kind.__name__}: it overrides __call__ of Cosines.*{law}"):
        fitted(kind, standardize=standardize)
    allowed = fitted(Sums.of, standardize=standardize)
    *_, last = allowed.staged_predict(X)
    np.testing.assert_allclose(allowed.predict(X), last, atol=1e-12)


def test_cosines_of_one_frequency_are_joined_in_sums_of_cosines_only():
    omega, rounds = np.ones((1, 2)), np.ones((2, 2))
    for kind, size in ((Squared, 2), (Alike, 1)):
        terms = tuple(kind(omega, np.array([phase]), np.ones((1, 1))) for phase in (0.0, 1.0))
        ensemble = Ensemble(np.zeros(1), terms, rounds)
        np.testing.assert_allclose(ensemble.raw(X), terms[0](X) + terms[1](X), atol=1e-12)
        assert len(ensemble.compact().terms[0].phase) == size


class Doubled(Trees):
    """Twice what the trees say."""

    def __call__(self, X):
        return 2.0 * super().__call__(X)


class BestStump(Learner):
    """The best of a few splits at quantiles of what learners see."""

    def __init__(self, kind=Trees):
        self.kind = kind

    def fit(self, round):
        found = []
        for column, values in enumerate(round.design.X.T):
            for threshold in np.quantile(values, [0.2, 0.4, 0.6, 0.8]):
                left = values < threshold
                means = [float(round.residual[side].mean()) if side.any() else 0.0 for side in (left, ~left)]
                found.append(
                    (left.sum() * means[0] ** 2 + (~left).sum() * means[1] ** 2, column, threshold, means)
                )
        _, column, threshold, means = max(found, key=lambda entry: entry[0])
        return self.kind(
            roots=np.array([0]),
            left=np.array([1, -1, -1]),
            right=np.array([2, -1, -1]),
            feature=np.full(3, column),
            threshold=np.full(3, threshold),
            missing_left=np.zeros(3, dtype=bool),
            value=np.array([[0.0], [means[0]], [means[1]]]),
        )


def table(gaps):
    """Two numbers, of which some are missing, and a category."""
    data = np.column_stack([X, np.arange(len(X)) % 4])
    if gaps:
        data[::7, 0] = np.nan
    return data, Y + (data[:, 2] == 1)


@pytest.mark.parametrize("kind", [Trees, Doubled])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("gaps", [True, False])
def test_trees_by_hand_act_on_what_learners_see(kind, standardize, gaps):
    data, y = table(gaps)
    given = {"standardize": standardize, "categorical_features": [2], "n_estimators": 60, "learning_rate": 0.2}
    model = RFFBoostRegressor(learner=BestStump(kind), step="newton", early_stopping=False, **given).fit(data, y)
    assert model.score(data, y) > 0.7
    *_, last = model.staged_predict(data)
    np.testing.assert_allclose(model.predict(data), last, atol=1e-12)


@pytest.mark.parametrize("kind", [Trees, Doubled])
def test_trees_that_compute_something_else_are_no_family_of_ours(kind):
    term = kind(**Stump().arrays)
    assert (term.family == Trees(**Stump().arrays).family) == (kind is Trees)
    np.testing.assert_allclose(kind.stack([term, term])(X), 2.0 * term(X))


class Stump(Learner):
    """A tree by hand, one of whose arrays is of another kind."""

    def __init__(self, **other):
        self.other = other

    @property
    def arrays(self):
        return {
            "roots": np.array([0]),
            "left": np.array([1, -1, -1]),
            "right": np.array([2, -1, -1]),
            "feature": np.zeros(3, dtype=int),
            "threshold": np.full(3, 3.0),
            "missing_left": np.zeros(3, dtype=bool),
            "value": np.array([[0.0], [0.1], [-0.1]]),
        } | self.other

    def fit(self, round):
        return Trees(**self.arrays)

    def get_params(self, deep=True):
        return {}


@pytest.mark.parametrize(
    ("name", "array", "wanted"),
    [
        ("threshold", np.array([3, 0, 0]), "real numbers, got one of int64"),
        ("left", [1, -1, -1], "whole numbers, got a list"),
        ("feature", np.zeros(3), "whole numbers, got one of float64"),
        ("value", [[0.0], [0.1], [-0.1]], "real numbers, got a list"),
        ("missing_left", np.zeros(3, dtype=int), "truth values, got one of int64"),
    ],
)
def test_arrays_of_another_kind_are_named(name, array, wanted):
    given = {"n_estimators": 2, "early_stopping": False}
    RFFBoostRegressor(learner=Stump(), **given).fit(X, Y)
    with pytest.raises(ValueError, match=f"its Trees: {name} must be an array of {wanted}"):
        RFFBoostRegressor(learner=Stump(**{name: array}), **given).fit(X, Y)
