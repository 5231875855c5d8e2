"""What skewed and heavy-tailed columns cost, and what bends, clipping or transformations before the fit give back.

    python benchmarks/skew.py --quick
    python benchmarks/skew.py --data-dir FOLDER --splits 5 --json skew.json
    python benchmarks/skew.py --preparations nothing auto --learners default

Accuracy on held-out rows: stratified splits of 70/30, the columns in steps of preparation that see the training
rows only. The generated sets are one problem each with its columns warped; how they came before is a set too.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.datasets import make_friedman1, make_hastie_10_2, make_moons
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, PowerTransformer, QuantileTransformer, RobustScaler

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.accuracy import data_folder
from benchmarks.machine import describe_machine, machine
from benchmarks.speed import positive, require_writable
from rffboost_ext import RFFBoostClassifier
from rffboost_ext.experiments.compare import datasets

Array = np.ndarray
Arrays = tuple[Array, Array]
# Sets of the ECML 2020 paper with columns of a kurtosis above 10, and some without.
SKEWED_FILES, OTHER_FILES = ("spambase", "german", "iono", "bupa", "pima"), ("sonar", "heart", "australian")
SHIPPED = ("wdbc", "wine")


class Clipped(TransformerMixin, BaseEstimator):
    """Columns cut at so many standard deviations from their means."""

    def __init__(self, reach: float = 4.0) -> None:
        self.reach = reach

    def fit(self, X: Array, y: Any = None) -> Clipped:
        """Take note of means and standard deviations."""
        center, spread = X.mean(axis=0), X.std(axis=0)
        self.low_, self.high_ = center - self.reach * spread, center + self.reach * spread
        return self

    def transform(self, X: Array) -> Array:
        """Cut."""
        return np.clip(X, self.low_, self.high_)


class Winsorised(TransformerMixin, BaseEstimator):
    """Columns cut at quantiles: `share` of the training rows beyond either end."""

    def __init__(self, share: float = 0.01) -> None:
        self.share = share

    def fit(self, X: Array, y: Any = None) -> Winsorised:
        """Take note of the quantiles."""
        self.low_, self.high_ = np.quantile(X, [self.share, 1.0 - self.share], axis=0)
        return self

    def transform(self, X: Array) -> Array:
        """Cut."""
        return np.clip(X, self.low_, self.high_)


def quantiles() -> QuantileTransformer:
    """Ranks as normal scores."""
    return QuantileTransformer(n_quantiles=40, output_distribution="normal", random_state=0)


# Steps before the booster, and its `standardize`: "auto", the default, bends skewed columns itself.
PREPARATIONS: dict[str, tuple[Callable[[], Any], bool | str]] = {
    "nothing": (FunctionTransformer, True),
    "auto": (FunctionTransformer, "auto"),
    "clip 4 sd": (Clipped, True),
    "clip 3 sd": (lambda: Clipped(3.0), True),
    "cut 1 %": (Winsorised, True),
    "robust": (RobustScaler, False),
    "quantile": (quantiles, True),
    "power": (PowerTransformer, True),
}
LEARNERS = {"rff_newton": {"learner": "rff_newton"}, "default": {}}


def friedman(n: int, rng: np.random.Generator) -> Arrays:
    """Friedman's first function above its median; 10 uniform columns, 5 of them noise."""
    X, y = make_friedman1(n, noise=1.0, random_state=int(rng.integers(2**31)))
    return 2.0 * np.sqrt(3.0) * (X - 0.5), (y > np.median(y)).astype(int)


def ring(n: int, rng: np.random.Generator) -> Arrays:
    """Whether ten normal columns are far from the origin."""
    X, y = make_hastie_10_2(n, random_state=int(rng.integers(2**31)))
    return X, (y > 0).astype(int)


def moons(n: int, rng: np.random.Generator) -> Arrays:
    """Two moons, and four columns of noise."""
    X, y = make_moons(n, noise=0.25, random_state=int(rng.integers(2**31)))
    return np.hstack([X, rng.standard_normal((n, 4))]), y


def heavy_noise(X: Array, rng: np.random.Generator) -> Array:
    """Five columns of Cauchy noise beside the others."""
    return np.hstack([X, rng.standard_cauchy((len(X), 5))])


def outliers(X: Array, rng: np.random.Generator) -> Array:
    """One cell of a hundred is a hundred times as large."""
    return np.where(rng.random(X.shape) < 0.01, 100.0 * X, X)


PROBLEMS: dict[str, Callable[[int, np.random.Generator], Arrays]] = {
    "friedman": friedman,
    "ring": ring,
    "moons": moons,
}
WARPS: dict[str, Callable[[Array, np.random.Generator], Array]] = {
    "as it is": lambda X, rng: X,
    "exp": lambda X, rng: np.exp(X),
    "exp 2x": lambda X, rng: np.exp(2.0 * X),
    "cube": lambda X, rng: X**3,
    "heavy noise": heavy_noise,
    "outliers": outliers,
}


