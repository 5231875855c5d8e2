"""Random Fourier features with an intercept: their values, outputs and terms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...core import Round
from ...kernels import compiled
from ...terms import Cosines
from ...terms.cosine_arrays import Projection
from ...utils.typing import Array
from ..fourier.second_order import MIN_HESSIAN_UNIT, cosine_term


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
        size = len(self.omega)
        return np.concatenate([[1.0], np.full(2 * size, size**-0.5)])

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
