"""What the accuracy costs: fits timed in turns, and how the time grows with the rows."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from rffboost_ext.experiments.compare.protocol import SYSTEM_SEED
from rffboost_ext.experiments.reproduce.markdown import markdown
from rffboost_ext.utils.files import write_atomically

from .accuracy_systems import SYSTEMS, rffboost
from .systems import SYSTEMS as TIMED
from .table import COLUMNS
from .timing import AtLeast, AtMost, TimingRow, in_turns

Array = np.ndarray
Fit = Callable[[], Any]
Record = dict[str, Any]
TITLE = "## Speed"
FEATURES = 20


@dataclass(frozen=True)
class SpeedSizes:
    """How large the workloads are; the defaults are those that the targets are for."""

    large: int = 1_000_000
    grown: int = 8_000_000
    small: int = 10_000
    held_out: int = 100_000
    rounds: int = 100
    turns: int = 5


QUICK = SpeedSizes(large=20_000, grown=160_000, small=2_000, held_out=10_000, turns=3)


def speed_data(n: int) -> tuple[Array, Array]:
    """So many rows of ``make_classification`` with 20 features and random state 1."""
    return make_classification(n, FEATURES, random_state=1)


def cosines(rounds: int, threads: int) -> Any:
    """Second-order cosines alone, every round of them."""
    learner = {"learner": "rff_newton", "n_estimators": rounds, "early_stopping": False}
    return rffboost("binary", threads, **learner)


def cosines_alone(sizes: SpeedSizes, threads: int) -> list[Record]:
    """Cosines alone beside LightGBM and XGBoost: time of a fit, and accuracy on rows held out."""
    X, y = speed_data(sizes.large + sizes.held_out)
    train, test = slice(sizes.large), slice(sizes.large, None)
    peers = ("LightGBM", "XGBoost")
    models: dict[str, Any] = {}
    fits: dict[str, Fit] = {
        "cosines": lambda: cosines(sizes.rounds, threads).fit(X[train], y[train]),
        **{name: partial(TIMED[name], X[train], y[train], sizes.rounds, threads) for name in peers},
    }
    times = in_turns(*(storing(models, name, fit) for name, fit in fits.items()), turns=sizes.turns)
    what, workload = f"cosines alone, {sizes.rounds} rounds", shape(sizes.large)
    rows = [
        record(TimingRow(what, workload, trees(name, sizes.rounds), times[0], theirs, AtLeast(10.0)))
        for name, theirs in zip(peers, times[1:], strict=True)
    ]
    scores = {name: 100.0 * float(model.score(X[test], y[test])) for name, model in models.items()}
    named = {trees(name, sizes.rounds) if name in peers else name: score for name, score in scores.items()}
    return [*rows, held_out(what, workload, named)]


def trees(name: str, rounds: int) -> str:
    """What a booster of trees is called."""
    return f"{name}, {rounds} trees of depth 5"


def storing(models: dict[str, Any], name: str, fit: Fit) -> Fit:
    """A fit whose model is kept by name."""
    return lambda: models.__setitem__(name, fit())


def held_out(what: str, workload: str, scores: Mapping[str, float], slack: float = 0.3) -> Record:
    """Accuracy of the first system beside the best of the others, in percent."""
    (_, ours), *others = scores.items()
    peer, theirs = max(others, key=lambda item: item[1])
    gap = ours - theirs
    cells = [
        f"{what}: accuracy held out",
        workload,
        f"{ours:.2f} %",
        f"{theirs:.2f} %  {peer}",
        f"{gap:+.2f}",
        f"at least {-slack:g}",
        "yes" if gap >= -slack else "no",
    ]
    return {"cells": cells, "scores": dict(scores)}


def growth(sizes: SpeedSizes, threads: int) -> list[Record]:
    """Cosines alone on eight times the rows."""
    X, y = speed_data(sizes.grown)
    few = slice(sizes.large)
    more, less = in_turns(
        lambda: cosines(sizes.rounds, threads).fit(X, y),
        lambda: cosines(sizes.rounds, threads).fit(X[few], y[few]),
        turns=sizes.turns,
    )
    what, peer = f"cosines alone, {sizes.rounds} rounds, growth", f"{sizes.large:,} rows"
    return [record(TimingRow(what, shape(sizes.grown), peer, more, less, AtMost(4.0)))]


def default_small(sizes: SpeedSizes, threads: int) -> list[Record]:
    """The default model beside LightGBM's and CatBoost's on few rows."""
    return defaults(sizes.small, {"lightgbm": AtMost(3.0), "catboost": AtMost(1.0)}, sizes.turns, threads)


def default_large(sizes: SpeedSizes, threads: int) -> list[Record]:
    """The default model beside XGBoost's on many rows."""
    return defaults(sizes.large, {"xgboost": AtMost(1.0)}, sizes.turns, threads)


