"""The figure of the page on explaining a model: three displays of one classifier."""

from __future__ import annotations

import argparse

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from rffboost_ext import RFFBoostClassifier


def draw(path):
    """Fit the mixture, and draw importances, the effect of a feature and the history of the fit."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image
    from sklearn.inspection import PartialDependenceDisplay

    from rffboost_ext.displays import HistoryDisplay, ImportanceDisplay

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = RFFBoostClassifier(learner="mixture", random_state=0)
    model.fit(X_train, y_train, eval_set={"train": (X_train, y_train), "test": (X_test, y_test)})
    figure, axes = plt.subplots(1, 3, figsize=(10.0, 3.0), layout="constrained")
    ImportanceDisplay.from_estimator(model, max_features=8, ax=axes[0])
    PartialDependenceDisplay.from_estimator(
        model, X_test, ["worst texture"], kind="both", subsample=40, ax=axes[1]
    )
    HistoryDisplay.from_estimator(model, ax=axes[2])
    axes[2].locator_params(axis="x", nbins=4)
    figure.savefig(path, dpi=120)
    Image.open(path).quantize(64).save(path, optimize=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="docs/figures/displays.png", help="the figure, a PNG")
    draw(parser.parse_args().out)


if __name__ == "__main__":
    main()
