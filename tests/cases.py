"""The only list of losses and learners that the tests run over, and how to build data for them.

A new loss or learner is one line here; ``test_registry.py`` fails while one is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rffboost_ext import (
    LOSSES,
    RFF1,
    RFFK,
    Design,
    Learner,
    Loss,
    RFFBoostClassifier,
    RFFBoostRegressor,
    Round,
    Tree,
)
from rffboost_ext.core import check_composition
from rffboost_ext.losses import Signed
from rffboost_ext.steps import natural_step

Array = np.ndarray
Targets = Callable[[np.random.Generator, int], Array]


def binary(rng: np.random.Generator, n: int) -> Array:
    """Class indices of two classes, both present."""
    return rng.permutation(np.arange(n) % 3 == 0).astype(float)[:, None]


def real(rng: np.random.Generator, n: int) -> Array:
    """Real targets."""
    return 1.5 + 2.0 * rng.standard_normal((n, 1))


@dataclass(frozen=True)
class LossCase:
    """A loss, and targets as ``boost`` hands them to it."""

    name: str
    make: Callable[[], Loss]
    targets: Targets

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class LearnerCase:
    """A learner with hyperparameters that suit small data; `tol` bounds what regrouping sums may change."""

    name: str
    make: Callable[[], Learner]
    tol: float = 1e-8

    def __str__(self) -> str:
        return self.name


# Registered losses come first, then variants that reach other code.
LOSS_CASES = [
    LossCase("exponential", lambda: LOSSES.create("exponential"), binary),
    LossCase("log_loss", lambda: LOSSES.create("log_loss"), binary),
    LossCase("squared_error", lambda: LOSSES.create("squared_error"), real),
    LossCase("signed squared_error", lambda: Signed(LOSSES.create("squared_error")), binary),
]

# L-BFGS doubles a rounding error many times on its path, and trees are grown in float32.
LEARNER_CASES = [
    LearnerCase("rff_k", lambda: RFFK(n_components=4), tol=1e-6),
    LearnerCase("rff_1", lambda: RFF1(l2=0.01), tol=1e-5),
    LearnerCase("tree", lambda: Tree(max_depth=3), tol=1e-4),
    LearnerCase("rff_k random uniform", lambda: RFFK(4, placement="random", weighting="uniform")),
    LearnerCase("rff_k gibbs", lambda: RFFK(4, weighting="gibbs", beta=3.0, match="linear"), tol=1e-6),
    LearnerCase("rff_1 phase only", lambda: RFF1(learn_frequency=False)),
]


def goes_with(loss: Loss, learner: Learner) -> bool:
    """Whether the loss and the learner can be composed."""
    try:
        check_composition(loss, learner, natural_step(loss, learner))
    except ValueError:
        return False
    return True


PAIRS = [(a, b) for a in LOSS_CASES for b in LEARNER_CASES if goes_with(a.make(), b.make())]
PAIR_NAMES = [f"{loss}-{learner}" for loss, learner in PAIRS]


def make_round(
    loss: LossCase, seed: int = 0, n: int = 60, d: int = 3, weight: Array | None = None, spread: float = 1.0
) -> Round:
    """A round amid a fit: random features, scores and weights."""
    rng = np.random.default_rng(seed)
    X, y, raw = rng.standard_normal((n, d)), loss.targets(rng, n), spread * rng.standard_normal((n, 1))
    weight = rng.uniform(0.5, 2.0, n) if weight is None else weight
    made = loss.make()
    design = Design(X, np.full(d, 0.1), np.full(d, 1.3))
    return Round(design, made, y, raw, *made.derivatives(y, raw), weight, 0, np.random.default_rng(seed + 1))


def make_data(loss: LossCase, seed: int = 0, n: int = 60, d: int = 3) -> tuple[Array, Array]:
    """X (n, d) and a target (n,) that depends on it, as a user hands them to an estimator."""
    rng = np.random.default_rng(seed)
    X = 2.0 * rng.standard_normal((n, d)) + 1.0
    signal = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n)
    return X, signal if loss.make().task == "regression" else (signal > np.median(signal)).astype(int)


def make_estimator(
    loss: LossCase, learner: LearnerCase, **params: object
) -> RFFBoostClassifier | RFFBoostRegressor:
    """An unfitted estimator of few rounds."""
    made = loss.make()
    shell = RFFBoostClassifier if made.task == "classification" else RFFBoostRegressor
    defaults = {"n_estimators": 5, "learning_rate": 0.5, "random_state": 3}
    return shell(made, learner.make(), **(defaults | params))
