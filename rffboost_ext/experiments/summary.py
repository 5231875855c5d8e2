"""Summaries of records: means over splits, ranks, and paired differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

DIGITS = 10
"""Means over the same test rows may differ by round-off alone, which must not affect ranks."""


class Summary:
    """Scores of systems on data sets.

    Parameters
    ----------
    frame : data frame
        Records, with one x per data set and system.
    measure : str, default="score"
        The measure.
    datasets, systems : sequence of str, optional
        The order of lines and columns, by default that of the records; those without a record are left out.
    lower : bool, default=False
        Whether a lower score is better.
    """

    def __init__(
        self,
        frame: Any,
        measure: str = "score",
        datasets: Iterable[str] | None = None,
        systems: Sequence[str] | None = None,
        lower: bool = False,
    ) -> None:
        cells = frame.groupby(["dataset", "system"], sort=False)[measure]
        self.lines, self.columns = (
            [name for name in order or present if name in set(present)]
            for order, present in ((datasets, frame["dataset"].unique()), (systems, frame["system"].unique()))
        )
        self.mean = self.ordered(cells.mean().unstack().round(DIGITS))
        self.std = self.ordered(cells.std(ddof=0).unstack())
        self.splits = self.ordered(cells.count().unstack())
        self.lower = lower

    def ordered(self, values: Any) -> Any:
        """A table of values with the lines and columns of this summary."""
        return values.reindex(index=self.lines, columns=self.columns)

    @cached_property
    def shared(self) -> Any:
        """The data sets that all systems have."""
        return self.mean.index[self.mean.notna().all(axis=1)]

    @property
    def overall(self) -> Any:
        """Mean of each system over the shared data sets."""
        return self.mean.loc[self.shared].mean().round(DIGITS)

    def ranks(self, values: Any = None) -> Any:
        """Rank of each system, 1 the best and ties shared, averaged over the shared data sets."""
        means = self.mean if values is None else values
        return means.loc[self.shared].rank(axis=1, ascending=self.lower).mean()

    def differences(self) -> Any:
        """Per system: the mean difference from the first system over the data sets of both, with its error.

        A data frame with the columns ``difference``, ``error``, ``better``, the number of data sets on which the
        system is better than the first one, and ``count``, their number.
        """
        import pandas as pd

        away = self.mean.sub(self.mean[self.columns[0]], axis=0)
        better = (away < 0.0) if self.lower else (away > 0.0)
        count = away.notna().sum()
        columns = {"difference": away.mean(), "error": away.std() / np.sqrt(count), "better": better.sum()}
        return pd.DataFrame(columns | {"count": count})

    def ratios(self) -> Any:
        """Score of each system over that of the first one: the geometric mean over the data sets of both."""
        return np.exp(np.log(self.mean.div(self.mean[self.columns[0]], axis=0)).mean())


def curves(frame: Any, systems: Sequence[str]) -> Any:
    """Mean score over splits, then over data sets: a line per x, a column per system."""
    means = frame.groupby(["dataset", "system", "x"])["score"].mean().unstack("system")
    kept = [name for name in systems if name in means.columns]
    return means[kept].groupby(level="x").mean().round(DIGITS)
