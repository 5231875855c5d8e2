"""Greedy feature construction: a cosine and a sine per round, by a ridge over the score so far and the pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rffboost_ext.boosting.boost import boost
from rffboost_ext.core import Learner, Round, Step
from rffboost_ext.learners import SPECTRA
from rffboost_ext.learners.optimizers import LBFGS
from rffboost_ext.losses.classification import signed_labels
from rffboost_ext.terms import Cosines
from rffboost_ext.utils.param_validation import Integer, Real
from rffboost_ext.utils.typing import Array

from .feature_map import FeatureMap, TrainingData

PENALTY = Real(0.0, closed="both")
FLOOR = 1e-10
"""Added to the penalty, so that the system stays solvable with a constant score or a frequency of 0."""


@dataclass(eq=False, repr=False)
class RidgePair(Learner):
    r"""A cosine and a sine whose frequency minimises a ridge over the score so far and the pair.

    .. math:: J(\omega) = \min_{a \in R^3} \frac1n \sum_i
              \left( y_i - a_0 F_i - a_1 \cos \omega \cdot x_i - a_2 \sin \omega \cdot x_i \right)^2
              + \lambda |a|^2

    by L-BFGS from ``N(0, I / d)``. The coefficients are profiled out: at the minimum over a, the gradient of J is
    that of the sum with a held. The term holds a_1 and a_2; a_0 belongs to :class:`RidgeStep`.

    Parameters
    ----------
    l2 : float, default=1e-4
        Penalty lambda.
    search_steps : int, default=200
        Maximum number of iterations of L-BFGS.

    References
    ----------
    Oglic and Gaertner, Greedy feature construction, NIPS 2016, algorithm 1; Gautheron et al., ECML-PKDD 2020,
    whose experiments start the penalty at 1e-4 and then follow the squared error alone.
    """

    l2: float = 1e-4
    search_steps: int = 200

    constraints = {"l2": PENALTY, "search_steps": Integer(1)}

    def fit(self, round: Round) -> Cosines:
        """The pair of this round."""
        start = SPECTRA.make("gaussian").sample(round, 1, 0.5 / round.design.n_features)[0]
        omega = LBFGS(self.search_steps).minimise(lambda w: self.objective(round, w)[:2], start)
        _, _, coefficients = self.objective(round, omega)
        phase = np.array([0.0, 0.5 * np.pi])
        return Cosines(np.vstack([omega, omega]), phase, coefficients[1:, None])

    def objective(self, round: Round, omega: Array) -> tuple[float, Array, Array]:
        """J at omega (d,), its gradient (d,), and the coefficients (3,) of score, cosine and sine."""
        X, y, share = round.design.X, round.y[:, 0], round.weight / round.total_weight
        z = X @ omega
        F = np.column_stack([round.raw[:, 0], np.cos(z), np.sin(z)])
        gram = F.T @ (share[:, None] * F) + (self.l2 + FLOOR) * np.eye(3)
        a = np.linalg.solve(gram, F.T @ (share * y))
        error = y - F @ a
        value = share @ np.square(error) + (self.l2 + FLOOR) * (a @ a)
        slope = share * error * (a[1] * F[:, 2] - a[2] * F[:, 1])
        return float(value), 2.0 * (slope @ X), a


@dataclass(eq=False, repr=False)
class RidgeStep(Step):
    """``raw <- a_0 raw + output`` with the a_0 that goes with the output's coefficients in :class:`RidgePair`.

    It is the optimality condition of the ridge in a_0: ``a_0 = <F, y - output> / (<F, F> + lambda)``.

    Parameters
    ----------
    l2 : float, default=1e-4
        Penalty lambda, that of the learner.
    """

    l2: float = 1e-4

    constraints = {"l2": PENALTY}

    def move(self, round: Round, output: Array) -> tuple[float, float]:
        penalty = (self.l2 + FLOOR) * round.total_weight
        kept = round.inner(round.raw, round.y - output) / (round.inner(round.raw, round.raw) + penalty)
        return kept, 1.0


@dataclass(eq=False, repr=False)
class GreedyConstruction(FeatureMap):
    r"""GFC: pairs of cosine and sine, found one after the other by greedy ridge regression.

    Fitted to the labels -1 and 1 of two classes, starting from their mean. A composition: squared error, the
    learner :class:`RidgePair`, and :class:`RidgeStep`, whose update rescales the score so far. The map outputs all
    cosines and sines found; the papers train a linear SVM on them.

    Parameters
    ----------
    n_components : int, default=100
        Number of frequencies, one per round; there are twice as many features.
    l2 : float, default=1e-4
        Penalty of the ridge.
    search_steps : int, default=200
        Maximum number of iterations of L-BFGS per round.
    standardize : bool, default=True
        Whether features are brought to mean 0 and variance 1 before they are mapped.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        Class labels.
    ensemble_ : Ensemble
        The greedy fit; ``ensemble_.raw(X)`` approximates the labels.
    n_features_in_ : int
        Number of features seen in fit.

    References
    ----------
    Oglic and Gaertner, Greedy feature construction, NIPS 2016; Gautheron et al., ECML-PKDD 2020, section 4.
    """

    n_components: int = 100
    l2: float = 1e-4
    search_steps: int = 200
    standardize: bool = True
    random_state: Any = None

    binary = True
    constraints = {"n_components": Integer(1), "l2": PENALTY, "search_steps": Integer(1)}

    def _learn(self, data: TrainingData) -> None:
        self.ensemble_ = boost(
            data.design,
            signed_labels(data.codes[:, None].astype(np.float64)),
            loss="squared_error",
            learner=RidgePair(self.l2, self.search_steps),
            step=RidgeStep(self.l2),
            n_estimators=self.n_components,
            random_state=data.seed(),
        )

    def _features(self, X: Array) -> Array:
        return self.ensemble_.outputs(X)
