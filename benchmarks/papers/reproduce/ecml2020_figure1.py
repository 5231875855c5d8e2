"""ECML-PKDD 2020, Figure 1: the periodic loss over landmark positions, and the boundary it leads to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from rffboost_ext.experiments.figures import new_figure
from rffboost_ext.experiments.report import markdown
from rffboost_ext.losses.classification import signed_labels
from rffboost_ext.terms import Cosines
from rffboost_ext.utils.typing import Array

from ...study import Task
from .figures import draw_boundary, draw_points, plane
from .papers import preset
from .splits import moons
from .target import Scope, Target, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, TEST_ROWS, NOISE, SEED = 100, 2_000, 0.05, 1
AROUND, GRID = 0.9, 200


class EcmlFigure1(Target):
    """Figure 1: what GBRFF1 minimises in a round."""

    name = "ecml2020-figure1"
    title = "ECML-PKDD 2020, Figure 1: the loss of a landmark is periodic"
    about = (
        f"Two moons, {ROWS} rows, noise {NOISE:g}; GBRFF1 with one frequency per round and gamma = 1/d. "
        "Above, the mean of exp(-residual cos(omega . (x - landmark))) in a round, by the position of the "
        "landmark; the star is the landmark that the round has found from the origin, and adding a period along "
        "omega changes nothing: a landmark is a phase. Below, the boundary after that round. The paper shows a "
        "drawing of its own draws, without values."
    )
    full = Scope(("moons",), ("GBRFF1",), 1, (1, 5, 10, 100))
    sample = Scope(("moons",), ("GBRFF1",), 1, (1, 5, 10))
    downloads = False

    def settings(self, scope: Scope, system: str) -> object:
        return ROWS, SEED

    def measure(self, scope: Scope, system: Any, parts: Any, task: Task) -> list[dict[str, Any]]:
        start = perf_counter()
        fitted = MoonsFit.of(int(max(task.points)))
        X, y = fitted.test
        right = [100.0 * float(np.mean(labels == y)) for labels in fitted.model.staged_predict(X)]
        seconds = (perf_counter() - start) / len(task.points)
        return [values(right[int(x) - 1], seconds, (ROWS, TEST_ROWS, X.shape[1])) for x in task.points]

    def lines(self, frame: Any, scope: Scope) -> Any:
        fitted = MoonsFit.of(int(max(scope.points)))
        columns = [fitted.facts(int(t)) for t in frame["x"]]
        table = frame[["x", "score"]].rename(columns={"x": "round", "score": "test_accuracy"})
        return table.assign(**{name: [facts[name] for facts in columns] for name in columns[0]})

    def tables(self, frame: Any, scope: Scope) -> str:
        table = self.lines(frame, scope)
        header = [
            "round",
            "test accuracy (%)",
            "period",
            "loss at the landmark",
            "one period on",
            "least on the grid",
        ]
        return markdown(header, [[f"{value:.6g}" for value in line] for line in table.to_numpy()])

    def draw(self, frame: Any, scope: Scope) -> Figure:
        fitted = MoonsFit.of(int(max(scope.points)))
        rounds = [int(x) for x in sorted(frame["x"])]
        figure = new_figure(3.0 * len(rounds), 5.6)
        panels = figure.subplots(2, len(rounds), squeeze=False)
        for column, t in enumerate(rounds):
            draw_loss(panels[0][column], fitted, t)
            score = frame.loc[frame["x"] == t, "score"].iloc[0]
            draw_boundary(panels[1][column], lambda X, t=t: fitted.raw(X, t), fitted.X, fitted.y)
            panels[1][column].set_title(f"after {t} round{'s' * (t > 1)}: {score:.1f} %", fontsize=9)
        panels[0][0].set_ylabel("loss by landmark")
        panels[1][0].set_ylabel("boundary")
        return figure


@dataclass(frozen=True)
class MoonsFit:
    """GBRFF1 with one frequency per round on two moons, its data, and its cosines in the order of the rounds."""

    model: Any
    X: Array
    y: Array
    test: tuple[Array, Array]
    cosines: Cosines

    @classmethod
    def of(cls, rounds: int) -> MoonsFit:
        """The fit of that many rounds."""
        X, y = moons(ROWS, NOISE, np.random.RandomState(SEED))
        test = moons(TEST_ROWS, NOISE, np.random.RandomState(SEED + 1))
        model = preset("gbrff1", rounds).set_params(learner__n_components=1).fit(X, y)
        cosines = Cosines.stack(cast(Sequence[Cosines], model.ensemble_.terms))
        return cls(model, X, y, test, cosines)

    def raw(self, X: Array, rounds: int) -> Array:
        """Raw scores (n,) after `rounds` rounds."""
        return np.asarray(self.model.ensemble_.truncated(rounds).raw(X)[:, 0])

    def landmark(self, t: int) -> Array:
        """The landmark of round t, from 1: on the line through the origin along omega, where the search went."""
        omega, phase = self.cosines.omega[t - 1], self.cosines.phase[t - 1]
        return np.asarray(omega * phase / (omega @ omega))

    def loss(self, landmarks: Array, t: int) -> Array:
        """Mean of ``exp(-residual cos(omega . (x - landmark)))`` in round t, for landmarks (m, 2)."""
        s = signed_labels(self.y.astype(np.float64))
        residual = s * np.exp(-s * self.raw(self.X, t - 1))
        omega = self.cosines.omega[t - 1]
        cosine = np.cos((self.X @ omega)[:, None] - landmarks @ omega)
        return np.asarray(np.exp(-residual[:, None] * cosine).mean(axis=0))

    def facts(self, t: int) -> dict[str, float]:
        """The period, and losses at the landmark, one period further along omega, and at the best grid point."""
        omega, landmark = self.cosines.omega[t - 1], self.landmark(t)
        period = 2.0 * np.pi / float(np.linalg.norm(omega))
        moved = landmark + period * omega / np.linalg.norm(omega)
        losses = self.loss(np.vstack([landmark, moved, plane(self.X, AROUND, GRID)[0]]), t)
        names = ("period", "loss", "loss_one_period_on", "least_loss")
        return dict(zip(names, (period, *losses[:2], losses[2:].min()), strict=True))


def draw_loss(axes: Any, fitted: MoonsFit, t: int) -> None:
    """The loss of round t by landmark, the rows, and the landmark that was found."""
    grid, extent = plane(fitted.X, AROUND, GRID)
    values = fitted.loss(grid, t).reshape(GRID, GRID)
    axes.imshow(values, extent=extent, origin="lower", cmap="viridis", aspect="auto")
    draw_points(axes, fitted.X, fitted.y)
    axes.plot(*fitted.landmark(t), marker="*", ms=13, color="white", markeredgecolor="black")
    axes.set_xlim(extent[:2])
    axes.set_ylim(extent[2:])
    axes.set_xticks([])
    axes.set_yticks([])
    axes.set_title(f"round {t}", fontsize=9)
