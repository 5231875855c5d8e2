"""Predicted distributions against NGBoost, CatBoost and a constant standard deviation, on standardised targets.

For each data set and split: the mean negative log-likelihood, the mean CRPS and the CPU seconds of each system
with its defaults, then the mean differences from RFFBoostDistribution with their paired standard errors. Text is
coded by numbers, missing values are medians. Needs ``pip install catboost`` and, as NGBoost asks for an earlier
scikit-learn, ``pip install --no-deps ngboost autograd``.

    python benchmarks/distributions.py --data-dir FOLDER --rows 2000 --splits 5
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.model_selection import train_test_split

from rffboost_ext import RFFBoostDistribution, RFFBoostRegressor
from rffboost_ext.experiments.compare.datasets import find_file
from rffboost_ext.metrics import crps, nll

Array = np.ndarray
DATASETS = (
    *("abalone", "airbnb_nyc", "elevators", "fuel_economy", "gas_turbine", "loan_interest", "melbourne_housing"),
    *("movie_rating", "seoul_bike", "sulfur", "traffic_volume", "wind", "winequality_white"),
)


def load(name: str, folder: Path, rows: int) -> tuple[Array, Array]:
    """Features and target of at most so many rows of a data set."""
    path = find_file(name, folder)
    if path is None:
        raise SystemExit(f"{name}.csv.gz not found in {folder}")
    frame = pd.read_csv(path)
    frame = frame.sample(n=min(rows, len(frame)), random_state=0)
    y = frame.pop("target").to_numpy(np.float64)
    numbers = frame.apply(lambda column: column if column.dtype.kind in "iufb" else pd.factorize(column)[0])
    return numbers.fillna(numbers.median()).to_numpy(np.float64), y


def ours(X: Array, y: Array, X_test: Array, seed: int) -> Any:
    """RFFBoostDistribution with its defaults."""
    return RFFBoostDistribution("normal", random_state=seed).fit(X, y).predict_dist(X_test)


def squared_error(X: Array, y: Array, X_test: Array, seed: int) -> Any:
    """RFFBoostRegressor with its defaults, and the standard deviation of its errors on a fifth of the rows."""
    kept, held = train_test_split(np.arange(len(y)), test_size=0.2, random_state=seed)
    error = y[held] - RFFBoostRegressor(random_state=seed).fit(X[kept], y[kept]).predict(X[held])
    mean = RFFBoostRegressor(random_state=seed).fit(X, y).predict(X_test)
    return norm(loc=mean, scale=np.sqrt(np.mean(np.square(error))))


def ngboost(X: Array, y: Array, X_test: Array, seed: int) -> Any:
    """NGBoost with its defaults: a normal distribution, 500 rounds of trees of depth 3."""
    from ngboost import NGBRegressor

    found = NGBRegressor(verbose=False, random_state=seed).fit(X, y).pred_dist(X_test)
    return norm(loc=found.loc, scale=found.scale)


def catboost(X: Array, y: Array, X_test: Array, seed: int) -> Any:
    """CatBoost with its defaults for RMSEWithUncertainty."""
    from catboost import CatBoostRegressor

    model = CatBoostRegressor(
        loss_function="RMSEWithUncertainty",
        random_seed=seed,
        verbose=False,
        thread_count=1,
        allow_writing_files=False,
    )
    mean, variance = model.fit(X, y).predict(X_test).T
    return norm(loc=mean, scale=np.sqrt(variance))


SYSTEMS: dict[str, Callable[..., Any]] = {
    "RFFBoostDistribution": ours,
    "squared error": squared_error,
    "NGBoost": ngboost,
    "CatBoost": catboost,
}


def run(name: str, args: argparse.Namespace) -> list[dict[str, Any]]:
    """The records of all systems on all splits of a data set."""
    X, y = load(name, args.data_dir, args.rows)
    records = []
    for split in range(args.splits):
        train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=split)
        mean, spread = y[train].mean(), y[train].std()
        z = (y - mean) / spread
        for system in args.systems:
            start = time.process_time()
            found = SYSTEMS[system](X[train], z[train], X[test], split)
            seconds = time.process_time() - start
            scores = {"nll": nll(z[test], found), "crps": crps(z[test], found), "seconds": seconds}
            records.append({"data": name, "split": split, "system": system} | scores)
    table = pd.DataFrame(records).groupby("system", sort=False)[["nll", "crps", "seconds"]].mean()
    print(f"\n{name} {X.shape}\n{table.round(4)}", flush=True)
    return records


def compare(records: pd.DataFrame) -> None:
    """Print means over data sets, and mean differences from the first system with their standard errors."""
    of_data = records.groupby(["data", "system"], sort=False)[["nll", "crps", "seconds"]].mean()
    print("\nmeans over data sets\n", of_data.groupby("system", sort=False).mean().round(4))
    first = records.system.iloc[0]
    for metric in ("nll", "crps"):
        wide = of_data[metric].unstack()
        for system in records.system.unique()[1:]:
            gap = wide[first] - wide[system]
            error = gap.std() / np.sqrt(len(gap))
            print(f"{metric}: {first} - {system}: {gap.mean():+.4f} +- {error:.4f}, lower on {(gap < 0).sum()}")


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--datasets", nargs="+", default=DATASETS)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--rows", type=int, default=2_000)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--out", type=Path, help="CSV file of the records")
    args = parser.parse_args()
    records = pd.DataFrame([record for name in args.datasets for record in run(name, args)])
    if args.out:
        records.to_csv(args.out, index=False)
    compare(records)


if __name__ == "__main__":
    main()
