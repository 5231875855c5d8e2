"""The path of the lasso as a weak learner: each round adds a sparse linear function."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..core import Learner, Round, Term
from ..terms import Linear
from ..utils.parallel import SINGLE_BLAS
from ..utils.param_validation import POSITIVE, Integer
from ..utils.typing import Array
from .fourier.second_order import MIN_HESSIAN_UNIT, cap_relative_rate
from .registry import LEARNERS
from .subsampling import sample_by_gradient

# The penalty of a round, as a share of the smallest one that leaves all slopes at 0.
PENALTY_SHARE = 0.8
# Lower bound on the hessian of a row, relative to the mean: rows that are certain have long Newton steps.
MIN_HESSIAN = 0.05
# Deviations below this share of a column's largest magnitude are rounding errors.
CONSTANT = 1e-9
# Later rounds correct a coordinate descent that ends early.
MAX_ITER, TOL = 200, 1e-7


class Prior(NamedTuple):
    """Old slopes (k,) and an intercept, and their weight as a sum of weighted hessians."""

    weight: float
    slope: Array
    intercept: float


@dataclass(frozen=True)
class WeightedColumns:
    """Weighted columns of some rows, of mean 0 and variance 1 each.

    Parameters
    ----------
    share : ndarray of shape (m,)
        Weights with sum 1.
    total : float
        Their sum before.
    mean, scale : ndarray of shape (k,)
        Weighted mean and standard deviation of each column; infinite for a constant column.
    factors : ndarray of shape (m, k)
        Standardised columns times the roots of the weights, column by column in memory.
    gram : ndarray of shape (k, k), optional
        Their inner products, if there are fewer columns than rows.
    """

    share: Array
    total: float
    mean: Array
    scale: Array
    factors: Array
    gram: Array | None

    @classmethod
    def of(cls, X: Array, weight: Array) -> WeightedColumns:
        """Standardise columns X (m, k) with weights (m,)."""
        total = float(weight.sum())
        share = weight / total
        mean = share @ X
        factors = np.asfortranarray(X - mean)
        scale = np.sqrt(share @ np.square(factors))
        scale[scale <= CONSTANT * np.abs(X).max(axis=0, initial=0.0)] = np.inf
        factors /= scale
        factors *= np.sqrt(share)[:, None]
        gram = factors.T @ factors if len(factors) > len(mean) else None
        return cls(share, total, mean, scale, factors, gram)

    def lasso(self, target: Array, prior: Prior | None = None) -> tuple[Array, float]:
        """Slopes (k,) and the intercept for a target (m,), and for a prior if there is one."""
        middle = float(self.share @ target)
        factors, gram, values = self.factors, self.gram, np.sqrt(self.share) * (target - middle)
        penalty = PENALTY_SHARE * float(np.abs(factors.T @ values).max(initial=0.0))
        if prior is not None:
            # The prior is a further row for each column, and one for the value at the mean.
            ratio, slope = prior.weight / self.total, np.where(np.isinf(self.scale), 0.0, prior.slope)
            middle = (middle + ratio * (prior.intercept + float(slope @ self.mean))) / (1.0 + ratio)
            root, gram = np.sqrt(ratio), None
            factors = np.asfortranarray(np.vstack([factors, root * np.eye(len(slope))]))
            values = np.append(values, root * np.where(slope == 0.0, 0.0, self.scale) * slope)
        slope = coordinate_descent(factors, gram, values, penalty) / self.scale
        return slope, middle - float(slope @ self.mean)


def coordinate_descent(factors: Array, gram: Array | None, target: Array, penalty: float) -> Array:
    """The b (k,) that minimise ``|target - factors @ b|^2 / 2 + penalty * |b|_1``, for factors (m, k)."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import lasso_path

    size = float(np.linalg.norm(target))
    if not size > 0.0:
        return np.zeros(factors.shape[1])
    target = target / size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        slopes = lasso_path(
            *(factors, target),
            alphas=[penalty / size / len(target)],
            precompute=False if gram is None else gram,
            Xy=factors.T @ target,
            check_input=False,
            max_iter=MAX_ITER,
            tol=TOL,
        )[1]
    return np.asarray(size * slopes[:, 0])


def bounded_hessian(hessian: Array, weight: Array) -> Array:
    """Hessians (m, C) that are at least :data:`MIN_HESSIAN` times their mean over weighted rows."""
    least = MIN_HESSIAN * np.average(hessian, axis=0, weights=weight)
    return np.maximum(hessian, np.maximum(least, MIN_HESSIAN_UNIT))


