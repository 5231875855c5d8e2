"""The systems that can be compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from ... import presets
from ...core import Round, Spec
from ...estimators.classifier import RFFBoostClassifier
from ...learners import Spectrum, Tree
from ...utils.registry import Registry
from ...utils.typing import Array
from ..outputs import require_packages
from .xgboost_systems import NativeXGBClassifier, XGBoostLoop

DEPTH = 5
POWERS_OF_TEN = [10.0**p for p in range(-2, 3)]
# The grids of Gautheron et al., ECML-PKDD 2020, section 4, and of their workshop paper of 2019.
L2 = [0.0, *(2.0**p for p in range(-5, -1))]
DEPTHS = list(range(1, 11))
RATES = [1.0, 0.5, 0.1, 0.05, 0.01]


class System(Spec, ABC):
    """A booster of a comparison; custom systems are registered by ``@SYSTEMS.register("name")``."""

    learning_rate: ClassVar[float] = 1.0
    """The papers' shrinkage, used unless one is set for all systems."""
    note: ClassVar[str] = ""
    """Its description in the caption of a table: loop, loss and other differences."""
    size: ClassVar[str] = ""
    """Hyperparameters in the caption of a comparison without tuning."""

    @abstractmethod
    def build(self, *, rounds: int, learning_rate: float, seed: int, threads: int) -> Any:
        """A scikit-learn classifier, not fitted, for standardised features and labels 0 and 1.

        It offers ``predict`` and ``predict_proba``; curves also need its ``staged_predict`` or :meth:`staged`.
        """

    def grid(self, n_features: int) -> list[dict[str, list[Any]]]:
        """The grid of a search, as of ``GridSearchCV``; empty by default."""
        return []

    def staged(self, model: Any, X: Array) -> Iterator[Array]:
        """Labels that a fitted `model` predicts after 1, 2, ... rounds."""
        yield from model.staged_predict(X)


SYSTEMS: Registry[System] = Registry("system", System)  # type: ignore[type-abstract]


@dataclass(eq=False, repr=False)
class PublishedDraws(Spectrum):
    """Gaussian frequencies of the published experiments: ``RandomState`` draws them for all rounds at once.

    Parameters
    ----------
    seed : int
        Seed of the stream.
    rounds : int
        Number of rounds to draw for.
    """

    seed: int
    rounds: int

    def sample(self, round: Round, size: int, gamma: float) -> Array:
        normal = _published_normal(self.seed, self.rounds, size, round.design.n_features)
        return np.sqrt(2.0 * gamma) * normal[round.index]


@lru_cache(maxsize=4)
def _published_normal(seed: int, rounds: int, size: int, n_features: int) -> Array:
    return np.random.RandomState(seed).standard_normal((rounds, size, n_features))


class Preset(System):
    """One of the published algorithms; its hyperparameters are those of :mod:`rffboost_ext.presets`."""

    preset: ClassVar[str]
    searched: ClassVar[dict[str, list[Any]]] = {}
    """The paper's grid, besides the kernel parameter."""

    def build(self, *, rounds: int, learning_rate: float, seed: int, threads: int) -> RFFBoostClassifier:
        make = getattr(presets, self.preset)
        # In float64, as the published experiments.
        shared = {"learning_rate": learning_rate, "standardize": False, "precision": "float64"}
        model: RFFBoostClassifier = make(n_estimators=rounds, random_state=seed, n_jobs=threads, **shared)
        return model.set_params(learner__spectrum=PublishedDraws(seed, rounds))

    def grid(self, n_features: int) -> list[dict[str, list[Any]]]:
        return [{"learner__gamma": gammas(n_features), **self.searched}]


@SYSTEMS.register("gbrff")
class GBRFF(Preset):
    """Least-squares GBRFF (2019). Its grid fixes the paper's frequencies ``N(0, 1)``."""

    preset, note = "gbrff", "squared error on labels -1 and 1, 100 frequencies per round"

    def grid(self, n_features: int) -> list[dict[str, list[Any]]]:
        beta = [0.0, *(2.0**p for p in range(11))]
        return [{"learner__gamma": [0.5], "learner__beta": beta, "learning_rate": RATES}]


@SYSTEMS.register("gbrff05")
class GBRFF05(Preset):
    """GBRFF0.5: random landmarks."""

    preset, note = "gbrff05", "exponential loss, 10 frequencies per round"
    searched = {"learner__beta": POWERS_OF_TEN}


@SYSTEMS.register("gbrff1")
class GBRFF1(Preset):
    """GBRFF1: learned landmarks."""

    preset, note = "gbrff1", "exponential loss, 10 frequencies per round"
    searched = {"learner__beta": POWERS_OF_TEN}


@SYSTEMS.register("gbrff15")
class GBRFF15(Preset):
    """GBRFF1.5: learned phases."""

    preset, note = "gbrff15", "exponential loss, 1 frequency per round"


@SYSTEMS.register("gbrff2")
class GBRFF2(Preset):
    """GBRFF2: learned phases and frequencies."""

    preset, note = "gbrff2", "exponential loss, 1 frequency per round"
    searched = {"learner__l2": L2}


