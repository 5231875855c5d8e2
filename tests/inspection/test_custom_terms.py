"""Models with a user's type of term are explained from ``term(X)`` alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import SelectFromModel
from sklearn.inspection import permutation_importance

from rffboost_ext import (
    Cosines,
    Ensemble,
    Learner,
    Mixture,
    RFFBoostClassifier,
    RFFBoostRegressor,
    SymmetricTree,
    Term,
    average,
)
from rffboost_ext.core import term as term_module
from rffboost_ext.inspection.importance import importances, variances
from rffboost_ext.inspection.shapley import shapley_values
from rffboost_ext.terms import FeatureMap
from rffboost_ext.terms.total_effects import total_effects
from rffboost_ext.utils.coalitions import shapley_by_evaluation

from ..oracles.shapley import by_definition

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]


@dataclass(frozen=True)
class Hidden(Term):
    """A layer of hidden units."""

    weight: np.ndarray
    bias: np.ndarray
    beta: np.ndarray

    def __call__(self, X):
        return np.tanh(X @ self.weight + self.bias) @ self.beta

    def scaled(self, factor):
        # Of a number only, as the law says.
        return replace(self, beta=float(factor) * self.beta)

    @classmethod
    def stack(cls, terms):
        arrays = ([getattr(term, name) for term in terms] for name in ("weight", "bias", "beta"))
        return cls(*(join(parts) for join, parts in zip((np.hstack, np.hstack, np.vstack), arrays, strict=True)))


class ExtremeLearning(Learner):
    """Random hidden units with weights by least squares."""

    multi_output = True

    def fit(self, round):
        X = round.design.X
        weight, bias = round.rng.normal(size=(X.shape[1], 10)), round.rng.normal(size=10)
        H = np.tanh(X @ weight + bias)
        return Hidden(weight, bias, np.linalg.solve(H.T @ H + np.eye(10), H.T @ round.residual))


PARAMS = {"n_estimators": 12, "early_stopping": False, "random_state": 0}
TABLE = pd.DataFrame({"a": np.where(X[:, 2] > 1.0, np.nan, X[:, 0]), "b": X[:, 1]}).assign(
    c=pd.Categorical(np.array(["p", "q", "r", None], dtype=object)[RNG.integers(4, size=300)])
)
REGRESSION, LABELS = partial(RFFBoostRegressor, **PARAMS), np.digitize(Y, [-0.5, 0.5])


def beside_trees():
    """A model whose trees are a host's."""
    import xgboost

    from rffboost_ext.interop.xgboost import CosineObjective

    objective = CosineObjective("squared_error", ExtremeLearning())
    params = {"base_score": 0.0, "max_depth": 2}
    return objective.bind(xgboost.train(params, xgboost.DMatrix(X, Y), 8, obj=objective))


