"""The arithmetic of a table: means over splits, ranks, wins and times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from rffboost_ext.experiments.compare.report import DIGITS

from .accuracy_records import COLUMNS, AccuracyRecord


class Summary:
    """What the rows of one table come to.

    A data set counts with the splits that all its systems have, see :func:`common`. Means over data sets, ranks
    and wins are those of the `general` systems, on the data sets that all of these have.

    Parameters
    ----------
    rows : sequence of AccuracyRecord
        Of one table; at least one split of one data set that all its systems have.
    general : sequence of str
        Systems that can do every task; those without a row do not count.
    """

    def __init__(self, rows: Sequence[AccuracyRecord], general: Sequence[str]) -> None:
        frame = common(rows)
        self.sizes = frame.groupby("dataset")[["n_train", "n_test", "n_features"]].first()
        self.cells = frame.groupby(["dataset", "system"], sort=False)
        self.general = [name for name in general if name in set(frame["system"])]

    @cached_property
    def mean(self) -> Any:
        """Mean score: a data frame, a row per data set, a column per system, NaN where there is none."""
        return self.cells["score"].mean().unstack().round(DIGITS)

    @cached_property
    def spread(self) -> Any:
        """Standard deviation of the score over splits."""
        return self.cells["score"].std(ddof=0).unstack()

    @cached_property
    def splits(self) -> Any:
        """Splits that count, per data set."""
        return self.cells["split"].nunique().groupby(level="dataset", sort=False).max()

    def size(self, dataset: str) -> str:
        """Rows and features of a data set."""
        train, test, features = self.sizes.loc[dataset]
        return f"{train + test:,} x {features}"

    @cached_property
    def shared(self) -> Any:
        """Mean score of the general systems on the data sets that all of them have."""
        return self.mean[self.general].dropna()

    @property
    def overall(self) -> Any:
        """Mean over data sets of each general system."""
        return self.shared.mean().round(DIGITS)

    def ranks(self, names: Sequence[str] | None = None) -> Any:
        """Rank of each of the systems, 1 the best and ties shared, averaged over data sets."""
        columns = self.general if names is None else [name for name in names if name in self.general]
        return self.shared[columns].rank(axis=1, ascending=False).mean()

    @property
    def wins(self) -> Any:
        """Data sets on which a general system is the best, alone or with others."""
        return self.shared.eq(self.shared.max(axis=1), axis=0).sum()

    @cached_property
    def seconds(self) -> Any:
        """Median seconds of a fit, as :attr:`mean`."""
        return self.cells["fit_seconds"].median().unstack()

    @property
    def typical_seconds(self) -> Any:
        """Median over the shared data sets of the seconds of a fit."""
        return self.seconds.loc[self.shared.index, self.general].median()

    def times_beside(self, peer: str) -> Any:
        """Time of a fit over that of the peer: the geometric mean over the shared data sets."""
        seconds = self.seconds.loc[self.shared.index, self.general]
        return np.exp(np.log(seconds.div(seconds[peer], axis=0)).mean())

    def difference(self, system: str, others: Sequence[str]) -> Any:
        """Score of a system less the best of the others, and its standard error over splits, per data set.

        The best is the one of the best mean. A data frame of the columns ``difference`` and ``error``; the error
        is 0 for a single split.
        """
        best = self.shared[list(others)].idxmax(axis=1)
        rows = {name: self._paired(name, system, peer) for name, peer in best.items()}
        return pd.DataFrame.from_dict(rows, orient="index", columns=["difference", "error"])

    def _paired(self, dataset: str, system: str, peer: str) -> tuple[float, float]:
        ours, theirs = (self.cells.get_group((dataset, name)).set_index("split") for name in (system, peer))
        gaps = (ours["score"] - theirs["score"]).to_numpy()
        error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else 0.0
        return round(float(gaps.mean()), DIGITS), float(error)


def common(rows: Sequence[AccuracyRecord]) -> Any:
    """The rows of splits that all systems of a data set have, of those that it has rows of: a data frame."""
    frame = pd.DataFrame([asdict(row) for row in rows], columns=COLUMNS)
    systems = frame.groupby("dataset")["system"].transform("nunique")
    present = frame.groupby(["dataset", "split"])["system"].transform("nunique")
    return frame[present == systems]
