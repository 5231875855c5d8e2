"""Types that annotations share."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
V = TypeVar("V")


class DesignLike(Protocol):
    """Features of the rows of a round; see :class:`~rffboost_ext.Design`."""

    original: Array
    n_jobs: int
    precision: str
    feature_map: Any

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``."""

    @property
    def X(self) -> Array:
        """Standardised features, (n, d)."""

    @property
    def tiles(self) -> Any:
        """Standardised features in the layout of the kernels."""

    def cache(self, key: Hashable, build: Callable[[], V]) -> V:
        """The value of `key` for these rows, built on first use."""

    def learner_state(self, key: Hashable, build: Callable[[], V]) -> V:
        """The value of `key` for all rows of a fit, built on first use."""

    def restore(self, term: Any) -> Any:
        """The term as a function of the original features."""