@LEARNERS.register("lasso")
@dataclass(eq=False, repr=False)
class LassoPath(Learner):
    r"""A sparse linear function, fitted by the lasso: rounds follow the path of falling penalties.

    From the gradient g and the hessian H of any loss, the term of output c minimises

    .. math:: \sum_i w_i \left( g_{ic} f_c(x_i) + \tfrac{1}{2} H_{ic} f_c(x_i)^2 \right)
              + \lambda_c \sum_j s_j |\beta_{jc}|, \qquad f_c(x) = \beta_{0c} + \sum_j \beta_{jc} x_j,

    where :math:`s_j` is the standard deviation of feature j under the weights :math:`w_i H_{ic}`. This is a lasso
    of the working response :math:`-g / H`, which scikit-learn solves by coordinate descent [1]_. The penalty is
    0.8 times the smallest one that leaves all slopes at 0. Since a round at the penalty :math:`\lambda` leaves
    the features with correlations up to :math:`\lambda`, penalties fall geometrically from round to round. With
    the squared loss and full steps the sum of the rounds is the lasso at the last penalty, as long as no slope of
    its path shrinks: the monotone lasso [2]_. Early stopping chooses the penalty. With the log loss the rounds are
    those of sparse logistic regression.

    Parameters
    ----------
    max_samples : int, default=10_000
        Maximum number of rows that a round is fitted to.
    relative_rate : float, default=10.0
        Factor on the slopes: a step is this many times the learning rate, but at most a full one.

    Notes
    -----
    Hessians are at least 0.05 times their mean. A refit keeps the features of each round and fits their slopes.

    References
    ----------
    .. [1] Friedman, Hastie and Tibshirani, Regularization paths for generalized linear models via coordinate
       descent, Journal of Statistical Software 2010.
    .. [2] Hastie, Taylor, Tibshirani and Walther, Forward stagewise regression and the monotone lasso, Electronic
       Journal of Statistics 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import LassoPath, RFFBoostRegressor
    >>> X = np.random.default_rng(0).standard_normal((100, 50))
    >>> model = RFFBoostRegressor(learner=LassoPath(), n_estimators=20, early_stopping=False)
    >>> model.fit(X, 3.0 * X[:, 7]).feature_importances_.argmax()
    np.int64(7)
    """

    max_samples: int = 10_000
    relative_rate: float = 10.0

    step = "unit"
    multi_output = True
    constraints = {"max_samples": Integer(1), "relative_rate": POSITIVE}

    def fit(self, round: Round) -> tuple[Term, Array]:
        """The linear function of this round, and its outputs."""
        X = round.design.X
        with SINGLE_BLAS:
            slope, intercept = self._solve(round, X)
            used = np.flatnonzero(slope.any(axis=1))
            term = Linear(used, slope[used], intercept)
            return term, term(X)

    def refit(self, term: Term, round: Round) -> tuple[Term, Array]:
        """The linear function of the features of `term` for this round, and its outputs."""
        old, design = Linear.of(term), round.design
        X = old.factors(design.cache((LassoPath, "imputed"), lambda: design.imputed))
        with SINGLE_BLAS:
            slope, intercept = self._solve(round, X, old)
            return replace(old, slope=slope, intercept=intercept), X @ slope + intercept

    def _solve(self, round: Round, X: Array, old: Linear | None = None) -> tuple[Array, Array]:
        """Slopes (k, C) of columns X (n, k), and intercepts (C,); `old` is a term that is fitted again."""
        sample, rows = sample_by_gradient(round, self.max_samples)
        weight, gradient = sample.weight[rows, None], round.gradient[rows]
        hessian = bounded_hessian(round.hessian[rows], weight[:, 0])
        slope, intercept = np.zeros((X.shape[1], hessian.shape[1])), np.zeros(hessian.shape[1])
        rate = cap_relative_rate(self.relative_rate, round)
        for c, (curvature, target) in enumerate(zip((weight * hessian).T, (-gradient / hessian).T, strict=True)):
            prior = None
            if old is not None and round.prior_weight:
                prior = Prior(float(round.prior[c]), old.slope[:, c] / rate, float(old.intercept[c]) / rate)
            system = self._system(round, X, rows, curvature)
            slope[:, c], intercept[c] = system.lasso(target, prior)
        return rate * slope, rate * intercept

    def _system(self, round: Round, X: Array, rows: Array, curvature: Array) -> WeightedColumns:
        """The columns as weighted by `curvature` (m,); that of the last call if it had the same weights."""
        systems: dict[Hashable, WeightedColumns] = round.design.cache((LassoPath, "system"), dict)
        key = X.shape, rows.tobytes(), curvature.tobytes()
        if key not in systems:
            systems.clear()
            systems[key] = WeightedColumns.of(X[rows], curvature)
        return systems[key]
