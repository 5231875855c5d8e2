"""Random Fourier features with an intercept: their values, outputs and terms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...core import Round
from ...kernels import compiled
from ...terms import Cosines
from ...terms.cosine_arrays import Projection
from ...utils.kernel_ridge import gaussian_kernel, squared_distances
from ...utils.typing import Array
from ..fourier.fitted_frequencies import angles, coordinates, cosine_term, with_amplitudes
from ..fourier.second_order import MIN_HESSIAN_UNIT

# Rows whose features are computed at a time.
BLOCK_ROWS = 8_192


def feature_columns(round: Round, rows: Array, projection: Projection | None = None) -> Array:
    """Standardised features (d, m) of ascending `rows`, or their coordinates (r, m), in the passes' precision."""
    design = round.design
    if projection is None:
        return design.tiles.gather(rows, np.arange(design.n_features))
    coordinates = design.cache(projection.key, lambda: projection(design.X).T.astype(design.tiles.dtype))
    return np.ascontiguousarray(coordinates[:, rows])


def newton_target(round: Round) -> tuple[Array, float]:
    """The target of a full step, ``-g_ic / kappa_c``, (n, C), divided by its largest size, and this size.

    kappa_c is the mean curvature along the gradient.
    """
    gradient = round.gradient / max(float(np.abs(round.gradient).max()), MIN_HESSIAN_UNIT)
    weighted = round.weight[:, None] * np.square(gradient)
    total, curvature = weighted.sum(axis=0), (weighted * round.hessian).sum(axis=0)
    curvature = np.divide(curvature, total, out=np.ones_like(total), where=total > 0.0)
    target = -round.gradient / np.maximum(curvature, MIN_HESSIAN_UNIT)
    size = float(np.abs(target).max())
    return (target / size, size) if size > 0.0 else (target, 1.0)


def feature_norms(n_frequencies: int) -> Array:
    """Factors (1 + 2K,) that turn an intercept, cosines and sines into features of unit penalty."""
    return np.concatenate([[1.0], np.full(2 * n_frequencies, n_frequencies**-0.5)])


@dataclass(frozen=True)
class RandomFeatures:
    """An intercept, cosines and sines of K frequencies, as features of the rows of a design.

    Parameters
    ----------
    omega : ndarray of shape (K, d) or (K, r)
        Frequencies on the standardised features, or on their coordinates.
    projection : Projection, optional
        The projection to the r coordinates.
    """

    omega: Array
    projection: Projection | None = None

    def values(self, round: Round, rows: Array) -> Array:
        """The features on ascending `rows`, (1 + 2K, m)."""
        x = feature_columns(round, rows, self.projection)
        features = np.empty((1 + 2 * len(self.omega), len(rows)), x.dtype)
        features[0] = 1.0
        compiled("random_features").features_pass(x, self.omega.astype(x.dtype), features[1:], 0, len(self.omega))
        return features

    @property
    def norms(self) -> Array:
        """Factors (1 + 2K,) that turn the features into features of unit penalty.

        Their squares add up to the kernel of a row with itself: 1 for the intercept, 1 for all cosines.
        """
        return feature_norms(len(self.omega))

    @property
    def key(self) -> bytes:
        """Equal for features of equal frequencies: all rounds of a fit share them."""
        return b""

    def predict(self, round: Round, amplitudes: Array) -> Array:
        """Outputs (n, C) of amplitudes (C, 1 + 2K) on all rows of the design."""
        if self.projection is not None:
            return np.asarray(self.values(round, np.arange(len(round.raw))).T @ amplitudes.T)
        output, tiles = np.empty_like(round.raw), round.design.tiles
        intercept, pairs = amplitudes[:, 0], np.ascontiguousarray(amplitudes[:, 1:])
        kernel = compiled("random_features").random_features_output_pass
        tiles.run(kernel, tiles.blocks, self.omega.astype(tiles.dtype), pairs, output)
        return output + intercept

    def term(self, amplitudes: Array) -> Cosines:
        """The term of amplitudes (C, 1 + 2K); the intercept is a cosine of frequency 0."""
        constant = Cosines(np.zeros((1, self.omega.shape[1])), np.zeros(1), amplitudes[:, :1].T)
        joined = Cosines.stack([constant, cosine_term(self.omega, amplitudes[:, 1:])])
        return replace(joined, projection=self.projection)


@dataclass(frozen=True)
class FittedFeatures:
    """As :class:`RandomFeatures`, with the frequencies of a fitted term.

    Parameters
    ----------
    cosines : Cosines
        The constant, then the cosines of K frequencies, or with several outputs their cosines and their sines.
    """

    cosines: Cosines

    @property
    def frequencies(self) -> slice:
        """Where the K frequencies are among those of the cosines."""
        n_cosines, n_outputs = self.cosines.weight.shape
        return slice(1, n_cosines if n_outputs == 1 else 1 + n_cosines // 2)

    def values(self, round: Round, rows: Array | slice) -> Array:
        """The features on `rows`, (1 + 2K, m)."""
        angle = angles(self.cosines, round.design, rows)[self.frequencies]
        return np.concatenate([np.ones((1, angle.shape[1]), angle.dtype), np.cos(angle), np.sin(angle)])

    @property
    def amplitudes(self) -> Array:
        """The amplitudes of the fitted term, (C, 1 + 2K)."""
        pairs, n_frequencies = self.cosines.cos_sin_weights, len(self.cosines.omega[self.frequencies])
        constant, rest = pairs[0, :1], pairs[:, 1:].reshape(2, -1, n_frequencies, pairs.shape[2]).sum(axis=1)
        return np.concatenate([constant, *rest]).T

    def kernel(self, round: Round, rows: Array) -> Array:
        r"""The kernel (m, m) of some rows that the frequencies are drawn from.

        It is :math:`1 + \exp(-\frac12 \sum_j \sigma_j^2 (x_j - x'_j)^2)`, where :math:`\sigma_j` is the root mean
        square of the frequencies of feature j. Frequencies were selected by targets, which the mean of their
        cosines would follow too closely.
        """
        omega = self.cosines.omega[self.frequencies]
        scale = np.sqrt(np.square(omega).mean(axis=0)) if len(omega) else np.zeros(omega.shape[1])
        columns = coordinates(self.cosines, round.design)[:, rows].astype(np.float64)
        return gaussian_kernel(squared_distances(columns.T * scale), 0.5 * len(scale))

    @property
    def norms(self) -> Array:
        """Factors (1 + 2K,) as those of :class:`RandomFeatures`."""
        return feature_norms(len(self.cosines.omega[self.frequencies]))

    @property
    def key(self) -> bytes:
        """Equal for features of equal frequencies."""
        return self.cosines.omega.tobytes()

    def predict(self, round: Round, amplitudes: Array) -> Array:
        """Outputs (n, C) of amplitudes (C, 1 + 2K) on all rows of the design."""
        blocks = (slice(start, start + BLOCK_ROWS) for start in range(0, len(round.raw), BLOCK_ROWS))
        return np.concatenate([self.values(round, rows).T @ amplitudes.T for rows in blocks])

    def term(self, amplitudes: Array) -> Cosines:
        """The term of amplitudes (C, 1 + 2K)."""
        constant = replace(
            self.cosines, omega=self.cosines.omega[:1], phase=np.zeros(1), weight=amplitudes[:, :1].T
        )
        return Cosines.stack([constant, with_amplitudes(self.cosines, self.frequencies, amplitudes[:, 1:])])
