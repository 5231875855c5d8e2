"""Records beside the published values: differences, distances and curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd

from ..summary import DIGITS, Summary

FAR = 2.5
"""Published standard deviations beyond which a mean is called far from the published one."""


@lru_cache(maxsize=8)
def published(name: str) -> Any:
    """A table of published values, a data frame with the first column as its index."""
    text = files(__package__).joinpath("published", f"{name}.csv").read_text()
    return pd.read_csv(StringIO(text), index_col=0)


class PublishedComparison(Summary):
    """Measured means beside published ones.

    Parameters
    ----------
    frame : data frame
        Records of one x per data set and system.
    datasets, systems : sequence of str
        The order of lines and columns; those without a record are left out.
    reference, spread : data frame, optional
        Published means and their standard deviations, a line per data set, a column per system.
    lower : bool
        Whether a lower score is better.
    """

    def __init__(
        self,
        frame: Any,
        datasets: Sequence[str],
        systems: Sequence[str],
        reference: Any = None,
        spread: Any = None,
        lower: bool = False,
    ) -> None:
        super().__init__(frame, "score", datasets, systems, lower)
        # One split has no standard deviation.
        self.std = self.std.where(self.splits > 1)
        unknown = self.mean * float("nan")
        self.reference = unknown if reference is None else self.ordered(reference)
        self.spread = unknown if spread is None else self.ordered(spread)

    @property
    def error(self) -> Any:
        """Standard error of the measured means; NaN for one split."""
        return self.std / np.sqrt(self.splits.astype(float))

    @cached_property
    def difference(self) -> Any:
        """Measured minus published; NaN where one of them is missing."""
        return (self.mean - self.reference).round(DIGITS)

    @property
    def both(self) -> Any:
        """Where there is a measured and a published mean."""
        return self.difference.notna()

    @cached_property
    def means(self) -> Any:
        """Per system, over the data sets that have a published mean too: their number and both means."""
        kept = self.both
        columns = {
            "sets": kept.sum(),
            "measured": self.mean.where(kept).mean(),
            "published": self.reference.where(kept).mean(),
        }
        return pd.DataFrame(columns).assign(difference=lambda f: f["measured"] - f["published"])

    @cached_property
    def shared(self) -> Any:
        """The data sets with a measured mean of every system and, if any means are published, a published one."""
        known = self.both if self.reference.notna().any(axis=None) else self.mean.notna()
        return known.index[known.all(axis=1)]

    def far(self) -> list[tuple[str, str, float]]:
        """The cells more than :data:`FAR` published standard deviations away, and their distances."""
        away = (self.difference / self.spread).stack().dropna()
        return [(dataset, system, float(z)) for (dataset, system), z in away.items() if abs(z) > FAR]

    def rows(self) -> Any:
        """Everything as a data frame with a line per cell, for a file."""
        parts = {
            "mean": self.mean,
            "std": self.std,
            "splits": self.splits,
            "published": self.reference,
            "published_std": self.spread,
            "difference": self.difference,
        }
        stacked = {name: part.stack(future_stack=True) for name, part in parts.items()}
        out = pd.DataFrame(stacked).dropna(subset=["mean"]).reset_index(names=["dataset", "system"])
        return out.astype({"splits": int})


def along(frame: Any, label: str, repeats: str = "splits") -> Any:
    """Mean, standard deviation and number of scores per data set, system and x, which is renamed to `label`."""
    means = frame.groupby(["dataset", "system", "x"], sort=False)["score"].agg(["mean", "std", "count"])
    return means.reset_index().rename(columns={"x": label, "count": repeats})


def incomplete(frame: Any) -> str:
    """What :func:`complete_sets` lacks; empty if there are any."""
    return (
        "" if len(complete_sets(frame)) else "a data set and split that all systems have at all of their numbers"
    )


def complete_sets(frame: Any) -> Any:
    """The records of the data sets and splits for which every system has all of its x."""
    needed = frame.groupby("system")["x"].nunique().sum()
    found = frame.groupby(["dataset", "split"])["x"].transform("size")
    return frame[found == needed]
