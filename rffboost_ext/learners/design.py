"""The features of one fit, in every layout that some learner needs, each built at most once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np

from ..core import Term
from ..terms import ClipAndLog, Cosines, ImputeAndEncode, Standardized, clip, expand, restore
from ..utils.param_validation import PRECISION, Integer, require
from ..utils.typing import Array
from .tiles import Tiles

V = TypeVar("V")
# The key of the last frequencies, which no learner's key equals.
FREQUENCIES = object()


class Design:
    """Features of n rows and cached views of them.

    Parameters
    ----------
    original : ndarray of shape (n, d)
        The features as the user gave them, float32 or float64.
    center, scale : ndarray of shape (d,), optional
        Learners see ``X = (original - center) / scale``; 0 and 1 where only the other is given.
    n_jobs : int, default=1
        Threads that views and learners may use.
    precision : {"float64", "float32"}, default="float64"
        Precision of the compiled passes; sums over rows are in float64 in either case.
    learner_state : dict, optional
        State of learners that outlives these rows; see :meth:`learner_state`.
    expansion : ImputeAndEncode, optional
        Imputation and encoding of columns with missing values or category codes: ``X`` is then
        ``(expansion(original) - center) / scale``, (n, e), and `center` and `scale` are (e,).
    extent : ClipAndLog, optional
        The range of the features, expanded ones where there is an expansion, beyond which terms are held constant;
        where it has bends, learners see bent features.
    """

    def __init__(
        self,
        original: Array,
        center: Array | None = None,
        scale: Array | None = None,
        n_jobs: int = 1,
        precision: str = "float64",
        learner_state: dict[Hashable, Any] | None = None,
        expansion: ImputeAndEncode | None = None,
        clipping: ClipAndLog | None = None,
    ) -> None:
        for name, value, check in (("n_jobs", n_jobs, Integer(1)), ("precision", precision, PRECISION)):
            require("Design", name, value, check)
        self.original = original
        self.n_jobs = n_jobs
        self.precision = precision
        self.expansion = expansion
        self.clipping = clipping
        moved = center is not None or scale is not None
        self.center = np.zeros(self.n_features) if moved and center is None else center
        self.scale = np.ones(self.n_features) if moved and scale is None else scale
        self._views: dict[Hashable, Any] = {}
        self._learner_state: dict[Hashable, Any] = {} if learner_state is None else learner_state
        self._output: tuple[Term, Array] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without the views: a binned matrix cannot be pickled, and views are rebuilt on demand."""
        state = {name: value for name, value in vars(self).items() if name not in ("X", "tiles")}
        return state | {"_views": {}}

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""
        return len(self.original)

    @property
    def n_features(self) -> int:
        """Number of columns that learners see: d, or e with an expansion."""
        return int(self.original.shape[1]) if self.expansion is None else self.expansion.n_expanded

    @property
    def imputed(self) -> Array:
        """The features in original units, imputed, one-hot encoded and bent, (n, d) or (n, e)."""
        filled = self.original if self.expansion is None else self.expansion(self.original)
        if self.clipping is None or self.clipping.log_scale is None:
            return filled
        return self.clipping(filled.astype(np.float64, copy=False))

    @cached_property
    def X(self) -> Array:
        """Standardised features, (n, d), float64, row-major."""
        if self.center is None or self.scale is None:
            return np.ascontiguousarray(self.imputed, dtype=np.float64)
        X = np.subtract(self.imputed, self.center, dtype=np.float64, order="C")
        X /= self.scale
        return X

    @cached_property
    def tiles(self) -> Tiles:
        """Standardised features as the compiled passes read them."""
        center, scale = self.center, self.scale
        if center is None or scale is None:
            center, scale = np.zeros(self.n_features), np.ones(self.n_features)
        return Tiles(self.imputed, center, scale, np.dtype(self.precision), self.n_jobs)

    def cache(self, key: Hashable, build: Callable[[], V]) -> V:
        """Return what was built under `key`, building it on first use.

        A learner uses it to cache its own layout for the duration of a fit, such as a kernel matrix or a binned
        matrix; built-in learners do the same.
        """
        if key not in self._views:
            self._views[key] = build()
        return self._views[key]

    def learner_state(self, key: Hashable, build: Callable[[], V]) -> V:
        """Return what was built under `key`, building it on first use; designs of other rows share it.

        A learner uses it to keep state that does not depend on single rows, such as the gains of each feature so
        far.
        """
        if key not in self._learner_state:
            self._learner_state[key] = build()
        return cast(V, self._learner_state[key])

    def cache_output(self, term: Term, output: Array) -> None:
        """Cache the output of the newest term on these rows, if the learner has it already, until it is used."""
        self._output = term, output

    def output(self, term: Term) -> Array:
        """Outputs of `term` on these rows, (n, C)."""
        known, self._output = self._output, None
        if known is not None and known[0] is term:
            return known[1]
        return self.restore(term)(self.original)

    def restore(self, term: Term) -> Term:
        """The same function as a term of the original features.

        Raises
        ------
        TypeError
            If it is of a type that cannot be that of bent ones.
        """
        if self.center is not None and self.scale is not None:
            term = restore(term, self.center, self.scale)
        term = self._sharing(term)
        if self.clipping is not None:
            if self.clipping.log_scale is not None and isinstance(term, Standardized):
                raise TypeError(
                    f"a {type(term.term).__name__} is no function of bent features: its learner must have "
                    f"bends=False, or the estimator standardize=True"
                )
            term = clip(term, self.clipping)
        return term if self.expansion is None else expand(term, self.expansion)

    def _sharing(self, term: Term) -> Term:
        """The term; frequencies that equal those of the term before are the same array, which models have once."""
        if not isinstance(term, Cosines) or len(term.omega) < 2:
            return term
        known = self._views.setdefault(FREQUENCIES, term.omega)
        if known is term.omega or not np.array_equal(known, term.omega):
            self._views[FREQUENCIES] = term.omega
            return term
        return replace(term, omega=known)
