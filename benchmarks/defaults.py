"""What the defaults of the estimators were chosen by: variants beside them, on splits that no table uses.

    python benchmarks/defaults.py --out DIR [--quick] [--variants ...] [--datasets ...] [--splits N]
        [--threads 1] [--data-dir DIR] [--no-run]

DIR/defaults.csv gets a row per variant, data set and split as soon as it is there, and a further run does what is
missing. DIR/defaults.md has the table: the mean over the data sets of each kind, the paired difference from the
defaults with its standard error over data sets and splits, and the ratio of times. A line of fewer fits is of
fewer data sets: only its difference compares. Data are found as ``benchmarks/accuracy.py`` finds them, and split
as there, but with random states from 1001 on. The files of that name beside this script are what was found, on one
split and one thread. Variants of the rate have five folds and the patience of short steps.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

ROOT = Path(__file__).resolve().parents[1]
sys.path[:] = [
    str(ROOT),
    *(entry for entry in sys.path if Path(entry or ".").resolve() not in (ROOT, ROOT / "benchmarks")),
]

from benchmarks.accuracy import ready  # noqa: E402
from benchmarks.speed import positive  # noqa: E402

if TYPE_CHECKING:
    from rffboost_ext.experiments.compare.csv_records import Records

FIRST_SPLIT = 1001
REFERENCE = "defaults"
# In the place of a parameter of the estimators: parameters of the mixture, or of the kernel machines, in a stack;
# None leaves them out.
MIXTURE, KERNELS, NEWTON = "Mixture", "RFFRidge", "RFFIRLS"

GROUPS: dict[str, tuple[str, ...]] = {
    "small": (
        *("wine", "sonar", "newthyroid", "heart", "bupa", "iono", "wdbc", "balance", "australian", "pima"),
        *("vehicle", "german", "splice", "spambase"),
    ),
    "larger": ("electricity", "magic", "elevators", "winequality_white"),
    "made": ("classification_2", "classification_5", "gaussian_quantiles", "friedman1", "friedman2", "friedman3"),
    "wide": ("classification_wide", "clusters_wide", "friedman1_wide", "linear_wide"),
    # Of the table `further`, where three quarters of the columns of numbers have a skewness beyond 1.
    "skewed": ("biopsy", "cells", "credit", "hpc", "biomass", "check_times", "cpus", "nmes_visits"),
}

Key = tuple[str, str, int]


@dataclass(frozen=True)
class Found:
    """Test accuracy or R2 of a variant in percent, seconds of the processor, and rounds of the model."""

    variant: str
    dataset: str
    split: int
    score: float
    seconds: float
    rounds: float

    @property
    def key(self) -> Key:
        """What there is one row of."""
        return self.variant, self.dataset, self.split


def variants() -> dict[str, dict[str, Any]]:
    """Parameters of the estimators by the name of the variant."""
    from rffboost_ext.learners import Tree

    return {
        REFERENCE: {},
        "fast": {"quality": "fast"},
        "high": {"quality": "high"},
        "short steps": {"learning_rate": 0.1},
        "8 folds": {"n_folds": 8},
        "one model, refit": {"quality": "fast", "n_folds": 1, "refit": True},
        "rff_newton only": {"learner": "rff_newton"},
        "rff_ridge only": {"learner": "rff_ridge"},
        "trees only": {"learner": "tree", "early_stopping": True, "n_estimators": 2_000},
        "rate 0.05": {"learning_rate": 0.05},
        "rate 0.3": {"learning_rate": 0.3},
        "patience 80": {"n_iter_no_change": 80},
        "all rows, learners alternate": {MIXTURE: {"subsample": 1.0}},
        "trees of 64 bins": {MIXTURE: {"trees": Tree(max_depth=4, colsample_bytree=0.6, max_bin=64)}},
        "trees of depth 6": {MIXTURE: {"trees": Tree(max_depth=6, colsample_bytree=0.6)}},
        "trees see all features": {MIXTURE: {"trees": Tree(max_depth=4)}},
        "nodes see 0.6 of the features": {MIXTURE: {"trees": Tree(max_depth=4, colsample_bynode=0.6)}},
        "features drawn evenly": {MIXTURE: {"cosines__earned": 0.0}},
        "cosines at the rate of trees": {MIXTURE: {"cosines__relative_rate": 1.0}},
        "hessians of at least 0.1": {MIXTURE: {"cosines__min_hessian": 0.1}},
        "kernels of standardised features": {KERNELS: {"compare_scales": False}},
        "no reweighted kernels": {NEWTON: None},
        "features as they are": {"standardize": True},
        "random frequencies": {KERNELS: {"n_directions": 1, "per_degree": None}, NEWTON: {"n_directions": 1}},
    }


def estimator(task: str, threads: int, parameters: Mapping[str, Any]) -> Any:
    """The estimator of a variant."""
    from benchmarks.accuracy_systems import rffboost

    given = dict(parameters)
    changed = {kind: given.pop(kind) for kind in (MIXTURE, KERNELS, NEWTON) if kind in given}
    model = rffboost(task, threads, **given)
    if changed:
        model.fit = partial(fit_changed, model.fit, changed)
    return model


def fit_changed(fit: Callable[..., Any], changed: Mapping[str, Mapping[str, Any] | None], *data: Any) -> Any:
    """A fit whose plan has learners with changed parameters, or without those of None."""
    from sklearn.base import clone

    from rffboost_ext.estimators.planning import plan_fit

    def plan(*given: Any) -> Any:
        planned = plan_fit(*given)
        wanted = [(member, changed.get(type(member.learner).__name__, {})) for member in planned.members]
        members = [
            replace(member, learner=clone(member.learner).set_params(**params))
            for member, params in wanted
            if params is not None
        ]
        return replace(planned, members=members)

    with patch("rffboost_ext.estimators.base.plan_fit", plan):
        return fit(*data)


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the options, do what is missing and write the table."""
    chosen = ready(options(), arguments, check_names)
    # NumPy is imported once the pools are held.
    from rffboost_ext.experiments.compare.csv_records import Records

    file = Records(chosen.out / "defaults.csv", Found)
    file.mend()
    if not chosen.no_run:
        fill(chosen, file)
    text = report(file.rows())
    (chosen.out / "defaults.md").write_text(text)
    print(text)
    return 0


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the results; made if need be")
    parser.add_argument("--quick", action="store_true", help="two variants on two data sets")
    parser.add_argument("--variants", nargs="+", metavar="NAME", help="all by default")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="all by default")
    parser.add_argument("--splits", type=positive, default=3, help="splits of each data set")
    parser.add_argument("--no-run", action="store_true", help="write the table of the rows so far, and no more")
    parser.add_argument("--data-dir", type=Path, help="folder of CSV files; $RFFBOOST_DATA by default")
    parser.add_argument("--threads", type=positive, default=1, help="threads of every fit")
    return parser


