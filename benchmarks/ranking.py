"""Rankings beside XGBoost, LightGBM and CatBoost: NDCG@10 of queries, and time.

    python benchmarks/ranking.py [--data-dir DIR] [--sets structured generated] [--folds 5] [--systems ours ...]

Each fold of queries is ranked by models of the other folds, so that each query counts once. Differences to the
first system are paired by query, and their standard errors are over queries. Queries without a relevant row are
left out. All systems have their defaults and one thread; times are processor times of fits. "structured" is
the files `ranking_train.csv.gz` and `ranking_test.csv.gz` in the folder `structured` of the data.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from sklearn.model_selection import GroupKFold
from xgboost import XGBRanker

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.machine import describe_machine, machine
from rffboost_ext import RFFBoostRanker
from rffboost_ext.losses.query_ranking import ndcg_of_queries

Array = np.ndarray
Rows = tuple[Array, Array, Array]
"""Features (n, d), relevance (n,) and codes of queries (n,), the rows of a query together."""


def structured(folder: Path) -> Rows:
    """251 queries of web documents, relevance 0 to 4."""
    parts = [pd.read_csv(folder / "structured" / f"ranking_{part}.csv.gz") for part in ("train", "test")]
    parts[1]["qid"] += parts[0]["qid"].max() + 1
    table = pd.concat(parts, ignore_index=True)
    return table.drop(columns=["y", "qid"]).to_numpy(np.float64), table["y"].to_numpy(), table["qid"].to_numpy()


def generated(folder: Path) -> Rows:
    """2,000 queries of 5 to 40 rows: features of the query and of the row, which interact, and noise."""
    rng, n_queries = np.random.default_rng(20), 2_000
    query = np.repeat(np.arange(n_queries), rng.integers(5, 41, n_queries))
    of_query, of_row = rng.standard_normal((n_queries, 5))[query], rng.standard_normal((len(query), 15))
    # Counts of matching words, for example: most are 0.
    of_row[:, 10:] = np.where(rng.random((len(query), 5)) < 0.6, 0.0, np.abs(of_row[:, 10:]))
    utility = (
        of_query[:, 0] * np.sin(of_row[:, 0])
        + np.tanh(of_row[:, 1] + of_query[:, 1] * of_row[:, 2])
        + 0.7 * (of_row[:, 3] > 0.5) * of_row[:, 4]
        + np.sqrt(of_row[:, 10])
        - 0.5 * of_row[:, 11] * of_query[:, 2]
        + rng.standard_normal(len(query))
    )
    return np.hstack([of_query, of_row]), np.digitize(utility, np.quantile(utility, [0.5, 0.75, 0.9, 0.97])), query


def fit_ours(X: Array, y: Array, query: Array) -> Any:
    """RFFBoostRanker."""
    return RFFBoostRanker(random_state=0).fit(X, y, qid=query)


def fit_xgboost(X: Array, y: Array, query: Array) -> Any:
    """XGBRanker, whose objective is rank:ndcg."""
    return XGBRanker(n_jobs=1).fit(X, y, qid=query)


def fit_lightgbm(X: Array, y: Array, query: Array) -> Any:
    """LGBMRanker, whose objective is lambdarank."""
    return LGBMRanker(n_jobs=1, verbose=-1).fit(X, y, group=np.unique(query, return_counts=True)[1])


def fit_catboost(X: Array, y: Array, query: Array) -> Any:
    """CatBoostRanker, whose loss is YetiRank."""
    return CatBoostRanker(thread_count=1, verbose=0, allow_writing_files=False).fit(X, y, group_id=query)


SETS: dict[str, Callable[[Path], Rows]] = {"structured": structured, "generated": generated}
SYSTEMS: dict[str, Callable[[Array, Array, Array], Any]] = {
    "ours": fit_ours,
    "xgboost": fit_xgboost,
    "lightgbm": fit_lightgbm,
    "catboost": fit_catboost,
}


def score(system: str, rows: Rows, train: Array, test: Array) -> tuple[Array, float]:
    """NDCG@10 of each query to rank, (q,), and the time of the fit."""
    X, y, query = rows
    start = time.process_time()
    model = SYSTEMS[system](X[train], y[train], query[train])
    seconds = time.process_time() - start
    _, found = ndcg_of_queries(np.column_stack([y[test], query[test]]), np.asarray(model.predict(X[test])), 10)
    return found, seconds


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the mean of each system, and the difference to the first with its standard error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, default=os.environ.get("RFFBOOST_DATA", "data"))
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--folds", type=int, default=5)
    options = parser.parse_args(arguments)
    print(describe_machine(machine(threads=1)))
    for name in options.sets:
        rows = SETS[name](Path(options.data_dir))
        found: dict[str, list[Array]] = {system: [] for system in options.systems}
        seconds = dict.fromkeys(options.systems, 0.0)
        folds = GroupKFold(options.folds, shuffle=True, random_state=0).split(rows[0], groups=rows[2])
        for number, (train, test) in enumerate(folds):
            for system in options.systems:
                values, lasted = score(system, rows, train, test)
                found[system].append(values)
                seconds[system] += lasted
                print(f"{name} {number} {system:9} {np.nanmean(values):.4f} {lasted:.1f} s", file=sys.stderr)
        first = np.concatenate(found[options.systems[0]])
        for system, parts in found.items():
            values = np.concatenate(parts)
            known = ~np.isnan(values)
            difference = (values - first)[known]
            error = difference.std(ddof=1) / np.sqrt(known.sum())
            to_first = f"({difference.mean():+.4f} +- {error:.4f})"
            print(f"{name:10} {system:9} NDCG@10 {values[known].mean():.4f} {to_first}  {seconds[system]:.1f} s")


if __name__ == "__main__":
    main()
