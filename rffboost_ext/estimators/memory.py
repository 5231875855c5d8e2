"""How much memory a fit takes, by the size of its data."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ..boosting.early_stopping.monitor import MAX_BATCH
from ..boosting.early_stopping.validation_split import FEW, MAX_HELD_OUT
from ..contracts.fit import count_scores
from ..preprocessing.feature_encoder import FeatureEncoder
from ..utils.param_validation import Instance, require
from .base import BaseRFFBoost
from .defaults import MEDIUM, POOL_SIZE
from .planning import compose

# Rows that show what the columns are.
MAX_ROWS = 1_000
FLOAT64, FLOAT32 = 8, 4
# The following numbers are fitted to eleven tables of 500 to 1,000,000 rows.
PROCESS = 8 * 2**20
COPIES_OF_FEATURES, COPIES_OF_SCORES, BYTES_OF_BINS = 5, 20, 2
# Leaves and bins of histograms of a gradient and a hessian; up to 3,000 rows trees are smaller.
LEAVES, FEW_LEAVES, BINS = 160, 32, 256
# Trees of many outputs see projections of their gradients.
MAX_GRADIENTS = 5
# Random features of kernel machines, up to 3,000 rows, and up to 1,000.
KERNEL_FEATURES, MORE_KERNEL_FEATURES = 512, 1_024
# Rounds whose held-out scores are evaluated at once.
STAGES = 300


def estimate_memory(estimator: BaseRFFBoost, X: Any, y: Any) -> dict[str, int]:
    """Estimate how many bytes a fit takes at most, beyond what the process and its caller hold before it.

    Nothing is fitted, and only the first 1,000 rows of X are read.

    Parameters
    ----------
    estimator : RFFBoostClassifier, RFFBoostRegressor or another booster
        The estimator, fitted or not.
    X : array-like of shape (n, d)
        The rows of the fit, an array or a table.
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
    The sum is 0.8 to 1.8 times the measured peak of default fits of eighteen tables: of 500 to 1,000,000 rows, 5
    to 1,000 columns, up to 26 classes, and categories of up to 5,000 levels. The loaded package and its kernels
    take about 340 MB before the fit. Fits without early stopping, and of single learners, take less.

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
    given = _safe_indexing(X, np.arange(min(n, MAX_ROWS)))
    encoder = FeatureEncoder(type(estimator).__name__, estimator.categorical_features, estimator.missing)
    matrix = encoder.fit_transform(given)
    encoder.fit_expansion(matrix, np.ones(len(matrix)))
    d, is_few = matrix.shape[1], n <= FEW
    n_expanded = d if encoder.expansion is None else encoder.expansion.n_expanded
    at_once = POOL_SIZE if n > 2 * POOL_SIZE else n
    n_held = min(n // 5 if is_few else n // 10, MAX_HELD_OUT)
    kernel = (MORE_KERNEL_FEATURES if n < MEDIUM else KERNEL_FEATURES) * is_few
    n_gradients = min(n_scores, MAX_GRADIENTS) + 1
    return {
        "table": 0 if isinstance(given, np.ndarray) else FLOAT64 * n * d,
        "rows of a model": matrix.itemsize * n * d,
        "features": COPIES_OF_FEATURES * FLOAT32 * at_once * n_expanded,
        "bins": BYTES_OF_BINS * n * d,
        "histograms": FLOAT64 * (FEW_LEAVES if is_few else LEAVES) * BINS * d * n_gradients,
        "kernel machines": FLOAT64 * kernel * (n + kernel),
        "scores": COPIES_OF_SCORES * FLOAT64 * n * n_scores,
        "held-out scores": 2 * FLOAT64 * min(MAX_BATCH, STAGES * n_held * n_scores),
        "process": PROCESS,
    }
