"""ECML-PKDD 2020, Figure 5: three toys, LightGBM and GBRFF2 by the number of training examples."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ...utils.typing import Array
from .figures import draw_boundary, draw_curves, new_figure
from .grid_search import Candidate, DataSplit
from .markdown import curve_table
from .splits import CrossValidated
from .summary import along, curves
from .target import Plan, TunedTarget
from .task import TargetTask
from .toys import TOYS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN_ROWS = 500
FEW = 500
ORDER = ("LGBM", "GBRFF2")


class EcmlFigure5(TunedTarget):
    """Figure 5: boundaries, and accuracy by training size."""

    name = "ecml2020-figure5"
    title = "ECML-PKDD 2020, Figure 5: three toys by number of training examples"
    about = (
        "swiss: a spiral and one of 0.9 times its radius, noise 0.4; circles: four concentric circles, noise "
        "0.07 times the radius; board: 4 x 4 fields. Half of the n examples train, half test; features as they "
        "come. LightGBM and GBRFF2 with 1,000 rounds, tuned by 5-fold cross-validation over the paper's grids. "
        "Test accuracy in percent, mean over the draws; the seed of a draw is its number. The paper gives its "
        "values as a drawing only."
    )
    paper = "ecml2020"
    splitter = CrossValidated(0.5, standardized=False)
    full = Plan(tuple(TOYS), ORDER, 5, tuple(float(n) for n in range(50, 2_001, 50)), size=1_000)
    sample = Plan(tuple(TOYS), ORDER, 1, (50.0, 200.0, 500.0), size=100)
    downloads = False

    def tasks(self, plan: Plan, rows: Any) -> list[TargetTask]:
        return [
            self.task(plan, dataset, system, split, (n,))
            for split in range(1, plan.splits + 1)
            for n in plan.points
            for dataset in plan.datasets
            for system in plan.systems
        ]

    def size(self, plan: Plan, system: str, x: float) -> float:
        return plan.size

    def settings(self, plan: Plan, system: str) -> str:
        return f"{plan.size} {super().settings(plan, system)}"

    def parts(self, task: TargetTask) -> DataSplit:
        return self._parts(task.dataset, int(task.points[0]), task.split)

    def _parts(self, dataset: str, n: int, index: int) -> DataSplit:
        rng = np.random.RandomState(index)
        return self.splitter.of(*TOYS[dataset](n, rng), rng)

    def curves(self, frame: Any, dataset: str) -> Any:
        """Mean accuracy by training size on one toy, of the sizes that both systems have."""
        return curves(frame[frame["dataset"] == dataset], ORDER).dropna()

    def lines(self, frame: Any, plan: Plan) -> Any:
        return along(frame, "n", "draws")

    def tables(self, frame: Any, plan: Plan) -> str:
        parts = []
        for dataset in plan.datasets:
            if dataset in set(frame["dataset"]):
                means = self.curves(frame, dataset)
                parts += [f"## {dataset}", curve_table(means, "n").rstrip(), few_line(means)]
        return "\n\n".join(parts)

    def draw(self, frame: Any, plan: Plan) -> Figure:
        measured = [dataset for dataset in plan.datasets if (frame["dataset"] == dataset).any()]
        figure = new_figure(9.5, 3.1 * len(measured))
        panels = figure.subplots(len(measured), 3, squeeze=False, width_ratios=[1, 1, 1.35])
        for axes, dataset in zip(panels, measured, strict=True):
            self._draw_row(axes, frame[frame["dataset"] == dataset], dataset, plan)
        panels[-1][2].set_xlabel("examples, half of them for training")
        panels[0][2].legend(frameon=False)
        return figure

    def _draw_row(self, axes: Any, frame: Any, dataset: str, plan: Plan) -> None:
        """One toy: both boundaries, and the curves."""
        for panel, system in zip(axes, ORDER, strict=False):
            rows = frame[(frame["system"] == system) & (frame["split"] == 1) & (frame["x"] <= SHOWN_ROWS)]
            if len(rows):
                self._draw_boundary(panel, rows.loc[rows["x"].idxmax()], plan)
        axes[0].set_ylabel(dataset)
        means = self.curves(frame, dataset)
        draw_curves(axes[2], means, list(means.columns), marker="" if len(means) > 12 else "o")
        axes[2].set_ylabel("test accuracy (%)")

    def _draw_boundary(self, axes: Any, row: Any, plan: Plan) -> None:
        """The boundary of a fit with the hyperparameters that a row was measured with."""
        parts = self._parts(row["dataset"], int(row["x"]), int(row["split"]))
        chosen: Candidate = json.loads(row["chosen"])
        model = self.path(plan, row["system"], 0.0).make(plan.size).set_params(**chosen).fit(*parts.train)
        draw_boundary(axes, lambda X: centred(model, X), *parts.train)
        axes.set_title(f"{row['system']}, n = {row['x']:g}: {row['score']:.1f} %", fontsize=9)


def centred(model: Any, X: Array) -> Array:
    """Probability of the positive class, less one half."""
    return np.asarray(model.predict_proba(X)[:, 1] - 0.5)


def few_line(means: Any) -> str:
    """At how many sizes below 500 GBRFF2 is above LightGBM, as the paper's figure shows."""
    few = means[means.index < FEW]
    if set(ORDER) > set(means.columns) or not len(few):
        return ""
    ahead = int((few["GBRFF2"] > few["LGBM"]).sum())
    gap = (few["GBRFF2"] - few["LGBM"]).mean()
    return (
        f"Below {FEW} examples GBRFF2 is above LightGBM at {ahead} of {len(few)} sizes, by {gap:.1f} points on "
        "the mean."
    )
