"""The learned frequencies in the plane of two features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import Array, Term
from ..ensemble import Ensemble
from ..terms import Cosines, Expanded
from . import style
from .style import axes_or_new, check_booster, coded_columns, feature_pair, label, tidy

# The areas of the largest and the smallest dot, in square points.
LARGEST, SMALLEST = 110.0, 4.0


class FrequencyDisplay:
    """The learned frequencies in the plane of two features: a dot for each cosine, and its mirror image.

    A cosine of frequency omega is also one of -omega. The area of a dot is proportional to the amplitude, its
    colour is the round. Dots on an axis are cosines that do not depend on one of the two features.

    Parameters
    ----------
    omega : ndarray of shape (M, 2)
        Frequencies, in radians per unit of each feature.
    amplitude : ndarray of shape (M,)
        Amplitudes, in units of the raw score.
    round : ndarray of shape (M,)
        The round of each cosine, from 1.
    names : pair of str
        The features.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Where it was drawn.
    dots_ : matplotlib PathCollection
        The dots.
    """

    def __init__(self, omega: Array, amplitude: Array, round: Array, names: tuple[str, str]) -> None:
        self.omega = omega
        self.amplitude = amplitude
        self.round = round
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: tuple[int | str, int | str] = (0, 1),
        *,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> FrequencyDisplay:
        """Draw the frequencies of a fitted model's cosines.

        Parameters
        ----------
        estimator : fitted RFFBoostClassifier or RFFBoostRegressor
            With at least one round of cosines.
        features : pair of int or str, default=(0, 1)
            The two features, by index or name; numbers, since categories have no frequency.
        feature_names : sequence of str, optional
            Names; those of the columns seen in fit by default.
        ax : matplotlib Axes, optional
            Where to draw.
        **kwargs
            For :meth:`matplotlib.axes.Axes.scatter`.

        Returns
        -------
        FrequencyDisplay

        Raises
        ------
        ValueError
            If the model has no cosines, or a feature holds categories.
        """
        check_booster(cls.__name__, estimator)
        names = style.feature_names(estimator, feature_names)
        pair = feature_pair(features, names)
        for column in pair:
            if column in coded_columns(estimator):
                raise ValueError(f"{cls.__name__}: features must be numbers, got {names[column]!r} of categories")
        omega, amplitude, round = frequencies(estimator.ensemble_)
        display = cls(omega[:, pair], amplitude, round, (names[pair[0]], names[pair[1]]))
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> FrequencyDisplay:
        """Draw, on `ax` or a new figure; `kwargs` go to :meth:`matplotlib.axes.Axes.scatter`."""
        self.ax_ = axes_or_new(ax, 5.4, 4.4)
        self.figure_ = self.ax_.figure
        area = np.maximum(LARGEST * self.amplitude / self.amplitude.max(), SMALLEST)
        # Small dots last, so that large ones do not hide them.
        order = np.argsort(-area, kind="stable")
        both = np.concatenate([self.omega[order], -self.omega[order]])
        looks = {"s": np.tile(area[order], 2), "c": np.tile(self.round[order], 2), "cmap": "viridis"}
        looks |= {"alpha": 0.7, "linewidths": 0.4, "edgecolors": "white"}
        self.ax_.axhline(0.0, color="0.75", linewidth=0.8, zorder=0)
        self.ax_.axvline(0.0, color="0.75", linewidth=0.8, zorder=0)
        self.dots_ = self.ax_.scatter(*both.T, **(looks | kwargs))
        self.figure_.colorbar(self.dots_, ax=self.ax_, label="boosting round", pad=0.02)
        reach = 1.06 * np.abs(both).max(axis=0)
        # A feature that no cosine uses has an axis too.
        reach[reach == 0.0] = 1.0
        self.ax_.set(xlim=(-reach[0], reach[0]), ylim=(-reach[1], reach[1]))
        self.ax_.set_xlabel(f"frequency in {label(self.names[0])} (radians per unit)")
        self.ax_.set_ylabel(f"frequency in {label(self.names[1])} (radians per unit)")
        tidy(self.ax_)
        return self


def frequencies(ensemble: Ensemble) -> tuple[Array, Array, Array]:
    """Frequency (M, d), amplitude (M,) over all outputs, and round (M,), from 1, of each cosine."""
    rounds = list(zip(ensemble.terms, ensemble.lengths, strict=True))
    known = [(t, of_numbers(term), length) for t, (term, length) in enumerate(rounds, 1)]
    found = [(t, term, length) for t, term, length in known if isinstance(term, Cosines)]
    if not found:
        raise ValueError("FrequencyDisplay: estimator must have rounds of cosines, got none")
    omega = np.concatenate([term.omega for _, term, _ in found])
    amplitude = np.concatenate([abs(length) * np.linalg.norm(term.weight, axis=1) for _, term, length in found])
    return omega, amplitude, np.repeat([t for t, _, _ in found], [len(term.omega) for _, term, _ in found])


def of_numbers(term: Term) -> Term:
    """A term, or the cosines of an expansion with their frequencies in the numeric columns."""
    if not isinstance(term, Expanded) or not isinstance(term.term, Cosines):
        return term
    expansion, cosines = term.expansion, term.term
    omega = np.zeros((len(cosines.omega), expansion.n_features))
    omega[:, expansion.numbers] = cosines.omega[:, : len(expansion.numbers)]
    return Cosines(omega, cosines.phase, cosines.weight)
