"""Shared code of the displays: colours, axes, and the names of features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile
from numbers import Integral
from typing import Any

from sklearn.utils.validation import check_is_fitted

# Two of Okabe and Ito's colours, which remain distinct under colour blindness, and a grey for what matters less.
MAIN, ACCENT, QUIET = "#0072B2", "#D55E00", "0.62"
# Characters of a name that fit beside an axis.
LONGEST = 23
# Colours of the same palette for several lines.
CYCLE = (MAIN, ACCENT, "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def get_axes(ax: Any, width: float = 5.6, height: float = 3.8) -> Any:
    """`ax`, or the axes of a new figure of that size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def style_axes(axes: Any, grid: str = "both") -> None:
    """A light grid and no frame."""
    axes.grid(axis=grid, which="major", color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def limit_ticks(axes: Any) -> None:
    """Few ticks of few digits below the axes: side by side there is no room for more."""
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    digits = ScalarFormatter()
    digits.set_powerlimits((-3, 4))
    axes.xaxis.set_major_formatter(digits)
    axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))


def label(name: Any, longest: int = LONGEST) -> str:
    """A name as a label: long ones are shortened in the middle, and dollar signs escaped."""
    text = str(name)
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def labels(names: Iterable[Any]) -> list[str]:
    """Labels of several names: what shortening would make alike is shown from where it differs."""
    texts = [str(name) for name in names]
    alike: dict[str, set[str]] = {}
    for text in texts:
        alike.setdefault(label(text), set()).add(text)
    starts = {short: common_prefix_length(group) if len(group) > 1 else 0 for short, group in alike.items()}
    return [label(f"…{text[start:]}" if (start := starts[label(text)]) else text) for text in texts]


def common_prefix_length(texts: Iterable[str]) -> int:
    """The number of characters with which all texts begin alike."""
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))


def feature_names(estimator: Any, given: Sequence[str] | None = None) -> list[str]:
    """Names of the features: those given, those of the columns seen in fit, or x0, x1 and so on."""
    d = int(estimator.n_features_in_)
    if given is None:
        return [str(name) for name in getattr(estimator, "feature_names_in_", [f"x{i}" for i in range(d)])]
    if len(given) != d:
        raise ValueError(f"feature_names must have one name for each of {d} features, got {len(given)}")
    return [str(name) for name in given]


def check_booster(owner: str, estimator: Any) -> None:
    """Raise a NotFittedError, or a TypeError if an estimator is not a booster itself."""
    check_is_fitted(estimator)
    if not hasattr(estimator, "ensemble_"):
        raise TypeError(
            f"{owner}: estimator must be an RFFBoostClassifier or RFFBoostRegressor, got a "
            f"{type(estimator).__name__}{component_hint(estimator)}"
        )


def component_hint(estimator: Any) -> str:
    """A hint at the attribute with the estimators that another one consists of."""
    held = [name for name in ("estimators_", "estimator_", "best_estimator_", "steps") if hasattr(estimator, name)]
    return f"; what it consists of is in {held[0]}" if held else ""


def encoded_columns(estimator: Any) -> list[int]:
    """The columns that hold categories in the fit of an estimator of ours, by index."""
    encoder = getattr(estimator, "encoder_", None)
    return [] if encoder is None or encoder.categories is None else encoder.categories.coded


def feature_index(feature: int | str, names: Sequence[str], parameter: str = "feature") -> int:
    """The index of a feature that is given by index or by name."""
    if isinstance(feature, str):
        if feature not in names:
            raise ValueError(f"{parameter} must be one of {', '.join(names)} or an index, got {feature!r}")
        return list(names).index(feature)
    if not isinstance(feature, Integral) or isinstance(feature, bool):
        raise TypeError(
            f"{parameter} must be a name or an index, got {feature!r} of type {type(feature).__name__}"
        )
    if not 0 <= feature < len(names):
        raise ValueError(f"{parameter} must be a name or an index from 0 to {len(names) - 1}, got {feature}")
    return int(feature)


def feature_pair(features: Any, names: Sequence[str]) -> tuple[int, int]:
    """The indices of two different features."""
    if not isinstance(features, tuple | list) or len(features) != 2:
        raise ValueError(f"features must be a pair of features, got {features!r}")
    first, second = (feature_index(feature, names, "features") for feature in features)
    if first == second:
        raise ValueError(f"features must be two different ones, got {features!r}")
    return first, second
