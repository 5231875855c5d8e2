"""Weighted sums of cosines: the terms of all Fourier learners."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import final

import numpy as np

from ..core import Term
from ..utils.arrays import arrays_equal, require_n_features
from ..utils.parallel import N_JOBS, run_over_tiles
from ..utils.typing import Array
from .clipping import ClipAndLog
from .cosine_arrays import BLOCK_ENTRIES, Projection, distinct_rows, group_sums, half_quadrature, pad_rows
from .mapped import FeatureMap, around_clipped
from .stored_fields import require_field, require_instance
from .total_effects import BLOCK_SIZE, MAX_COSINES, changes_of_outputs, divided_variance, sample_pairs

# Entries of the intermediate array of gradients: few enough for the cache, enough for BLAS.
CHUNK_ENTRIES = 2**17


@final
@dataclass(frozen=True, eq=False)
class Cosines(Term):
    """A sum of cosines, ``x -> sum_m weight[m] * cos(<omega[m], x - center> - phase[m])``.

    A landmark x_t only determines phases: ``cos(w . (x - x_t)) = cos(w . x - phi)`` with ``phi = w . x_t``. K
    features around a landmark, one cosine, a pair of sine and cosine and a whole ensemble are therefore the same
    object, closed under scaling and stacking.

    Parameters
    ----------
    omega : ndarray of shape (M, d) or (M, r)
        Frequencies, in radians per unit of each feature, or of each coordinate of a projection.
    phase : ndarray of shape (M,)
        Phases, in radians.
    weight : ndarray of shape (M, C)
        Weights.
    center : ndarray of shape (d,), optional
        Subtracted from x; the origin by default. In exact arithmetic it is equivalent to a shift of the phases;
        near the data it keeps ``omega . (x - center)``, and so the rounding error, small.
    clipping : ClipAndLog, optional
        Applied to x first; by default x is neither imputed, nor clipped, nor log-transformed.
    projection : Projection, optional
        The r coordinates of ``x - center`` on which the cosines act, for tables with more columns than rows; by
        default they act on all features.

    Notes
    -----
    Evaluated in the precision of X: with float32 the error is about that of ``omega . (x - center)``.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import Cosines
    >>> term = Cosines(omega=np.array([[np.pi, 0.0]]), phase=np.zeros(1), weight=np.full((1, 1), 2.0))
    >>> term(np.array([[0.0, 5.0], [1.0, 5.0]]))
    array([[ 2.],
           [-2.]])
    """

    omega: Array
    phase: Array
    weight: Array
    center: Array | None = None
    clipping: ClipAndLog | None = None
    projection: Projection | None = None

    def __call__(self, X: Array) -> Array:
        return self.group_outputs(X, None, 1)[0]

    def group_outputs(self, X: Array, group: Array | None, n_groups: int) -> Array:
        """Outputs of each group of cosines, (n_groups, n, C).

        Ascending indices `group` (M,) assign cosines to groups; None is one group.
        """
        from ..kernels.cosine_prediction import BLOCK, predict_pass

        require_n_features(X, self.n_features)
        dtype = np.dtype(np.float32 if X.dtype == np.float32 else np.float64)
        X = np.ascontiguousarray(X if self.projection is None else self.coordinates(X), dtype=dtype)
        out, arrays = np.zeros((n_groups, len(X), self.weight.shape[1])), self.kernel_arrays(dtype.char)
        if not len(self.phase):
            return out
        padding = len(arrays[-1]) - len(self.phase)
        owner = np.zeros(len(arrays[-1]), dtype=np.int64) if group is None else np.pad(group, (0, padding), "edge")
        run_over_tiles(predict_pass, -(-len(X) // BLOCK), N_JOBS.get(), X, *arrays, owner, out)
        return out

    @cached_property
    def _kernel_arrays(self) -> dict[str, tuple[Array, ...]]:
        return {}

    def kernel_arrays(self, dtype: str) -> tuple[Array, ...]:
        """The arguments of the kernels.

        They are center, low, high, log scale, means, frequencies and phases over pi, and weights.

        Cached, since the conversion takes longer than the prediction of a single row.

        Parameters
        ----------
        dtype : "f" or "d"
            NumPy's character code of the type of frequencies, phases and weights.
        """
        cache, d = self._kernel_arrays, self.omega.shape[1]
        if dtype in cache:
            return cache[dtype]
        # Coordinates of a projection are centred and clipped before.
        own_center, own_clipping = (self.center, self.clipping) if self.projection is None else (None, None)
        center = np.zeros(d) if own_center is None else own_center
        clipping = own_clipping or ClipAndLog(np.array(-np.inf), np.array(np.inf))
        log_scale = 0.0 if clipping.log_scale is None else clipping.log_scale
        means = np.nan if clipping.means is None else clipping.means
        ends = clipping.low, clipping.high, log_scale, means
        columns = [np.broadcast_to(values, d).astype(np.float64) for values in ends]
        # The kernel computes four cosines at a time.
        arrays = (pad_rows(array, 4) for array in (self.omega / np.pi, self.phase / np.pi, self.weight))
        # Weights beyond the range of float32 become infinite.
        with np.errstate(over="ignore"):
            converted = [np.ascontiguousarray(array, dtype=dtype) for array in arrays]
        return cache.setdefault(dtype, (center, *columns, *converted))

    @property
    def family(self) -> Hashable:
        """Cosines with the same clipping and projection can be stacked."""
        return Cosines, self.clipping and self.clipping.key, self.projection and self.projection.key

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return int(self.omega.shape[1]) if self.projection is None else self.projection.n_features

    @property
    def frequencies(self) -> Array:
        """Frequencies of all features, (M, d): ``omega`` if there is no projection."""
        return self.column_frequencies(slice(None))

    def column_frequencies(self, columns: slice | Array) -> Array:
        """Frequencies of some of the features, (M, k)."""
        if self.projection is None:
            return self.omega[:, columns]
        return self.omega @ self.projection.matrix[:, columns]

    def features(self, X: Array) -> Array:
        """The unweighted cosines, (n, M)."""
        require_n_features(X, self.n_features)
        z = self.angles(X)
        return np.cos(z, out=z)

    def angles(self, X: Array) -> Array:
        """The arguments of the cosines, ``omega[m] . (x - center) - phase[m]``: (n, M)."""
        z = self.coordinates(X) @ self.omega.T
        z -= self.phase
        return z

    def coordinates(self, X: Array) -> Array:
        """What the frequencies multiply: X after ``clipping``, centred and projected, (n, d) or (n, r)."""
        if self.projection is not None and len(X) > (size := max(1, BLOCK_ENTRIES // self.n_features)):
            return np.concatenate([self.coordinates(X[start : start + size]) for start in range(0, len(X), size)])
        X = self.clip_and_log(X)
        X = X if self.center is None else X - self.center
        return X if self.projection is None else self.projection(X)

    def clip_and_log(self, X: Array) -> Array:
        """X after ``clipping``, which may impute it too, if there is one."""
        return X if self.clipping is None else self.clipping(X)

    def scaled(self, factor: float) -> Cosines:
        return replace(self, weight=factor * self.weight)

    @classmethod
    def stack(cls, terms: Sequence[Cosines]) -> Cosines:
        center = terms[0].center
        terms = [term.centered(center) for term in terms]
        omega, phase, weight = (
            np.concatenate([getattr(t, name) for t in terms]) for name in ("omega", "phase", "weight")
        )
        return replace(terms[0], omega=omega, phase=phase, weight=weight)

    def merged(self) -> Cosines:
        """Merge cosines of equal frequency: into one for a single output, else into a cosine and a sine."""
        n_outputs, (first, inverse) = self.weight.shape[1], distinct_rows(self.omega)
        if min(2, n_outputs) * len(first) >= len(self.omega):
            return self
        omega, weights = self.omega[first], group_sums(inverse, len(first), self.cos_sin_weights)
        if n_outputs == 1:
            return replace(self, omega=omega, phase=np.arctan2(*weights[::-1])[:, 0], weight=np.hypot(*weights))
        merged = self.with_cos_sin_weights(omega, weights)
        # The sine of a constant is 0.
        used = np.append(np.ones(len(omega), dtype=bool), omega.any(axis=1))
        return replace(merged, omega=merged.omega[used], phase=merged.phase[used], weight=merged.weight[used])

    @property
    def cos_sin_weights(self) -> Array:
        """Weights (2, M, C) of the same function as a sum of a cosine and a sine per frequency, without phases."""
        return np.stack([part(self.phase)[:, None] * self.weight for part in (np.cos, np.sin)])

    def with_cos_sin_weights(self, omega: Array, weights: Array) -> Cosines:
        """The sum of a cosine and a sine of each frequency (M, d), with `weights` (2, M, C)."""
        phase = np.repeat([0.0, 0.5 * np.pi], len(omega))
        return replace(self, omega=np.concatenate([omega, omega]), phase=phase, weight=np.concatenate(weights))

    def centered(self, center: Array | None) -> Cosines:
        """The same function with another center (None for the origin)."""
        if arrays_equal(self.center, center):
            return self
        shift = (0.0 if center is None else center) - (0.0 if self.center is None else self.center)
        return replace(
            self, phase=self.phase - self.project(np.broadcast_to(shift, self.n_features)), center=center
        )

    def project(self, shift: Array) -> Array:
        """The change of the arguments if x changes by `shift` (d,): (M,)."""
        return np.asarray(self.omega @ (shift if self.projection is None else self.projection(shift)))

    def standardized(self, center: Array, scale: Array) -> Cosines:
        """This function of ``(x - center) / scale`` as a function of x."""
        local = self.centered(None)
        clipping = None if self.clipping is None else self.clipping.translate(center, scale)
        if local.projection is None:
            return Cosines(local.omega / scale, local.phase, local.weight, center, clipping)
        return replace(local, center=center, clipping=clipping, projection=local.projection.divided(scale))

    @classmethod
    def outputs_of(cls, terms: Sequence[Cosines], X: Array) -> Sequence[Array]:
        if len({term.family for term in terms}) > 1:
            return [term(X) for term in terms]
        first = terms[0]
        if len(terms) > 1 < len(first.omega) and all(
            arrays_equal(term.omega, first.omega) and arrays_equal(term.center, first.center) for term in terms
        ):
            return np.split(cls._side_by_side(terms)(X), len(terms), axis=1)
        owner = np.repeat(np.arange(len(terms)), [len(term.phase) for term in terms])
        return list(cls.stack(terms).group_outputs(X, owner, len(terms)))

    @staticmethod
    def _side_by_side(terms: Sequence[Cosines]) -> Cosines:
        """One term with the outputs of all `terms`, which have equal frequencies."""
        first = terms[0]
        if all(arrays_equal(term.phase, first.phase) for term in terms):
            return replace(first, weight=np.hstack([term.weight for term in terms]))
        weights = np.concatenate([term.cos_sin_weights for term in terms], axis=2)
        return first.with_cos_sin_weights(first.omega, weights)

    def on_features(self, features: FeatureMap) -> Term:
        return around_clipped(self, features)

    def with_arrays_of(self, other: Term) -> Cosines:
        if len(self.omega) < 2 or not isinstance(other, Cosines) or not np.array_equal(self.omega, other.omega):
            return self
        return replace(self, omega=other.omega)

    def check(self, n_features: int | None, n_outputs: int | None) -> None:
        n_columns = n_features
        if self.projection is not None:
            require_instance("projection", self.projection, Projection)
            require_field("matrix", self.projection.matrix, (None, n_features))
            n_columns = len(self.projection.matrix)
        require_field("omega", self.omega, (None, n_columns))
        n_features = self.n_features
        require_field("phase", self.phase, (len(self.omega),))
        require_field("weight", self.weight, (len(self.omega), n_outputs))
        if self.center is not None:
            require_field("center", self.center, (n_features,))
        if self.clipping is not None:
            require_instance("clipping", self.clipping, ClipAndLog)
            self.clipping.check(n_features)

    def gradient(self, X: Array) -> Array:
        # d/dx of w cos(omega . x - phi) is -w sin(omega . x - phi) omega.
        require_n_features(X, self.n_features)
        n_cosines, n_outputs = self.weight.shape
        out = np.empty((len(X), n_outputs, X.shape[1]))
        step = max(1, CHUNK_ENTRIES // max(1, n_cosines))
        for start in range(0, len(X), step):
            rows = slice(start, start + step)
            sine = np.sin(self.angles(X[rows]))
            for c in range(n_outputs):
                slopes = (sine * -self.weight[:, c]) @ self.omega
                out[rows, c] = slopes if self.projection is None else slopes @ self.projection.matrix
        if self.clipping is None:
            return out
        factors = self.clipping.derivative(X)[:, None, :]
        # The output is NaN for missing values, the derivative 0.
        return np.where(factors > 0.0, factors * out, 0.0)

    def variances(self, X: Array, weight: Array) -> Array:
        return divided_variance(self, self.total_effects(X, weight), X, weight)

    def total_effects(self, X: Array, weight: Array) -> Array:
        """As the function ``total_effects``, from the changes of the angles."""
        require_n_features(X, self.n_features)
        columns = self.omega if self.projection is None else self.projection.matrix
        n_used = int(np.count_nonzero(columns.any(axis=0)))
        X, weight, other = sample_pairs(X, weight, MAX_COSINES // max(1, n_used * len(self.omega)))
        angles, clipped = self.angles(X.astype(np.float64)), self.clip_and_log(X.astype(np.float64))
        counts = np.count_nonzero(columns, axis=1) if self.projection is None else np.full(len(self.omega), n_used)
        effects = np.zeros(X.shape[1])
        for start in range(0, len(effects), BLOCK_SIZE):
            block = slice(start, start + BLOCK_SIZE)
            shift, omega = clipped[other, block] - clipped[:, block], self.column_frequencies(block)
            change = changes_of_outputs(self.weight, angles, shift, omega, counts)
            effects[block] = [0.5 * weight @ np.square(one).sum(axis=1) for one in change]
        return effects

    def grouped_shapley(self, X: Array, background: Array, source: Array, n_features: int) -> Array:
        from ..kernels.shapley import add_cosine

        require_n_features(X, self.n_features)
        center = 0.0 if self.center is None else self.center
        # The columns of a feature side by side.
        order = np.argsort(source, kind="stable")
        source = source[order]
        rows, others = (
            np.ascontiguousarray((self.clip_and_log(part) - center)[:, order]) for part in (X, background)
        )
        out = np.zeros((len(X), self.weight.shape[1], n_features))
        for omega, phase, weight in self._each_cosine():
            omega = omega[order]
            columns = np.flatnonzero(omega)
            is_first = np.diff(source[columns], prepend=-1) > 0
            used, player = source[columns[is_first]], np.cumsum(is_first) - 1
            ours, theirs = (part if len(columns) == len(order) else part[:, columns] for part in (rows, others))
            sums = np.zeros((len(X), len(used)))
            add_cosine(ours, theirs, omega[columns], phase, player, *half_quadrature(len(used)), sums)
            out[:, :, used] += (weight / len(background))[:, None] * sums[:, None, :]
        return out

    def _each_cosine(self) -> Iterator[tuple[Array, float, Array]]:
        """Frequencies of all features (d,), phase and weights (C,) of each cosine, computed in blocks."""
        size = max(1, BLOCK_ENTRIES // self.n_features)
        for start in range(0, len(self.omega), size):
            block = slice(start, start + size)
            frequencies = replace(self, omega=self.omega[block]).frequencies
            yield from zip(frequencies, self.phase[block].tolist(), self.weight[block], strict=True)
