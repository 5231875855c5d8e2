"""The systems that can be compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np

from ... import presets
from ...core import Learner, Round
from ...estimators.classifier import RFFBoostClassifier
from ...learners import Spectrum, Tree
from ...utils.typing import Array
from .xgboost_systems import NativeXGBClassifier, XGBoostLoop

Grid = list[dict[str, list[Any]]]
DEPTH = 5
POWERS_OF_TEN = [10.0**p for p in range(-2, 3)]
# The grids of Gautheron et al., ECML-PKDD 2020, section 4, and of their workshop paper of 2019.
L2 = [0.0, *(2.0**p for p in range(-5, -1))]
DEPTHS = list(range(1, 11))
RATES = [1.0, 0.5, 0.1, 0.05, 0.01]


def constant(*parts: dict[str, list[Any]], **values: list[Any]) -> Callable[[Any], Grid]:
    """A grid that does not depend on the data: its parts, or a single one by its values."""
    return lambda data: [*parts, *([values] if values else [])]


NO_GRID = constant()


@dataclass(frozen=True)
class System:
    """A booster of a comparison; further ones are added to :data:`SYSTEMS`.

    Parameters
    ----------
    build : callable
        ``build(rounds=, learning_rate=, seed=, threads=)`` is a scikit-learn classifier, not fitted, for
        standardised features and labels 0 and 1. It offers ``predict`` and ``predict_proba``.
    grid : callable, optional
        ``grid(n_features)`` is the grid of a search, as of ``GridSearchCV``; empty by default.
    note : str, default=""
        Its description in the caption of a table: loop, loss and other differences.
    learning_rate : float, default=1.0
        The papers' shrinkage, used unless one is set for all systems.
    size : str, default=""
        Hyperparameters in the caption of a comparison without tuning.
    staged : callable, optional
        ``staged(model, X)`` yields the labels that a fitted model predicts after 1, 2, ... rounds, for curves; by
        default what its ``staged_predict`` yields.
    package : str, optional
        The distribution that it needs.
    as_it_comes : bool, default=False
        Whether it has its own number of rounds and shrinkage, and features that are not standardised.
    """

    build: Callable[..., Any]
    grid: Callable[[int], Grid] = NO_GRID
    note: str = ""
    learning_rate: float = 1.0
    size: str = ""
    staged: Callable[[Any, Array], Iterator[Array]] = lambda model, X: model.staged_predict(X)
    package: str | None = None
    as_it_comes: bool = False


@dataclass(eq=False, repr=False)
class PublishedDraws(Spectrum):
    """Gaussian frequencies of the published experiments: ``RandomState`` draws them for all rounds at once."""

    seed: int
    rounds: int

    def sample(self, round: Round, size: int, gamma: float) -> Array:
        normal = _published_normal(self.seed, self.rounds, size, round.design.n_features)
        return np.sqrt(2.0 * gamma) * normal[round.index]


@lru_cache(maxsize=4)
def _published_normal(seed: int, rounds: int, size: int, n_features: int) -> Array:
    return np.random.RandomState(seed).standard_normal((rounds, size, n_features))


def preset(name: str, *, rounds: int, learning_rate: float, seed: int, threads: int) -> RFFBoostClassifier:
    """A published algorithm of :mod:`rffboost_ext.presets`, in float64 as in the published experiments."""
    shared = {"learning_rate": learning_rate, "standardize": False, "precision": "float64"}
    make = getattr(presets, name)
    model: RFFBoostClassifier = make(n_estimators=rounds, random_state=seed, n_jobs=threads, **shared)
    return model.set_params(learner__spectrum=PublishedDraws(seed, rounds))


def rffboost_default(*, rounds: int, learning_rate: float, seed: int, threads: int) -> RFFBoostClassifier:
    """The default model of this package."""
    return RFFBoostClassifier(random_state=seed, n_jobs=threads)


def xgboost_default(*, rounds: int, learning_rate: float, seed: int, threads: int) -> NativeXGBClassifier:
    """The default model of XGBoost."""
    return NativeXGBClassifier(random_state=seed, n_jobs=threads)


def our_loop(
    loss: str, learner: str | Learner, *, rounds: int, learning_rate: float, seed: int, threads: int
) -> RFFBoostClassifier:
    """A learner in our loop, for a given number of rounds and without a stack."""
    shared: dict[str, Any] = {"standardize": False, "random_state": seed, "n_jobs": threads}
    size: dict[str, Any] = {"n_estimators": rounds, "learning_rate": learning_rate, "early_stopping": False}
    return RFFBoostClassifier(loss, learner, **size, **shared)


def xgboost_loop(loss: str, *, rounds: int, learning_rate: float, seed: int, threads: int) -> XGBoostLoop:
    """XGBoost's own loop with a loss of ours."""
    return XGBoostLoop(loss, rounds, learning_rate, DEPTH, random_state=seed, n_jobs=threads)


