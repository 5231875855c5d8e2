"""Terms of users' own are checked once per fit: an error names the law, the class, a row and both values."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest

from rffboost_ext import Learner, RFFBoostRegressor, Term, boost
from rffboost_ext.contracts import fit as contract
from rffboost_ext.contracts.fit import check_terms_of_fit
from rffboost_ext.terms.total_effects import divided_variance, total_effects
from rffboost_ext.testing import check_term

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 2))
Y = np.sin(2.0 * X[:, :1]) + X[:, 1:]


@dataclass(frozen=True)
class Bump(Term):
    """Sums of Gaussian bumps, each of its own width, that keep the laws."""

    center: np.ndarray
    width: np.ndarray
    height: np.ndarray

    def __call__(self, X):
        return np.exp(-((X[:, None] - self.center) ** 2).sum(-1) / self.width) @ self.height

    def scaled(self, factor):
        return replace(self, height=factor * self.height)

    @classmethod
    def stack(cls, terms):
        return cls(*(np.concatenate([getattr(term, name) for term in terms]) for name in vars(terms[0])))


CALL, SCALED, STACK = Bump.__call__, Bump.scaled, Bump.stack.__func__


def broken(**methods):
    """A class of bumps with other methods; ``stack`` is a class method."""
    return type("Broken", (Bump,), {k: classmethod(v) if k == "stack" else v for k, v in methods.items()})


def unstackable(cls, terms):
    raise NotImplementedError("no sum")


def scale_in_place(self, factor):
    self.height[:] = factor * self.height
    return self


def stack_and_clear(cls, terms):
    stacked = STACK(cls, terms)
    for term in terms:
        term.height[:] = 0.0
    return stacked


def shift(self, X):
    X += 1.0
    return CALL(self, X)


def pruned(self):
    return replace(self, height=np.where(self.height > np.median(self.height), self.height, 0.0))


ONE_WIDTH = broken(stack=lambda cls, terms: replace(STACK(cls, terms), width=terms[0].width))
LAST_TWO = broken(stack=lambda cls, terms: STACK(cls, terms[-2:]))
SINGLE = broken(__call__=lambda self, X: CALL(self, X.astype(np.float32)).astype(np.float32))
BROKEN = {
    "stack of 2 terms must be their sum": ONE_WIDTH,
    "stack of 3 terms must be their sum": LAST_TWO,
    "stack_is_the_sum must not fail, got NotImplementedError: no sum": broken(stack=unstackable),
    r"scaled\(-0.5\)\(X\) must be -0.5 \* term\(X\)": broken(scaled=lambda self, a: SCALED(self, abs(a))),
    r"scaled\(\) must not change the term": broken(scaled=scale_in_place),
    r"stack\(\) must not change its terms": broken(stack=stack_and_clear),
    r"term\(X\) of a row must not depend on other rows": broken(
        __call__=lambda self, X: CALL(self, X - X.mean(axis=0))
    ),
    r"term\(X\) must have shape": broken(__call__=lambda self, X: np.ones((80, 1))),
    r"term\(X\) must have two dimensions": broken(__call__=lambda self, X: CALL(self, X)[:, 0]),
    r"features\(X\) must have two dimensions": broken(features=lambda self, X: X[:, 0]),
    r"features\(X\) of a row must not depend on other rows": broken(features=lambda self, X: X - X.mean(axis=0)),
    r"term\(X\) must not change X in place": broken(__call__=shift),
    r"merged\(\) must be the same function": broken(merged=pruned),
    r"materialized\(\) must be the same function": broken(
        materialized=lambda self: replace(self, height=np.round(self.height))
    ),
}
OF_FITS = r"term\(X\) must have shape"
"""The law whose breach does not show on as many rows as those of `X`."""
OF_ROUNDS = r"term\(X\) must have two dimensions"
"""The law whose breach a round names by its own message."""


class Bumps(Learner):
    """A bump at a random row."""

    multi_output = True

    def __init__(self, kind=Bump):
        self.kind = kind

    def fit(self, round):
        X, height = round.design.X, round.rng.uniform(0.2, 0.9, (1, round.raw.shape[1]))
        return self.kind(X[[round.rng.integers(len(X))]].copy(), round.rng.uniform(0.5, 4.0, 1), height)


def fit(learner, n_estimators=9, **params):
    settings = {"loss": "squared_error", "n_estimators": n_estimators, "random_state": 0} | params
    return boost(X.copy(), Y, learner=learner, **settings)


def bumps(kind, n_terms):
    """Terms of a class."""
    rng = np.random.default_rng(0)
    return [kind(X[[k]].copy(), rng.uniform(0.5, 4.0, 1), rng.uniform(0.2, 0.9, (1, 1))) for k in range(n_terms)]


@pytest.mark.parametrize("law", [law for law in BROKEN if law != OF_ROUNDS])
def test_a_broken_law_is_named_in_a_fit(law):
    with pytest.raises(ValueError, match=f"term Broken: {law}"):
        fit(Bumps(BROKEN[law]))


@pytest.mark.parametrize("law", [law for law in BROKEN if law != OF_FITS])
def test_a_broken_law_is_named_by_the_check(law):
    kind = BROKEN[law]
    with pytest.raises(AssertionError, match=f"term Broken: {law}"):
        check_term(*bumps(kind, 1), X, *bumps(kind, 2)[1:])


def slope(self, X):
    """The derivative of bumps."""
    away = X[:, None] - self.center
    bump = np.exp(-(away**2).sum(-1) / self.width)
    return np.einsum("nk,kc,nkd->ncd", bump / self.width, self.height, -2.0 * away)


def doubled_variances(self, X, weight):
    """Twice the variance of the outputs."""
    return 2.0 * divided_variance(self, total_effects(self, X, weight), X, weight)


METHODS = {
    "gradient(X) must be the derivative": {"gradient": lambda self, X: 2.0 * slope(self, X)},
    "gradient(X) must have shape": {"gradient": lambda self, X: slope(self, X)[:, 0]},
    "shapley must be the values by enumeration": {"shapley": lambda self, X, b: 0.0 * slope(self, X)},
    "variances must not be negative": {"variances": lambda self, X, weight: -np.ones(2)},
    "variances must be 0 for features without": {"variances": lambda self, X, weight: np.array([0.0, 1.0])},
    "variances must sum to that of the outputs": {"variances": doubled_variances},
}


@pytest.mark.parametrize("law", METHODS)
def test_methods_that_a_term_need_not_have(law):
    term = broken(**METHODS[law])(np.array([[0.5, 0.0]]), np.ones(1), np.ones((1, 1)))
    with pytest.raises(AssertionError, match=re.escape(f"term Broken: {law}")):
        check_term(term, X * [1.0, 0.1])


def test_right_methods_pass():
    check_term(broken(gradient=slope)(X[:1], np.ones(1), np.ones((1, 1))), X)


@dataclass(frozen=True)
class Oblique(Term):
    """1 on one side of a plane, times a height."""

    normal: np.ndarray
    threshold: float
    height: float = 1.0

    def __call__(self, X):
        return self.height * ((X * self.normal).sum(axis=1, keepdims=True) > self.threshold)

    def scaled(self, factor):
        return replace(self, height=factor * self.height)

    @classmethod
    def stack(cls, terms):
        return replace(terms[0], height=sum(term.height for term in terms))


def test_terms_that_jump_at_a_row_say_so():
    edge = float(X[3] @ np.ones(2))

    class Rough(Oblique):
        def __call__(self, X):
            return super().__call__(X.astype(np.float32) if X.flags.f_contiguous else X)

    with pytest.raises(
        AssertionError, match=r"X column by column, got .* jump at these rows.* thresholds between"
    ):
        check_term(Rough(np.ones(2), edge - 1e-9), X)
    check_term(Oblique(np.ones(2), edge - 1e-9), X)


def test_terms_of_different_families_are_not_stacked():
    class OfWidth(ONE_WIDTH):
        family = property(lambda self: (OfWidth, float(self.width[0])))

    one, other = bumps(OfWidth, 2)
    check_term(one, X, other)


def test_the_message_has_a_row_and_both_values():
    first, second = fit(Bumps(Bump), n_estimators=2).terms
    with pytest.raises(ValueError, match=r"instead of .* in row \d+ of X \(3\d of 32 rows differ\)") as error:
        fit(Bumps(ONE_WIDTH), n_estimators=2)
    row = int(str(error.value).partition("in row ")[2].partition(" ")[0])
    actual, expected = (
        sum(term(X[[row]]) for term in pair)[0]
        for pair in ([first, replace(second, width=first.width)], [first, second])
    )
    assert f"got {actual} instead of {expected}" in str(error.value)


@pytest.mark.parametrize("kind", [Bump, SINGLE])
def test_terms_that_keep_the_laws_are_fitted(kind):
    ensemble = fit(Bumps(kind))
    *_, last = ensemble.staged(X)
    np.testing.assert_allclose(ensemble.raw(X), last, atol=1e-5)


def test_outputs_that_a_learner_returns_are_those_of_its_term():
    class Late(Bumps):
        """Returns the outputs of the first term."""

        def fit(self, round):
            term = super().fit(round)
            return term, round.design.cache("first", lambda: term)(round.design.original)

    with pytest.raises(ValueError, match=r"term Bump: the outputs that the learner returned must be term\(X\)"):
        fit(Late())


def test_a_fit_that_continues_is_checked_across_its_start():
    first = fit(Bumps(ONE_WIDTH), n_estimators=1)
    with pytest.raises(ValueError, match="stack of 2 terms"):
        fit(Bumps(ONE_WIDTH), n_estimators=2, init=first)


@pytest.mark.parametrize(
    "params", [{}, {"standardize": False}, {"categorical_features": [2]}, {"learner__kind": Bump}]
)
def test_estimators_name_the_term_that_the_learner_fitted(params):
    table = np.column_stack([X, np.arange(80) % 3])
    model = RFFBoostRegressor(learner=Bumps(ONE_WIDTH), n_estimators=5, random_state=0).set_params(**params)
    if "learner__kind" in params:
        assert model.fit(table, Y[:, 0]).n_estimators_ == 5
        return
    with pytest.raises(ValueError, match="term Broken: stack"):
        model.fit(table, Y[:, 0])


def test_cosines_beside_the_trees_of_a_host_are_checked():
    xgboost = pytest.importorskip("xgboost")
    from rffboost_ext.interop.xgboost import CosineObjective

    matrix = xgboost.DMatrix(X, Y[:, 0])
    for kind, n_rounds in ((ONE_WIDTH, 2), (LAST_TWO, 3)):
        objective = CosineObjective("squared_error", Bumps(kind))
        with pytest.raises(ValueError, match="term Broken: stack"):
            objective.bind(xgboost.train({"base_score": 0.0}, matrix, n_rounds, obj=objective))


def test_terms_of_the_package_are_not_evaluated(monkeypatch):
    checked = []
    monkeypatch.setattr(contract, "keep_laws", lambda case, laws: checked.append(len(case.terms)))
    for learner in ("rff_1", "tree", "mixture", Bumps()):
        fit(learner, n_estimators=4)
    assert checked == [2]


def test_no_terms_and_single_rows_are_fine():
    check_terms_of_fit([], X)
    check_terms_of_fit([Bump(X[:1], np.ones(1), np.ones((1, 1)))] * 2, X[:1])
