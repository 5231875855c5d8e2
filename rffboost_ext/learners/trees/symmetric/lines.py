"""Linear leaves of symmetric trees: ridge regressions on the features of their levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....kernels import compiled
from ....utils.parallel import run_as_team
from ....utils.typing import Array

# Share of the rows at either end of a feature at which lines are constant.
TAIL = 0.005
# Rows of a tile, whose sums do not depend on threads, and the most tiles: each has a matrix for each leaf.
TILE, MOST_TILES = 2**12, 16
# Rows of factors and of matrices have a multiple of so many entries.
LANES = 8


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

    def fitted(
        self,
        leaf: Array,
        derivatives: Array,
        weight: Array,
        penalties: tuple[float, float, float],
        old: Array | None,
        prior: Array,
        n_jobs: int,
    ) -> tuple[Array, Array]:
        r"""A ridge regression in each leaf: slopes and last the value, (2**D, C, D + 1), and outputs (n, C).

        It minimises :math:`\sum_i (g_i f_i + \tfrac12 h_i f_i^2) + \tfrac12 \lambda v^2 + \tfrac12 \mu |s|^2`
        for :math:`f_i = v + s \cdot z_i`, as in Shi, Li and Li, Gradient boosting with piece-wise linear
        regression trees, IJCAI 2019. Leaves of few rows are constant.

        Parameters
        ----------
        leaf : ndarray of shape (n,), int32
        derivatives : ndarray of shape (n, 2 C)
            Weighted gradients, then hessians.
        weight : ndarray of shape (n,)
        penalties : tuple
            :math:`\lambda`, :math:`\mu` and the least hessian of a leaf.
        old : ndarray of shape (2**D, C, D + 1), optional
            Coefficients that have the weight `prior` (C,). A leaf that had a slope has one, whatever its rows.
        prior : ndarray of shape (C,)
        n_jobs : int
            Number of threads, of which no result depends.
        """
        (n_rows, width), n_outputs, size = self.factors.shape, derivatives.shape[1] // 2, len(self.feature) + 1
        tile = max(TILE, -(-n_rows // MOST_TILES))
        shape = -(-n_rows // tile), 2 ** len(self.feature)
        sums = np.zeros((*shape, n_outputs, size, width)), np.zeros((*shape, n_outputs, width)), np.zeros(shape)
        coefficients, output = np.zeros((shape[1], n_outputs, size)), np.empty((n_rows, n_outputs))
        before = np.empty((0, n_outputs, size)) if old is None else old
        bounds = self.low, self.high, self.center, self.scale
        kernels = compiled("symmetric_tree_leaves")
        lines = kernels.LinearLeaves(
            self.feature, *bounds, leaf, derivatives, weight, *penalties, before, prior, tile, self.factors, *sums,
            coefficients, output,
        )  # fmt: skip
        run_as_team(kernels.fit_linear_leaves, n_jobs, len(sums[0]), self.columns, lines)
        return coefficients, output

    def fields(self, coefficients: Array) -> dict[str, Any]:
        """The arrays of a term with coefficients (2**D, C, D + 1)."""
        own = {"low": self.low, "high": self.high, "center": self.center}
        own |= {"value": np.ascontiguousarray(coefficients[..., -1]), "slope": coefficients[..., :-1] / self.scale}
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
    values, weight = values[counted].astype(np.float64), weight[counted] / weight.max()
    unequal = None if weight.min() == weight.max() else weight
    low, high = np.quantile(values, (TAIL, 1.0 - TAIL), weights=unequal, method="inverted_cdf")
    values = np.clip(values, low, high)
    center = float(np.average(values, weights=weight))
    deviation = float(np.average(np.square(values - center), weights=weight)) ** 0.5
    return float(low), float(high), center, deviation or 1.0
