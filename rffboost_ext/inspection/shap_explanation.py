"""Shapley values as an Explanation of the shap package, for its plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..preprocessing.feature_encoder import FeatureEncoder
from ..preprocessing.tables import column_values, read_table
from ..utils.typing import Array


def explanation_of(
    values: Array, baseline: Array, X: Any, encoder: FeatureEncoder, output_names: Sequence[Any] | None
) -> Any:
    """Shapley values as a ``shap.Explanation``.

    Parameters
    ----------
    values : ndarray of shape (n, C, d)
        Shapley values.
    baseline : ndarray of shape (C,)
        Mean raw scores of the background.
    X : array-like of shape (n, d)
        The rows as the user has them.
    encoder : FeatureEncoder
        The columns of the fit.
    output_names : sequence of length C, optional
        Names of the raw scores, such as classes.

    Returns
    -------
    shap.Explanation
        Values of shape (n, d) or (n, d, C), base values of shape (n,) or (n, C).
    """
    try:
        from shap import Explanation
    except ImportError as error:
        raise ImportError(
            "shap_explanation needs SHAP, which is not installed: pip install 'rffboost-ext[shap]'"
        ) from error
    base = np.tile(baseline, (len(values), 1))
    single = len(baseline) == 1
    return Explanation(
        values[:, 0] if single else np.ascontiguousarray(values.transpose(0, 2, 1)),
        base_values=base[:, 0] if single else base,
        data=encoder.transform(X),
        # SHAP colours points by the numbers in data, and prints what it displays.
        display_data=None if encoder.categories is None else original_values(X),
        feature_names=names_for_shap(encoder),
        output_names=None if single or output_names is None else [str(name) for name in output_names],
    )


def names_for_shap(encoder: FeatureEncoder) -> list[str]:
    """Names of the columns, or those that SHAP gives to columns without a name."""
    if encoder.names is None:
        return [f"Feature {j}" for j in range(encoder.n_features_in_)]
    return [str(name) for name in encoder.names]


def original_values(X: Any) -> Array:
    """A table of any types as an array of objects, (n, d)."""
    table, n_features = read_table(X), np.shape(X)[1]
    return np.column_stack([column_values(table, j).astype(object) for j in range(n_features)])
