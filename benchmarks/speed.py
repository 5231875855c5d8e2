"""Speed of cosines alone and of GBRFF2 beside trees; ``tables.py`` has the default models.

    python -m benchmarks.speed [--quick] [--measures NAME ...] [--json F]

Ratios are our time over that of the peer: below 1 ours is faster. The members of a pair are timed in turns;
medians of at least five turns after a warm-up count. If more processes run than there are cores, the longer member
of a pair is interrupted more often, so that ratios mean little. speed.json has the times of docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.datasets import make_classification
from xgboost import XGBClassifier

from rffboost_ext import presets

from .command import options
from .systems import rffboost
from .timing import TimingRow, in_turns, say, show

Array = np.ndarray
FEATURES = 20


@dataclass(frozen=True)
class Sizes:
    """How large the workloads are."""

    published: tuple[int, ...] = (50_000, 1_000_000)
    large: int = 1_000_000
    grown: int = 8_000_000
    held_out: int = 100_000
    rounds: int = 100
    turns: int = 5


QUICK = Sizes(
    published=(10_000,),
    large=20_000,
    grown=160_000,
    held_out=10_000,
)


def data(n: int) -> tuple[Array, Array]:
    """Rows of ``make_classification`` with 20 features and random state 1."""
    return make_classification(n, FEATURES, random_state=1)


def wave_data(n: int, d: int) -> tuple[Array, Array]:
    """Rows of d normal features in float32, and two classes that a wave and a slope separate, with noise.

    Rows do not depend on how many follow, so that data of any size are of one kind.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    noise = np.random.default_rng(1).standard_normal(n, dtype=np.float32)
    return X, (np.sin(2.0 * X[:, 0]) + X[:, 1] + noise > 0.0).astype(int)


def shape(n: int) -> str:
    """The size of the data as text."""
    return f"{n:,} x {FEATURES}"


def cosines(rounds: int) -> Any:
    """Second-order cosines alone."""
    return rffboost("binary", learner="rff_newton", n_estimators=rounds, early_stopping=False)


def trees(rounds: int) -> dict[str, Any]:
    """Boosters of trees of depth 5."""
    return {
        "LightGBM": LGBMClassifier(n_estimators=rounds, max_depth=5, num_leaves=32, n_jobs=1, verbose=-1),
        "XGBoost": XGBClassifier(n_estimators=rounds, max_depth=5, tree_method="hist", n_jobs=1),
    }


def beside(what: str, workload: str, runs: Mapping[str, Callable[[], Any]], turns: int) -> list[TimingRow]:
    """The first of some runs beside each other one."""
    ours, *others = in_turns(*runs.values(), turns=turns)
    return [TimingRow(what, workload, peer, ours, times) for peer, times in zip([*runs][1:], others, strict=True)]


def fits(what: str, n: int, models: Mapping[str, Any], turns: int) -> list[TimingRow]:
    """Fits of the first of some models to n rows, beside those of each other one."""
    X, y = data(n)
    return beside(what, shape(n), {name: partial(model.fit, X, y) for name, model in models.items()}, turns)


def cosines_alone(sizes: Sizes) -> list[TimingRow]:
    """Cosines alone beside trees; the accuracy on other rows is printed."""
    models = {"cosines": cosines(sizes.rounds)} | trees(sizes.rounds)
    rows = fits(f"cosines alone, {sizes.rounds} rounds", sizes.large, models, sizes.turns)
    X, y = data(sizes.large + sizes.held_out)
    for name, model in models.items():
        model.fit(X[: sizes.large], y[: sizes.large])
        say(f"accuracy of {name}: {100.0 * model.score(X[sizes.large :], y[sizes.large :]):.2f} %")
    return rows


def growth(sizes: Sizes) -> list[TimingRow]:
    """Cosines alone on eight times the rows."""
    X, y = data(sizes.grown)
    few = slice(sizes.large)
    runs = {
        "more": lambda: cosines(sizes.rounds).fit(X, y),
        f"{sizes.large:,} rows": lambda: cosines(sizes.rounds).fit(X[few], y[few]),
    }
    return beside(f"cosines alone, {sizes.rounds} rounds, growth", shape(sizes.grown), runs, sizes.turns)


def published(sizes: Sizes) -> Iterator[TimingRow]:
    """GBRFF2 beside trees."""
    for n in sizes.published:
        models = {"gbrff2": presets.gbrff2(n_estimators=sizes.rounds, random_state=0)} | trees(sizes.rounds)
        yield from fits(f"gbrff2, {sizes.rounds} rounds", n, models, sizes.turns)


def one_row(sizes: Sizes) -> list[TimingRow]:
    """The latency of one row."""
    X, y = wave_data(20_000, 30)
    booster = XGBClassifier(n_estimators=100, max_depth=6, n_jobs=1).fit(X, y).get_booster()
    model = presets.gbrff2(random_state=0).fit(X[:500], y[:500])
    row = X[:1].copy()
    ours, theirs = in_turns(
        lambda: model.decision_function(row),
        lambda: booster.inplace_predict(row),
        turns=3 * sizes.turns,
        calls=100,
    )
    return [TimingRow("one row, 100 cosines", "1 x 30", "XGBoost, 100 trees of depth 6", ours, theirs)]


MEASURES: dict[str, Callable[[Sizes], Any]] = {
    "cosines_alone": cosines_alone,
    "growth": growth,
    "published": published,
    "one_row": one_row,
}


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--quick", action="store_true", help="small workloads")
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--json", type=Path, help="write the times to this file")
    parsed = parser.parse_args(arguments)
    sizes = QUICK if parsed.quick else Sizes()
    show((row for name in parsed.measures for row in MEASURES[name](sizes)), parsed.json)


if __name__ == "__main__":
    main()
