"""The figure of the page on defaults: a default model, and the trees, cosines and kernel machines that it sums."""

from __future__ import annotations

import argparse

import numpy as np

from rffboost_ext import RFFBoostRegressor, Trees

X = np.linspace(0.0, 1.0, 601)[:, None]
KERNEL = 10
"""A term of more cosines than this is a kernel machine; the mixture adds one or two at a time."""


def wave_with_steps(x):
    """A wave of growing frequency, with a plateau added."""
    return np.sin(2.0 * np.pi * (x + 1.5 * x**2)) + 1.2 * ((x > 0.3) & (x < 0.55))


def kind(term):
    """Which of the three parts a term belongs to."""
    if isinstance(term, Trees):
        return "trees"
    return "kernel ridge" if len(term.omega) > KERNEL else "cosines"


def parts_of(model):
    """The centred sum of the terms of each kind on X, and how many there are."""
    sums, counts = {}, {}
    ensemble = model.ensemble_
    for length, term in zip(ensemble.lengths, ensemble.terms, strict=True):
        name = kind(term)
        sums[name] = sums.get(name, 0.0) + length * term(X)[:, 0]
        counts[name] = counts.get(name, 0) + 1
    return {name: (total - total.mean(), counts[name]) for name, total in sums.items()}


def draw(path):
    """Fit the default model to noisy rows, and draw it beside its parts."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, 1.0, 800)
    y = wave_with_steps(x) + 0.2 * rng.standard_normal(len(x))
    model = RFFBoostRegressor(random_state=0).fit(x[:, None], y)
    parts = parts_of(model)
    figure, axes = plt.subplots(1, 4, figsize=(9.0, 2.3), sharex=True, sharey=True, layout="constrained")
    axes[0].scatter(x, y, s=2, color="0.75", linewidths=0)
    axes[0].plot(X, model.predict(X), color="tab:blue", linewidth=1.4)
    axes[0].set_title("the default model", fontsize=10)
    for ax, name in zip(axes[1:], ("trees", "cosines", "kernel ridge"), strict=True):
        total, count = parts[name]
        ax.plot(X, total, color="tab:blue", linewidth=1.4)
        ax.set_title(f"{name}: {count} terms", fontsize=10)
    for ax in axes:
        ax.set(xticks=[], yticks=[])
    for learner, weight in zip(model.learners_, model.learner_weights_, strict=True):
        print(f"{type(learner).__name__:>10} {weight:.2f}")
    figure.savefig(path, dpi=120)
    Image.open(path).quantize(32).save(path, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="docs/figures/parts.png", help="the figure, a PNG")
    draw(parser.parse_args().out)


if __name__ == "__main__":
    main()
