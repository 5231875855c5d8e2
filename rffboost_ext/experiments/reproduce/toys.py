"""The papers' generated data sets in two dimensions, with the published draws where those are known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...utils.typing import Array

Arrays = tuple[Array, Array]


def swiss(n: int, rng: np.random.RandomState) -> Arrays:
    """A spiral of one turn and one of 0.9 times its radius, with Gaussian noise of 0.4."""
    each = n // 2
    X = np.vstack([spiral(each, factor, rng) for factor in (1.0, 0.9)])
    return X, np.repeat([0, 1], each)


def spiral(n: int, factor: float, rng: np.random.RandomState) -> Array:
    """Points whose radius is `factor` times their angle, between 1.5 and 4.5 pi, with Gaussian noise of 0.4."""
    angle = 1.5 * np.pi * (1.0 + 2.0 * rng.uniform(size=n))
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    return factor * angle[:, None] * around + 0.4 * rng.standard_normal((n, 2))


def circles(n: int, rng: np.random.RandomState) -> Arrays:
    """Four concentric circles of alternating class, with Gaussian noise of 0.07 times the radius."""
    each = n // 4
    angle = np.linspace(0.0, 2.0 * np.pi, each, endpoint=False)
    around = np.array([np.cos(angle), np.sin(angle)])
    X = [radius * (around + 0.07 * rng.standard_normal((2, each))).T for radius in range(1, 5)]
    return np.vstack(X), np.repeat([0, 1, 0, 1], each)


def board(n: int, rng: np.random.RandomState) -> Arrays:
    """A board of 4 x 4 fields of alternating class."""
    X = rng.uniform(0.0, 4.0, size=(2, n)).T
    return X, np.floor(X).sum(axis=1).astype(np.int64) % 2


def moons(n: int, noise: float, rng: np.random.RandomState) -> Arrays:
    """Two moons around the origin, twice the usual size."""
    from sklearn.datasets import make_moons

    X, y = make_moons(n, noise=noise, random_state=rng)
    return 2.0 * (X - [0.5, 0.25]), y


TOYS: dict[str, Callable[[int, np.random.RandomState], Arrays]] = {
    "swiss": swiss,
    "circles": circles,
    "board": board,
}
"""The data sets of ECML-PKDD 2020, Figure 5."""
