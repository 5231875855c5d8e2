"""The only list of losses and learners that the tests run over, and how to build data for them.

A new loss or learner is one line here; ``test_registry.py`` fails while one is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone

from rffboost_ext import (
    DISTRIBUTIONS,
    LEARNERS,
    LOSSES,
    RFF1,
    RFFIRLS,
    RFFK,
    Design,
    LassoPath,
    Learner,
    Loss,
    Mixture,
    RFFBoostClassifier,
    RFFBoostRegressor,
    RFFNewton,
    RFFRidge,
    RidgePath,
    Round,
    SymmetricTree,
    Tree,
)
from rffboost_ext.boosting.loop import check_composition, default_step
from rffboost_ext.losses import LabelRegression
from rffboost_ext.terms import FeatureMap

Array = np.ndarray
Targets = Callable[[np.random.Generator, int], Array]


def binary(rng: np.random.Generator, n: int) -> Array:
    """Class indices of two classes, both present."""
    return rng.permutation(np.arange(n) % 3 == 0).astype(float)[:, None]


def ternary(rng: np.random.Generator, n: int) -> Array:
    """Class indices of three classes of unequal size, all present."""
    return rng.permutation(np.minimum(np.arange(n) % 7, 2)).astype(float)[:, None]


def real(rng: np.random.Generator, n: int) -> Array:
    """Real targets."""
    return 1.5 + 2.0 * rng.standard_normal((n, 1))


def pairs(rng: np.random.Generator, n: int) -> Array:
    """Two real targets per row."""
    return np.hstack([real(rng, n), 0.3 * real(rng, n)])


def counts(rng: np.random.Generator, n: int) -> Array:
    """Whole numbers from 0 on."""
    return rng.poisson(2.0, (n, 1)).astype(float)


def positive(rng: np.random.Generator, n: int) -> Array:
    """Positive targets."""
    return 3.0 * rng.gamma(2.0, size=(n, 1))


def event_and_time(rng: np.random.Generator, n: int) -> Array:
    """Whether there was an event, and its time or that of censoring, with ties."""
    return np.column_stack([rng.permutation(np.arange(n) % 3 > 0), 1.0 + rng.integers(0, n // 2, n)])


def relevance_and_query(rng: np.random.Generator, n: int) -> Array:
    """Relevance from 0 to 3, and the number of the query, of 10 rows on average."""
    return np.column_stack([rng.integers(0, 4, n), rng.integers(0, max(1, n // 10), n)]).astype(float)


def bounds(rng: np.random.Generator, n: int) -> Array:
    """Bounds of times: known ones, and those censored on the right, on the left, and to an interval."""
    time = rng.lognormal(1.0, 0.8, n)
    low, high = np.tile(time, (2, 1))
    high[1::6], low[3::6] = np.inf, 0.0
    low[5::6], high[5::6] = 0.7 * time[5::6], 1.4 * time[5::6]
    return np.column_stack([low, high])


def above_median(signal: Array) -> Array:
    """Two classes that a signal decides."""
    return (signal > np.median(signal)).astype(int)


def in_thirds(signal: Array) -> Array:
    """Three classes that a signal decides."""
    return np.digitize(signal, np.quantile(signal, [0.3, 0.7]))


def both_ways(signal: Array) -> Array:
    """Two targets of one signal."""
    return np.column_stack([signal, np.cos(2.0 * signal)])


# For each kind of target, what a user hands over whose features decide a signal.
OBSERVED: dict[Targets, Callable[[Array], Array]] = {
    binary: above_median,
    ternary: in_thirds,
    real: np.array,
    pairs: both_ways,
    counts: lambda signal: np.floor(2.0 * np.exp(0.7 * signal)),
    positive: lambda signal: 2.0 * np.exp(0.7 * signal),
}


@dataclass(frozen=True)
class LossCase:
    """A loss, and targets as ``boost`` hands them to it."""

    name: str
    make: Callable[[], Loss]
    targets: Targets

    def __str__(self) -> str:
        return self.name

    def prepared(self, y: Array, weight: Array | None = None) -> Loss:
        """The loss as a fit to `y` minimises it."""
        return self.make().prepared(y, np.ones(len(y)) if weight is None else weight)

    @property
    def n_outputs(self) -> int:
        """Raw scores per row."""
        y = self.targets(np.random.default_rng(0), 20)
        return len(self.prepared(y).baseline(y, np.ones(20)))


@dataclass(frozen=True)
class LearnerCase:
    """A learner with hyperparameters that suit small data.

    `tol` bounds what regrouping sums may change; `drift` by how much scores that the learner keeps by itself may
    leave the ensemble's, as XGBoost's are float32; `of_rows` says that rows are drawn whatever their weights.
    """

    name: str
    make: Callable[[], Learner]
    tol: float = 1e-8
    drift: float = 1e-10
    of_rows: bool = False

    def __str__(self) -> str:
        return self.name


def registered(targets: Targets, names: str) -> list[LossCase]:
    """Registered losses of one kind of target."""
    return [LossCase(name, partial(LOSSES.create, name), targets) for name in names.split()]


# Registered losses come first, then variants that reach other code.
LOSS_CASES = [
    *registered(binary, "exponential log_loss"),
    *registered(real, "squared_error absolute_error quantile huber"),
    *registered(counts, "poisson"),
    *registered(positive, "gamma"),
    *registered(counts, "tweedie"),
    LossCase("signed squared_error", lambda: LabelRegression(LOSSES.create("squared_error")), binary),
    LossCase("signed huber", lambda: LabelRegression(LOSSES.create("huber")), binary),
    LossCase("log_loss of 3 classes", lambda: LOSSES.create("log_loss"), ternary),
    LossCase("squared_error of 2 targets", lambda: LOSSES.create("squared_error"), pairs),
    LossCase("quantile 0.8", lambda: LOSSES.create("quantile", quantile=0.8), real),
    LossCase("huber with a given delta", lambda: LOSSES.create("huber", delta=0.7), real),
]
# Losses whose targets or responses have columns of their own, such as events, bounds, queries or quantiles.
# `check_loss` checks them, and the tests of their estimators.
OWN_COLUMNS = [
    *registered(real, "quantiles"),
    *registered(relevance_and_query, "lambdarank pairwise"),
    *registered(event_and_time, "cox"),
    *registered(bounds, "aft_normal aft_logistic aft_extreme"),
]
# Distributions, whose scores are parameters: `test_distributions.py` checks them.
SAMPLES: dict[str, Targets] = {
    "normal": lambda rng, n: rng.normal(3.0, 2.0, (n, 1)),
    "lognormal": lambda rng, n: np.exp(rng.normal(1.0, 0.5, (n, 1))),
    "laplace": lambda rng, n: rng.laplace(1.0, 2.0, (n, 1)),
    "student_t": lambda rng, n: 2.0 + 3.0 * rng.standard_t(4.0, (n, 1)),
    "gamma": lambda rng, n: rng.gamma(2.0, 3.0, (n, 1)),
    "beta": lambda rng, n: rng.beta(2.0, 5.0, (n, 1)),
    "poisson": lambda rng, n: rng.poisson(3.0, (n, 1)).astype(float),
    "negative_binomial": lambda rng, n: rng.negative_binomial(2, 0.3, (n, 1)).astype(float),
    "zero_inflated_poisson": lambda rng, n: rng.poisson(3.0, (n, 1)) * (rng.random((n, 1)) > 0.3),
}
DISTRIBUTION_CASES = [
    LossCase(LOSSES.name_of(loss), partial(clone, loss), SAMPLES[name])
    for name, loss in ((name, DISTRIBUTIONS.create(name)) for name in DISTRIBUTIONS.names())
]
LOSS_NAMED = {case.name: case for case in LOSS_CASES}
ONE_OUTPUT = [case for case in LOSS_CASES if case.n_outputs == 1]
# The losses that the papers know, for what depends on the derivatives of a loss only.
OF_THE_PAPERS = [LOSS_NAMED[f] for f in ("exponential", "log_loss", "squared_error", "signed squared_error")]

# L-BFGS doubles a rounding error many times on its path, and trees are grown in float32.
LEARNER_CASES = [
    LearnerCase("rff_k", lambda: RFFK(n_components=4), tol=1e-6),
    LearnerCase("rff_1", lambda: RFF1(l2=0.01), tol=1e-5),
    LearnerCase("rff_newton", lambda: RFFNewton(n_candidates=8), tol=1e-5),
    LearnerCase("rff_ridge", lambda: RFFRidge(n_components=8), tol=1e-5, of_rows=True),
    LearnerCase("rff_irls", lambda: RFFIRLS(n_components=8), tol=1e-5, of_rows=True),
    LearnerCase("lasso", lambda: LassoPath(), tol=1e-5, of_rows=True),
    LearnerCase("ridge", lambda: RidgePath(relative_rate=1.0), tol=1e-5, of_rows=True),
    LearnerCase("tree", lambda: Tree(max_depth=3), tol=1e-4, drift=1e-5),
    LearnerCase("symmetric_tree", lambda: SymmetricTree(3, "constant"), tol=1e-5),
    LearnerCase(
        "mixture",
        lambda: Mixture(RFFNewton(n_candidates=8), Tree(max_depth=3)),
        tol=1e-4,
        drift=2e-3,
        of_rows=True,
    ),
    LearnerCase("rff_k random uniform", lambda: RFFK(4, placement="random", weighting="uniform")),
    LearnerCase("rff_k gibbs", lambda: RFFK(4, weighting="gibbs", beta=3.0, fit_criterion="linear"), tol=1e-6),
    LearnerCase("symmetric_tree linear", lambda: SymmetricTree(max_depth=3, leaf="linear"), tol=1e-5),
    LearnerCase("rff_1 phase only", lambda: RFF1(learn_frequency=False)),
]


def goes_with(loss: Loss, learner: Learner, n_outputs: int = 1) -> bool:
    """Whether the loss and the learner can be composed."""
    try:
        check_composition(loss, learner, default_step(loss, learner), n_outputs)
    except ValueError:
        return False
    return True


def is_paired(loss: LossCase, learner: LearnerCase) -> bool:
    """Whether most tests run over the pair.

    A learner sees nothing of a loss but its derivatives and its number of outputs. So one learner meets every
    loss, a registered learner one of each task, with two outputs if possible, and a variant one loss.
    """
    if learner.name == "rff_newton":
        return True
    if learner.name not in LEARNERS.names():
        return loss.name == "squared_error"
    two_outputs = goes_with(LOSSES.create("squared_error"), learner.make(), 2)
    return loss.name in ("exponential", "squared_error of 2 targets" if two_outputs else "squared_error")


PAIRS = [(a, b) for a in LOSS_CASES for b in LEARNER_CASES if is_paired(a, b)]
PAIR_NAMES = [f"{loss}-{learner}" for loss, learner in PAIRS]


def over_pairs(chosen: list[tuple[LossCase, LearnerCase]]) -> pytest.MarkDecorator:
    """A mark that runs a test over pairs of a loss and a learner."""
    return pytest.mark.parametrize(
        ("loss", "learner"), chosen, ids=[f"{loss}-{learner}" for loss, learner in chosen]
    )


pairs = over_pairs(PAIRS)
# For what does not depend on the loss.
each_learner = over_pairs([(LOSS_NAMED["exponential"], learner) for learner in LEARNER_CASES])


def make_round(
    loss: LossCase, seed: int = 0, n: int = 60, d: int = 3, weight: Array | None = None, spread: float = 1.0
) -> Round:
    """A round amid a fit: random features, scores and weights."""
    rng = np.random.default_rng(seed)
    X, y, raw = (
        rng.standard_normal((n, d)),
        loss.targets(rng, n),
        spread * rng.standard_normal((n, loss.n_outputs)),
    )
    weight = rng.uniform(0.5, 2.0, n) if weight is None else weight
    made = loss.prepared(y, weight)
    design = Design(X, FeatureMap(center=np.full(d, 0.1), scale=np.full(d, 1.3)))
    derivatives = made.scales.apply(made.derivatives(y, raw))
    return Round(design, made, y, raw, *derivatives, weight, 0, np.random.default_rng(seed + 1))


def make_data(loss: LossCase, seed: int = 0, n: int = 60, d: int = 3) -> tuple[Array, Array]:
    """X (n, d) and a target, (n,) or (n, C), that depends on it, as a user hands them to an estimator."""
    rng = np.random.default_rng(seed)
    X = 2.0 * rng.standard_normal((n, d)) + 1.0
    signal = np.sin(X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(n)
    return X, OBSERVED[loss.targets](signal)


def is_smooth(loss: Loss) -> bool:
    """Whether the loss has one minimiser, and derivatives everywhere."""
    return not any(name in repr(loss) for name in ("AbsoluteError", "Quantile"))


def as_targets(y: Array) -> Array:
    """What a user hands over, (n,) or (n, C), as ``boost`` wants it."""
    return y.reshape(len(y), -1).astype(float)


def make_estimator(
    loss: LossCase, learner: LearnerCase, **params: object
) -> RFFBoostClassifier | RFFBoostRegressor:
    """An unfitted estimator of few rounds."""
    made = loss.make()
    shell = RFFBoostClassifier if made.task == "classification" else RFFBoostRegressor
    defaults = {"n_estimators": 5, "learning_rate": 0.5, "early_stopping": False, "random_state": 3}
    return shell(made, learner.make(), **(defaults | params))
