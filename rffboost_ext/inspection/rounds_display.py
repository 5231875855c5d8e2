"""The held-out loss, round by round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..boosting.metrics import name_and_direction
from ..utils.typing import Array
from .plot_style import ACCENT, MAIN, component_hint, get_axes, style_axes


class RoundsDisplay:
    """The held-out loss before the first and after every boosting round, and the last that improved it.

    Parameters
    ----------
    scores : ndarray of shape (T + 1,)
        The loss before the first and after every round, such as ``validation_scores_``.
    label : str, default="held-out loss"
        What the scores are.
    tol : float, default=0.0
        What counts as an improvement, as a share of the first score: the parameter ``tol`` of the estimator.
    rounds : str, default="boosting rounds"
        What the rounds are.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Where it was drawn.
    line_ : matplotlib Line2D
        The curve.
    best_round_ : int
        The last round that was an improvement: the one that early stopping keeps, with ``tol=0`` that of the least
        loss. Where several models are trained the curve is their mean, and each keeps a round of its own.
    """

    def __init__(
        self,
        scores: Array,
        label: str = "held-out loss",
        tol: float = 0.0,
        rounds: str = "boosting rounds",
    ) -> None:
        self.scores = np.asarray(scores, dtype=np.float64)
        self.label = label
        self.tol = tol
        self.rounds = rounds

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **kwargs: Any) -> RoundsDisplay:
        """Draw ``estimator.validation_scores_``.

        Parameters
        ----------
        estimator : fitted RFFBoostClassifier or RFFBoostRegressor
            Fitted with early stopping.
        ax : matplotlib Axes, optional
            Where to draw.
        **kwargs
            For :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        RoundsDisplay

        Raises
        ------
        ValueError
            If the fit held out no rows.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "validation_scores_"):
            raise ValueError(
                f"RoundsDisplay: estimator must be fitted with early stopping, which keeps validation_scores_, "
                f"got {estimator!r}{component_hint(estimator)}"
            )
        shown = estimator.validation_scores_, watched_name(estimator), estimator.tol, rounds_of(estimator)
        return cls(*shown).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> RoundsDisplay:
        """Draw, on `ax` or a new figure; `kwargs` go to :meth:`matplotlib.axes.Axes.plot`."""
        from matplotlib.ticker import MaxNLocator

        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        self.best_round_ = best_round(self.scores.tolist(), self.tol)
        best = self.scores[self.best_round_]
        rounds = np.arange(len(self.scores))
        (self.line_,) = self.ax_.plot(rounds, self.scores, **{"color": MAIN, "linewidth": 1.8, **kwargs})
        self.ax_.plot(self.best_round_, best, "o", color=ACCENT, ms=6, zorder=3)
        self.ax_.annotate(
            f"{best:.4g} after {self.best_round_} rounds",
            (self.best_round_, best),
            xytext=(0, -8),
            textcoords="offset points",
            ha="right" if self.best_round_ > 0.4 * len(rounds) else "left",
            va="top",
            color=ACCENT,
            fontsize=9,
        )
        # Make room for the note below the lowest score.
        low, high = self.ax_.get_ylim()
        self.ax_.set_ylim(low - 0.08 * (high - low), high)
        self.ax_.set_xlim(0, max(1, len(rounds) - 1))
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.set_xlabel(self.rounds)
        self.ax_.set_ylabel(self.label)
        style_axes(self.ax_)
        return self


def rounds_of(estimator: Any) -> str:
    """What the rounds are that a fit has kept curves of: those of the model, or of one of several."""
    scores = getattr(estimator, "validation_scores_", None)
    if scores is None:
        return "boosting rounds"
    new = estimator.n_estimators_ - estimator.n_initial_rounds_
    kept = new == max(1, best_round(scores.tolist(), estimator.tol))
    return "boosting rounds" if kept else "boosting rounds (of one model)"


def watched_name(estimator: Any) -> str:
    """What early stopping has monitored, with a minus where higher is better."""
    given = estimator.eval_metric
    if given is None:
        return f"held-out loss ({type(estimator.loss_).__name__})"
    name, greater = name_and_direction(given[-1] if isinstance(given, list | tuple) else given)
    return f"held-out {'-' if greater else ''}{name}"


def best_round(scores: Sequence[float], tol: float) -> int:
    """The round up to which early stopping counts: the last one that is an improvement on the best one before it.

    `scores` are the errors before the first and after each round; one is an improvement where it is lower by more
    than `tol` times the first.
    """
    best = 0
    for done, error in enumerate(scores):
        if error < scores[best] - tol * abs(scores[0]):
            best = done
    return best
