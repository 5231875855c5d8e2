"""The result of boosting: a baseline and a sum of terms."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real

import numpy as np

from ..core import Term
from ..utils.param_validation import Integer, require
from ..utils.typing import Array


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble:
    """Raw scores as ``baseline``, then ``raw <- keep * raw + length * term(X)`` round after round.

    Ensembles are values: ``a + b`` and ``a - b`` add and subtract raw scores, ``0.5 * a``, ``a / 2`` and ``-a``
    scale them, ``a[:50]`` is the first 50 rounds. ``sum(ensembles) / len(ensembles)`` averages models of several
    seeds or folds, as :func:`mean_ensemble` does, and is exported as one graph like any ensemble. All act on
    features in their original units.

    Parameters
    ----------
    baseline : ndarray of shape (C,)
        Raw score before the first round.
    terms : tuple of Term
        One term per round.
    moves : ndarray of shape (T, 2)
        (keep, length) of each round, as its step decided.
    """

    baseline: Array
    terms: tuple[Term, ...]
    moves: Array

    # Makes NumPy scalars leave products with an ensemble to the ensemble.
    __array_ufunc__ = None

    def __len__(self) -> int:
        return len(self.terms)

    @property
    def n_outputs(self) -> int:
        """Number of raw scores per row, C."""
        return len(self.baseline)

    @property
    def rounds(self) -> list[tuple[float, float, Term]]:
        """The keep, the length and the term of each round."""
        return [(keep, length, term) for (keep, length), term in zip(self.moves.tolist(), self.terms, strict=True)]

    @property
    def lengths(self) -> Array:
        """Factor on each term in the final sum, (T,): its length, times the keeps of later rounds."""
        keeps, lengths = self.moves.T
        kept = np.append(np.cumprod(keeps[::-1])[::-1], 1.0)
        return lengths * kept[1:]

    def raw(self, X: Array) -> Array:
        """Raw scores of X (n, d): (n, C)."""
        X = matrix(X)
        baseline, blocks = self._blocks
        out = np.empty((len(X), len(baseline)))
        out[:] = baseline
        for block in blocks:
            out += block(X)
        return out

    def staged(self, X: Array) -> Iterator[Array]:
        """Raw scores after 0, 1, 2, ... rounds, each (n, C)."""
        X = matrix(X)
        raw = np.tile(self.baseline, (len(X), 1))
        yield raw.copy()
        for keep, length, term in self.rounds:
            raw = keep * raw + length * term(X)
            # A copy: what a caller does with a stage must not reach the next one.
            yield raw.copy()

    def outputs(self, X: Array) -> Array:
        """The learned representation, (n, p): what each round has learned, cosines of a shared frequency once."""
        X = matrix(X)
        # A cosine and a sine of one round stay two features; many rounds of one frequency do not.
        joined = {
            family: block
            for (family, terms), block in zip(families(self.terms).items(), self._blocks[1], strict=True)
            if 2 * width(block, X) < sum(width(term, X) for term in terms)
        }
        parts = [*joined.values(), *(term for term in self.terms if term.family not in joined)]
        return np.hstack([term.features(X) for term in parts]) if parts else np.empty((len(X), 0))

    def gradient(self, X: Array) -> Array:
        """The derivative of each raw score with respect to each feature, per unit of the feature.

        Exact for cosines, in double precision. Trees are piecewise constant and contribute no gradient.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Where the derivatives are taken.

        Returns
        -------
        ndarray of shape (n, C, d)

        Raises
        ------
        TypeError
            If there is a term of a type without a derivative; one can be registered with
            ``rffboost_ext.terms.gradients.gradient.register``.
        """
        from .gradients import gradient

        X = matrix(X)
        out = np.zeros((len(X), self.n_outputs, X.shape[1]))
        for block in self._blocks[1]:
            out += gradient(block, X)
        return out

    def truncated(self, n_rounds: int) -> Ensemble:
        """The ensemble as it was after `n_rounds` rounds, at most as many as it has."""
        require("Ensemble.truncated", "n_rounds", n_rounds, Integer(0, len(self)))
        return replace(self, terms=self.terms[:n_rounds], moves=self.moves[:n_rounds])

    def compact(self) -> Ensemble:
        """The same function with one term per family of terms, each ready to be evaluated or exported."""
        baseline, blocks = self._blocks
        return Ensemble(baseline, blocks, np.ones((len(blocks), 2)))

    @cached_property
    def _blocks(self) -> tuple[Array, tuple[Term, ...]]:
        scaled = [term.scaled(float(length)) for term, length in zip(self.terms, self.lengths, strict=True)]
        return self._kept, tuple(type(terms[0]).stack(terms).merged() for terms in families(scaled).values())

    @property
    def _kept(self) -> Array:
        """The baseline times the keeps of all rounds."""
        return np.asarray(self.baseline * np.prod(self.moves[:, 0]))

    def __getitem__(self, rounds: slice) -> Ensemble:
        if not isinstance(rounds, slice) or rounds.start not in (None, 0) or rounds.step not in (None, 1):
            raise TypeError(f"an Ensemble is indexed by its first rounds, as in ensemble[:50], got {rounds!r}")
        return self.truncated(len(range(*rounds.indices(len(self)))))

    def __add__(self, other: Ensemble) -> Ensemble:
        if not isinstance(other, Ensemble):
            return NotImplemented
        if self.n_outputs != other.n_outputs:
            raise ValueError(f"ensembles of {self.n_outputs} and {other.n_outputs} outputs cannot be added")
        first, second = self.flat(), other.flat()
        moves = np.concatenate([first.moves, second.moves])
        return Ensemble(first.baseline + second.baseline, first.terms + second.terms, moves)

    def __mul__(self, factor: float) -> Ensemble:
        if not isinstance(factor, Real):
            return NotImplemented
        if not np.isfinite(factor):
            raise ValueError(f"an Ensemble is multiplied by a finite number, got {factor}")
        moves = self.moves * [1.0, float(factor)]
        return replace(self, baseline=float(factor) * self.baseline, moves=moves)

    __rmul__ = __mul__

    def __radd__(self, other: int) -> Ensemble:
        # sum() begins with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __neg__(self) -> Ensemble:
        return -1.0 * self

    def __sub__(self, other: Ensemble) -> Ensemble:
        return self + -other if isinstance(other, Ensemble) else NotImplemented

    def __truediv__(self, divisor: float) -> Ensemble:
        if not isinstance(divisor, Real):
            return NotImplemented
        if not np.isfinite(divisor) or divisor == 0:
            raise ValueError(f"an Ensemble is divided by a finite number other than 0, got {divisor}")
        return self * (1.0 / float(divisor))

    def __repr__(self) -> str:
        return f"<Ensemble of {len(self)} rounds, {self.n_outputs} output{'s'[: self.n_outputs > 1]}>"

    def __getstate__(self) -> dict[str, object]:
        return {name: self.__dict__[name] for name in ("baseline", "terms", "moves")}

    def flat(self) -> Ensemble:
        """The same function with every keep equal to 1: a plain weighted sum of terms."""
        moves = np.column_stack([np.ones(len(self)), self.lengths])
        return replace(self, baseline=self._kept, moves=moves)


def families(terms: Sequence[Term]) -> dict[Hashable, list[Term]]:
    """Terms that can be stacked, in their order, by family."""
    found: dict[Hashable, list[Term]] = {}
    for term in terms:
        found.setdefault(term.family, []).append(term)
    return found


def width(term: Term, X: Array) -> int:
    """Number of features that a term has learned."""
    return int(term.features(X[:1]).shape[1])


def matrix(X: Array) -> Array:
    """X as a matrix of floats; float32 stays float32."""
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have shape (n, d), got {X.shape}")
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def mean_ensemble(ensembles: Sequence[Ensemble]) -> Ensemble:
    """The average of several ensembles, such as of different seeds or folds.

    Rounds are interleaved, so that the first rounds of the average are the first ones of each ensemble. Leading
    rounds that all share, as those of a common initial model, are kept once if they are the same objects; in
    models loaded from files they are not.
    """
    if not ensembles:
        raise ValueError("mean: ensembles must hold at least one ensemble, got none")
    return weighted_sum(ensembles, np.full(len(ensembles), 1.0 / len(ensembles)))


def weighted_sum(ensembles: Sequence[Ensemble], weight: Array) -> Ensemble:
    """The sum of ensembles times weights (m,); shared leading rounds are kept once, others interleaved."""
    if len(ensembles) == 1 and weight[0] == 1.0:
        return ensembles[0]
    outputs = {ensemble.n_outputs for ensemble in ensembles}
    if len(outputs) > 1:
        raise ValueError(f"ensembles of {' and '.join(map(str, sorted(outputs)))} outputs cannot be added")
    flat = [ensemble.flat() for ensemble in ensembles]
    shared, total = common_rounds(flat), float(np.sum(weight))
    parts = [list(zip(e.terms, w * e.moves[:, 1], strict=True)) for e, w in zip(flat, weight, strict=True)]
    rounds = list(zip(flat[0].terms[:shared], total * flat[0].moves[:shared, 1], strict=True))
    for t in range(shared, max(map(len, flat))):
        rounds += [part[t] for part in parts if t < len(part)]
    baseline = sum(w * ensemble.baseline for ensemble, w in zip(flat, weight, strict=True))
    moves = np.array([[1.0, length] for _, length in rounds]).reshape(-1, 2)
    return Ensemble(np.asarray(baseline), tuple(term for term, _ in rounds), moves)


def common_rounds(ensembles: Sequence[Ensemble]) -> int:
    """The number of leading rounds that all flat ensembles share: same terms, by identity, and lengths."""
    if len(ensembles) < 2:
        return 0
    count = 0
    for terms in zip(*(ensemble.terms for ensemble in ensembles), strict=False):
        same = all(term is terms[0] for term in terms)
        if not same or len({float(ensemble.moves[count, 1]) for ensemble in ensembles}) > 1:
            break
        count += 1
    return count
