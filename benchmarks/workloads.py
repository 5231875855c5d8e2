"""What is measured: a function per topic, which returns rows of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import numba
import numpy as np
import onnxruntime
from sklearn.datasets import make_classification
from xgboost import Booster, XGBClassifier

from onnx_export import to_onnx
from rffboost_ext import FIT_CRITERIA, LOSSES, RFF1, Design, RFFBoostRegressor, Round
from rffboost_ext.kernels.vector_math import sincos_array
from rffboost_ext.learners.fourier.objectives import CompiledRisk, empirical_risk
from rffboost_ext.utils.parallel import use_threads as threads_for_predictions

from .loops import processes_in_turns
from .machine import cores
from .systems import SYSTEMS, figure_data, gbrff2_throughout, wave_data
from .timing import AtLeast, AtMost, TimingRow, in_turns

Array = np.ndarray
Targets = Mapping[str, AtLeast | AtMost]
Measure = Callable[["Sizes", int], list[TimingRow]]


# Rows on which the peer of predictions is trained: enough to grow its trees to their full depth.
TRAINED = 20_000
PAGE = 4096

THROUGHOUT = "gbrff2, all rows throughout"
FITS = SYSTEMS | {THROUGHOUT: gbrff2_throughout}


@dataclass(frozen=True)
class Sizes:
    """How large the workloads are; the defaults are those that the targets are for."""

    passes: tuple[tuple[int, int], ...] = ((1_000_000, 20), (400_000, 100))
    in_cache: int = 8192
    figure: int = 50_000
    large: int = 1_000_000
    landmark: tuple[int, ...] = (5_000, 50_000)
    predicted: int = 100_000
    small: int = 300
    parallel: tuple[int, ...] = (200_000, 800_000)
    halvings: int = 400
    rounds: int = 100
    growth_rows: tuple[int, ...] = (10_000, 100_000, 1_000_000, 4_000_000)
    growth_features: tuple[int, ...] = (5, 10, 20, 50, 100, 200)
    growth_rounds: int = 20
    turns: int = 5
    calls: int = 500


# The passes are over more than a cache holds here too, so that memory bounds them as in the full run.
QUICK = Sizes(
    passes=((500_000, 20), (100_000, 100)),
    figure=10_000,
    large=100_000,
    landmark=(1_000, 5_000),
    predicted=20_000,
    growth_rows=(10_000, 100_000),
    growth_rounds=10,
)


def passes(sizes: Sizes, threads: int) -> list[TimingRow]:
    """One objective and gradient of ``rff_1`` beside a sum over the bytes that it reads."""
    targets = AtLeast(0.5), AtLeast(0.7)
    return [one_pass(*shape, target, sizes, threads) for shape, target in zip(sizes.passes, targets, strict=True)]


def one_pass(n: int, d: int, target: AtLeast, sizes: Sizes, threads: int) -> TimingRow:
    """The pass over n rows of d features; as its reads are those of the sum, the ratio is one of bandwidths.

    It reads the features and, of each row, the two numbers of the fit criterion; what it writes is not counted.
    """
    objective, omega = exponential_objective(n, d, threads)
    tiles = objective.tiles
    sums = np.zeros(tiles.n_tiles, dtype=np.float32)
    _, *of_rows = objective.arrays
    ours, theirs = in_turns(
        lambda: objective.frequency_objective(0.5)(omega),
        lambda: tiles.run(sum_tiles, tiles.blocks, *of_rows, sums),
        turns=3 * sizes.turns,
        calls=5,
    )
    what = "objective and gradient of rff_1, float32"
    return TimingRow(what, f"{n:,} x {d}", "plain sum of the same bytes", ours, theirs, target)


@numba.njit(fastmath=True, nogil=True)
def total_of(values):  # type: ignore[no-untyped-def]
    """The sum of an array, all lanes at work."""
    flat = values.reshape(-1)
    total = flat.dtype.type(0)
    for i in range(len(flat)):
        total += flat[i]
    return total


@numba.njit(fastmath=True, nogil=True)
def sum_tiles(tiles, p, q, sums, first, last):  # type: ignore[no-untyped-def]
    """Write the sum of tiles first .. last-1 (T, d, B) and of two numbers per row, (T, B) each."""
    of_rows = total_of(p[first:last]) + total_of(q[first:last])
    sums[first] = total_of(tiles[first:last]) + of_rows


def exponential_objective(n: int, d: int, threads: int, k: int = 1) -> tuple[CompiledRisk, Array]:
    """The exponential fit criterion of k cosines in the first round on float32 tiles, and their frequencies."""
    X, classes = wave_data(n, d)
    loss, y, raw = LOSSES.create("exponential"), classes[:, None].astype(np.float64), np.zeros((n, 1))
    design = Design(X, np.zeros(d), np.ones(d), threads, "float32")
    round = Round(design, loss, y, raw, *loss.derivatives(y, raw), np.ones(n), 0, np.random.default_rng(0))
    objective = empirical_risk(round, FIT_CRITERIA.create("exponential"))
    assert isinstance(objective, CompiledRisk)
    omega = np.sqrt(2.0 / d) * np.random.default_rng(2).standard_normal((k, d))
    objective.project(omega)
    return objective, omega[0] if k == 1 else omega


def elementary(sizes: Sizes, threads: int) -> list[TimingRow]:
    """Sine and cosine per element, beside NumPy's cosine alone, in cache; one thread by nature."""
    return [sincos_row(np.float64, AtLeast(8.0), sizes), sincos_row(np.float32, AtLeast(2.0), sizes)]


