"""Letarte et al., AISTATS 2019, Figure 2: kernel values and learned similarities to landmarks, on a toy."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ...utils.typing import Array
from ..figures import new_figure
from ..report import markdown
from ..study import Task
from .figures import draw_boundary
from .target import Scope, Target, values
from .toys import moons

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, TEST_ROWS, NOISE, SEED = 200, 2_000, 0.15, 1
GAMMA, BETA, K = 0.25, 10.0, 128
NAMES = {"RBF": "kernel values", "PB": "learned similarities"}


class LetarteFigure2(Target):
    """Figure 2: what a similarity that is learned from labels looks like."""

    name = "letarte2019-figure2"
    title = "AISTATS 2019, Figure 2: similarities to landmarks on a toy"
    about = (
        f"Two moons, {ROWS} rows, noise {NOISE:g}; four landmarks, the k-means centroids of each class; gamma = "
        f"{GAMMA:g}, for the learned similarities beta = {BETA:g} and K = {K}. Per landmark, its similarity to "
        "each point of the plane (blue: alike); last, the linear SVM on the four. Test accuracy in percent. The "
        "paper shows a drawing of its own toy, without values."
    )
    full = sample = Scope(("moons",), ("RBF", "PB"), 1, (4.0,))
    downloads = False

    def settings(self, scope: Scope, system: str) -> object:
        return ROWS, SEED, GAMMA, BETA, K, system

    def measure(self, scope: Scope, system: Any, parts: Any, task: Task) -> list[dict[str, Any]]:
        start = perf_counter()
        model, X, _ = fit_on_moons(task.system)
        X_test, y_test = moons(TEST_ROWS, NOISE, np.random.RandomState(SEED + 1))
        score = 100.0 * float(np.mean(model.predict(X_test) == y_test))
        return [values(score, perf_counter() - start, (len(X), TEST_ROWS, X.shape[1]))]

    def lines(self, frame: Any, scope: Scope) -> Any:
        table = frame[["system", "x", "score"]]
        return table.rename(columns={"x": "landmarks", "score": "test_accuracy"})

    def tables(self, frame: Any, scope: Scope) -> str:
        scores = frame.set_index("system")["score"]
        lines = [[NAMES[name], f"{scores[name]:.2f}"] for name in scope.systems if name in scores.index]
        return markdown(["a linear SVM on four", "test accuracy (%)"], lines)

    def draw(self, frame: Any, scope: Scope) -> Figure:
        systems = [name for name in scope.systems if name in set(frame["system"])]
        figure = new_figure(12.5, 2.7 * len(systems))
        panels = figure.subplots(len(systems), 5, squeeze=False)
        for axes, system in zip(panels, systems, strict=True):
            draw_system(axes, system, frame.loc[frame["system"] == system, "score"].iloc[0])
        return figure


def fit_on_moons(system: str) -> tuple[Any, Array, Array]:
    """The classifier of four landmarks and its training rows."""
    from ..baselines.methods import pbrff, rbf_landmarks_svm

    X, y = moons(ROWS, NOISE, np.random.RandomState(SEED))
    shared: dict[str, Any] = {"gamma": GAMMA, "selection": "centroids", "standardize": False, "random_state": SEED}
    if system == "RBF":
        return rbf_landmarks_svm(4, **shared).fit(X, y), X, y
    return pbrff(4, K, beta=BETA, svm="liblinear", **shared).fit(X, y), X, y


def draw_system(axes: Any, system: str, score: float) -> None:
    """A row of panels: the similarity to each landmark, and the boundary."""
    model, X, y = fit_on_moons(system)
    mapping = model.mapping_
    for index, (panel, landmark) in enumerate(zip(axes, mapping.landmarks_, strict=False)):
        draw_boundary(panel, lambda Z, i=index: mapping.transform(Z)[:, i], X, y)
        panel.plot(*landmark, marker="*", ms=14, color="gold", markeredgecolor="black")
        panel.set_title(f"landmark {index + 1}, of class {mapping.landmark_classes_[index]}", fontsize=9)
    draw_boundary(axes[-1], model.decision_function, X, y)
    axes[-1].set_title(f"SVM on the four: {score:.1f} %", fontsize=9)
    axes[0].set_ylabel(NAMES[system])
