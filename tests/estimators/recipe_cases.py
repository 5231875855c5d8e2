"""What the tests of recipes share: rows, fits, and a recipe of one's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, SymmetricTree
from rffboost_ext.recipes import MemberRule, Patience, Recipe

from ..own_parts import LeastSquares, Linear

N = 160
DRAWS = np.random.default_rng(0)
X, NEW = DRAWS.standard_normal((2, N, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * DRAWS.standard_normal(N)
SHORT: dict[str, Any] = {"n_estimators": 12, "random_state": 0}
TREES = MemberRule("trees", SymmetricTree(leaf="linear", max_depth=3))
COSINES = MemberRule("cosines", "rff_newton")
PAIR = Recipe([TREES, COSINES], 0.2, Patience(5), n_folds=3)


def fitted(recipe: Recipe | str, y: Any = Y, **params: Any) -> Any:
    make = RFFBoostRegressor if y.dtype == Y.dtype else RFFBoostClassifier
    return make(quality=recipe, **SHORT | params).fit(X[: len(y)], y)


def same_bits(one: Any, other: Any, rows: Any = NEW) -> bool:
    return np.array_equal(one.raw_scores(rows), other.raw_scores(rows))


def n_models(model: Any) -> dict[str, int]:
    return dict(zip(model.member_names_, map(len, model._n_rounds), strict=True))


# What a user writes: a learner with a term of its own, and a rule.


@dataclass(frozen=True)
class Plane(Linear):
    """A linear function."""


class Planes(LeastSquares):
    """Least squares, which can be fitted to other rows again."""

    def fit(self, round: Any) -> Plane:
        return Plane(super().fit(round).slope)

    def refit(self, term: Any, round: Any) -> Plane:
        return self.fit(round)


@dataclass(frozen=True)
class AfterRounds:
    """Trains a member if the first model of the first member has had so many rounds."""

    rounds: int

    def is_met(self, runs: Any, others: Any) -> bool:
        return len(others[0][0].scores) > self.rounds


OWN = Recipe(
    [TREES, MemberRule("planes", Planes(), "replay", when=AfterRounds(2), n_models=2)],
    learning_rate=0.3,
    patience=Patience(4),
    n_folds=3,
)
