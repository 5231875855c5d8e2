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
# Rows of a tile, whose sums do not depend on threads, and the most tiles: each has a matrix for each leaf.
TILE, MOST_TILES = 2**13, 16
# Rows of factors and of matrices have a multiple of so many entries.
LANES = 8


class RowsOfLeaves(NamedTuple):
    """The leaf of each row (n,), int32, weighted gradients and hessians (n, 2 C), and weights (n,)."""

    leaf: Array
    derivatives: Array
    weight: Array


class NormalEquations(NamedTuple):
    """Of leaves and outputs sums of ``h z z^T`` (2**D, C, p, P) and ``-g z`` (2**D, C, P); weights (2**D,).

    Of P only the first p entries count. The last factor z is 1.
    """

    matrix: Array
    right: Array
    counts: Array

    @property
    def sums(self) -> Array:
        """Sums of gradients and hessians, (2**D, C, 2)."""
        last = self.matrix.shape[2] - 1
        return np.stack([-self.right[..., last], self.matrix[..., last, last]], axis=-1)


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

    def normal_equations(self, rows: RowsOfLeaves, n_jobs: int) -> NormalEquations:
        """Those of the leaves, from sums over tiles on `n_jobs` threads."""
        (n_rows, width), n_leaves, n_outputs = (
            self.factors.shape,
            2 ** len(self.feature),
            rows.derivatives.shape[1] // 2,
        )
        tile = max(TILE, -(-n_rows // MOST_TILES))
        shape = -(-n_rows // tile), n_leaves
        matrix, right = np.zeros((*shape, n_outputs, self.size, width)), np.zeros((*shape, n_outputs, width))
        counts, own = np.zeros(shape), (self.low, self.high, self.center, self.scale)
        kernel = compiled("symmetric_tree_leaves").add_normal_equations
        arrays = self.columns, self.feature, *own, *rows, tile, self.factors, matrix, right, counts
        run_over_tiles(kernel, len(matrix), n_jobs, *arrays, least=1)
        return NormalEquations(*(one.sum(axis=0) for one in (matrix, right, counts)))

    def fitted(
        self,
        equations: NormalEquations,
        constant: Array,
        enough: Array,
        penalties: tuple[float, float],
        old: Array | None,
        prior: Array,
    ) -> Array:
        r"""A ridge regression in each leaf: slopes and last the value, (2**D, C, D + 1).

        It minimises :math:`\sum_i (g_i f_i + \tfrac12 h_i f_i^2) + \tfrac12 \lambda v^2 + \tfrac12 \mu |s|^2` for
        :math:`f_i = v + s \cdot z_i`, as in Shi, Li and Li, Gradient boosting with piece-wise linear regression
        trees, IJCAI 2019. :math:`\lambda` and :math:`\mu` are the `penalties`; `equations` are overwritten. Leaves
        of few rows, or without `enough` of a hessian, are `constant` (2**D, C). `old` coefficients have the weight
        `prior` (C,), and a leaf that had a slope has one, however few rows it has.
        """
        has_slope = equations.counts >= ROWS_PER_COEFFICIENT * self.size
        if old is not None:
            has_slope |= old[..., :-1].any(axis=(1, 2))
        found = np.empty((*constant.shape, self.size))
        sums, before = equations[:2], np.empty((0, 0, 0)) if old is None else old
        solve_leaves = compiled("symmetric_tree_leaves").solve_leaves
        solve_leaves(*sums, enough & has_slope, constant, *penalties, before, prior, found)
        return found

    def outputs(self, leaf: Array, found: Array, n_jobs: int) -> Array:
        """The outputs of rows (n, C), of their leaves and the coefficients of those."""
        output = np.empty((len(leaf), found.shape[1]))
        kernel, arrays = compiled("symmetric_tree_leaves").find_linear_outputs, (leaf, found, self.factors, output)
        run_over_tiles(kernel, len(output), n_jobs, *arrays, least=MIN_ROWS_PER_THREAD)
        return output

    def fields(self, found: Array) -> dict[str, Any]:
        """The arrays of a term with coefficients (2**D, C, D + 1)."""
        own = {"low": self.low, "high": self.high, "center": self.center}
        own |= {"value": np.ascontiguousarray(found[..., -1]), "slope": found[..., :-1] / self.scale}
        return {name: array[None] for name, array in own.items()}


def row_width(size: int) -> int:
    """The number of entries of a row of factors, for `size` coefficients."""
    return -(-size // LANES) * LANES


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
