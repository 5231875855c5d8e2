"""ECML-PKDD 2020, Figure 5: three toys, LightGBM and GBRFF2 by the number of training examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rffboost_ext.experiments.figures import draw_curves, new_figure
from rffboost_ext.experiments.records import Key, Record
from rffboost_ext.experiments.summary import curves
from rffboost_ext.utils.typing import Array

from ...study import Study, Task
from .comparison import along, curve_table
from .figures import draw_boundary
from .grid_search import DataSplit
from .splits import TOYS, CrossValidated
from .target import Scope, TunedTarget

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN_ROWS = 500
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
    full = Scope(tuple(TOYS), ORDER, 5, tuple(float(n) for n in range(50, 2_001, 50)), size=1_000)
    sample = Scope(tuple(TOYS), ORDER, 1, (50.0, 200.0, 500.0), size=100)
    downloads = False

    def order(self, scope: Scope, study: Study, records: Mapping[Key, Record]) -> list[Task]:
        """One task for each number of examples."""
        return [
            Task(dataset, system, split, (n,))
            for split in range(1, study.n_splits + 1)
            for n in study.points
            for dataset in study.data
            for system in study.systems
        ]

    def size(self, scope: Scope, system: str, x: float) -> float:
        return scope.size

    def settings(self, scope: Scope, system: str) -> object:
        return scope.size, super().settings(scope, system)

    def loader(self, scope: Scope, dataset: str) -> Callable[[], Any]:
        return partial(str, dataset)

    def parts(self, data: Any, index: int) -> Any:
        return partial(self.draw_parts, data, index)

    def draw_parts(self, dataset: str, index: int, n: float) -> DataSplit:
        """The parts of a draw of n examples."""
        rng = np.random.RandomState(index)
        return self.splitter.of(*TOYS[dataset](int(n), rng), rng)

    def measure(self, scope: Scope, system: Any, parts: Any, task: Task) -> list[dict[str, Any]]:
        return super().measure(scope, system, parts(task.points[0]), task)

    def curves(self, frame: Any, dataset: str) -> Any:
        """Mean accuracy by training size on one toy, of the sizes that both systems have."""
        return curves(frame[frame["dataset"] == dataset], ORDER).dropna()

    def lines(self, frame: Any, scope: Scope) -> Any:
        return along(frame, "n", "draws")

    def tables(self, frame: Any, scope: Scope) -> str:
        parts = []
        for dataset in scope.datasets:
            if dataset in set(frame["dataset"]):
                means = self.curves(frame, dataset)
                parts += [f"## {dataset}", curve_table(means, "n").rstrip()]
        return "\n\n".join(parts)

    def draw(self, frame: Any, scope: Scope) -> Figure:
        measured = [dataset for dataset in scope.datasets if (frame["dataset"] == dataset).any()]
        figure = new_figure(9.5, 3.1 * len(measured))
        panels = figure.subplots(len(measured), 3, squeeze=False, width_ratios=[1, 1, 1.35])
        for axes, dataset in zip(panels, measured, strict=True):
            self._draw_row(axes, frame[frame["dataset"] == dataset], dataset, scope)
        panels[-1][2].set_xlabel("examples, half of them for training")
        panels[0][2].legend(frameon=False)
        return figure

    def _draw_row(self, axes: Any, frame: Any, dataset: str, scope: Scope) -> None:
        """One toy: both boundaries, and the curves."""
        for panel, system in zip(axes, ORDER, strict=False):
            rows = frame[(frame["system"] == system) & (frame["split"] == 1) & (frame["x"] <= SHOWN_ROWS)]
            if len(rows):
                self._draw_boundary(panel, rows.loc[rows["x"].idxmax()], scope)
        axes[0].set_ylabel(dataset)
        means = self.curves(frame, dataset)
        draw_curves(axes[2], means)
        axes[2].set_ylabel("test accuracy (%)")

    def _draw_boundary(self, axes: Any, row: Any, scope: Scope) -> None:
        """The boundary of a fit with the hyperparameters that a row was measured with."""
        parts = self.draw_parts(row["dataset"], int(row["split"]), row["x"])
        model = self.path(scope, row["system"], 0.0).make(scope.size).set_params(**row["chosen"]).fit(*parts.train)
        draw_boundary(axes, lambda X: centred(model, X), *parts.train)
        axes.set_title(f"{row['system']}, n = {row['x']:g}: {row['score']:.1f} %", fontsize=9)


def centred(model: Any, X: Array) -> Array:
    """Probability of the positive class, less one half."""
    return np.asarray(model.predict_proba(X)[:, 1] - 0.5)
