"""Categorical columns as they come, and missing values: accuracy against one-hot encoding by hand and peers.

    python benchmarks/columns.py --quick
    python benchmarks/columns.py --data-dir FOLDER --splits 5 --json columns.json

FOLDER holds the sets as CSV, or folders of them; without it the sets are generated and shipped ones. Two tables:

- adult and bankmarketing with their raw columns, at most 12,000 rows, stratified splits of 70/30: ours as they
  are and one-hot by hand, and CatBoost, LightGBM and XGBoost as they are. All systems at their defaults.
- The other sets whole and with 20 % of the cells removed at random, in training and test rows, others on every
  split: what that costs ours and XGBoost, in points of accuracy, and how much more it costs ours, the mean over
  sets and splits with its standard error.

One thread.
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
import pandas as pd
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.accuracy_data import find_file
from benchmarks.machine import describe_machine, machine
from benchmarks.speed import positive, require_writable
from rffboost_ext import RFFBoostClassifier

Array = np.ndarray
Record = dict[str, Any]
Predict = Callable[[pd.DataFrame, Array, pd.DataFrame, int, dict[str, Any]], Array]
THREADS, SHARE, MISSING = 1, 0.3, 0.2
RAW = {"adult": "adult_raw", "bankmarketing": "bankmarketing_raw"}
WHOLE = (
    *("wine", "sonar", "newthyroid", "heart", "bupa", "iono", "wdbc", "balance", "australian", "pima"),
    *("vehicle", "german", "splice"),
)
HOLED = "20 % missing"
OURS, BY_HAND = "rffboost, raw columns", "rffboost, one-hot by hand"


def raw(X: pd.DataFrame, y: Array, new: pd.DataFrame, seed: int, more: dict[str, Any]) -> Array:
    """Ours, on the columns as they come."""
    return RFFBoostClassifier(random_state=seed, n_jobs=THREADS, **more).fit(X, y).predict(new)


def by_hand(X: pd.DataFrame, y: Array, new: pd.DataFrame, seed: int, more: dict[str, Any]) -> Array:
    """Ours, on one-hot columns of the categories."""
    wide = pd.get_dummies(pd.concat([X, new]), columns=texts(X), dtype=float)
    return raw(wide[: len(X)], y, wide[len(X) :], seed, more)


def catboost(X: pd.DataFrame, y: Array, new: pd.DataFrame, seed: int, more: dict[str, Any]) -> Array:
    """CatBoost's own handling."""
    from catboost import CatBoostClassifier

    rounds = {"iterations": more["n_estimators"]} if "n_estimators" in more else {}
    fixed = {"random_seed": seed, "thread_count": THREADS, "verbose": 0, "allow_writing_files": False}
    model = CatBoostClassifier(cat_features=texts(X), **fixed, **rounds)
    return np.asarray(model.fit(X.astype(dict.fromkeys(texts(X), str)), y).predict(new)).ravel().astype(int)


def lightgbm(X: pd.DataFrame, y: Array, new: pd.DataFrame, seed: int, more: dict[str, Any]) -> Array:
    """LightGBM's own handling."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=THREADS, verbose=-1).fit(X, y).predict(new)


def xgboost(X: pd.DataFrame, y: Array, new: pd.DataFrame, seed: int, more: dict[str, Any]) -> Array:
    """XGBoost's own handling."""
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=THREADS, enable_categorical=True).fit(X, y).predict(new)


SYSTEMS: dict[str, Predict] = {
    OURS: raw,
    BY_HAND: by_hand,
    "CatBoost": catboost,
    "LightGBM": lightgbm,
    "XGBoost": xgboost,
}


def texts(X: pd.DataFrame) -> list[str]:
    """The columns that hold categories."""
    return list(X.select_dtypes(exclude="number").columns)


def categorical(stem: str, data_dir: Path | None, rows: int) -> tuple[pd.DataFrame, Array] | None:
    """A set with its raw columns, and classes 0 and 1."""
    path = find_file(stem, data_dir)
    if path is None:
        return None
    frame = pd.read_csv(path)
    if len(frame) > rows:
        frame = frame.iloc[np.random.RandomState(0).choice(len(frame), rows, replace=False)]
    X = frame.drop(columns=["target", "split"], errors="ignore").reset_index(drop=True)
    return X.astype(dict.fromkeys(texts(X), "category")), (frame["target"] > 0).to_numpy().astype(int)


def generated(rows: int) -> tuple[pd.DataFrame, Array]:
    """Two numbers and a column of 30 categories whose effects are drawn."""
    rng = np.random.default_rng(0)
    numbers, kind = rng.standard_normal((rows, 2)), rng.integers(0, 30, rows)
    signal = np.sin(2.0 * numbers[:, 0]) + rng.standard_normal(30)[kind] * (1.0 + 0.5 * numbers[:, 1])
    table = pd.DataFrame(numbers, columns=["a", "b"]).assign(kind=pd.Categorical([f"k{k}" for k in kind]))
    return table, (signal + 0.3 * rng.standard_normal(rows) > 0.0).astype(int)


def numeric(stem: str, data_dir: Path | None) -> tuple[pd.DataFrame, Array] | None:
    """A set of numbers, and classes 0 and 1."""
    path = find_file(stem, data_dir)
    shipped = {"wine": load_wine, "wdbc": load_breast_cancer}
    if path is None and stem in shipped:
        X, y = shipped[stem](return_X_y=True)
        return pd.DataFrame(X), (y == 0).astype(int)
    if path is None:
        return None
    frame = pd.read_csv(path)
    return frame.drop(columns="target").astype(float), (frame["target"] > 0).to_numpy().astype(int)


