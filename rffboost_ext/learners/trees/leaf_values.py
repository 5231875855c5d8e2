"""Values of the leaves of binary trees for given splits, as XGBoost computes them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...terms import Trees
from ...utils.typing import Array


@dataclass(frozen=True)
class LeafValues:
    r"""The values of leaves from sums G of gradients and H of hessians.

    The value is :math:`-\operatorname{sign}(G) \max(|G| - \alpha, 0) / (H + \lambda)`, of size at most `max_step`.
    A node of a smaller hessian than `least` has the value of its parent. With monotone constraints the mean of the
    values of two siblings bounds all values below them.

    Parameters
    ----------
    penalty, alpha : float
        L2 and L1 penalty.
    max_step : float
        Largest size of a value; 0 for no limit.
    least : float
        Minimum hessian.
    signs : ndarray of shape (d,), optional
        Monotone constraints of the features.
    """

    penalty: float
    alpha: float
    max_step: float
    least: float
    signs: Array | None = None

    def refit(self, trees: Trees, X: Array, gradient: Array, hessian: Array, prior: Array) -> tuple[Trees, Array]:
        """Trees with these leaves for weighted derivatives (n, C) of rows X (n, d), and their outputs (n, C).

        Each tree adds to one output. Old values have the weight `prior` (C,) in units of hessians.
        """
        leaf, outputs = (
            trees.leaves(X),
            np.zeros(trees.n_trees, np.int64) if trees.output is None else trees.output,
        )
        weight = np.where(trees.left < 0, prior[outputs][trees.tree_of_nodes], 0.0)
        sums = np.stack([-weight * trees.value[:, 0], weight])
        for rows, output in zip(leaf.T, outputs.tolist(), strict=True):
            for total, part in zip(sums, (gradient, hessian), strict=True):
                total += np.bincount(rows, part[:, output], len(total))
        value, fitted = self.of_nodes(trees, *sums), np.zeros_like(gradient)
        for rows, output in zip(leaf.T, outputs.tolist(), strict=True):
            fitted[:, output] += value[rows]
        return replace(trees, value=np.where(trees.left < 0, value, 0.0)[:, None]), fitted

    def of_nodes(self, trees: Trees, gradient: Array, hessian: Array) -> Array:
        """The value of each node, (nodes,), from sums over the rows of each leaf, (nodes,), 0 at other nodes."""
        levels = list(trees.inner_levels())
        for level in reversed(levels):
            for sums in (gradient, hessian):
                sums[level] = sums[trees.left[level]] + sums[trees.right[level]]
        value, enough = self._steps(gradient, hessian), hessian >= max(self.least, np.finfo(np.float64).tiny)
        value[trees.roots] = np.where(enough[trees.roots], value[trees.roots], 0.0)
        low, high = np.full(len(value), -np.inf), np.full(len(value), np.inf)
        for level in levels:
            children = trees.left[level], trees.right[level]
            for child in children:
                low[child], high[child] = low[level], high[level]
                value[child] = np.where(enough[child], value[child], value[level]).clip(low[child], high[child])
            if self.signs is not None:
                signs = self.signs[trees.feature[level]]
                middle = 0.5 * (value[children[0]] + value[children[1]])
                for child, sign in zip(children, (signs, -signs), strict=True):
                    high[child] = np.where(sign > 0, middle, high[child])
                    low[child] = np.where(sign < 0, middle, low[child])
                    value[child] = value[child].clip(low[child], high[child])
        return value

    def _steps(self, gradient: Array, hessian: Array) -> Array:
        """The steps of sums, (nodes,) each, without bounds."""
        bend = hessian + self.penalty
        size = np.maximum(np.abs(gradient) - self.alpha, 0.0)
        step = np.divide(-np.sign(gradient) * size, bend, out=np.zeros_like(bend), where=bend > 0.0)
        return step if self.max_step == 0.0 else step.clip(-self.max_step, self.max_step)
