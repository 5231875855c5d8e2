"""Ridge regression as a weak learner: each round adds a linear function of all columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import diags_array

from ..core import Learner, Round, Term
from ..terms import ClipAndLog, Linear
from ..terms.linear import clipped_entries
from ..utils.parallel import SINGLE_BLAS
from ..utils.param_validation import POSITIVE
from ..utils.sparse import SparseRows, is_sparse
from ..utils.typing import Array
from .fourier.second_order import cap_relative_rate
from .lasso import CONSTANT, bounded_hessian
from .registry import LEARNERS

# Of conjugate gradients: later rounds correct a solution that ends early.
MAX_ITER, TOL = 10, 1e-4


@dataclass(frozen=True)
class ScaledColumns:
    """The columns that a fit regresses on.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n, k)
        Values times `scale`.
    XT : ndarray or csr_array of shape (k, n)
        The same, transposed.
    scale : ndarray of shape (k,)
        The factor of each column; 0 for a constant one.
    squares : ndarray of shape (n,)
        The squared distance of each row from the mean.
    """

    X: Any
    XT: Any
    scale: Array
    squares: Array

    @classmethod
    def of(cls, X: Any, weight: Array) -> ScaledColumns:
        """Columns (n, k), an array or a sparse matrix without missing values, scaled by weighted rows."""
        share = weight / weight.sum()
        center, largest = share @ X, abs(X).max(axis=0)
        if isinstance(X, np.ndarray):
            size = np.sqrt(share @ np.square(X - center))
            usable = size > CONSTANT * largest
        else:
            largest = largest.toarray().ravel()
            variance = (share @ X.power(2, np.float64) - np.square(center)).clip(min=0.0)
            # The variance of a constant column is a rounding error of the square of its mean.
            usable, size = variance > CONSTANT * np.square(center), variance**0.25 * np.sqrt(largest)
        scale = np.divide(1.0, size, out=np.zeros_like(size), where=usable)
        scaled = X * scale if isinstance(X, np.ndarray) else (X @ diags_array(scale)).tocsr()
        XT = scaled.T if isinstance(X, np.ndarray) else scaled.T.tocsr()
        middle = center * scale
        return cls(scaled, XT, scale, (scaled * scaled).sum(axis=1) - 2.0 * (scaled @ middle) + middle @ middle)

    def solve(self, target: Array, weight: Array, penalty: float, old: Array, prior: float) -> Array:
        """Slopes (k,) of scaled columns for a target (n,) with weights, and an intercept, last: (k + 1,).

        Old coefficients (k + 1,) have the weight `prior`.
        """
        from scipy.sparse.linalg import LinearOperator, cg

        total = weight.sum()
        middle, value = (self.XT @ weight) / total, float(weight @ target) / total
        value = (total * value + prior * (old[-1] + float(old[:-1] @ middle))) / (total + prior)

        # The columns are centred by the weights, so that a constant has no product with them.
        right = self.XT @ (weight * target) - middle * float(weight @ target) + prior * old[:-1]

        def product(slope: Array) -> Array:
            inner = weight * (self.X @ slope - middle @ slope)
            return np.asarray(self.XT @ inner - middle * inner.sum() + (penalty + prior) * slope)

        matrix = LinearOperator((len(right), len(right)), matvec=product, dtype=np.float64)
        slope, _ = cg(matrix, right, rtol=TOL, maxiter=MAX_ITER)
        return np.append(slope, value - middle @ slope)


@LEARNERS.register("ridge")
@dataclass(eq=False, repr=False)
class RidgePath(Learner):
    r"""A linear function of all columns, fitted by ridge regression in each round.

    From the gradient g and the hessian H of any loss, the term of output c minimises

    .. math:: \sum_i w_i \left( g_{ic} f_c(x_i) + \tfrac{1}{2} H_{ic} f_c(x_i)^2 \right)
              + \frac{\lambda_c}{2} \sum_j s_j^2 \beta_{jc}^2, \qquad f_c(x) = \beta_{0c} + \sum_j \beta_{jc} x_j,

    a ridge regression of the working response :math:`-g / H` [1]_, where :math:`s_j` is the standard deviation of
    feature j. With the log loss the rounds are those of
    logistic regression by iteratively reweighted least squares, whose penalty falls from round to round (iterated
    Tikhonov regularisation [2]_). Early stopping chooses the number of rounds, and thereby the penalty. The slopes
    are found by at most ten steps of conjugate gradients, each of which takes two products with the matrix.

    Of a sparse matrix all columns are used as they are, and no entry is added. There :math:`s_j` is the geometric
    mean of the standard deviation and the largest size of a value of column j, so that rare columns have smaller
    effects than they would have after standardisation, and larger ones than without scaling.

    Parameters
    ----------
    penalty : float, default=1.0
        :math:`\lambda_c` in units of :math:`\sum_i w_i H_{ic} |z_i|^2 / \sum_i w_i`, for scaled and centred
        rows z: the share of one average row.
    relative_rate : float, default=10.0
        Factor on the slopes: a step is this many times the learning rate, but at most a full one.

    Notes
    -----
    Hessians are at least 0.05 times their mean. Missing values are replaced by the mean of their column.
    Others are clipped to its range unless ``extrapolation`` is "continue".

    References
    ----------
    .. [1] Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2009, sections 3.4.1 and 4.4.1.
    .. [2] Hanke and Groetsch, Nonstationary iterated Tikhonov regularization, Journal of Optimization Theory and
       Applications 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, RidgePath
    >>> X = np.random.default_rng(0).standard_normal((100, 5))
    >>> model = RFFBoostRegressor(learner=RidgePath(), n_estimators=20, early_stopping=False)
    >>> bool(model.fit(X, X.sum(axis=1)).score(X, X.sum(axis=1)) > 0.9)
    True
    """

    penalty: float = 1.0
    relative_rate: float = 10.0

    step = "unit"
    multi_output = True
    constraints = {"penalty": POSITIVE, "relative_rate": POSITIVE}

    def fit(self, round: Round) -> tuple[Term, Array]:
        """The linear function of this round, and its outputs."""
        return self._fitted(round, None)

    def refit(self, term: Term, round: Round) -> tuple[Term, Array]:
        """A linear function for this round, near `term` if the round has a prior."""
        return self._fitted(round, Linear.of(term))

    def _fitted(self, round: Round, old: Linear | None) -> tuple[Term, Array]:
        design, rate = round.design, cap_relative_rate(self.relative_rate, round)
        on_original = is_sparse(design.original) if old is None else old.on_original
        zero: Any = 0.0
        if old is None:
            columns = design.cache((RidgePath, "columns"), lambda: own_columns(round, on_original))
        elif on_original and old.clipping is not None:
            clipping = old.clipping
            columns, zero = design.cache((RidgePath, clipping.key), lambda: clipped_columns(round, clipping))
        else:
            columns = ScaledColumns.of(old.factors(design.imputed), round.loss_weight)
        hessian = bounded_hessian(round.hessian, round.weight)
        target, curvature = -round.gradient / hessian, round.weight[:, None] * hessian
        solution = np.zeros((len(columns.scale) + 1, target.shape[1]))
        if old is not None and round.prior_weight:
            solution = coefficients(old, columns.scale, zero) / rate
        with SINGLE_BLAS:
            for c, before in enumerate(solution.T.copy()):
                penalty = self.penalty * float(curvature[:, c] @ columns.squares) / round.total_weight
                options = penalty, before, float(round.prior[c])
                solution[:, c] = columns.solve(target[:, c], curvature[:, c], *options)
            solution *= rate
            output = np.asarray(columns.X @ solution[:-1] + solution[-1])
        slope = solution[:-1] * columns.scale[:, None]
        if old is not None and not on_original:
            return replace(old, slope=slope, intercept=solution[-1]), output
        used = np.flatnonzero(slope.any(axis=1))
        if old is not None:
            return replace(old, columns=used, slope=slope[used], intercept=solution[-1] - zero @ slope), output
        term = Linear(used, slope[used], solution[-1])
        if on_original:
            clipping = design.cache((RidgePath, "clipping"), lambda: sparse_clipping(round))
            term = replace(term, clipping=clipping, on_original=True)
        return term, output


def own_columns(round: Round, on_original: bool) -> ScaledColumns:
    """The columns of a new term: all of sparse rows, or those of ``design.X``."""
    rows, weight = round.design.original, round.loss_weight
    return ScaledColumns.of(rows.filled(rows.means(weight)).matrix if on_original else round.design.X, weight)


def clipped_columns(round: Round, clipping: ClipAndLog) -> tuple[ScaledColumns, Array]:
    """All columns of the original rows, clipped as in the fit, less a row of zeros that is clipped, (d,)."""
    entries, zero = clipped_entries(SparseRows.of(round.design.original), clipping)
    return ScaledColumns.of(entries.matrix, round.loss_weight), zero[0]


def sparse_clipping(round: Round) -> ClipAndLog:
    """Imputation by means and, if the features of the fit have a range, that of each sparse column."""
    rows, clipping = round.design.original, round.design.feature_map.clipping
    means = rows.means(round.loss_weight)
    if clipping is None or not clipping.is_bounded:
        return ClipAndLog.only_imputing(means)
    ends = rows.matrix.nanmin(axis=0), rows.matrix.nanmax(axis=0)
    low, high = (end.toarray().ravel().astype(np.float64) for end in ends)
    return ClipAndLog(low, high, means=means)


def coefficients(term: Linear, scale: Array, zero: Any) -> Array:
    """The slopes of a term for scaled columns, and last its values at their zero, (k + 1, C)."""
    slope, intercept = term.slope, term.intercept
    if term.on_original:
        slope = np.zeros((len(scale), len(intercept)))
        slope[term.columns] = term.slope
        intercept = intercept + zero @ slope
    factor = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0.0)
    return np.vstack([slope * factor[:, None], intercept])
