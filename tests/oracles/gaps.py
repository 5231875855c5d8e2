"""What fills gaps, by one ridge regression per column and sweep."""

from __future__ import annotations

import numpy as np

# As in feature_expansion: the shrinkage of correlations, the number of regressions, and the rows per column that
# count for little.
TOWARDS_0, SWEEPS, FEW = 0.1, 2, 2.0


def filled(X, weight=None, new=None):
    """`new`, X itself by default, with its gaps filled by what X tells; with one column by the mean."""
    weight = np.ones(len(X)) if weight is None else weight
    new = X if new is None else new
    gap, holes = np.isnan(X), np.isnan(new)
    center = np.array([np.average(x[~np.isnan(x)], weights=weight[~np.isnan(x)]) for x in X.T])
    train = np.where(gap, 0.0, X - center)
    scale = np.sqrt(np.average(train**2, axis=0, weights=weight))
    train, test = train / scale, np.where(holes, 0.0, (new - center) / scale)
    for sweep in range(SWEEPS if X.shape[1] > 1 else 0):
        told = [predicted(train, test, weight, j) for j in range(X.shape[1])]
        share = np.ones(X.shape[1])
        if sweep == 0:
            share = np.average(~gap, axis=0, weights=weight) + FEW * X.shape[1] / weight.sum()
        ours, theirs = (np.column_stack(part) / share for part in zip(*told, strict=True))
        train, test = np.where(gap, ours, train), np.where(holes, theirs, test)
    return center + scale * test


def predicted(train, test, weight, j):
    """Column j of two matrices, as predicted from the others of each by a ridge regression on the first."""
    others = np.delete(np.arange(train.shape[1]), j)
    root = np.sqrt((1.0 - TOWARDS_0) * weight / weight.sum())[:, None]
    ridge = np.sqrt(TOWARDS_0) * np.eye(len(others))
    left = np.vstack([root * train[:, others], ridge])
    right = np.append(root[:, 0] * train[:, j], np.zeros(len(others)))
    coefficient = np.linalg.lstsq(left, right, rcond=None)[0]
    return train[:, others] @ coefficient, test[:, others] @ coefficient
