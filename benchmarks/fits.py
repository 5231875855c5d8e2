"""The figure of the README: a smooth and a jagged function, fitted by cosines, by trees and by the default model.

All fits have the same loop, loss and early stopping; the titles give the mean absolute error to the true function.
"""

from __future__ import annotations

import argparse

import numpy as np

from rffboost_ext import RFFBoostRegressor

MODELS = {"cosines": {"learner": "rff_newton"}, "trees": {"learner": "tree"}, "default": {}}
X = np.linspace(0.0, 1.0, 601)


def smooth(x):
    """A wave of growing frequency."""
    return np.sin(2.0 * np.pi * (x + 2.0 * x**2))


def jagged(x):
    """Steps of unequal width and height."""
    return np.array([0.0, 1.0, -0.6, 0.3, -1.0, 0.8])[np.digitize(x, [0.12, 0.3, 0.42, 0.6, 0.87])]


def sample(function, n_samples=1_000, noise=0.2):
    """Rows with noise, (n, 1) and (n,)."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 1.0, n_samples)
    return x[:, None], function(x) + noise * rng.standard_normal(n_samples)


def draw(path):
    """Fit all models and draw them."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    figure, axes = plt.subplots(2, 3, figsize=(8.0, 3.2), sharex=True, sharey=True, layout="constrained")
    for row, function in zip(axes, (smooth, jagged), strict=True):
        x, y = sample(function)
        for ax, (name, params) in zip(row, MODELS.items(), strict=True):
            model = RFFBoostRegressor(early_stopping=True, random_state=0, **params).fit(x, y)
            prediction = model.predict(X[:, None])
            error = np.abs(prediction - function(X)).mean()
            print(f"{function.__name__:>7} {name:>8} {error:.3f}")
            ax.scatter(x[::4], y[::4], s=3, color="0.8", linewidths=0)
            ax.plot(X, function(X), color="0.3", linewidth=1, linestyle="--")
            ax.plot(X, prediction, color="tab:blue", linewidth=1.4)
            ax.set_title(f"{name}: error {error:.3f}", fontsize=10)
            ax.set(xticks=[], yticks=[])
        row[0].set_ylabel(function.__name__)
    figure.savefig(path, dpi=120)
    Image.open(path).quantize(32).save(path, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="docs/figures/fits.png", help="the figure, a PNG")
    draw(parser.parse_args().out)


if __name__ == "__main__":
    main()
