"""Second-order ridge regression on random Fourier features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import Round
from ...terms.cosine_arrays import Projection
from ...utils.kernel_ridge import best_penalty
from ...utils.typing import Array
from ..registry import LEARNERS
from .base import N_VALUES, KernelMachine, Solved
from .least_squares import LeastSquares
from .random_features import FittedFeatures, RandomFeatures, newton_target


@LEARNERS.register("rff_ridge")
class RFFRidge(KernelMachine):
    r"""K random Fourier features of one Gaussian kernel with jointly fitted amplitudes: a kernel machine.

    From the gradient g and the Hessian H of any loss, the term of output c minimises

    .. math:: \sum_i w_i \left( g_{ic} f_c(x_i) + \tfrac{\kappa_c}{2} f_c(x_i)^2 \right)
              + \tfrac{\kappa_c \lambda}{2} \Bigl( a_{c0}^2 + K \sum_k (a_{ck}^2 + b_{ck}^2) \Bigr), \qquad
              f_c(x) = a_{c0} + \sum_k a_{ck} \cos(\omega_k \cdot x) + b_{ck} \sin(\omega_k \cdot x),

    where :math:`\kappa_c = \sum_i w_i H_{ic} g_{ic}^2 / \sum_i w_i g_{ic}^2` is the mean curvature along the
    gradient [1]_. The penalty is the squared norm in the reproducing kernel Hilbert space of 1, for the intercept,
    plus a Gaussian. With the squared loss and a full step this is kernel ridge regression; over several rounds any
    loss has its kernel machine. One curvature for all rows makes a round cheap: the system is factorised once for
    as long as the rows stay the same.

    The first round chooses one of four values of the kernel parameter gamma, and of the penalty, by the
    leave-one-out error in closed form, on a quarter of the rows, from 96 to 192. It also chooses the scales of the
    features, of mean square 1: all equal, the standard deviations (the original units), or the square roots of the
    gains of a few trees. Each frequency is drawn in several directions. The direction with the largest Fourier
    transform of the kernel machine on the compared rows is kept,
    :math:`\sum_c |\sum_i \alpha_{ic} e^{i \omega_k \cdot x_i}|^2` with its dual weights :math:`\alpha_{ic}` [2]_.
    Lengths are not selected, so the kernel stays as smooth as the chosen one. All rounds of a fit share the
    frequencies and the intercept, which is a cosine of frequency 0.

    Parameters
    ----------
    n_components : int, default=256
        Number of frequencies, K, in addition to the intercept.
    gamma : pair of float, default=(0.03, 3.0)
        Range of the kernel parameter gamma: frequencies are ``N(0, 2 gamma / d)`` per standardised feature, d of
        them, times the squared scales of the features.
    l2 : pair of float, default=(0.001, 1.0)
        Range of the penalty, lambda.
    compare_scales : bool, default=True
        Whether the original units and the gains of a few trees are compared with standardised features; needs 256
        rows.
    max_samples : int, default=3_000
        Maximum number of rows that a round is fitted to.
    n_directions : int, default=4
        Directions drawn for each frequency; 1 gives plain random features.
    per_degree : float, optional
        Maximum number of frequencies per effective degree of freedom of the kernel machine on the compared rows,
        but at least 64. By default there are K in any case.
    relative_rate : float, default=1.0
        Factor on the amplitudes: a step is this many times the learning rate, but at most a full one.

    References
    ----------
    .. [1] Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007.
    .. [2] Sinha and Duchi, Learning kernels with random features, NIPS 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, RFFRidge
    >>> X = np.linspace(-3.0, 3.0, 200)[:, None]
    >>> learner = RFFRidge(n_components=32)
    >>> model = RFFBoostRegressor(learner=learner, n_estimators=5, early_stopping=False, random_state=0)
    >>> bool(model.fit(X, np.sin(3.0 * X[:, 0])).score(X, np.sin(3.0 * X[:, 0])) > 0.3)
    True
    """

    def _select_kernel(self, round: Round) -> tuple[Array, Projection | None, float]:
        """Frequencies, projection, and the penalty of least leave-one-out error."""
        selection = self._kernel_selection(round, newton_target(round)[0])
        # In ascending order: the smoothest of equally good kernels is kept.
        best = selection.best_ridge(np.geomspace(*self.gamma, N_VALUES), np.geomspace(*self.l2, N_VALUES))
        return *self._select_frequencies(selection, best), best.l2

    def _select_penalty(self, round: Round, features: FittedFeatures) -> tuple[float]:
        """The penalty of least leave-one-out error."""
        selection = self._kernel_selection(round, newton_target(round)[0])
        rows = selection.scored
        sample = features.kernel(round, rows), selection.target[rows], round.weight[rows]
        return (best_penalty(*sample, np.geomspace(*self.l2, N_VALUES))[1],)

    def _solve(
        self, round: Round, sample: Round, rows: Array, features: RandomFeatures | FittedFeatures, *kernel: Any
    ) -> Solved:
        ((l2,), (target, unit)), old = (kernel, newton_target(round)), np.zeros(1)
        if round.prior_weight and isinstance(features, FittedFeatures):
            l2, share = l2 + round.prior_weight, round.prior_weight / (l2 + round.prior_weight)
            old = share * self._old_amplitudes(round, features) / unit
            target = target - features.predict(round, old)

        def build() -> LeastSquares:
            return LeastSquares.factorised(features.values(sample, rows), sample.weight[rows], features.norms, l2)

        system = self._reuse_system(round, sample, features.key + round.weight.tobytes(), build)
        return Solved(system, old + system.solve(target[rows]), unit=unit)