def generated(n: int) -> dict[str, tuple[Arrays, bool]]:
    """Each problem under each warp, and whether the columns are skewed."""
    made = {}
    for problem, make in PROBLEMS.items():
        for warp, change in WARPS.items():
            rng = np.random.default_rng(0)
            X, y = make(n, rng)
            made[f"{problem}, {warp}"] = (change(X, rng), y), warp != "as it is"
    return made


def real(data_dir: Path | None) -> dict[str, tuple[Arrays, bool]]:
    """Sets of the papers, where they can be had; what is not there is named and left out."""
    absent = {name for name in (*SKEWED_FILES, *OTHER_FILES) if datasets.find_file(name, data_dir) is None}
    if absent:
        print(f"left out: {', '.join(sorted(absent))}: no such files", file=sys.stderr)
    names = [name for name in (*SHIPPED, *SKEWED_FILES, *OTHER_FILES) if name not in absent]
    found = {name: datasets.load(name, data_dir) for name in names}
    return {name: ((one.X, one.y), name in SKEWED_FILES) for name, one in found.items()}


def accuracy(arrays: Arrays, preparation: str, params: dict[str, Any], split: int) -> float:
    """Accuracy on 30 % of the rows of a booster behind a preparation."""
    X, y = arrays
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=split)
    make, standardize = PREPARATIONS[preparation]
    model = make_pipeline(make(), RFFBoostClassifier(**params, standardize=standardize, random_state=split))
    return float(model.fit(X, y).score(X_test, y_test))


def measured(
    sets: dict[str, tuple[Arrays, bool]],
    splits: int,
    learners: Sequence[str] = tuple(LEARNERS),
    preparations: Sequence[str] = tuple(PREPARATIONS),
    **more: Any,
) -> Iterator[dict[str, Any]]:
    """Mean accuracies in per cent, a record for each set and learner."""
    for name, (arrays, skewed) in sets.items():
        for learner in learners:
            began, params = time.perf_counter(), LEARNERS[learner] | more
            means = {
                step: 100.0 * float(np.mean([accuracy(arrays, step, params, k) for k in range(splits)]))
                for step in preparations
            }
            print(f"{learner}, {name}: {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
            yield {"learner": learner, "set": name, "skewed": skewed, "accuracy": means}


def means_of(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The mean over sets, for skewed ones and others."""
    made = []
    for learner in LEARNERS:
        for skewed, title in ((True, "mean of skewed sets"), (False, "mean of other sets")):
            rows = [r["accuracy"] for r in records if (r["learner"], r["skewed"]) == (learner, skewed)]
            if rows:
                means = {step: float(np.mean([row[step] for row in rows])) for step in rows[0]}
                made.append({"learner": learner, "set": f"{title} ({len(rows)})", "accuracy": means})
    return made


def show(records: Sequence[dict[str, Any]], facts: dict[str, object]) -> None:
    """Print a row for each learner and set: accuracy of the first preparation, and what each other one adds."""
    console = Console(width=None if sys.stdout.isatty() else 160)
    first, *others = records[0]["accuracy"]
    table = Table("learner", "set", first, *(f"{step}, +" for step in others))
    for record in [*sorted(records, key=lambda record: str(record["learner"]), reverse=True), *means_of(records)]:
        base = record["accuracy"][first]
        gains = (f"{record['accuracy'][step] - base:+.2f}" for step in others)
        table.add_row(record["learner"], record["set"], f"{base:.2f}", *gains)
    console.print(table)
    console.print(describe_machine(facts), highlight=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few rows, rounds and splits: minutes, no figures")
    parser.add_argument("--data-dir", type=Path, help="folder of CSV files; $RFFBOOST_DATA by default")
    parser.add_argument("--splits", type=positive, default=3)
    parser.add_argument("--rows", type=positive, default=800, help="rows of the generated sets")
    parser.add_argument("--quality", choices=("auto", "fast"), default="auto", help="fast leaves the stack out")
    for name, known in (("--preparations", list(PREPARATIONS)), ("--learners", list(LEARNERS))):
        parser.add_argument(
            name, nargs="+", choices=known, default=known, metavar="NAME", help=", ".join(known).replace("%", "%%")
        )
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    given = parser.parse_args(arguments)
    require_writable(parser, json=given.json)
    try:
        folder = data_folder(given.data_dir)
    except ValueError as error:
        parser.error(str(error))
    facts, more = machine(1), {"quality": given.quality}
    if given.quick:
        given.rows, given.splits, more = min(given.rows, 120), 1, {"quality": "fast", "n_estimators": 5}
    records = []
    sets = generated(given.rows) | real(folder)
    for record in measured(sets, given.splits, given.learners, given.preparations, **more):
        records.append(record)
        if given.json is not None:
            given.json.write_text(json.dumps({"machine": facts, "records": records}, indent=1) + "\n")
    show(records, facts)


if __name__ == "__main__":
    main()