def xgboost(*, rounds: int, learning_rate: float, seed: int, threads: int) -> NativeXGBClassifier:
    """XGBoost."""
    shared = {"random_state": seed, "n_jobs": threads, "tree_method": "hist"}
    return NativeXGBClassifier(n_estimators=rounds, learning_rate=learning_rate, max_depth=DEPTH, **shared)


def xgboost_stages(model: Any, X: Array) -> Iterator[Array]:
    """The labels that XGBoost predicts after 1, 2, ... rounds."""
    for t in range(model.get_booster().num_boosted_rounds()):
        yield model.predict(X, iteration_range=(0, t + 1))


def lightgbm(*, rounds: int, learning_rate: float, seed: int, threads: int) -> Any:
    """LightGBM."""
    from lightgbm import LGBMClassifier

    size = {"max_depth": DEPTH, "num_leaves": 2**DEPTH}
    shared = {"random_state": seed, "n_jobs": threads, "verbose": -1}
    return LGBMClassifier(n_estimators=rounds, learning_rate=learning_rate, **size, **shared)


def lightgbm_stages(model: Any, X: Array) -> Iterator[Array]:
    """The labels that LightGBM predicts after 1, 2, ... rounds."""
    margin = np.zeros(len(X))
    for t in range(model.booster_.current_iteration()):
        margin = margin + model.booster_.predict(X, raw_score=True, start_iteration=t, num_iteration=1)
        yield model.classes_[(margin > 0.0).astype(int)]


def gammas(n_features: int) -> list[float]:
    """The kernel parameters of the papers' grid, ``2^{-2..2} / d``."""
    return [2.0**p / n_features for p in range(-2, 3)]


def with_gammas(**values: list[Any]) -> Callable[[int], Grid]:
    """The papers' grid, besides the kernel parameter."""
    return lambda n_features: [{"learner__gamma": gammas(n_features), **values}]


MIXED: dict[str, Any] = {"learning_rate": 0.1, "grid": constant(learning_rate=[0.05, 0.1, 0.2])}
TREES: dict[str, Any] = {"learning_rate": 0.1, "size": f"depth {DEPTH}"}
OUR_TREES = TREES | {"grid": constant(learner__max_depth=DEPTHS, learner__reg_lambda=L2)}
XGBOOST = TREES | {"grid": constant(max_depth=DEPTHS, reg_lambda=L2)}

SYSTEMS: dict[str, System] = {
    "rffboost_default": System(rffboost_default, note="RFFBoostClassifier()", as_it_comes=True),
    "xgboost_default": System(xgboost_default, note="XGBClassifier()", as_it_comes=True),
    # Its grid fixes the paper's frequencies ``N(0, 1)``.
    "gbrff": System(
        partial(preset, "gbrff"),
        constant(learner__gamma=[0.5], learner__beta=[0.0, *(2.0**p for p in range(11))], learning_rate=RATES),
        "squared error on labels -1 and 1, 100 frequencies per round",
    ),
    "gbrff05": System(
        partial(preset, "gbrff05"),
        with_gammas(learner__beta=POWERS_OF_TEN),
        "exponential loss, 10 frequencies per round",
    ),
    "gbrff1": System(
        partial(preset, "gbrff1"),
        with_gammas(learner__beta=POWERS_OF_TEN),
        "exponential loss, 10 frequencies per round",
    ),
    "gbrff15": System(partial(preset, "gbrff15"), with_gammas(), "exponential loss, 1 frequency per round"),
    "gbrff2": System(
        partial(preset, "gbrff2"), with_gammas(learner__l2=L2), "exponential loss, 1 frequency per round"
    ),
    "mixture": System(
        partial(our_loop, "log_loss", "mixture"),
        note="our loop, second-order cosines and symmetric trees, logistic loss",
        **MIXED,
    ),
    "rff_newton": System(
        partial(our_loop, "log_loss", "rff_newton"), note="our loop, second-order cosines, logistic loss", **MIXED
    ),
    "tree": System(
        partial(our_loop, "exponential", Tree(DEPTH)),
        note="our loop, XGBoost's trees, exponential loss",
        **OUR_TREES,
    ),
    "tree_logistic": System(
        partial(our_loop, "log_loss", Tree(DEPTH)), note="our loop, XGBoost's trees, logistic loss", **OUR_TREES
    ),
    "xgboost": System(
        partial(xgboost_loop, "exponential"), note="XGBoost's own loop, exponential loss", **XGBOOST
    ),
    "xgboost_logistic": System(
        xgboost, note="XGBoost with its own logistic loss", staged=xgboost_stages, **XGBOOST
    ),
    "lightgbm": System(
        lightgbm,
        constant(*({"max_depth": [k], "num_leaves": [2**k], "reg_lambda": L2} for k in DEPTHS)),
        "LightGBM with its own logistic loss",
        0.1,
        f"depth {DEPTH}, {2**DEPTH} leaves",
        lightgbm_stages,
        "lightgbm",
    ),
}
"""The systems by name."""
