"""The figure of the page on uncertainty: intervals of constant and of varying width, both of coverage 90 %."""

from __future__ import annotations

import argparse

import numpy as np

from rffboost_ext import ConformalRegressor, RFFBoostQuantileRegressor, RFFBoostRegressor

X = np.linspace(0.0, 1.0, 400)[:, None]


def sample(n_samples, seed):
    """Rows of a sine whose noise grows, (n, 1) and (n,)."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.0, 1.0, n_samples)
    return x[:, None], np.sin(6.0 * x) + (0.05 + 0.6 * x**2) * rng.standard_normal(n_samples)


def draw(path):
    """Fit both to the same rows, draw their intervals, and print the coverage on other rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    booster = RFFBoostRegressor(random_state=0)
    regressors = {"around the mean": booster, "around quantiles": RFFBoostQuantileRegressor((0.05, 0.95), booster)}
    x, y = sample(1_000, seed=0)
    x_test, y_test = sample(5_000, seed=1)
    figure, axes = plt.subplots(1, 2, figsize=(8.0, 2.6), sharex=True, sharey=True, layout="constrained")
    for ax, (name, regressor) in zip(axes, regressors.items(), strict=True):
        model = ConformalRegressor(regressor, alpha=0.1, random_state=0).fit(x, y)
        low, high = model.predict_interval(x_test).T
        coverage = ((low <= y_test) & (y_test <= high)).mean()
        print(f"{name:>16} {coverage:.3f}")
        ax.scatter(x[::2], y[::2], s=3, color="0.6", linewidths=0)
        ax.fill_between(X[:, 0], *model.predict_interval(X).T, color="tab:blue", alpha=0.25, linewidth=0)
        ax.set_title(f"{name}: {coverage:.1%} of new rows", fontsize=10)
        ax.set(xticks=[], yticks=[])
    figure.savefig(path, dpi=120)
    Image.open(path).quantize(32).save(path, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="docs/figures/intervals.png", help="the figure, a PNG")
    draw(parser.parse_args().out)


if __name__ == "__main__":
    main()
