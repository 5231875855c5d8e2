"""A sum of regression trees."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..core import Array, Term


@dataclass(frozen=True, eq=False)
class Trees(Term):
    """The sum of binary regression trees, as XGBoost and LightGBM grow them, in flat arrays over all nodes.

    A row goes to the left child where ``x < threshold``, x rounded to the precision of the thresholds, or
    where x is missing (NaN) and ``missing_left``. Children are indices into the same arrays; a leaf has -1 for
    both. XGBoost compares so in float32. LightGBM's ``x <= t`` in float64 is ``x < nextafter(t, inf)``.

    Parameters
    ----------
    roots : ndarray of shape (T,), int64
        Index of each tree's root.
    left, right, feature : ndarray of shape (nodes,), int32
        Children and split feature.
    threshold : ndarray of shape (nodes,), float32 or float64
        Split value.
    missing_left : ndarray of shape (nodes,), bool
        Where missing values go.
    value : ndarray of shape (nodes, C), float64
        Leaf values; 0 at inner nodes.
    """

    roots: Array
    left: Array
    right: Array
    feature: Array
    threshold: Array
    missing_left: Array
    value: Array

    def __call__(self, X: Array) -> Array:
        from ..kernels.forest import add_trees

        needed = int(self.feature.max(initial=-1)) + 1
        if X.ndim != 2 or X.shape[1] < needed:
            raise ValueError(f"X must have shape (n, d) with d >= {needed}, got {X.shape}")
        out = np.zeros((len(X), self.value.shape[1]))
        rows = np.ascontiguousarray(X, dtype=self.threshold.dtype)
        add_trees(
            rows,
            self.roots,
            self.left,
            self.right,
            self.feature,
            self.threshold,
            self.missing_left,
            self.value,
            out,
        )
        return out

    @property
    def family(self) -> Hashable:
        """Trees of one precision of comparison."""
        return Trees, self.threshold.dtype.char

    def scaled(self, factor: float) -> Trees:
        return replace(self, value=factor * self.value)

    @classmethod
    def stack(cls, terms: Sequence[Trees]) -> Trees:
        offsets = np.cumsum([0] + [len(t.left) for t in terms[:-1]])

        def join(name: str) -> Array:
            return np.concatenate([getattr(t, name) for t in terms])

        def shifted(name: str) -> Array:
            parts = (getattr(t, name) for t in terms)
            return np.concatenate(
                [np.where(p >= 0, p + o, p).astype(p.dtype) for p, o in zip(parts, offsets, strict=True)]
            )

        links = (shifted(name) for name in ("roots", "left", "right"))
        return cls(*links, *(join(name) for name in ("feature", "threshold", "missing_left", "value")))
