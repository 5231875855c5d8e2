"""The figures of the documentation.

    python -m benchmarks.figures [fits parts intervals displays] [--out docs/figures]

- fits: a wave, and a wave with steps, fitted by cosines, by trees and by the default model, with the mean absolute
  error to the true function. All fits have the same loop, loss and early stopping.
- parts: a default model of 1,000 rows, and the trees and the kernel ridge regression that it sums.
- intervals: intervals of constant and of varying width, both of coverage 90 %.
- displays: three displays of one classifier.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rffboost_ext import (
    ConformalRegressor,
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    SymmetricTrees,
)

from .command import options

matplotlib.use("Agg")

Array = np.ndarray
GRID = np.linspace(0.0, 1.0, 601)[:, None]


def panels(rows: int, columns: int, width: float, height: float, **shared: bool) -> tuple[Any, Any]:
    """A figure and its axes, without ticks where axes are shared."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(rows, columns, figsize=(width, height), layout="constrained", **shared)
    for ax in np.ravel(axes) if shared else ():
        ax.set(xticks=[], yticks=[])
    return figure, axes


def draw_fit(ax: Any, x: Array, y: Array, fitted: Array, title: str) -> None:
    """Rows, a fitted curve on the grid, and a title."""
    ax.scatter(x, y, s=3, color="0.8", linewidths=0)
    ax.plot(GRID, fitted, color="tab:blue", linewidth=1.4)
    ax.set_title(title, fontsize=10)


def wave(x: Array) -> Array:
    """A wave of growing frequency."""
    return np.sin(2.0 * np.pi * (x + 2.0 * x**2))


def steps(x: Array) -> Array:
    """The wave, higher on a quarter of its range."""
    return wave(x) + 1.2 * ((x > 0.35) & (x < 0.6))


def fits() -> Any:
    """Cosines, trees and the default model on two functions."""
    models = {"cosines": {"learner": "rff_newton"}, "trees": {"learner": "tree"}, "default": {}}
    figure, axes = panels(2, 3, 8.0, 3.2, sharex=True, sharey=True)
    for row, function in zip(axes, (wave, steps), strict=True):
        rng = np.random.default_rng(0)
        x = rng.uniform(0.0, 1.0, 1_000)
        y = function(x) + 0.2 * rng.standard_normal(len(x))
        for ax, (name, params) in zip(row, models.items(), strict=True):
            model = RFFBoostRegressor(early_stopping=True, random_state=0, **params).fit(x[:, None], y)
            prediction, true = model.predict(GRID), function(GRID[:, 0])
            error = np.abs(prediction - true).mean()
            print(f"{function.__name__:>7} {name:>8} {error:.3f}")
            draw_fit(ax, x[::4], y[::4], prediction, f"{name}: error {error:.3f}")
            ax.plot(GRID, true, color="0.3", linewidth=1, linestyle="--")
        row[0].set_ylabel({"wave": "a wave", "steps": "a wave with steps"}[function.__name__])
    return figure


def kind(term: Any) -> str:
    """Which of the parts a term belongs to."""
    return "trees" if isinstance(term, SymmetricTrees) else "kernel ridge"


def parts() -> Any:
    """A default model beside its parts."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 1.0, 1_000)
    true = np.sin(2.0 * np.pi * (x + 1.5 * x**2)) + 1.2 * ((x > 0.3) & (x < 0.55))
    y = true + 0.3 * rng.standard_normal(len(x))
    model = RFFBoostRegressor(random_state=0).fit(x[:, None], y)
    ensemble, sums = model.ensemble_, {}
    for length, term in zip(ensemble.lengths, ensemble.terms, strict=True):
        sums.setdefault(kind(term), []).append(length * term(GRID)[:, 0])
    figure, axes = panels(1, 3, 9.0, 2.6, sharex=True, sharey=True)
    draw_fit(axes[0], x, y, model.predict(GRID), "the default model")
    for ax, name in zip(axes[1:], ("trees", "kernel ridge"), strict=True):
        total = np.sum(sums[name], axis=0)
        draw_fit(ax, [], [], total - total.mean(), f"{name}: {len(sums[name])} terms")
    for learner, weight in zip(model.learners_, model.learner_weights_, strict=True):
        print(f"{type(learner).__name__:>10} {weight:.2f}")
    return figure


def growing_noise(n_samples: int, seed: int) -> tuple[Array, Array]:
    """Rows of a sine whose noise grows, (n, 1) and (n,)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 1.0, n_samples)
    return x[:, None], np.sin(6.0 * x) + (0.05 + 0.6 * x**2) * rng.standard_normal(n_samples)


def intervals() -> Any:
    """Intervals around a mean and around quantiles, and their coverage on other rows."""
    quantiles = RFFBoostQuantileRegressor((0.05, 0.95), random_state=0)
    regressors = {"around the mean": RFFBoostRegressor(random_state=0), "around quantiles": quantiles}
    (x, y), (x_test, y_test) = growing_noise(1_000, seed=0), growing_noise(5_000, seed=1)
    figure, axes = panels(1, 2, 8.0, 2.6, sharex=True, sharey=True)
    for ax, (name, regressor) in zip(axes, regressors.items(), strict=True):
        model = ConformalRegressor(regressor, alpha=0.1, random_state=0).fit(x, y)
        low, high = model.predict_interval(x_test).T
        coverage = ((low <= y_test) & (y_test <= high)).mean()
        print(f"{name:>16} {coverage:.3f}")
        ax.scatter(x[::2], y[::2], s=3, color="0.6", linewidths=0)
        ax.fill_between(GRID[:, 0], *model.predict_interval(GRID).T, color="tab:blue", alpha=0.25, linewidth=0)
        ax.set_title(f"{name}: {coverage:.1%} of new rows", fontsize=10)
    return figure


def displays() -> Any:
    """Importances, the effect of a feature and the history of a fit."""
    from sklearn.inspection import PartialDependenceDisplay

    from rffboost_ext.displays import HistoryDisplay, ImportanceDisplay

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = RFFBoostClassifier(learner="mixture", random_state=0)
    model.fit(X_train, y_train, eval_set={"train": (X_train, y_train), "test": (X_test, y_test)})
    figure, axes = panels(1, 3, 10.0, 3.0)
    ImportanceDisplay.from_estimator(model, max_features=8, ax=axes[0])
    feature = ["worst texture"]
    PartialDependenceDisplay.from_estimator(model, X_test, feature, kind="both", subsample=40, ax=axes[1])
    HistoryDisplay.from_estimator(model, ax=axes[2])
    axes[2].locator_params(axis="x", nbins=4)
    return figure


FIGURES: dict[str, Callable[[], Any]] = {
    "fits": fits,
    "parts": parts,
    "intervals": intervals,
    "displays": displays,
}


def main(arguments: list[str] | None = None) -> None:
    """Draw figures."""
    from PIL import Image

    parser = options(__doc__)
    parser.add_argument("figures", nargs="*", choices=FIGURES, metavar="NAME", default=list(FIGURES))
    parser.add_argument("--out", type=Path, default=Path("docs/figures"), help="folder of the figures")
    parsed = parser.parse_args(arguments)
    for name in parsed.figures:
        path = parsed.out / f"{name}.png"
        FIGURES[name]().savefig(path, dpi=120)
        Image.open(path).quantize(64).save(path, optimize=True)


if __name__ == "__main__":
    main()
