"""The result of boosting: a baseline and a sum of terms."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from ..core import Term
from ..utils.param_validation import Integer, require
from ..utils.pickling import PickledByFields
from ..utils.sparse import Rows, compressed, is_sparse, row_slices
from ..utils.typing import Array
from .category_sets import Recoding
from .stored_fields import require_field


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(PickledByFields):
    """Raw scores as ``baseline``, then ``raw <- keep * raw + length * term(X)`` round after round.

    ``a + b`` adds raw scores, ``0.5 * a`` scales them, ``a[:50]`` is the first 50 rounds. Features are in their
    original units. :func:`rffboost_ext.average` averages estimators of several seeds or folds.

    Parameters
    ----------
    baseline : ndarray of shape (C,)
        Raw score before the first round.
    terms : tuple of Term
        One term per round.
    moves : ndarray of shape (T, 2)
        (keep, length) of each round, from its step.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> X = np.arange(50.0)[:, None]
    >>> ensemble = RFFBoostRegressor(learner="tree", n_estimators=10).fit(X, X[:, 0]).ensemble_
    >>> len(ensemble.terms), ensemble.raw(X).shape, len(ensemble[:5].terms)
    (10, (50, 1), 5)
    """

    baseline: Array
    terms: tuple[Term, ...]
    moves: Array

    # NumPy scalars then defer to __rmul__.
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
        """Factor of each term in the final sum, (T,): its length, times the keeps of later rounds."""
        keeps, lengths = self.moves.T
        kept = np.append(np.cumprod(keeps[::-1])[::-1], 1.0)
        return lengths * kept[1:]

    def raw(self, X: Rows) -> Array:
        """Raw scores of X (n, d), an array or a sparse matrix: (n, C)."""
        X = check_rows(X)
        baseline, blocks = self._blocks
        out = np.empty((len(X), len(baseline)))
        out[:] = baseline
        for rows in row_slices(X):
            part, scores = X[rows], out[rows]
            for block in blocks:
                scores += block.at(part)
        return out

    def staged(self, X: Rows) -> Iterator[Array]:
        """Raw scores of X (n, d), an array or a sparse matrix, after 0, 1, 2, ... rounds, each (n, C)."""
        X = check_rows(X)
        raw = np.tile(self.baseline, (len(X), 1))
        yield raw.copy()
        for keep, length, term in self.rounds:
            raw = keep * raw + length * term.at(X)
            # The caller may change the array.
            yield raw.copy()

    def outputs(self, X: Array) -> Array:
        """The learned representation, (n, p): features of each term, with cosines of a shared frequency merged."""
        X = check_matrix(X)
        # Merged only if this halves their number: a cosine and a sine of one round stay two features.
        merged = {
            family: block
            for (family, terms), block in zip(group_by_family(self.terms).items(), self._blocks[1], strict=True)
            if 2 * n_features_learned(block, X) < sum(n_features_learned(term, X) for term in terms)
        }
        parts = [*merged.values(), *(term for term in self.terms if term.family not in merged)]
        return np.hstack([term.features(X) for term in parts]) if parts else np.empty((len(X), 0))

    def gradient(self, X: Array) -> Array:
        """The derivative of each raw score with respect to each feature.

        Exact for cosines, in float64. Trees are piecewise constant and contribute no gradient.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Rows.

        Returns
        -------
        ndarray of shape (n, C, d)

        Raises
        ------
        TypeError
            If a term has no method ``gradient``.
        """
        X = check_matrix(X)
        out = np.zeros((len(X), self.n_outputs, X.shape[1]))
        for block in self._blocks[1]:
            out += block.gradient(X)
        return out

    def recoded(self, recoding: Recoding) -> Ensemble:
        """The ensemble as a function of new category codes."""
        return replace(self, terms=tuple(term.recoded(recoding) for term in self.terms))

    def check(self, n_features: int | None) -> None:
        """Raise a ValueError unless the arrays are consistent; the number of columns may be unknown, None."""
        if not isinstance(self.terms, tuple) or not all(isinstance(term, Term) for term in self.terms):
            raise ValueError(f"terms must be a tuple of terms, got {self.terms!r:.100}")
        require_field("baseline", self.baseline, (None,))
        require_field("moves", self.moves, (len(self.terms), 2))
        for term in self.terms:
            term.check(n_features, self.n_outputs)

    def shifted(self, constant: Array) -> Ensemble:
        """The ensemble whose scores have a constant (C,) added after the last round."""
        kept = float(np.prod(self.moves[:, 0]))
        # A round that keeps no score keeps no constant either.
        return replace(self, baseline=self.baseline + constant / kept) if kept else self

    def truncated(self, n_rounds: int) -> Ensemble:
        """The ensemble of the first `n_rounds` rounds."""
        require("Ensemble.truncated", "n_rounds", n_rounds, Integer(0, len(self)))
        return replace(self, terms=self.terms[:n_rounds], moves=self.moves[:n_rounds])

    def compact(self) -> Ensemble:
        """The same function with one term per family of terms, for evaluation and export."""
        baseline, blocks = self._blocks
        return Ensemble(baseline, blocks, np.ones((len(blocks), 2)))

    @cached_property
    def _blocks(self) -> tuple[Array, tuple[Term, ...]]:
        scaled = [term.scaled(float(length)) for term, length in zip(self.terms, self.lengths, strict=True)]
        return self._scaled_baseline, tuple(
            type(terms[0]).stack(terms).merged() for terms in group_by_family(scaled).values()
        )

    @property
    def _scaled_baseline(self) -> Array:
        """The baseline in the final sum: times the keeps of all rounds."""
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
        first, second = self.to_weighted_sum(), other.to_weighted_sum()
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

    def __repr__(self) -> str:
        return f"<Ensemble of {len(self)} rounds, {self.n_outputs} output{'s'[: self.n_outputs > 1]}>"

    def to_weighted_sum(self) -> Ensemble:
        """The same function with all keeps equal to 1."""
        moves = np.column_stack([np.ones(len(self)), self.lengths])
        return replace(self, baseline=self._scaled_baseline, moves=moves)


def group_by_family(terms: Sequence[Term]) -> dict[Hashable, list[Term]]:
    """Terms by family, in their order; terms of one family can be stacked."""
    groups: dict[Hashable, list[Term]] = {}
    for term in terms:
        groups.setdefault(term.family, []).append(term)
    return groups


def n_features_learned(term: Term, X: Array) -> int:
    """Number of columns of ``term.features(X)``."""
    return int(term.features(X[:1]).shape[1])


def check_matrix(X: Any) -> Array:
    """X as a float32 or float64 array of shape (n, d)."""
    return check_rows(np.asarray(X))  # type: ignore[return-value]


def check_rows(X: Any) -> Rows:
    """X as :func:`check_matrix`, or as sparse rows if it is a large sparse matrix."""
    X = compressed(X) if is_sparse(X) else np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must have shape (n, d), got {X.shape}")
    return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)


def mean_ensemble(ensembles: Sequence[Ensemble]) -> Ensemble:
    """The average of several ensembles, such as of different seeds or folds.

    Rounds are interleaved: the first rounds of the average are the first rounds of each ensemble. Leading rounds
    of a common initial model are included once if they are the same objects, unlike those of loaded models.
    """
    if not ensembles:
        raise ValueError("mean: ensembles must hold at least one ensemble, got none")
    return weighted_sum(ensembles, np.full(len(ensembles), 1.0 / len(ensembles)))


def weighted_sum(ensembles: Sequence[Ensemble], weight: Array) -> Ensemble:
    """The sum of ensembles times weights, with common leading rounds once and other rounds interleaved.

    Parameters
    ----------
    ensembles : sequence of Ensemble
    weight : ndarray of shape (m,) or (m, C)
        The weight of each ensemble, or of each of its scores, for terms of this package.
    """
    if len(ensembles) == 1 and np.all(weight[0] == 1.0):
        return ensembles[0]
    outputs = {ensemble.n_outputs for ensemble in ensembles}
    if len(outputs) > 1:
        raise ValueError(f"ensembles of {' and '.join(map(str, sorted(outputs)))} outputs cannot be added")
    sums = [ensemble.to_weighted_sum() for ensemble in ensembles]
    shared, total = n_common_rounds(sums), np.sum(weight, axis=0)
    parts = [weighted_rounds(ensemble, share) for ensemble, share in zip(sums, weight, strict=True)]
    rounds = weighted_rounds(sums[0].truncated(shared), total)
    for t in range(shared, max(map(len, sums))):
        rounds += [part[t] for part in parts if t < len(part)]
    baseline = sum(w * ensemble.baseline for ensemble, w in zip(sums, weight, strict=True))
    moves = np.array([[1.0, length] for _, length in rounds]).reshape(-1, 2)
    return Ensemble(np.asarray(baseline), tuple(term for term, _ in rounds), moves)


def unweighted(ensemble: Ensemble, n_rounds: Sequence[int]) -> list[Ensemble]:
    """The rounds of each of the ensembles in a :func:`weighted_sum`, up to scale, from their numbers of rounds."""
    n_models = len(n_rounds)
    shared = (sum(n_rounds) - len(ensemble)) // (n_models - 1) if n_models > 1 else 0
    later = range(shared, max(n_rounds))
    owner = np.array([k for t in later for k in range(n_models) if t < n_rounds[k]], dtype=np.int64)
    places = [np.append(np.arange(shared), shared + np.flatnonzero(owner == k)) for k in range(n_models)]
    return [
        replace(ensemble, terms=tuple(ensemble.terms[t] for t in place), moves=ensemble.moves[place])
        for place in places
    ]


def weighted_rounds(ensemble: Ensemble, weight: Array) -> list[tuple[Term, float]]:
    """The terms and lengths of a weighted sum times a number, or times a number for each score (C,)."""
    lengths = ensemble.moves[:, 1]
    if np.ndim(weight) == 0:
        return list(zip(ensemble.terms, (weight * lengths).tolist(), strict=True))
    return list(zip([term.scaled(weight) for term in ensemble.terms], lengths.tolist(), strict=True))  # type: ignore[arg-type]


def n_common_rounds(ensembles: Sequence[Ensemble]) -> int:
    """The number of leading rounds with identical terms and equal lengths in all weighted sums."""
    if len(ensembles) < 2:
        return 0
    count = 0
    for terms in zip(*(ensemble.terms for ensemble in ensembles), strict=False):
        same = all(term is terms[0] for term in terms)
        if not same or len({float(ensemble.moves[count, 1]) for ensemble in ensembles}) > 1:
            break
        count += 1
    return count
