r"""A sample of rows in one pass, the same for any cut of the rows into parts and any order of merges.

Each row has a key, :math:`-\log(1 - u) / m`, with u a hash of its number and m its mass: an exponential variable
of rate m. Kept are the k rows of the smallest keys (bottom-k or priority sampling). Given the next key t, row i is
in the sample with probability :math:`p_i = 1 - \exp(-m_i t)`. Sums of :math:`w_i / p_i` over the sample are
unbiased for sums of :math:`w_i` over all rows.

References
----------
Cohen and Kaplan, Summarizing data using bottom-k sketches, PODC 2007. Duffield, Lund and Thorup, Priority sampling
for estimation of arbitrary subset sums, Journal of the ACM 54, 2007. Steele, Lea and Flood, Fast splittable
pseudorandom number generators, OOPSLA 2014 (SplitMix64).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from math import inf
from typing import Any

import numpy as np

from ..utils.typing import Array
from .core import Batch, gather

# A sketch holds at most so many times the rows that it keeps.
SLACK = 1.25
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def mixed(z: Array) -> Array:
    """SplitMix64's hash of whole numbers, uint64."""
    z = (z ^ (z >> np.uint64(30))) * FACTORS[0]
    z = (z ^ (z >> np.uint64(27))) * FACTORS[1]
    return z ^ (z >> np.uint64(31))


def uniform(seed: int, number: Array) -> Array:
    """A number above 0 and below 1 for each of some whole numbers (m,), uint64."""
    start = mixed(np.array([seed], dtype=np.uint64) + GOLDEN)
    return ((mixed(start + GOLDEN * number) >> np.uint64(11)) + 0.5) * 2.0**-53


def keys(seed: int, number: Array, mass: Array | float = 1.0) -> Array:
    """The keys of rows (m,): infinite for a mass of 0, and 0 for an infinite one."""
    with np.errstate(divide="ignore"):
        return -np.log1p(-uniform(seed, number)) / np.asarray(mass, dtype=np.float64)


def label_numbers(labels: Any) -> Array:
    """Whole numbers for the labels of groups (m,), uint64, the same in any process."""
    labels = np.asarray(labels)
    if labels.dtype.kind in "bui":
        return labels.astype(np.uint64)
    entries = labels.tolist()
    number = {one: int.from_bytes(blake2b(repr(one).encode(), digest_size=8).digest()) for one in set(entries)}
    return np.fromiter(map(number.__getitem__, entries), np.uint64, len(entries))


@dataclass(frozen=True)
class Sketch:
    """The rows with the smallest keys, and some further ones.

    Parameters
    ----------
    limit : int
        Number k of rows that the sample may have.
    bound : float
        Rows of larger keys are not in the sample.
    batches : tuple of pairs of ndarray and Batch
        Keys and rows.
    """

    limit: int
    bound: float = inf
    batches: tuple[tuple[Array, Batch], ...] = ()

    def add(self, batch: Batch, key: Array) -> Sketch:
        """The sketch with further rows and their keys (m,)."""
        return self.merge(Sketch(self.limit, batches=((key, batch),)))

    def merge(self, other: Sketch) -> Sketch:
        """The sketch of the rows of two."""
        bound = min(self.bound, other.bound)
        kept = (one.batches if one.bound == bound else below(bound, one.batches) for one in (self, other))
        joint = Sketch(self.limit, bound, tuple(chain(*kept)))
        return joint.compact() if sum(len(key) for key, _ in joint.batches) > SLACK * self.limit else joint

    def compact(self) -> Sketch:
        """The sketch without rows that cannot be in the sample, in one batch."""
        key = np.concatenate([key for key, _ in self.batches])
        bound = float(np.partition(key, self.limit)[self.limit])
        return replace(self, bound=bound, batches=((key[key <= bound], self.rows(bound)),))

    def rows(self, bound: float) -> Batch:
        """The rows of keys up to a bound, in one batch."""
        return gather(
            [batch for _, batch in self.batches], [np.flatnonzero(key <= bound) for key, _ in self.batches]
        )

    def targets(self, limit: int) -> Batch:
        """The sample of at most `limit` rows, without features."""
        batches = tuple((key, replace(batch, X=None)) for key, batch in self.batches)
        return Sketch(min(limit, self.limit), batches=batches).sample()[0]

    def sample(self) -> tuple[Batch, float]:
        """The rows in the order of their numbers, and the least key of the others.

        Rows of one group, which have one key, are all in the sample or none; the first group always is.
        """
        key = np.concatenate([key for key, _ in self.batches])
        bound, largest = inf, inf
        if len(key) > self.limit:
            bound = float(np.partition(key, self.limit)[self.limit])
            largest = max(np.nextafter(bound, 0.0), key.min())
        batch = self.rows(largest)
        order = np.argsort(batch.row, kind="stable")
        is_sorted = (order[1:] > order[:-1]).all()
        return batch if is_sorted else batch.take(order), bound


def below(bound: float, batches: Iterable[tuple[Array, Batch]]) -> Iterator[tuple[Array, Batch]]:
    """The batches without the rows whose keys are above a bound."""
    for key, batch in batches:
        index = np.flatnonzero(key <= bound)
        if len(index) == len(key):
            yield key, batch
        elif len(index):
            yield key[index], batch.take(index)