def check_names(chosen: argparse.Namespace) -> None:
    """Settle which variants and data sets are meant; a ValueError names one that is unknown."""
    known = {"variants": list(variants()), "datasets": [name for group in GROUPS.values() for name in group]}
    quick = {"variants": [REFERENCE, "fast"], "datasets": ["wine", "heart"]}
    for option, names in known.items():
        given = getattr(chosen, option) or (quick if chosen.quick else known)[option]
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"--{option}: unknown {unknown[0]!r}; there are {', '.join(names)}")
        setattr(chosen, option, given)


def fill(chosen: argparse.Namespace, file: Records[Found]) -> None:
    """Measure what is missing, and append it to the file."""
    rows, table = file.rows(), variants()
    for variant, dataset, split in wanted(chosen):
        if (variant, dataset, split) in rows:
            continue
        found = Found(variant, dataset, split, *measured(table[variant], dataset, split, chosen))
        file.append(found)
        print(f"{dataset:20}split {split}  {variant:24}{found.score:7.2f} in {found.seconds:.2f} s")


def wanted(chosen: argparse.Namespace) -> Iterator[tuple[str, str, int]]:
    """Variant, data set and split of each row; the variants in turn, so that they meet the same load."""
    from benchmarks.accuracy_data import SOURCES

    for split in range(FIRST_SPLIT, FIRST_SPLIT + chosen.splits):
        for dataset in chosen.datasets:
            if why := SOURCES[dataset].missing(chosen.data_dir):
                print(f"left out: {dataset}: {why}", file=sys.stderr)
                continue
            yield from ((variant, dataset, split) for variant in chosen.variants)


def measured(
    parameters: dict[str, Any], dataset: str, split: int, chosen: argparse.Namespace
) -> tuple[float, float, float]:
    """Score, seconds and rounds of one fit."""
    from benchmarks.accuracy_data import problem

    data = problem(dataset, chosen.data_dir)
    train, test = data.split(split)
    warm_up(data.task)
    model = estimator(data.task, chosen.threads, parameters)
    start = process_time()
    model.fit(data.X[train], data.y[train])
    seconds = process_time() - start
    score = 100.0 * float(model.score(data.X[test], data.y[test]))
    return score, seconds, float(model.n_estimators_)


def warm_up(task: str) -> None:
    """Pay for imports and compilation before the first fit that is measured."""
    from benchmarks.accuracy_run import warm_up

    warm_up("rffboost", task, 1)


def report(rows: Mapping[Key, Found]) -> str:
    """The table in Markdown, on what each variant and the defaults have both been measured on."""
    names = list(dict.fromkeys(variant for variant, _, _ in rows))
    head = ["variant", *GROUPS, "difference", "time", "fits"]
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    lines += [" | ".join(cells(name, rows)) for name in names]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def cells(variant: str, rows: Mapping[Key, Found]) -> list[str]:
    """One line of the table."""
    import numpy as np

    shared = [key[1:] for key in rows if key[0] == variant and (REFERENCE, *key[1:]) in rows]
    if not shared:
        return [variant, *("" for _ in GROUPS), "", "", "0"]
    pairs = [(rows[variant, *key], rows[REFERENCE, *key]) for key in shared]
    gaps = np.array([ours.score - base.score for ours, base in pairs])
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else float("nan")
    ratio = np.exp(np.mean([np.log(ours.seconds / base.seconds) for ours, base in pairs]))
    means = [
        group_mean([rows[variant, *key].score for key in shared if key[0] in group]) for group in GROUPS.values()
    ]
    return [variant, *means, f"{gaps.mean():+.2f} ± {error:.2f}", f"{ratio:.2f}", str(len(gaps))]


def group_mean(scores: list[float]) -> str:
    """The mean, if there is one."""
    return f"{sum(scores) / len(scores):.2f}" if scores else ""


if __name__ == "__main__":
    sys.exit(main())