MODELS = {
    "beside trees": beside_trees,
    "alone": lambda: REGRESSION(learner=ExtremeLearning()).fit(X, Y),
    "mixture": lambda: REGRESSION(learner=Mixture(ExtremeLearning(), SymmetricTree(leaf="constant"))).fit(X, Y),
    "in original units": lambda: REGRESSION(learner=ExtremeLearning(), standardize=False).fit(X, Y),
    "table": lambda: REGRESSION(learner=ExtremeLearning()).fit(TABLE, Y + (TABLE.c == "q")),
    "classes": lambda: RFFBoostClassifier(learner=ExtremeLearning(), **PARAMS).fit(X, LABELS),
    "outputs": lambda: REGRESSION(learner=ExtremeLearning()).fit(X, np.column_stack([Y, 1e3 * X[:, 2]])),
    "average": lambda: average(
        REGRESSION(learner=ExtremeLearning()).set_params(random_state=s).fit(X, Y) for s in (0, 1)
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def case(request):
    return MODELS[request.param](), TABLE if request.param == "table" else X


def test_shapley_values_are_those_of_the_definition(case):
    model, rows = case
    encoded, background = (model.encoder_.transform(part) for part in (rows[:4], rows[20:26]))
    values = model.shap_values(rows[:4], rows[20:26]).reshape(4, 3, -1).transpose(0, 2, 1)
    np.testing.assert_allclose(
        values.sum(axis=2) + model.ensemble_.raw(background).mean(axis=0), model.raw_scores(rows[:4])
    )
    if rows is X:
        expected = by_definition(model.ensemble_.raw, encoded, background)
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_importances_are_shares_that_scikit_learn_selects_by(case):
    model, rows = case
    shares = model.feature_importances_
    assert shares.sum() == pytest.approx(1.0)
    assert shares.min() >= 0.0
    support = SelectFromModel(model, prefit=True).get_support()
    np.testing.assert_array_equal(support, shares >= shares.mean())
    truth = (Y + (TABLE.c == "q")) if rows is TABLE else LABELS if hasattr(model, "classes_") else Y
    if model.ensemble_.n_outputs == 1:
        by_permutation = permutation_importance(model, rows, truth, n_repeats=2, random_state=0).importances_mean
        assert by_permutation.argmax() == shares.argmax()


def test_other_terms_of_a_mixture_keep_their_rules(monkeypatch):
    model, evaluated = MODELS["mixture"](), []
    evaluate = term_module.shapley_by_evaluation
    monkeypatch.setattr(
        term_module, "shapley_by_evaluation", lambda term, *args: evaluated.append(term) or evaluate(term, *args)
    )
    shapley_values(model.ensemble_, X[:2], X[:3])
    assert len(model.ensemble_.compact().terms) == 2
    assert [type(getattr(term, "term", term)) for term in evaluated] == [Hidden]


def waves(d, size):
    """Cosines of d features, of `size` each."""
    rng = np.random.default_rng(1)
    omega = rng.normal(size=(6, d))
    for row in omega:
        row[rng.permutation(d)[size:]] = 0.0
    return Cosines(omega, rng.normal(size=6), rng.normal(size=(6, 2)))


@pytest.mark.parametrize("source", [np.arange(6), np.array([2, 0, 0, 1, 2, 2])], ids=["single", "grouped"])
def test_all_coalitions_give_the_exact_values(source):
    term, rows, background = waves(6, 6), RNG.normal(size=(4, 6)), RNG.normal(size=(5, 6))
    expected = term.grouped_shapley(rows, background, source, 6)
    values = shapley_by_evaluation(term, rows, background, source, 6)
    np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("size", "atol"), [(2, 1e-12), (5, 0.25)])
def test_random_orders_are_exact_for_pairs_and_near_for_more(size, atol):
    term, rows, background = waves(12, size), RNG.normal(size=(3, 12)), RNG.normal(size=(70, 12))
    expected = term.shapley(rows, background)
    values = shapley_by_evaluation(term, rows, background, np.arange(12), 12)
    np.testing.assert_allclose(values, expected, rtol=0, atol=atol)
    np.testing.assert_allclose(values.sum(axis=2), expected.sum(axis=2), rtol=0, atol=1e-12)
    assert np.corrcoef(values.ravel(), expected.ravel())[0, 1] > 0.98


def test_total_effects_of_any_function_are_those_of_cosines():
    term, weight = waves(3, 2), np.full(300, 1.0 / 300)
    np.testing.assert_allclose(
        total_effects(lambda X: term(X), X, weight), term.total_effects(X, weight), rtol=1e-6
    )
    np.testing.assert_allclose(variances(lambda X: term(X), X, weight), term.variances(X, weight), rtol=1e-6)


def test_one_hot_columns_of_a_users_term_change_together():
    model = MODELS["table"]()
    effects = importances(model.ensemble_, model.encoder_.transform(TABLE))
    np.testing.assert_allclose(effects, model.feature_importances_, atol=1e-12)
    assert 0.1 < effects[2] < 0.5


def test_a_rule_of_a_users_term_is_used_in_a_table_too():
    class Ruled(Hidden):
        """Hidden units with a rule of their own."""

        def variances(self, X, weight):
            return np.eye(X.shape[1])[1]

    term = Ruled(np.ones((3, 1)), np.zeros(1), np.ones((1, 1)))
    expansion = MODELS["table"]().encoder_.expansion
    wide = replace(term, weight=np.ones((expansion.n_expanded, 1)))
    ensemble = Ensemble(np.zeros(1), (FeatureMap(expansion).around(wide),), np.ones((1, 2)))
    shares = importances(ensemble, TABLE.assign(c=0.0).to_numpy())
    np.testing.assert_allclose(shares, [0.0, 1.0, 0.0])
