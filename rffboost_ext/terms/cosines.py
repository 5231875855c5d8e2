"""A weighted sum of cosines: what every Fourier learner yields, and a whole ensemble of them too."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import final

import numpy as np

from ..core import Term
from ..utils.arrays import fingerprints, require_columns, same
from ..utils.parallel import N_JOBS, over_tiles
from ..utils.typing import Array
from .clipping import ClipAndLog, clip


@final
@dataclass(frozen=True, eq=False)
class Cosines(Term):
    """``x -> sum_m weight[m] * cos(omega[m] . (x - center) - phase[m])``.

    A landmark x_t is only a way to choose phases: ``cos(w . (x - x_t)) = cos(w . x - phi)`` with
    ``phi = w . x_t``. So K features around a landmark, one cosine, a pair of sine and cosine and a whole
    ensemble are the same object, closed under scaling and stacking.

    Parameters
    ----------
    omega : ndarray of shape (M, d)
        Frequencies, in radians per unit of each feature.
    phase : ndarray of shape (M,)
        Phases, in radians.
    weight : ndarray of shape (M, C)
        Weights.
    center : ndarray of shape (d,), optional
        The point from which x is measured; the origin by default. Redundant in exact arithmetic (a shift of it
        is a shift of phases), but a center near the data keeps ``omega . (x - center)`` small, and with it
        the rounding error.
    extent : ClipAndLog, optional
        A range of the features to which x is clipped first, and their bends; by default there are none.

    Notes
    -----
    Evaluated in the precision of X: with float32 the error is about that of ``omega . (x - center)``.
    """

    omega: Array
    phase: Array
    weight: Array
    center: Array | None = None
    clipping: ClipAndLog | None = None

    def __call__(self, X: Array) -> Array:
        from ..kernels.cosine_prediction import BLOCK, predict_pass

        require_columns(X, self.omega.shape[1])
        X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
        out = np.zeros((len(X), self.weight.shape[1]))
        over_tiles(predict_pass, -(-len(X) // BLOCK), N_JOBS.get(), X, *self.prepared(X.dtype.char), out)
        return out

    @cached_property
    def _prepared(self) -> dict[str, tuple[Array, ...]]:
        return {}

    def prepared(self, dtype: str) -> tuple[Array, ...]:
        """Center, range, bends, frequencies and phases in half turns, and weights, as kernels take them.

        Cached, since preparing takes longer than predicting a single row.

        Parameters
        ----------
        dtype : "f" or "d"
            NumPy's letter of the precision of frequencies, phases and weights.
        """
        known, d = self._prepared, self.omega.shape[1]
        if dtype in known:
            return known[dtype]
        center = np.zeros(d) if self.center is None else self.center
        clipping = self.clipping or ClipAndLog(np.array(-np.inf), np.array(np.inf))
        ends = clipping.low, clipping.high, 0.0 if clipping.bend is None else clipping.bend
        shape = [np.broadcast_to(values, d).astype(np.float64) for values in ends]
        arrays = self.omega / np.pi, self.phase / np.pi, self.weight
        # Weights beyond the range of float32 become infinite.
        with np.errstate(over="ignore"):
            given = [np.ascontiguousarray(array, dtype=dtype) for array in arrays]
        return known.setdefault(dtype, (center, *shape, *given))

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def family(self) -> Hashable:
        """Cosines with the same range can be stacked."""
        return Cosines if self.clipping is None else (Cosines, self.clipping.key)

    def features(self, X: Array) -> Array:
        """The cosines one by one, unweighted: (n, M)."""
        require_columns(X, self.omega.shape[1])
        z = self.angles(X)
        return np.cos(z, out=z)

    def angles(self, X: Array) -> Array:
        """The arguments of the cosines, ``omega[m] . (x - center) - phase[m]``: (n, M)."""
        X = self.held(X)
        z = (X if self.center is None else X - self.center) @ self.omega.T
        z -= self.phase
        return z

    def held(self, X: Array) -> Array:
        """X clipped to the range and bent, if there is one."""
        return X if self.clipping is None else self.clipping(X)

    def scaled(self, factor: float) -> Cosines:
        return replace(self, weight=factor * self.weight)

    @classmethod
    def stack(cls, terms: Sequence[Cosines]) -> Cosines:
        center = terms[0].center
        moved = [term.centered(center) for term in terms]
        omega, phase, weight = (
            np.concatenate([getattr(t, name) for t in moved]) for name in ("omega", "phase", "weight")
        )
        return cls(omega, phase, weight, center, terms[0].clipping)

    def merged(self) -> Cosines:
        """Cosines of equal frequency joined: into one where there is one output, else into a cosine and a sine."""
        n_outputs, (first, place) = self.weight.shape[1], distinct(self.omega)
        if min(2, n_outputs) * len(first) >= len(self.omega):
            return self
        omega, pairs = self.omega[first], sums_by(place, len(first), self.pairs)
        if n_outputs == 1:
            return replace(self, omega=omega, phase=np.arctan2(*pairs[::-1])[:, 0], weight=np.hypot(*pairs))
        joined = self.with_pairs(omega, pairs)
        # The sine of a constant is 0.
        used = np.append(np.ones(len(omega), dtype=bool), omega.any(axis=1))
        return replace(joined, omega=joined.omega[used], phase=joined.phase[used], weight=joined.weight[used])

    @property
    def pairs(self) -> Array:
        """Weights (2, M, C) of a cosine and a sine of each frequency, without phases, of the same sum."""
        return np.stack([part(self.phase)[:, None] * self.weight for part in (np.cos, np.sin)])

    def with_pairs(self, omega: Array, pairs: Array) -> Cosines:
        """The sum of a cosine and a sine of each frequency (M, d), with weights (2, M, C)."""
        phase = np.repeat([0.0, 0.5 * np.pi], len(omega))
        return replace(self, omega=np.concatenate([omega, omega]), phase=phase, weight=np.concatenate(pairs))

    def centered(self, center: Array | None) -> Cosines:
        """The same function with x measured from `center` (None for the origin)."""
        if same(self.center, center):
            return self
        shift = (0.0 if center is None else center) - (0.0 if self.center is None else self.center)
        return replace(
            self, phase=self.phase - self.omega @ np.broadcast_to(shift, self.omega.shape[1]), center=center
        )

    def standardized(self, center: Array, scale: Array) -> Cosines:
        """This function of ``(x - center) / scale`` as a function of x."""
        local = self.centered(None)
        clipping = None if self.clipping is None else self.clipping.stretched(scale).moved(center)
        return Cosines(local.omega / scale, local.phase, local.weight, center, clipping)


@clip.register
def _(term: Cosines, clipping: ClipAndLog) -> Term:
    return replace(term, clipping=clipping if term.clipping is None else term.clipping.within(clipping))


def distinct(rows: Array) -> tuple[Array, Array]:
    """Where each of the k distinct rows of an array (m, d) occurs first, in order, and which of them each is."""
    _, first, place = np.unique(fingerprints(rows), return_index=True, return_inverse=True)
    order = np.argsort(first)
    first, place = first[order], np.argsort(order)[place]
    if not np.array_equal(rows[first[place]], rows):
        # Different rows of one fingerprint, which hardly ever happens.
        return np.arange(len(rows)), np.arange(len(rows))
    return first, place


def sums_by(place: Array, count: int, values: Array) -> Array:
    """The sums over the m rows of each of `count` places: (k, count, C) for values (k, m, C)."""
    columns = [np.bincount(place, column, count) for part in values for column in part.T]
    return np.reshape(columns, (len(values), -1, count)).swapaxes(1, 2)
