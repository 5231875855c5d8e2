"""Learning curves: a metric after every boosting round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..boosting.early_stopping.patience import improves
from ..boosting.early_stopping.stacking import mean_curve
from ..boosting.metrics import name_and_direction
from .plot_style import ACCENT, CYCLE, LONGEST, distinct_labels, get_axes, label, style_axes

# Letters of names in the legend, and how far the axis goes beyond the last best round of a stack.
LONGEST_NAME, MARGIN = 60, 1.2


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
    best_round : int or sequence of int, optional
        A round that is marked on the last curve, or one on each curve; for early stopping its last improvement.
    folds : mapping of str to sequence of sequences of float, optional
        The curves of single models, drawn thin, by the name of the curve that is their mean.
    others : sequence of HistoryDisplay, optional
        Displays of further metrics, which a new figure has above this one, on axes of their own.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Axes and figure of the plot.
    lines_ : list of matplotlib Line2D
        The curves, in the order of the sets.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from rffboost_ext.displays import HistoryDisplay
    >>> X, y = np.arange(60.0)[:, None], np.sin(np.arange(60.0))
    >>> model = RFFBoostRegressor(learner="tree", n_estimators=5, eval_metric=["r2", "absolute_error"])
    >>> display = HistoryDisplay.from_estimator(model.fit(X[:40], y[:40], eval_set=[(X[40:], y[40:])]))
    >>> [axes.get_ylabel() for axes in display.figure_.axes]
    ['r2', 'absolute_error']
    """

    curves: Mapping[str, Sequence[float]]
    metric: str
    rounds: str = "boosting rounds"
    first_round: int = 1
    best_round: int | Sequence[int] | None = None
    folds: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    others: Sequence[HistoryDisplay] = ()

    @classmethod
    def from_estimator(
        cls, estimator: Any, metric: str | None = None, *, ax: Any = None, **kwargs: Any
    ) -> HistoryDisplay:
        """Plot ``estimator.evals_result_``, or ``validation_curves_`` of a fit without ``eval_set``.

        Of ``evals_result_`` the round ``best_iteration_`` is marked, and of a single model the round that early
        stopping selects. A stack has a line for each member, whose name is followed by its weight in the sum. Thin
        lines are the folds, and the line of a member is their mean while all folds are trained, with the best
        round of the mean; each fold has one of its own. The axis ends soon after the last of these rounds.

        Parameters
        ----------
        estimator : fitted booster, such as RFFBoostRegressor
            Fitted with ``eval_set`` or early stopping.
        metric : str, optional
            A metric of ``evals_result_``. By default a new figure has all of them, the last below the others, and
            `ax` has the last one, which early stopping monitors. Without ``eval_set`` only that one is recorded.
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
        result = getattr(estimator, "evals_result_", {})
        models: Any = getattr(estimator, "validation_curves_", None)
        if not result and models is None:
            raise ValueError(
                f"HistoryDisplay: estimator must be fitted with eval_set or early stopping, got {estimator!r}"
            )
        metrics = list(next(iter(result.values()))) if result else [monitored_metric(estimator)]
        if metric not in (None, *metrics):
            raise ValueError(f"HistoryDisplay: metric must be one of {', '.join(metrics)}, got {metric!r}")
        shown = [metric] if metric else metrics[-1:] if ax is not None else metrics
        if result:
            best = getattr(estimator, "best_iteration_", None)
            marked = None if best is None else best + 1
            *others, last = [
                cls({name: values[one] for name, values in result.items()}, one, best_round=marked)
                for one in shown
            ]
            return replace(last, others=others).plot(ax, **kwargs)
        (metric,) = shown
        folds = dict(zip(names_of_members(estimator), models, strict=True))
        curves: dict[str, Any] = {name: mean_curve(of_folds) for name, of_folds in folds.items()}
        if len(models) == len(models[0]) == 1:
            best = selected_round(models[0][0].tolist(), estimator.tol)
            return cls(curves, metric, rounds_label(estimator, best), 0, best).plot(ax, **kwargs)
        best = [selected_round(curve.tolist(), estimator.tol) for curve in curves.values()]
        return cls(curves, metric, "boosting rounds (of one model)", 0, best, folds).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> HistoryDisplay:
        """Plot on `ax`, or all metrics on a new figure; `kwargs` go to :meth:`matplotlib.axes.Axes.plot`."""
        from matplotlib.ticker import MaxNLocator

        *above, self.ax_ = np.atleast_1d(get_axes(ax, rows=1 if ax is not None else 1 + len(self.others)))
        for other, axes in zip(self.others, above, strict=ax is None):
            other.plot(axes, **kwargs)
        self.figure_ = self.ax_.figure
        self.lines_ = []
        names = distinct_labels(self.curves, LONGEST_NAME)
        for number, (name, curve) in enumerate(zip(names, self.curves.values(), strict=True)):
            # Matplotlib omits names with a leading underscore from legends.
            name = f"\N{ZERO WIDTH SPACE}{name}" if name.startswith("_") else name
            style = {"color": CYCLE[number % len(CYCLE)], "linewidth": 1.8, "label": name}
            # A line of one point is invisible.
            style |= ({"marker": "o"} if len(curve) == 1 else {}) | kwargs
            rounds = range(self.first_round, self.first_round + len(curve))
            self.lines_ += self.ax_.plot(rounds, curve, **style)
            for fold in list(self.folds.values())[number] if self.folds else ():
                thin = {"color": style["color"], "linewidth": 0.7, "alpha": 0.4}
                self.ax_.plot(range(self.first_round, self.first_round + len(fold)), fold, **thin)
        self._mark_best_round()
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.set_xlabel(self.rounds)
        self.ax_.set_ylabel(label(self.metric, 2 * LONGEST))
        self.ax_.legend(frameon=False, fontsize=9)
        style_axes(self.ax_)
        return self

    def _mark_best_round(self) -> None:
        """A dot at each best round, of a single one with its value in the legend."""
        if self.best_round is None:
            return
        curves, is_one = list(self.curves.values()), isinstance(self.best_round, int)
        rounds = [self.best_round] if isinstance(self.best_round, int) else list(self.best_round)
        for curve, best in zip(curves[-len(rounds) :], rounds, strict=True):
            if 0 <= best - self.first_round < len(curve):
                value = curve[best - self.first_round]
                note = {"label": f"{value:.4g} after {best} rounds"} if is_one else {}
                self.ax_.plot(best, value, "o", color=ACCENT, ms=6, zorder=3, **note)
        if not is_one:
            last = MARGIN * max(1, *rounds)
            self.ax_.set_xlim(-0.04 * last, last)


def names_of_members(estimator: Any) -> list[str]:
    """The members of a stack with their weights, or "validation" for a single one."""
    members = getattr(estimator, "member_names_", ())
    if len(members) < 2:
        return ["validation"]
    weights = [", ".join(f"{one:.2f}" for one in np.atleast_1d(weight)) for weight in estimator.learner_weights_]
    return [f"{name} (weight {weight})" for name, weight in zip(members, weights, strict=True)]


def rounds_label(estimator: Any, best: int) -> str:
    """Label of rounds: whether they are those of the ensemble, or of one of several models."""
    n_new = estimator.n_estimators_ - estimator._start.n_initial
    return "boosting rounds" if n_new == max(1, best) else "boosting rounds (of one model)"


def monitored_metric(estimator: Any) -> str:
    """Name of the metric in ``validation_scores_``, with a minus if higher is better."""
    metrics = estimator.eval_metric
    if metrics is None:
        return f"held-out loss ({type(estimator.loss_).__name__})"
    name, greater = name_and_direction(metrics[-1] if isinstance(metrics, list | tuple) else metrics)
    return f"held-out {'-' if greater else ''}{name}"


def selected_round(scores: Sequence[float], tol: float) -> int:
    """The round that early stopping selects: the last one that improves on all rounds before by `tol`.

    `scores` are errors before the first and after each round, such as ``validation_scores_``.
    """
    best = 0
    for done, error in enumerate(scores):
        if improves(error, scores[best], scores[0], tol):
            best = done
    return best
