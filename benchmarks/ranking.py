"""Rankings beside XGBoost, LightGBM and CatBoost: NDCG@10 of queries, and time.

    python -m benchmarks.ranking --out FILE.csv [--data-dir DIR] [--datasets structured] [--systems ...]

Each split is one of five folds of queries, which is ranked by a model of the other folds. Differences from the
first system are paired by query, and their standard errors are over queries. Queries without a relevant row are
left out. All systems have their defaults; times are processor times of fits. "structured" is the files
`ranking_train.csv.gz` and `ranking_test.csv.gz` in the folder `structured` of the data.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import GroupKFold

from rffboost_ext import RFFBoostRanker
from rffboost_ext.experiments.report import markdown
from rffboost_ext.losses.query_ranking import ndcg_of_queries

from .command import Benchmark
from .study import Task

Array = np.ndarray
FOLDS = 5
MEASURES = dict.fromkeys(("ndcg", "queries", "seconds"), "")
Rows = tuple[Array, Array, Array]
"""Features (n, d), relevance (n,) and codes of queries (n,), the rows of a query together."""


def structured(folder: Path) -> Rows:
    """251 queries of web documents, relevance 0 to 4."""
    parts = [pd.read_csv(folder / "structured" / f"ranking_{part}.csv.gz") for part in ("train", "test")]
    parts[1]["qid"] += parts[0]["qid"].max() + 1
    table = pd.concat(parts, ignore_index=True)
    return table.drop(columns=["y", "qid"]).to_numpy(np.float64), table["y"].to_numpy(), table["qid"].to_numpy()


def generated(folder: Path | None) -> Rows:
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
    from xgboost import XGBRanker

    return XGBRanker(n_jobs=1).fit(X, y, qid=query)


def fit_lightgbm(X: Array, y: Array, query: Array) -> Any:
    """LGBMRanker, whose objective is lambdarank."""
    from lightgbm import LGBMRanker

    return LGBMRanker(n_jobs=1, verbose=-1).fit(X, y, group=np.unique(query, return_counts=True)[1])


def fit_catboost(X: Array, y: Array, query: Array) -> Any:
    """CatBoostRanker, whose loss is YetiRank."""
    from catboost import CatBoostRanker

    return CatBoostRanker(thread_count=1, verbose=0, allow_writing_files=False).fit(X, y, group_id=query)


SETS: dict[str, Callable[[Any], Rows]] = {"structured": structured, "generated": generated}
SYSTEMS: dict[str, Callable[[Array, Array, Array], Any]] = {
    "ours": fit_ours,
    "xgboost": fit_xgboost,
    "lightgbm": fit_lightgbm,
    "catboost": fit_catboost,
}


def load(name: str, folder: Path | None) -> Rows:
    """A set by name."""
    return SETS[name](folder)


def split(rows: Rows, index: int) -> tuple[Rows, Array, Array]:
    """The rows of both parts of fold `index`, from 1."""
    folds = GroupKFold(FOLDS, shuffle=True, random_state=0).split(rows[0], groups=rows[2])
    train, test = next(islice(folds, index - 1, None))
    return rows, train, test


def measure(system: Callable[..., Any], parts: tuple[Rows, Array, Array], task: Task) -> list[dict[str, Any]]:
    """Mean NDCG@10, that of each query, and the time of the fit."""
    (X, y, query), train, test = parts
    start = time.process_time()
    model = system(X[train], y[train], query[train])
    seconds = time.process_time() - start
    _, ndcg = ndcg_of_queries(np.column_stack([y[test], query[test]]), np.asarray(model.predict(X[test])), 10)
    return [{"ndcg": float(np.nanmean(ndcg)), "queries": ndcg.tolist(), "seconds": seconds}]


def show(frame: Any) -> str:
    """Mean NDCG@10 over queries, and the difference from the first system with its standard error."""
    lines = []
    for name, rows in frame.groupby("dataset", sort=False):
        ndcg_of = {
            system: np.concatenate([*part["queries"]]) for system, part in rows.groupby("system", sort=False)
        }
        first = next(iter(ndcg_of.values()))
        for system, values in ndcg_of.items():
            has_ndcg = ~np.isnan(values)
            away = (values - first)[has_ndcg]
            error = away.std(ddof=1) / np.sqrt(has_ndcg.sum())
            seconds = rows.loc[rows["system"] == system, "seconds"].sum()
            difference = f"{away.mean():+.4f} ± {error:.4f}"
            lines.append([str(name), str(system), f"{values[has_ndcg].mean():.4f}", difference, f"{seconds:.1f}"])
    return markdown(["queries", "system", "NDCG@10", "difference", "seconds"], lines)


def missing(name: str, folder: Path | None) -> str:
    """Why a set is not available; empty if it is."""
    if name == "generated" or (folder is not None and (folder / "structured").is_dir()):
        return ""
    return "there is no folder of data with a folder 'structured'"


BENCHMARK = Benchmark(
    __doc__, list(SETS), SYSTEMS, FOLDS, load, split, measure, MEASURES, show=show, missing=missing
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
