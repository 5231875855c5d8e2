"""Colours, axes and feature names of the displays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..utils.packages import require_packages

# Colours of Okabe and Ito, which are distinct under colour blindness, and a grey.
MAIN, ACCENT, QUIET = "#0072B2", "#D55E00", "0.62"
CYCLE = (MAIN, ACCENT, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# Maximum number of characters of a label.
LONGEST = 23
# The margin of a figure, in inches.
MARGIN = 0.12


def get_axes(ax: Any, width: float = 5.6, height: float = 3.8, rows: int = 1) -> Any:
    """`ax`, or the axes of a new figure, of a size in inches; several rows are an array of axes."""
    if ax is not None:
        return ax
    require_packages("a display", "matplotlib")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(rows, figsize=(width, height * rows), layout="constrained")
    figure.get_layout_engine().set(w_pad=MARGIN, h_pad=MARGIN)
    return axes


def style_axes(axes: Any, grid: str = "both") -> None:
    """Add a light grid and remove the frame."""
    axes.grid(axis=grid, which="major", color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def label(name: Any, longest: int = LONGEST) -> str:
    """A name as a label: shortened in the middle, with dollar signs escaped."""
    text = str(name)
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def distinct_labels(names: Iterable[Any], longest: int = LONGEST) -> list[str]:
    """Labels of names; names with equal shortened labels are cut off at the start instead."""
    texts = [str(name) for name in names]
    alike: dict[str, set[str]] = {}
    for text in texts:
        alike.setdefault(label(text, longest), set()).add(text)
    starts = {short: common_prefix_length(group) if len(group) > 1 else 0 for short, group in alike.items()}
    cut = [f"…{text[start:]}" if (start := starts[label(text, longest)]) else text for text in texts]
    return [label(text, longest) for text in cut]


def common_prefix_length(texts: Iterable[str]) -> int:
    """Length of the common prefix of texts."""
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))


def feature_names(estimator: Any, names: Sequence[str] | None = None) -> list[str]:
    """Names of the features: `names`, those of the columns in fit, or x0, x1, ..."""
    d = int(estimator.n_features_in_)
    if names is None:
        return [str(name) for name in getattr(estimator, "feature_names_in_", [f"x{i}" for i in range(d)])]
    if len(names) != d:
        raise ValueError(f"feature_names must have one name for each of {d} features, got {len(names)}")
    return [str(name) for name in names]


def check_booster(owner: str, estimator: Any) -> None:
    """Raise a NotFittedError, or a TypeError if an estimator is not a booster."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "ensemble_"):
        raise TypeError(
            f"{owner}: estimator must be a booster such as RFFBoostRegressor, got a {type(estimator).__name__}"
        )
