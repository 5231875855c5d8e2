"""A metric on several sets of rows, round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .plot_style import CYCLE, LONGEST, get_axes, label, labels, style_axes
from .rounds_display import rounds_of


class HistoryDisplay:
    """One metric on each set of rows after every boosting round, a line for each set.

    Parameters
    ----------
    curves : mapping of str to sequence of float
        The metric after 1, 2, ... rounds, by set: such as ``{name: curves["log_loss"] for name, curves in
        model.evals_result_.items()}``.
    metric : str
        Its name.
    rounds : str, default="boosting rounds"
        What the rounds are.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        The curves, in the order of the sets.
    """

    def __init__(
        self, curves: Mapping[str, Sequence[float]], metric: str, rounds: str = "boosting rounds"
    ) -> None:
        self.curves = curves
        self.metric = metric
        self.rounds = rounds

    @classmethod
    def from_estimator(
        cls, estimator: Any, metric: str | None = None, *, ax: Any = None, **kwargs: Any
    ) -> HistoryDisplay:
        """Draw a metric of ``estimator.evals_result_``.

        Parameters
        ----------
        estimator : fitted RFFBoostClassifier or RFFBoostRegressor
            Fitted with ``eval_set``.
        metric : str, optional
            Which metric; the last by default, which early stopping monitors.
        ax : matplotlib Axes, optional
            Where to draw.
        **kwargs
            For :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        HistoryDisplay

        Raises
        ------
        ValueError
            If the fit had no ``eval_set``, or there is no such metric.
        """
        check_is_fitted(estimator)
        result = getattr(estimator, "evals_result_", None)
        if not result:
            raise ValueError(
                f"HistoryDisplay: estimator must be fitted with eval_set, which keeps evals_result_, got "
                f"{estimator!r}"
            )
        known = list(next(iter(result.values())))
        metric = known[-1] if metric is None else metric
        if metric not in known:
            raise ValueError(f"HistoryDisplay: metric must be one of {', '.join(known)}, got {metric!r}")
        curves = {name: curves[metric] for name, curves in result.items()}
        return cls(curves, metric, rounds_of(estimator)).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> HistoryDisplay:
        """Draw, on `ax` or a new figure; `kwargs` go to :meth:`matplotlib.axes.Axes.plot`."""
        from matplotlib.ticker import MaxNLocator

        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        for number, (name, curve) in enumerate(zip(labels(self.curves), self.curves.values(), strict=True)):
            # Legends leave out names that begin with an underscore: an invisible character is to come first.
            name = f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name
            looks = {"color": CYCLE[number % len(CYCLE)], "linewidth": 1.8, "label": name}
            # One round is a point, and no line.
            looks |= ({"marker": "o"} if len(curve) == 1 else {}) | kwargs
            self.lines_ += self.ax_.plot(range(1, len(curve) + 1), curve, **looks)
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.set_xlabel(self.rounds)
        self.ax_.set_ylabel(label(self.metric, 2 * LONGEST))
        self.ax_.legend(frameon=False, fontsize=9)
        style_axes(self.ax_)
        return self
