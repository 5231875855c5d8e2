"""How much memory a fit takes, by the size of its data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ..boosting.early_stopping.monitor import MAX_BATCH
from ..boosting.early_stopping.validation_split import MAX_HELD_OUT
from ..contracts.fit import count_scores
from ..learners.kernel_machines.base import KernelMachine
from ..preprocessing.feature_encoder import FeatureEncoder
from ..preprocessing.feature_expansion import sketch_size
from ..preprocessing.rows import ENTRY
from ..utils.param_validation import Instance, require
from ..utils.sparse import MOST_ENTRIES, SparseRows, is_large
from ..utils.typing import Array
from .base import BaseRFFBoost
from .defaults import choose_recipe, tree_depth
from .planning import compose
from .policies import POOL_SIZE
from .recipe import Facts, Recipe

# Rows that show what the columns are.
MAX_ROWS = 1_000
FLOAT64, FLOAT32 = 8, 4
# The following numbers are fitted to eleven tables of 500 to 1,000,000 rows.
PROCESS = 8 * 2**20
COPIES_OF_FEATURES, COPIES_OF_SCORES, BYTES_OF_BINS = 5, 20, 2
# Of the entries of sparse rows, which are sorted to bin them, and bytes of a column with its bins.
COPIES_OF_ENTRIES, BYTES_OF_COLUMN = 7, 1_800
# Bins of the histograms of gradients and the hessian, of half of the leaves of a tree.
BINS = 256
# Trees of many outputs see projections of their gradients.
MAX_GRADIENTS = 5
# Rounds whose held-out scores are evaluated at once.
STAGES = 300


def estimate_memory(estimator: BaseRFFBoost, X: Any, y: Any) -> dict[str, int]:
    """Estimate how many bytes a fit takes at most, beyond what the process and its caller hold before it.

    Nothing is fitted, and only the first 1,000 rows of X are read. They say which share of the entries is not 0.

    Parameters
    ----------
    estimator : RFFBoostClassifier, RFFBoostRegressor or another booster
        The estimator, fitted or not.
    X : array-like of shape (n, d)
        The rows of the fit: an array, a sparse matrix or a table.
    y : array-like of shape (n,) or (n, K)
        Their targets; of a ranker, the relevance and the query of each row.

    Returns
    -------
    dict of str to int
        Bytes by what takes them; their sum is the estimate.

    Raises
    ------
    TypeError
        If the estimator is no booster.
    ValueError
        If a parameter of the estimator or the data are invalid.

    Notes
    -----
    The sum is 0.9 to 2.2 times the measured peak of default fits of nine tables: of 800 to 200,000 rows, 10 to
    1,000 columns, up to 10 classes, and categories of up to 300 levels. It is 0.6 to 1.6 times that of nine large
    sparse matrices, of 800 to 300,000 rows and 3,000 to 200,000 columns. The loaded package and its kernels take
    about 340 MB before the fit. Fits without early stopping, and of single learners, take less.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, estimate_memory
    >>> X = np.random.default_rng(0).standard_normal((10_000, 20))
    >>> found = estimate_memory(RFFBoostRegressor(), X, X[:, 0])
    >>> 10e6 < sum(found.values()) < 100e6
    True
    """
    require("estimate_memory", "estimator", estimator, Instance(BaseRFFBoost))
    parts, n = compose(estimator), _num_samples(X)
    targets, values = estimator._read_target(y)
    encoded, _ = targets.fit_transform(values, np.ones(len(values)))
    n_scores = count_scores(parts.loss, encoded, targets.n_classes)
    given = _safe_indexing(X.tocsr() if issparse(X) else X, np.arange(min(n, MAX_ROWS)))
    encoder = FeatureEncoder(type(estimator).__name__, estimator.categorical_features, estimator.missing)
    matrix = encoder.fit_transform(given)
    quality = estimator.quality
    recipe = quality if isinstance(quality, Recipe) else choose_recipe(Facts(n, matrix.shape[1]), quality)
    found = matrix.matrix.nnz if isinstance(matrix, SparseRows) else np.count_nonzero(matrix)
    if is_large((n, matrix.shape[1])) and found < MOST_ENTRIES * matrix.size:
        rows = of_sparse_rows(n, matrix.shape[1], n * found // len(matrix))
    else:
        encoder.fit_expansion(matrix, np.ones(len(matrix)))
        n_expanded = matrix.shape[1] if encoder.expansion is None else encoder.expansion.n_expanded
        rows = of_array(n, matrix, n_expanded, min(n_scores, MAX_GRADIENTS) + 1, recipe)
        rows["table"] = 0 if isinstance(given, np.ndarray) else FLOAT64 * n * matrix.shape[1]
    n_held = min(n // recipe.n_folds, MAX_HELD_OUT)
    return rows | {
        "scores": COPIES_OF_SCORES * FLOAT64 * n * n_scores,
        "held-out scores": 2 * FLOAT64 * min(MAX_BATCH, STAGES * n_held * n_scores),
        "process": PROCESS,
    }


def of_array(n: int, first: Array, n_expanded: int, n_gradients: int, recipe: Recipe) -> dict[str, int]:
    """Bytes of n rows of an array, given the first of them, (m, d), in a default fit."""
    d = first.shape[1]
    at_once = POOL_SIZE if n > 2 * POOL_SIZE else n
    machines = [one.learner for one in recipe.members if isinstance(one.learner, KernelMachine)]
    # A cosine and a sine of each frequency.
    kernel = 2 * max((one.n_components for one in machines), default=0)
    return {
        "rows of a model": first.itemsize * n * d,
        "features": COPIES_OF_FEATURES * FLOAT32 * at_once * n_expanded,
        "bins": BYTES_OF_BINS * n * d,
        "histograms": FLOAT64 * 2 ** (tree_depth(n) - 1) * BINS * d * n_gradients,
        "kernel machines": FLOAT64 * kernel * (n + kernel),
    }


def of_sparse_rows(n: int, d: int, n_entries: int) -> dict[str, int]:
    """Bytes of sparse rows (n, d) in a default fit."""
    return {
        "rows of a model": ENTRY * n_entries,
        "features": COPIES_OF_FEATURES * FLOAT32 * n * min(d, sketch_size(n)),
        "bins": COPIES_OF_ENTRIES * ENTRY * n_entries + BYTES_OF_COLUMN * d,
    }
