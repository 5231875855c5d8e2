"""Linear leaves of symmetric trees: ridge regressions on the features of their levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ....kernels import compiled
from ....utils.parallel import MIN_ROWS_PER_THREAD, run_over_tiles
from ....utils.typing import Array

# Leaves of a smaller weight than this, for each coefficient, are constant.
ROWS_PER_COEFFICIENT = 3
# Share of the rows at either end of a feature at which lines are constant.
TAIL = 0.005
# The least penalty of slopes, as a share of the hessian of a leaf.
LEAST_RIDGE = 1e-12
# Rows of a tile, whose sums do not depend on threads, and the most tiles: each has a matrix for each leaf.
TILE, MOST_TILES = 2**13, 16
# Rows of factors and of matrices have a multiple of so many entries.
LANES = 8


class RowsOfLeaves(NamedTuple):
    """The leaf of each row (n,), int32, weighted gradients and hessians (n, 2 C), and weights (n,)."""

    leaf: Array
    derivatives: Array
    weight: Array


@dataclass(frozen=True)
class Lines:
    """The features of the D levels of a tree.

    Parameters
    ----------
    columns : ndarray of shape (d, n)
        Features of the training rows.
    feature : ndarray of shape (D,), int32
        Those of the levels.
    low, high, center, scale : ndarray of shape (D,)
        The range of each, its center and its standard deviation, infinite for levels without a slope.
    factors : ndarray of shape (n, P)
        Memory for standardised features, a 1, and zeros up to P.
    """

    columns: Array
    feature: Array
    low: Array
    high: Array
    center: Array
    scale: Array
    factors: Array

    @property
    def size(self) -> int:
        """The number of coefficients, D + 1."""
        return len(self.feature) + 1

    def fitted(
        self,
        rows: RowsOfLeaves,
        constant: Array,
        enough: Array,
        penalty: float,
        ridge: float,
        old: Array | None,
        prior: Array,
        n_jobs: int,
    ) -> tuple[Array, Array]:
        r"""A ridge regression in each leaf: slopes and last the value, (2**D, C, D + 1), and the outputs (n, C).

        It minimises :math:`\sum_i (g_i f_i + \tfrac12 h_i f_i^2) + \tfrac12 \lambda v^2 + \tfrac12 \mu |s|^2` for
        :math:`f_i = v + s \cdot z_i`, as in Shi, Li and Li, Gradient boosting with piece-wise linear regression
        trees, IJCAI 2019. Leaves of few rows, or of too small a hessian, are constant.

        Parameters
        ----------
        rows : RowsOfLeaves
        constant : ndarray of shape (2**D, C)
            The values of constant leaves.
        enough : ndarray of shape (2**D,), bool
            Whether the hessian of each leaf is large enough.
        penalty, ridge : float
            The penalties of values and of slopes.
        old : ndarray of shape (2**D, C, D + 1), optional
            Coefficients of an earlier fit. A leaf that had a slope has one, however few rows it has.
        prior : ndarray of shape (C,)
            Their weight.
        n_jobs : int
            Number of threads.
        """
        size, shape = self.size, constant.shape
        matrix, right, counts = self._normal_equations(rows, shape, n_jobs)
        diagonal = np.einsum("...ii->...i", matrix)
        # With very large weights a penalty would be lost in rounding.
        diagonal[..., :-1] += np.maximum(ridge, LEAST_RIDGE * diagonal[..., -1:])
        diagonal[..., -1] += penalty
        many = counts >= ROWS_PER_COEFFICIENT * size
        if old is not None:
            diagonal += prior[:, None]
            right += prior[:, None] * old
            many |= old[..., :-1].any(axis=(1, 2))
        # An output without hessians has no regression if its value is not penalised.
        many = (enough & many)[:, None] & (diagonal[..., -1] > 0.0)
        found = np.zeros((*shape, size))
        found[..., -1] = constant
        found[many] = np.linalg.solve(matrix[many], right[many, :, None])[..., 0]
        output = np.empty((len(rows.leaf), shape[1]))
        kernel, arrays = compiled("symmetric_tree_leaves").find_linear_outputs, (rows.leaf, found, self.factors)
        run_over_tiles(kernel, len(output), n_jobs, *arrays, output, least=MIN_ROWS_PER_THREAD)
        return found, output

    def _normal_equations(
        self, rows: RowsOfLeaves, shape: tuple[int, int], n_jobs: int
    ) -> tuple[Array, Array, Array]:
        """Of leaves and outputs matrices (2**D, C, p, p) and right-hand sides (2**D, C, p); weights (2**D,)."""
        (n_rows, width), size = self.factors.shape, self.size
        tile = max(TILE, -(-n_rows // MOST_TILES))
        n_tiles = -(-n_rows // tile)
        matrix, right = np.zeros((n_tiles, *shape, size, width)), np.zeros((n_tiles, *shape, width))
        counts, own = np.zeros((n_tiles, shape[0])), (self.low, self.high, self.center, self.scale)
        kernel = compiled("symmetric_tree_leaves").add_normal_equations
        arrays = self.columns, self.feature, *own, *rows, tile, self.factors, matrix, right, counts
        run_over_tiles(kernel, n_tiles, n_jobs, *arrays, least=1)
        return matrix.sum(axis=0)[..., :size], right.sum(axis=0)[..., :size], counts.sum(axis=0)

    def fields(self, found: Array) -> dict[str, Any]:
        """The arrays of a term with coefficients (2**D, C, D + 1)."""
        own = {"low": self.low, "high": self.high, "center": self.center}
        own |= {"value": np.ascontiguousarray(found[..., -1]), "slope": found[..., :-1] / self.scale}
        return {name: array[None] for name, array in own.items()}


def row_width(size: int) -> int:
    """The number of entries of a row of factors, for `size` coefficients."""
    return -(-size // LANES) * LANES


def old_coefficients(value: Array, slope: Array | None, center: Array | None, lines: Lines | None) -> Array:
    """The coefficients (2**D, C, D + 1) of the arrays of a tree, for the centers and scales of lines."""
    if slope is None or center is None or lines is None:
        slopes = np.zeros((*value.shape, 0 if lines is None else len(lines.feature)))
        return np.concatenate([slopes, value[..., None]], axis=-1)
    # Levels without a slope have an infinite scale.
    scaled = np.where(slope == 0.0, 0.0, slope * np.where(np.isfinite(lines.scale), lines.scale, 0.0))
    moved = value + slope @ (lines.center - center)
    return np.concatenate([scaled, moved[..., None]], axis=-1)


def central_range(values: Array, weight: Array) -> tuple[float, float, float, float]:
    """The range of a column (n,), low and high, and the weighted mean and standard deviation in it.

    The range leaves out a share of :data:`TAIL` of the rows at both ends, which would be far from the others where
    tails are heavy, and lines with them. Rows of weight 0 do not count. A column without values has 0, 0, 0 and 1.
    """
    counted = (weight > 0.0) & ~np.isnan(values)
    if not counted.any():
        return 0.0, 0.0, 0.0, 1.0
    values, weight = values[counted], weight[counted] / weight.max()
    unequal = None if weight.min() == weight.max() else weight
    low, high = np.quantile(values, (TAIL, 1.0 - TAIL), weights=unequal, method="inverted_cdf")
    values = np.clip(values, low, high)
    center = float(np.average(values, weights=weight))
    deviation = float(np.average(np.square(values - center), weights=weight)) ** 0.5
    return float(low), float(high), center, deviation or 1.0
