"""What the tables are to show, as checks of a summary."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from .accuracy_summary import Summary

OURS = "rffboost"


class Claim(ABC):
    """Something that a table is to show of this package's defaults."""

    @property
    def needs(self) -> Sequence[str]:
        """The other systems without whose rows it cannot be checked."""
        return ()

    @property
    @abstractmethod
    def text(self) -> str:
        """What is claimed."""

    @abstractmethod
    def check(self, summary: Summary) -> tuple[str, bool]:
        """What was found, and whether that is what is claimed."""


@dataclass(frozen=True)
class MeanAtLeast(Claim):
    """The mean score over the data sets."""

    bound: float

    @property
    def text(self) -> str:
        return f"mean score at least {self.bound:g}"

    def check(self, summary: Summary) -> tuple[str, bool]:
        found = float(summary.overall[OURS])
        return f"{found:.2f}", found >= self.bound


@dataclass(frozen=True)
class FirstRank(Claim):
    """The best average rank among some systems and this one."""

    peers: tuple[str, ...]

    @property
    def needs(self) -> Sequence[str]:
        return self.peers

    @property
    def text(self) -> str:
        return f"first average rank among {', '.join(self.peers)} and {OURS}"

    def check(self, summary: Summary) -> tuple[str, bool]:
        ranks = summary.ranks([*self.peers, OURS])
        best = ranks.drop(OURS)
        return f"{ranks[OURS]:.2f}, next {best.idxmin()} {best.min():.2f}", bool(ranks[OURS] < best.min())


@dataclass(frozen=True)
class Ahead(Claim):
    """A better mean score than one system on so many data sets."""

    peer: str
    count: int

    @property
    def needs(self) -> Sequence[str]:
        return (self.peer,)

    @property
    def text(self) -> str:
        return f"ahead of {self.peer} on at least {self.count} data sets"

    def check(self, summary: Summary) -> tuple[str, bool]:
        ahead = int((summary.shared[OURS] > summary.shared[self.peer]).sum())
        return f"{ahead} of {len(summary.shared)}", ahead >= self.count


@dataclass(frozen=True)
class Level(Claim):
    """At least level with the best of some systems on a share of the data sets.

    Level is not behind by more than one standard error of the difference over the splits.
    """

    peers: tuple[str, ...]
    share: float

    @property
    def needs(self) -> Sequence[str]:
        return self.peers

    @property
    def text(self) -> str:
        return (
            f"at least level with the best of {', '.join(self.peers)}, within one standard error of the "
            f"difference, on {self.share:.0%} of the data sets"
        )

    def check(self, summary: Summary) -> tuple[str, bool]:
        gaps = summary.difference(OURS, self.peers)
        level = int((gaps["difference"] >= -gaps["error"]).sum())
        ahead = int((gaps["difference"] >= 0.0).sum())
        return f"{level} of {len(gaps)}, {ahead} of them ahead or equal", level >= self.share * len(gaps)


@dataclass(frozen=True)
class TimeAtMost(Claim):
    """The time of a fit beside that of one system."""

    peer: str
    share: float

    @property
    def needs(self) -> Sequence[str]:
        return (self.peer,)

    @property
    def text(self) -> str:
        return f"time of a fit at most {self.share:g} of that of {self.peer}, geometric mean over data sets"

    def check(self, summary: Summary) -> tuple[str, bool]:
        ratio = float(summary.times_beside(self.peer)[OURS])
        return f"{ratio:.2f}", ratio <= self.share