@SYSTEMS.register("mixture")
class OurMixture(System):
    """The default learner of the estimators, for a given number of rounds and without a stack."""

    note = "our loop, second-order cosines and XGBoost's trees, logistic loss"
    learning_rate = 0.1
    learner: ClassVar[str] = "mixture"

    def build(self, *, rounds: int, learning_rate: float, seed: int, threads: int) -> RFFBoostClassifier:
        shared: dict[str, Any] = {"standardize": False, "random_state": seed, "n_jobs": threads}
        size: dict[str, Any] = {"n_estimators": rounds, "learning_rate": learning_rate, "early_stopping": False}
        return RFFBoostClassifier("log_loss", self.learner, **size, **shared)

    def grid(self, n_features: int) -> list[dict[str, list[Any]]]:
        return [{"learning_rate": [0.05, 0.1, 0.2]}]


@SYSTEMS.register("rff_newton")
class OurCosines(OurMixture):
    """Second-order cosines alone."""

    note, learner = "our loop, second-order cosines, logistic loss", "rff_newton"


class TreeSystem(System):
    """A booster of trees."""

    learning_rate = 0.1
    size = f"depth {DEPTH}"

    def grid(self, n_features: int) -> list[dict[str, list[Any]]]:
        return [{"max_depth": DEPTHS, "reg_lambda": L2}]


@SYSTEMS.register("tree")
class OurTrees(TreeSystem):
    """Our loop with XGBoost's trees as learners."""

    note = "our loop, XGBoost's trees, exponential loss"
    loss: ClassVar[str] = "exponential"

    def build(self, *, rounds: int, learning_rate: float, seed: int, threads: int) -> RFFBoostClassifier:
        shared: dict[str, Any] = {"standardize": False, "random_state": seed, "n_jobs": threads}
        return RFFBoostClassifier(
            self.loss, Tree(DEPTH), n_estimators=rounds, learning_rate=learning_rate, **shared
        )

    def grid(self, n_features: int) -> list[dict[str, list[Any]]]:
        return [{f"learner__{name}": values for name, values in super().grid(n_features)[0].items()}]


@SYSTEMS.register("tree_logistic")
class OurLogisticTrees(OurTrees):
    """The same with the logistic loss."""

    note, loss = "our loop, XGBoost's trees, logistic loss", "log_loss"


@SYSTEMS.register("xgboost_cosine")
class XGBoostWithCosines(TreeSystem):
    """XGBoost's own loop, with a cosine of ours before each of its trees."""

    note = "XGBoost's own loop, a cosine and a tree per round, logistic loss"

    def build(self, *, rounds: int, learning_rate: float, seed: int, threads: int) -> XGBoostLoop:
        shared: dict[str, Any] = {"random_state": seed, "n_jobs": threads}
        return XGBoostLoop("log_loss", rounds, learning_rate, DEPTH, cosines=True, **shared)


@SYSTEMS.register("xgboost")
class XGBoost(TreeSystem):
    """XGBoost's own loop with our exponential loss, its baseline and its link."""

    note = "XGBoost's own loop, exponential loss"

    def build(self, *, rounds: int, learning_rate: float, seed: int, threads: int) -> XGBoostLoop:
        return XGBoostLoop("exponential", rounds, learning_rate, DEPTH, random_state=seed, n_jobs=threads)


@SYSTEMS.register("xgboost_logistic")
class XGBoostLogistic(TreeSystem):
    """XGBoost with its own logistic loss."""

    note = "XGBoost with its own logistic loss"

    def build(self, *, rounds: int, learning_rate: float, seed: int, threads: int) -> Any:
        shared = {"random_state": seed, "n_jobs": threads, "tree_method": "hist"}
        return NativeXGBClassifier(n_estimators=rounds, learning_rate=learning_rate, max_depth=DEPTH, **shared)

    def staged(self, model: Any, X: Array) -> Iterator[Array]:
        for t in range(model.get_booster().num_boosted_rounds()):
            yield model.predict(X, iteration_range=(0, t + 1))


@SYSTEMS.register("lightgbm")
class LightGBM(TreeSystem):
    """LightGBM with its own logistic loss."""

    note = "LightGBM with its own logistic loss"
    size = f"depth {DEPTH}, {2**DEPTH} leaves"

    def validate(self) -> None:
        """Raise an ImportError if LightGBM is not installed."""
        super().validate()
        require_packages("system 'lightgbm'", "lightgbm")

    def build(self, *, rounds: int, learning_rate: float, seed: int, threads: int) -> Any:
        from lightgbm import LGBMClassifier

        size = {"max_depth": DEPTH, "num_leaves": 2**DEPTH}
        shared = {"random_state": seed, "n_jobs": threads, "verbose": -1}
        return LGBMClassifier(n_estimators=rounds, learning_rate=learning_rate, **size, **shared)

    def grid(self, n_features: int) -> list[dict[str, list[Any]]]:
        return [{"max_depth": [k], "num_leaves": [2**k], "reg_lambda": L2} for k in DEPTHS]

    def staged(self, model: Any, X: Array) -> Iterator[Array]:
        margin = np.zeros(len(X))
        for t in range(model.booster_.current_iteration()):
            margin = margin + model.booster_.predict(X, raw_score=True, start_iteration=t, num_iteration=1)
            yield model.classes_[(margin > 0.0).astype(int)]


def gammas(n_features: int) -> list[float]:
    """The kernel parameters of the papers' grid, ``2^{-2..2} / d``."""
    return [2.0**p / n_features for p in range(-2, 3)]
