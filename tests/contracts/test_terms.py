"""Terms of users' own are checked once per fit: an error names the law, the class, a row and both values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from rffboost_ext import Learner, RFFBoostRegressor, Term, boost
from rffboost_ext.contracts import terms as contract
from rffboost_ext.contracts.terms import check_terms_of_fit
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


class OneWidth(Bump):
    @classmethod
    def stack(cls, terms):
        return replace(super().stack(terms), width=terms[0].width)


class Last(Bump):
    @classmethod
    def stack(cls, terms):
        # Right for two terms.
        return super().stack(terms[-2:])


class Unstackable(Bump):
    @classmethod
    def stack(cls, terms):
        raise NotImplementedError("no sum")


class Unsigned(Bump):
    def scaled(self, factor):
        return super().scaled(abs(factor))


class InPlace(Bump):
    def scaled(self, factor):
        self.height[:] = factor * self.height
        return self


class Pooled(Bump):
    @classmethod
    def stack(cls, terms):
        stacked = super().stack(terms)
        for term in terms:
            term.height[:] = 0.0
        return stacked


class Centred(Bump):
    def __call__(self, X):
        return super().__call__(X - X.mean(axis=0))


class Training(Bump):
    def __call__(self, X):
        return np.ones((80, 1))


class Shifting(Bump):
    def __call__(self, X):
        X += 1.0
        return super().__call__(X)


class Pruned(Bump):
    def merged(self):
        return replace(self, height=np.where(self.height > np.median(self.height), self.height, 0.0))


class Rounded(Bump):
    def materialized(self):
        return replace(self, height=np.round(self.height))


class Flat(Bump):
    def __call__(self, X):
        return super().__call__(X)[:, 0]


class FlatFeatures(Bump):
    def features(self, X):
        return X[:, 0]


class CentredFeatures(Bump):
    def features(self, X):
        return X - X.mean(axis=0)


class Single(Bump):
    def __call__(self, X):
        return super().__call__(X.astype(np.float32)).astype(np.float32)


BROKEN = {
    OneWidth: "stack of 2 terms must be their sum",
    Last: "stack of 3 terms must be their sum",
    Unstackable: "stack_is_the_sum must not fail, got NotImplementedError: no sum",
    Unsigned: r"scaled\(-0.5\)\(X\) must be -0.5 \* term\(X\)",
    InPlace: r"scaled\(\) must not change the term",
    Pooled: r"stack\(\) must not change its terms",
    Centred: r"term\(X\) of a row must not depend on other rows",
    Training: r"term\(X\) must have shape",
    Flat: r"term\(X\) must have two dimensions",
    FlatFeatures: r"features\(X\) must have two dimensions",
    CentredFeatures: r"features\(X\) of a row must not depend on other rows",
    Shifting: r"term\(X\) must not change X in place",
    Pruned: r"merged\(\) must be the same function",
    Rounded: r"materialized\(\) must be the same function",
}


class Bumps(Learner):
    """A bump at a random row."""

    multi_output = True

    def __init__(self, kind=Bump):
        self.kind = kind

    def fit(self, round):
        X, height = round.design.X, round.rng.uniform(0.2, 0.9, (1, round.raw.shape[1]))
        return self.kind(X[[round.rng.integers(len(X))]].copy(), round.rng.uniform(0.5, 4.0, 1), height)


def fit(learner, n_estimators=9, **params):
    given = {"loss": "squared_error", "n_estimators": n_estimators, "random_state": 0} | params
    return boost(X.copy(), Y, learner=learner, **given)


def bumps(kind, n_terms):
    """Terms of a class."""
    rng = np.random.default_rng(0)
    return [kind(X[[k]].copy(), rng.uniform(0.5, 4.0, 1), rng.uniform(0.2, 0.9, (1, 1))) for k in range(n_terms)]


@pytest.mark.parametrize("kind", [kind for kind in BROKEN if kind is not Flat])
def test_a_broken_law_is_named_in_a_fit(kind):
    with pytest.raises(ValueError, match=f"term {kind.__name__}: {BROKEN[kind]}"):
        fit(Bumps(kind))


@pytest.mark.parametrize("kind", [kind for kind in BROKEN if kind is not Training])
def test_a_broken_law_is_named_by_the_check(kind):
    with pytest.raises(AssertionError, match=f"term {kind.__name__}: {BROKEN[kind]}"):
        check_term(*bumps(kind, 1), X, *bumps(kind, 2)[1:])


def test_terms_of_several_families_are_not_stacked():
    class OfWidth(OneWidth):
        family = property(lambda self: (OfWidth, float(self.width[0])))

    one, other = bumps(OfWidth, 2)
    check_term(one, X, other)


def test_the_message_has_a_row_and_both_values():
    first, second = fit(Bumps(Bump), n_estimators=2).terms
    with pytest.raises(ValueError, match=r"instead of .* in row \d+ of X \(3\d of 32 rows differ\)") as error:
        fit(Bumps(OneWidth), n_estimators=2)
    row = int(str(error.value).partition("in row ")[2].partition(" ")[0])
    found, wanted = (
        sum(term(X[[row]]) for term in pair)[0]
        for pair in ([first, replace(second, width=first.width)], [first, second])
    )
    assert f"got {found} instead of {wanted}" in str(error.value)


@pytest.mark.parametrize("kind", [Bump, Single])
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
    first = fit(Bumps(OneWidth), n_estimators=1)
    with pytest.raises(ValueError, match="stack of 2 terms"):
        fit(Bumps(OneWidth), n_estimators=2, init=first)


@pytest.mark.parametrize(
    "params", [{}, {"standardize": False}, {"categorical_features": [2]}, {"learner__kind": Bump}]
)
def test_estimators_name_the_term_that_the_learner_fitted(params):
    table = np.column_stack([X, np.arange(80) % 3])
    model = RFFBoostRegressor(learner=Bumps(OneWidth), n_estimators=5, random_state=0).set_params(**params)
    if "learner__kind" in params:
        assert model.fit(table, Y[:, 0]).n_estimators_ == 5
        return
    with pytest.raises(ValueError, match="term OneWidth: stack"):
        model.fit(table, Y[:, 0])


def test_cosines_beside_the_trees_of_a_host_are_checked():
    xgboost = pytest.importorskip("xgboost")
    from rffboost_ext.interop.xgboost import CosineObjective

    matrix = xgboost.DMatrix(X, Y[:, 0])
    for kind, n_rounds in ((OneWidth, 2), (Last, 3)):
        objective = CosineObjective("squared_error", Bumps(kind))
        with pytest.raises(ValueError, match=f"term {kind.__name__}: stack"):
            objective.bind(xgboost.train({"base_score": 0.0}, matrix, n_rounds, obj=objective))


def test_terms_of_the_package_are_not_evaluated(monkeypatch):
    checked = []
    monkeypatch.setattr(contract, "keep_laws", lambda sample: checked.append(len(sample.terms)))
    for learner in ("rff_1", "tree", "mixture", Bumps()):
        fit(learner, n_estimators=4)
    assert checked == [2]


def test_no_terms_and_single_rows_are_fine():
    check_terms_of_fit([], X)
    check_terms_of_fit([Bump(X[:1], np.ones(1), np.ones((1, 1)))] * 2, X[:1])
