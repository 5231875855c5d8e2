"""Learning curves: a metric after every boosting round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..boosting.early_stopping.patience import improves
from ..boosting.metrics import name_and_direction
from .plot_style import ACCENT, CYCLE, LONGEST, distinct_labels, get_axes, label, style_axes


@dataclass(eq=False, repr=False)
class HistoryDisplay:
    """A metric after every boosting round, a line for each set of rows, and the best round of early stopping.

    Parameters
    ----------
    curves : mapping of str to sequence of float
        The metric by set of rows, such as ``{name: curves["log_loss"] for name, curves in
        model.evals_result_.items()}``.
    metric : str
        Label of the vertical axis.
    rounds : str, default="boosting rounds"
        Label of the horizontal axis.
    first_round : int, default=1
        Number of completed rounds at the start of the curves; 0 for ``validation_scores_``.
    best_round : int, optional
        A round that is marked on the last curve; for early stopping its last improvement.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Axes and figure of the plot.
    lines_ : list of matplotlib Line2D
        The curves, in the order of the sets.
    """

    curves: Mapping[str, Sequence[float]]
    metric: str
    rounds: str = "boosting rounds"
    first_round: int = 1
    best_round: int | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, metric: str | None = None, *, ax: Any = None, **kwargs: Any
    ) -> HistoryDisplay:
        """Plot ``estimator.evals_result_``, or ``validation_scores_`` of a fit without ``eval_set``.

        Of ``evals_result_`` the round ``best_iteration_`` is marked; of ``validation_scores_`` the round that
        early stopping selects. If it trains several models, these scores are means over them, and each model
        has a best round of its own.

        Parameters
        ----------
        estimator : fitted booster, such as RFFBoostRegressor
            Fitted with ``eval_set`` or early stopping.
        metric : str, optional
            A metric of ``evals_result_``; by default the last one, which early stopping monitors.
        ax : matplotlib Axes, optional
            Axes to plot on.
        **kwargs
            Passed to :meth:`matplotlib.axes.Axes.plot`.

        Returns
        -------
        HistoryDisplay

        Raises
        ------
        ValueError
            If the fit had neither ``eval_set`` nor early stopping, or there is no such metric.
        """
        check_is_fitted(estimator)
        result = getattr(estimator, "evals_result_", None)
        scores = getattr(estimator, "validation_scores_", None)
        if not result and scores is None:
            raise ValueError(
                f"HistoryDisplay: estimator must be fitted with eval_set or early stopping, got {estimator!r}"
            )
        known = list(next(iter(result.values()))) if result else [monitored_metric(estimator)]
        metric = known[-1] if metric is None else metric
        if metric not in known:
            raise ValueError(f"HistoryDisplay: metric must be one of {', '.join(known)}, got {metric!r}")
        curves: dict[str, Any] = {name: values[metric] for name, values in (result or {}).items()}
        if result or scores is None:
            best = getattr(estimator, "best_iteration_", None)
            return cls(curves, metric, best_round=None if best is None else best + 1).plot(ax, **kwargs)
        best = selected_round(scores.tolist(), estimator.tol)
        return cls({"validation": scores}, metric, rounds_label(estimator, best), 0, best).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> HistoryDisplay:
        """Plot on `ax` or a new figure; `kwargs` are passed to :meth:`matplotlib.axes.Axes.plot`."""
        from matplotlib.ticker import MaxNLocator

        self.ax_ = get_axes(ax)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        names = distinct_labels(self.curves)
        for number, (name, curve) in enumerate(zip(names, self.curves.values(), strict=True)):
            # Matplotlib omits names with a leading underscore from legends.
            name = f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name
            style = {"color": CYCLE[number % len(CYCLE)], "linewidth": 1.8, "label": name}
            # A line of one point is invisible.
            style |= ({"marker": "o"} if len(curve) == 1 else {}) | kwargs
            rounds = range(self.first_round, self.first_round + len(curve))
            self.lines_ += self.ax_.plot(rounds, curve, **style)
        self._mark_best_round()
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.set_xlabel(self.rounds)
        self.ax_.set_ylabel(label(self.metric, 2 * LONGEST))
        self.ax_.legend(frameon=False, fontsize=9)
        style_axes(self.ax_)
        return self

    def _mark_best_round(self) -> None:
        """A dot and a note with the value after the best round."""
        curve, best = list(self.curves.values())[-1], self.best_round
        if best is None or not 0 <= best - self.first_round < len(curve):
            return
        value = curve[best - self.first_round]
        self.ax_.plot(best, value, "o", color=ACCENT, ms=6, zorder=3)
        placement = {"xytext": (0, -8), "textcoords": "offset points", "va": "top", "fontsize": 9}
        side = "right" if best > 0.4 * len(curve) else "left"
        self.ax_.annotate(f"{value:.4g} after {best} rounds", (best, value), ha=side, color=ACCENT, **placement)
        # Room for the note below the curve.
        low, high = self.ax_.get_ylim()
        self.ax_.set_ylim(low - 0.08 * (high - low), high)


def rounds_label(estimator: Any, best: int) -> str:
    """Label of rounds: whether they are those of the ensemble, or of one of several models."""
    n_new = estimator.n_estimators_ - estimator.n_initial_rounds_
    return "boosting rounds" if n_new == max(1, best) else "boosting rounds (of one model)"


def monitored_metric(estimator: Any) -> str:
    """Name of the metric in ``validation_scores_``, with a minus if higher is better."""
    given = estimator.eval_metric
    if given is None:
        return f"held-out loss ({type(estimator.loss_).__name__})"
    name, greater = name_and_direction(given[-1] if isinstance(given, list | tuple) else given)
    return f"held-out {'-' if greater else ''}{name}"


def selected_round(scores: Sequence[float], tol: float) -> int:
    """The round that early stopping selects: the last one that improves on all rounds before.

    Parameters
    ----------
    scores : sequence of float
        Errors before the first and after each round, such as ``validation_scores_``.
    tol : float
        Minimum improvement, as a share of the decrease so far: the parameter ``tol`` of the estimator.

    Returns
    -------
    int
    """
    best = 0
    for done, error in enumerate(scores):
        if improves(error, scores[best], scores[0], tol):
            best = done
    return best