def sincos_row(dtype: type[np.floating[Any]], target: AtLeast, sizes: Sizes) -> TimingRow:
    """Sine and cosine in one precision."""
    z, sine, cosine = apart(3, sizes.in_cache, dtype)
    z[:] = np.random.default_rng(0).normal(0.0, 3.0, sizes.in_cache)
    times = in_turns(
        lambda: sincos_array(z, sine, cosine),
        lambda: np.cos(z, out=cosine),
        turns=3 * sizes.turns,
        calls=sizes.calls,
    )
    ours, theirs = ([t / len(z) for t in per_call] for per_call in times)
    what, workload = f"sincos per element, {np.dtype(dtype)}", f"{sizes.in_cache:,} in cache, N(0, 9)"
    return TimingRow(what, workload, "NumPy, cos alone", ours, theirs, target)


def apart(count: int, n: int, dtype: type[np.floating[Any]]) -> list[Array]:
    """Arrays (n,) that start on lines of the cache, each at another place in its page.

    Where NumPy puts them is chance: a load waits for a store to the same place of another page, which takes up to
    a fifth of the time of a loop that reads one array and writes two.
    """
    size = n * np.dtype(dtype).itemsize
    stride = -(-size // PAGE) * PAGE + PAGE // 4
    space = np.empty(count * stride + PAGE, dtype=np.uint8)
    start = -space.ctypes.data % PAGE
    return [space[i : i + size].view(dtype) for i in range(start, start + count * stride, stride)]


def boosting(sizes: Sizes, threads: int) -> list[TimingRow]:
    """``gbrff2`` on the data of figure 4, of two sizes."""
    small: Targets = {"gbrff2, plain": AtLeast(10.0), "LightGBM": AtMost(0.7)}
    large: Targets = {"LightGBM": AtMost(0.9), "XGBoost": AtMost(0.9), THROUGHOUT: AtMost(1.0)}
    rows = []
    for n, targets in ((sizes.figure, small), (sizes.large, large)):
        rows += fits("gbrff2", *figure_data(n), targets, sizes, threads)
    return rows


def landmarks(sizes: Sizes, threads: int) -> list[TimingRow]:
    """``gbrff1`` with K = 10."""
    targets: Targets = {"gbrff1, plain": AtLeast(10.0)}
    return [row for n in sizes.landmark for row in fits("gbrff1", *figure_data(n), targets, sizes, threads)]


def small_data(sizes: Sizes, threads: int) -> list[TimingRow]:
    """``gbrff2`` where the fixed cost of a round counts."""
    X, y = make_classification(sizes.small, 13, random_state=1)
    return fits("gbrff2", X, y, {"gbrff2, plain": AtLeast(3.0)}, sizes, threads)


def fits(ours: str, X: Array, y: Array, targets: Targets, sizes: Sizes, threads: int) -> list[TimingRow]:
    """Fits of one system of ours, beside each peer of `targets`."""
    runs = [partial(FITS[name], X, y, sizes.rounds, threads) for name in (ours, *targets)]
    times, *others = in_turns(*runs, turns=sizes.turns)
    what, workload = f"{ours}, {sizes.rounds} rounds", f"{len(X):,} x {X.shape[1]}"
    return [
        TimingRow(what, workload, peer, times, theirs, target)
        for (peer, target), theirs in zip(targets.items(), others, strict=True)
    ]


def prediction(sizes: Sizes, threads: int) -> list[TimingRow]:
    """A block of cosines, beside 100 trees of XGBoost and ONNX Runtime on the same function."""
    X, y = wave_data(max(sizes.predicted, TRAINED), 30)
    booster = deep_booster(X[:TRAINED], y[:TRAINED], threads)
    rows = X[: sizes.predicted]
    trees = "XGBoost, 100 trees of depth 6"
    few: Targets = {trees: AtLeast(8.0), "onnxruntime": AtLeast(2.5)}
    many: Targets = {trees: AtLeast(1.0), "onnxruntime": AtLeast(3.0)}
    few_model, many_model = (cosine_model(X[:500], y[:500], m) for m in (100, 1000))
    return [
        *predictions(few_model, booster, rows, few, sizes, threads),
        *predictions(many_model, booster, rows, many, sizes, threads),
    ]


def predictions(
    model: RFFBoostRegressor, booster: Booster, X: Array, targets: Targets, sizes: Sizes, threads: int
) -> list[TimingRow]:
    """Predictions of one block of cosines, beside each peer of `targets`."""
    (term,) = model.ensemble_.compact().terms
    with threads_for_predictions(threads):
        ours, *others = in_turns(
            lambda: term(X),
            lambda: booster.inplace_predict(X),
            onnx_run(model, X, threads),
            turns=3 * sizes.turns,
        )
    what, workload = f"predict, {model.n_estimators_:,} cosines", f"{len(X):,} x {X.shape[1]}, {X.dtype}"
    return [
        TimingRow(what, workload, peer, ours, theirs, target)
        for (peer, target), theirs in zip(targets.items(), others, strict=True)
    ]


def deep_booster(X: Array, y: Array, threads: int) -> Booster:
    """XGBoost's 100 trees of depth 6."""
    return XGBClassifier(n_estimators=100, max_depth=6, n_jobs=threads).fit(X, y).get_booster()


def cosine_model(X: Array, y: Array, m: int) -> RFFBoostRegressor:
    """A regressor of m cosines: its raw score is its output, so that its graph holds nothing else."""
    learner = RFF1(learn_frequency=False)
    return RFFBoostRegressor(learner=learner, n_estimators=m, random_state=0).fit(X, y)


def onnx_run(model: RFFBoostRegressor, X: Array, threads: int) -> Callable[[], Any]:
    """A call of ONNX Runtime on the exported model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    content = to_onnx(model).SerializeToString()
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(["variable"], {"X": X})


def one_row(sizes: Sizes, threads: int) -> list[TimingRow]:
    """The latency of one row."""
    X, y = wave_data(TRAINED, 30)
    booster = deep_booster(X, y, threads)
    model = SYSTEMS["gbrff2"](X[:500], y[:500], 100, threads)
    row = X[:1].copy()
    ours, theirs = in_turns(
        lambda: model.decision_function(row),
        lambda: booster.inplace_predict(row),
        turns=3 * sizes.turns,
        calls=sizes.calls,
    )
    peer = "XGBoost, 100 trees of depth 6"
    return [TimingRow("one row, 100 cosines", "decision_function, 1 x 30", peer, ours, theirs, AtLeast(1.0))]


def two_threads(sizes: Sizes, threads: int) -> list[TimingRow]:
    """Two threads beside one on a pass that is bound by arithmetic; no row where there is one core.

    The first row is what the machine allows: two processes of a bare loop beside one that does the work of both.
    Where that falls short of its target, as the other core is busy or is no core of its own, so must the pass.
    """
    if cores() < 2:
        return []
    once, twice = processes_in_turns(sizes.halvings, 3 * sizes.turns)
    bare = TimingRow("two processes, bare loop", "arithmetic alone", "one process", twice, once, AtLeast(1.7))
    return [bare, *(landmark_row(n, sizes) for n in sizes.parallel)]


def landmark_row(n: int, sizes: Sizes) -> TimingRow:
    """Two threads beside one on the landmark pass, each after as many passes as are timed, as in a fit.

    A core that was idle takes some milliseconds to come to its speed: on 200,000 rows the first pass of two
    threads takes nearly twice the time of the twentieth.
    """
    one, two = (exponential_objective(n, 20, threads, k=10)[0] for threads in (1, 2))
    phases = np.linspace(-1.0, 1.0, 10)
    runs = (lambda: one.at_phases(phases)), (lambda: two.at_phases(phases))
    alone, both = in_turns(*runs, turns=3 * sizes.turns, calls=20, warm=20)
    return TimingRow("two threads, landmark pass", f"{n:,} rows, K = 10", "one thread", both, alone, AtLeast(1.7))


def growth_in_rows(sizes: Sizes, threads: int) -> list[TimingRow]:
    """Time per row and round over a range of n: the slowest beside the fastest.

    Searches see all rows throughout, to tell what a pass costs; a start on a part only makes many rows cheaper.
    """
    X, y = wave_data(sizes.growth_rows[-1], 20)
    times = fit_times([(X[:n], y[:n]) for n in sizes.growth_rows], sizes, threads, sizes.turns)
    shares = [[t / (n * sizes.growth_rounds) for t in ts] for n, ts in zip(sizes.growth_rows, times, strict=True)]
    order = np.argsort([median(share) for share in shares])
    fast, slow = int(order[0]), int(order[-1])
    n = sizes.growth_rows
    workload = f"{n[0]:,} to {n[-1]:,} x 20; slowest at {n[slow]:,}"
    peer = f"fastest, at {n[fast]:,}"
    return [TimingRow("growth in n, all rows throughout", workload, peer, shares[slow], shares[fast], AtMost(2.0))]


def growth_in_features(sizes: Sizes, threads: int) -> list[TimingRow]:
    """Time of a fit over a range of d: the largest excess over a straight line through all of them."""
    n, d = sizes.growth_rows[0], np.array(sizes.growth_features)
    data = [wave_data(n, int(features)) for features in d]
    times = np.array([median(t) for t in fit_times(data, sizes, threads, 3 * sizes.turns)])
    line = np.polyval(np.polyfit(d, times, 1, w=1.0 / times), d)
    worst = int(np.argmax(times / line))
    workload = f"{n:,} x {d[0]} to {d[-1]}; worst at {d[worst]}"
    measured, predicted = [float(times[worst])], [float(line[worst])]
    return [TimingRow("growth in d, against a line", workload, "straight line", measured, predicted, AtMost(1.25))]


def fit_times(data: Sequence[tuple[Array, Array]], sizes: Sizes, threads: int, turns: int) -> list[list[float]]:
    """Times of short fits of ``gbrff2`` on all rows throughout to several data sets, in turns."""
    runs = [partial(FITS[THROUGHOUT], X, y, sizes.growth_rounds, threads) for X, y in data]
    return in_turns(*runs, turns=turns)


MEASURES: tuple[Measure, ...] = (
    passes,
    elementary,
    boosting,
    landmarks,
    prediction,
    one_row,
    small_data,
    two_threads,
    growth_in_rows,
    growth_in_features,
)