def defaults(n: int, targets: Mapping[str, AtLeast | AtMost], turns: int, threads: int) -> list[Record]:
    """The time of a fit of the default model beside those of some systems."""
    X, y = speed_data(n)
    fits = [partial(fit_default, name, X, y, threads) for name in ("rffboost", *targets)]
    ours, *others = in_turns(*fits, turns=turns)
    return [
        record(TimingRow("default model", shape(n), f"{SYSTEMS[name].title}, defaults", ours, theirs, target))
        for (name, target), theirs in zip(targets.items(), others, strict=True)
    ]


def default_prediction(sizes: SpeedSizes, threads: int) -> list[Record]:
    """Predictions of default models beside each other, each fitted to few rows."""
    X, y = speed_data(sizes.held_out)
    targets = {"lightgbm": AtMost(1.0), "xgboost": AtMost(1.5), "catboost": AtMost(1.5)}
    few = slice(sizes.small)
    models = {name: fit_default(name, X[few], y[few], threads) for name in ("rffboost", *targets)}
    # CatBoost predicts on all cores, whatever it was fitted on.
    held = {"catboost": {"thread_count": threads}}
    runs = [partial(model.predict_proba, X, **held.get(name, {})) for name, model in models.items()]
    ours, *others = in_turns(*runs, turns=3 * sizes.turns)
    what = f"prediction of the default model of {sizes.small:,} rows"
    return [
        record(TimingRow(what, shape(sizes.held_out), f"{SYSTEMS[name].title}, defaults", ours, theirs, target))
        for (name, target), theirs in zip(targets.items(), others, strict=True)
    ]


def fit_default(name: str, X: Array, y: Array, threads: int) -> Any:
    """A system fitted as it comes."""
    return SYSTEMS[name].build("binary", threads).fit(X, y)


def shape(n: int) -> str:
    """The size of the data as text."""
    return f"{n:,} x {FEATURES}"


def record(row: TimingRow) -> Record:
    """A row of times with its cells, for JSON."""
    return {"cells": row.cells(), **row.record()}


Measure = Callable[[SpeedSizes, int], list[Record]]
MEASURES: tuple[Measure, ...] = (default_small, cosines_alone, default_large, growth, default_prediction)


@dataclass(frozen=True)
class SpeedFile:
    """A JSON file of records by measure and conditions, so that a run can end at any moment.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    """

    path: Path

    def read(self) -> dict[str, list[Record]]:
        """Records of all measures so far."""
        found: dict[str, list[Record]] = json.loads(self.path.read_text()) if self.path.exists() else {}
        return found

    def write(self, found: Mapping[str, list[Record]]) -> None:
        """Replace the file."""
        write_atomically(self.path, (json.dumps(found, indent=1) + "\n").encode())


def measure_all(file: SpeedFile, sizes: SpeedSizes, threads: int, say: Callable[[str], object]) -> list[str]:
    """Do the measures that the file lacks, write each as it is done, and return what failed."""
    failures = []
    for measure in MEASURES:
        found = file.read()
        if key(measure, sizes, threads) in found:
            continue
        title = (measure.__doc__ or "").partition("\n")[0]
        say(f"speed       {title}")
        try:
            file.write(found | {key(measure, sizes, threads): measure(sizes, threads)})
        except Exception as error:
            failures.append(f"speed: {title} {type(error).__name__}: {error}")
    return failures


def key(measure: Measure, sizes: SpeedSizes, threads: int) -> str:
    """A measure with the conditions under which its records were made."""
    digest = zlib.crc32(repr((sorted(asdict(sizes).items()), SYSTEM_SEED)).encode())
    return f"{measure.__name__} threads={threads} sizes={digest:08x}"


def speed_section(file: SpeedFile, sizes: SpeedSizes, threads: int) -> str:
    """The records of these conditions as Markdown; nothing if there are none."""
    found = file.read()
    records = [record for measure in MEASURES for record in found.get(key(measure, sizes, threads), [])]
    if not records:
        return ""
    return "\n".join([TITLE + "\n", caption(sizes, threads) + "\n", lines(records)])


def caption(sizes: SpeedSizes, threads: int) -> str:
    """How the times were taken."""
    small = " Small workloads: the targets are for those of a full run." if sizes != SpeedSizes() else ""
    return (
        f"`make_classification` with random state 1; medians of {sizes.turns} fits in turns after one to warm up; "
        f"threads of every system: {threads}.{small}"
    )


def lines(records: Sequence[Record]) -> str:
    """The records as a table."""
    return markdown(COLUMNS, [record["cells"] for record in records])
