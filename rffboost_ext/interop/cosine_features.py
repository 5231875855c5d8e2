"""Checks that cosines and a host's trees use the same features."""

from __future__ import annotations

import numpy as np

from ..utils.typing import Array


def require_features(X: Array, n_samples: int) -> None:
    """Raise a ValueError unless X is (n_samples, d) and finite."""
    if X.ndim != 2 or len(X) != n_samples:
        raise ValueError(f"CosineObjective: X must have shape ({n_samples}, d), got {X.shape}")
    if not np.isfinite(X).all():
        raise ValueError(
            "CosineObjective: features must be finite for cosines, got NaN or infinity; impute missing values "
            "before building the matrix"
        )


def require_no_missing(n_missing: int) -> None:
    """Raise a ValueError if a matrix has missing values."""
    if n_missing:
        raise ValueError(
            f"CosineObjective: the matrix has {n_missing} missing values, which cosines cannot take; trees and "
            f"cosines must use the same features: build the matrix of imputed ones"
        )


def require_matrix_features(n_features: int, found: Array | None, X: Array) -> None:
    """Raise a ValueError unless X equals the features found in a matrix, if they are known, up to rounding."""
    if X.shape[1] != n_features:
        raise ValueError(f"CosineObjective: X must have the {n_features} columns of the matrix, got {X.shape[1]}")
    if found is None or np.allclose(found, X, rtol=1e-6, atol=0.0):
        return
    i, j = (index[0] for index in np.nonzero(~np.isclose(found, X, rtol=1e-6, atol=0.0)))
    raise ValueError(
        f"CosineObjective: X must hold the features of the matrix, got {X[i, j]:g} instead of {found[i, j]:g} in "
        f"row {i}, column {j}: trees and cosines must use the same features, so build the matrix of imputed ones"
    )
