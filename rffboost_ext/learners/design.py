"""The features of one fit in the layouts that learners need, each built at most once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from ..core import Term
from ..terms import FeatureMap
from ..utils.param_validation import PRECISION, Integer, require
from ..utils.sparse import Rows
from ..utils.typing import Array
from .tiles import Tiles

V = TypeVar("V")
# Cache key of the last term of a type, distinct from the keys of learners.
LAST_TERM = object()


class Design:
    """Features of n rows, and a cache of what learners derive from them.

    Parameters
    ----------
    original : ndarray or SparseRows of shape (n, d)
        The original features, float32 or float64.
    feature_map : FeatureMap, optional
        Imputation, encoding, ranges, log transforms and standardisation; by default the features stay as they are.
    n_jobs : int, default=1
        Number of threads of learners.
    precision : {"float64", "float32"}, default="float64"
        Precision of the compiled passes; sums over rows are in float64 in either case.
    learner_state : dict, optional
        State of learners shared with designs of other rows; see :meth:`learner_state`.

    Attributes
    ----------
    n_levels : dict of int to int
        The number of levels of each column of category codes.
    """

    def __init__(
        self,
        original: Rows,
        feature_map: FeatureMap | None = None,
        n_jobs: int = 1,
        precision: str = "float64",
        learner_state: dict[Hashable, Any] | None = None,
    ) -> None:
        for name, value, check in (("n_jobs", n_jobs, Integer(1)), ("precision", precision, PRECISION)):
            require("Design", name, value, check)
        self.original: Any = original
        self.feature_map = FeatureMap() if feature_map is None else feature_map
        self.n_jobs = n_jobs
        self.precision = precision
        self.n_levels = self.feature_map.n_levels
        self._cache: dict[Hashable, Any] = {}
        self._learner_state: dict[Hashable, Any] = {} if learner_state is None else learner_state

    def __getstate__(self) -> dict[str, Any]:
        """The state without the cache: a binned matrix cannot be pickled, and the cache is rebuilt on demand."""
        state = {name: value for name, value in vars(self).items() if name not in ("X", "tiles")}
        return state | {"_cache": {}}

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""
        return len(self.original)

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``: d, or e with an expansion."""
        expansion = self.feature_map.expansion
        return int(self.original.shape[1]) if expansion is None else expansion.n_expanded

    @property
    def imputed(self) -> Array:
        """The features in original units, imputed, one-hot encoded and log-transformed, (n, d) or (n, e)."""
        expansion, clipping = self.feature_map.expansion, self.feature_map.clipping
        imputed = self.original if expansion is None else expansion(self.original)
        if clipping is None or clipping.log_scale is None:
            return imputed
        return clipping(imputed.astype(np.float64, copy=False))

    @cached_property
    def X(self) -> Array:
        """Standardised features, (n, d), float64, row-major."""
        center, scale = self.feature_map.center, self.feature_map.scale
        if center is None or scale is None:
            return np.ascontiguousarray(self.imputed, dtype=np.float64)
        X = np.subtract(self.imputed, center, dtype=np.float64, order="C")
        X /= scale
        return X

    @cached_property
    def tiles(self) -> Tiles:
        """Standardised features in the layout of the compiled passes."""
        center, scale = self.feature_map.center, self.feature_map.scale
        if center is None or scale is None:
            center, scale = np.zeros(self.n_features), np.ones(self.n_features)
        return Tiles(self.imputed, center, scale, np.dtype(self.precision), self.n_jobs)

    def through(self, feature_map: FeatureMap) -> Design:
        """The same rows with another map, for terms of features that this map makes."""

        def build() -> Design:
            design = Design(self.original, feature_map, self.n_jobs, self.precision, self._learner_state)
            design.n_levels = self.n_levels
            return design

        return self.cache((Design, feature_map.key), build)

    def cache(self, key: Hashable, build: Callable[[], V]) -> V:
        """Return the value cached under `key`; it is built on first use.

        Learners cache layouts of the features for the duration of a fit, such as a kernel or a binned matrix.
        """
        if key not in self._cache:
            self._cache[key] = build()
        return self._cache[key]

    def learner_state(self, key: Hashable, build: Callable[[], V]) -> V:
        """Return the state stored under `key`, built on first use and shared with designs of other rows.

        Learners keep state that does not depend on single rows, such as the accumulated gains of features.
        """
        if key not in self._learner_state:
            self._learner_state[key] = build()
        return cast(V, self._learner_state[key])

    def restore(self, term: Term) -> Term:
        """The same function as a term of the original features.

        Raises
        ------
        TypeError
            If terms of its type do not support log-transformed features.
        """
        term = term.on_features(self.feature_map)
        # Models store equal frequencies once.
        key = LAST_TERM, type(term)
        term = self._cache[key] = term.with_arrays_of(self._cache.get(key, term))
        return term