def holed(X: pd.DataFrame, seed: int) -> pd.DataFrame:
    """X without 20 % of its cells."""
    return X.mask(np.random.default_rng(seed).uniform(size=X.shape) < MISSING)


def measured(
    kind: str, name: str, X: pd.DataFrame, y: Array, systems: dict[str, Predict], splits: int, more: dict[str, Any]
) -> Iterator[Record]:
    """The accuracy of each system on each split."""
    for split in range(1, splits + 1):
        table = holed(X, split) if kind == HOLED else X
        train, test = train_test_split(np.arange(len(y)), test_size=SHARE, random_state=split, stratify=y)
        for system, predict in systems.items():
            start = time.perf_counter()
            found = predict(table.iloc[train], y[train], table.iloc[test], split, more)
            record = {"kind": kind, "data": name, "system": system, "split": split, "rows": len(y)}
            seconds = round(time.perf_counter() - start, 2)
            yield record | {"accuracy": 100.0 * float(np.mean(found == y[test])), "seconds": seconds}


def plan(
    data_dir: Path | None,
    rows: int,
    splits: int,
    names: Sequence[str],
    systems: Sequence[str],
    more: dict[str, Any],
) -> Iterator[Record]:
    """All measurements, one record each."""
    chosen = {name: SYSTEMS[name] for name in systems}
    tables = {name: categorical(stem, data_dir, rows) for name, stem in RAW.items() if name in names}
    if data_dir is None:
        tables = {"generated": generated(rows)}
    for name, table in tables.items():
        if table is not None:
            yield from measured("categories", name, *table, chosen, splits, more)
    pair = {OURS: raw, "XGBoost": xgboost}
    for name in (name for name in WHOLE if name in names):
        table = numeric(name, data_dir)
        if table is not None:
            yield from measured("whole", name, *table, pair, splits, more)
            yield from measured(HOLED, name, *table, pair, splits, more)


def show(records: Sequence[Record], facts: dict[str, object]) -> None:
    """Print means over splits, and below them what they were measured on."""
    frame = pd.DataFrame(records)
    console = Console(width=None if sys.stdout.isatty() else 140)
    categories = frame[frame["kind"] == "categories"]
    if len(categories):
        means = categories.pivot_table(index="data", columns="system", values="accuracy", sort=False)
        console.print(printed(means, "accuracy in %, categorical columns"))
        seconds = categories.pivot_table(
            index="data", columns="system", values="seconds", aggfunc="median", sort=False
        )
        console.print(printed(seconds, "seconds for fit and predict, median"))
    others = frame[frame["kind"] != "categories"]
    if len(others):
        wide = others.pivot_table(index="data", columns=["system", "kind"], values="accuracy", sort=False)
        wide = pd.concat([wide, wide.mean().to_frame("mean").T])
        wide.columns = [f"{system}, {kind}" for system, kind in wide.columns]
        for system in (OURS, "XGBoost"):
            wide[f"{system}, lost"] = wide[f"{system}, whole"] - wide[f"{system}, {HOLED}"]
        console.print(printed(wide, "accuracy in %, with and without 20 % of the cells"))
        excess = lost_more(others)
        said = f"lost more than by XGBoost: {excess.mean():.2f} points, {len(excess)} pairs"
        if len(excess) > 1:
            said += f", standard error {excess.std() / len(excess) ** 0.5:.2f}"
        console.print(said, highlight=False)
    splits = frame["split"].max()
    console.print(f"{splits} splits of 70/30; {describe_machine(facts)}", highlight=False)


def lost_more(records: pd.DataFrame) -> pd.Series:
    """How many points more than XGBoost ours loses by gaps, on each split of each set."""
    accuracy = records.pivot_table(index=["data", "split"], columns=["kind", "system"], values="accuracy")
    lost = accuracy["whole"] - accuracy[HOLED]
    return lost[OURS] - lost["XGBoost"]


def printed(means: pd.DataFrame, title: str) -> Table:
    """A frame of numbers as a table."""
    table = Table("data", *means.columns, title=title)
    for name, row in means.iterrows():
        table.add_row(str(name), *(f"{value:.2f}" for value in row))
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse arguments, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="few rows, rounds and sets: a minute, no figures")
    parser.add_argument("--data-dir", type=Path, help="folder with the sets as CSV, or with folders of them")
    parser.add_argument("--rows", type=positive, default=12_000, help="rows of adult and bankmarketing at most")
    parser.add_argument("--splits", type=positive, default=3)
    parser.add_argument("--data", nargs="+", default=[*RAW, *WHOLE], choices=[*RAW, *WHOLE])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--json", type=Path, help="where to write all figures")
    given = parser.parse_args(arguments)
    if given.data_dir is not None and not given.data_dir.is_dir():
        parser.error(f"--data-dir: {str(given.data_dir)!r} is not a folder")
    require_writable(parser, json=given.json)
    facts, more, records = machine(THREADS), {}, []
    if given.quick:
        given.rows, given.splits, more = 300, 1, {"quality": "fast", "n_estimators": 20}
        given.data = [name for name in given.data if name in (*RAW, "wine")]
    for record in plan(given.data_dir, given.rows, given.splits, given.data, given.systems, more):
        records.append(record)
        print(*record.values(), file=sys.stderr, flush=True)
        if given.json is not None:
            given.json.write_text(json.dumps({"machine": facts, "records": records}, indent=1) + "\n")
    show(records, facts)


if __name__ == "__main__":
    main()
