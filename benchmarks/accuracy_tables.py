"""The tables of the accuracy benchmark, one entry each, and what each is to show."""

from __future__ import annotations

from dataclasses import dataclass

from .accuracy_claims import Ahead, Claim, FirstRank, Level, MeanAtLeast, TimeAtMost
from .accuracy_data import FURTHER, SMALL

PEERS = ("xgboost", "lightgbm", "histgb", "catboost")
THREE = ("xgboost", "lightgbm", "catboost")


@dataclass(frozen=True)
class Table:
    """One table.

    Attributes
    ----------
    name, title : str
        As in options and files, and above the table.
    datasets, systems : tuple of str
        Its rows and columns.
    splits : int
        Splits of each data set.
    quick : tuple of str
        The data sets of a quick run, which takes the first split only.
    claims : tuple of Claim
        What it is to show.
    tune : bool
        Whether each system is tuned by 5-fold cross-validation on the training part.
    published : bool
        Whether the published figures stand beside it.
    optional : tuple of str
        Data sets that are run only when they are named.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    systems: tuple[str, ...]
    splits: int
    quick: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    tune: bool = False
    published: bool = False
    optional: tuple[str, ...] = ()


TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table(
            "ecml",
            "The ECML protocol, defaults",
            SMALL,
            (*PEERS, "gbrff2", "rffboost"),
            splits=20,
            quick=("wine", "heart"),
            claims=(MeanAtLeast(90.3), FirstRank(PEERS), TimeAtMost("catboost", 0.25)),
            published=True,
        ),
        Table(
            "ecml-tuned",
            "The ECML protocol, tuned",
            SMALL,
            (*PEERS, "gbrff2", "rffboost"),
            splits=20,
            quick=("wine",),
            claims=(MeanAtLeast(90.8), FirstRank(PEERS)),
            tune=True,
            published=True,
        ),
        Table(
            "wider",
            "Wider data, defaults",
            (
                *("bankmarketing", "adult", "mnist17", "mnist49", "mnist56", "classification_2"),
                *("classification_5", "gaussian_quantiles", "digits"),
                *("diabetes", "friedman1", "friedman2", "friedman3", "sparse_uncorrelated"),
            ),
            (*PEERS, "gbrff2", "rffboost", "rffboost_high"),
            splits=5,
            quick=("diabetes", "friedman1"),
            claims=(Level(THREE, 2 / 3), FirstRank(PEERS), TimeAtMost("catboost", 0.25)),
            optional=("adult_full",),
        ),
        Table(
            "development",
            "Larger sets on which the defaults were developed",
            ("electricity", "elevators", "letter", "magic", "winequality_white"),
            (*PEERS, "rffboost", "rffboost_high"),
            splits=3,
            quick=("winequality_white",),
            claims=(
                Ahead("xgboost", 5),
                Ahead("lightgbm", 5),
                Ahead("catboost", 4),
                FirstRank(PEERS),
                TimeAtMost("catboost", 0.25),
            ),
        ),
        Table(
            "further",
            "Further real data",
            tuple(FURTHER),
            (*PEERS, "rffboost", "rffboost_high"),
            splits=3,
            quick=("servo", "penguins"),
            claims=(Level(THREE, 2 / 3), FirstRank(PEERS), TimeAtMost("catboost", 0.25)),
        ),
    )
}
