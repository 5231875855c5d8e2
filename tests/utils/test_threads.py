"""Threads: the same bits for any number of them, and no hanging in forked workers."""

from __future__ import annotations

import multiprocessing
import warnings
from collections import Counter
from functools import cache
from itertools import pairwise
from threading import Event, current_thread, get_ident, main_thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from rffboost_ext import FIT_CRITERIA, RFF1, RFFK, Learner, RFFBoostClassifier
from rffboost_ext.learners.fourier.second_order import mean_hessian
from rffboost_ext.learners.tiles import ROWS_PER_TILE
from rffboost_ext.utils.parallel import MIN_TILES_PER_THREAD, N_JOBS, count_threads, run_over_tiles, use_threads

from ..cases import LOSS_CASES, Array, LossCase, make_round

LEARNERS = {"rff_k": RFFK(n_components=4), "rff_1": RFF1()}
learners = pytest.mark.parametrize("name", LEARNERS)
precisions = pytest.mark.parametrize("precision", ["float64", "float32"])
# Seconds after which a worker counts as hanging: far more than it takes to compile all kernels anew.
PATIENCE = 120
N = 50_000


@cache
def data() -> tuple[Array, Array]:
    """More rows than three threads need to be worth waking, and not a whole number of tiles."""
    assert N // ROWS_PER_TILE >= 3 * MIN_TILES_PER_THREAD
    assert N % ROWS_PER_TILE
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, 4))
    return X, (np.sin(X[:, 0]) + X[:, 1] * X[:, 2] > 0.0).astype(int)


def make(learner: Learner, precision: str, n_jobs: int | None) -> RFFBoostClassifier:
    return RFFBoostClassifier(
        "exponential", learner, n_estimators=3, random_state=0, precision=precision, n_jobs=n_jobs
    )


def arrays(model: RFFBoostClassifier) -> list[Array]:
    """All numbers of a fitted model."""
    terms = [getattr(term, name) for term in model.ensemble_.terms for name in ("omega", "phase", "weight")]
    return [*terms, model.ensemble_.baseline, model.ensemble_.moves]


@learners
@precisions
@pytest.mark.parametrize("n_jobs", [2, 3])
def test_fits_and_predictions_are_the_same_for_any_number_of_threads(name, precision, n_jobs):
    one, model = (make(LEARNERS[name], precision, jobs).fit(*data()) for jobs in (None, n_jobs))
    for got, expected in zip(arrays(model), arrays(one), strict=True):
        np.testing.assert_array_equal(got, expected)
    X = data()[0].astype(precision)
    np.testing.assert_array_equal(model.decision_function(X), one.decision_function(X))


@given(n_tiles=st.integers(0, 200), n_jobs=st.integers(1, 9))
def test_every_tile_is_visited_once(n_tiles, n_jobs):
    visits = np.zeros(n_tiles, dtype=int)
    spans, visitors = [], set()

    def kernel(visits: Array, first: int, last: int) -> None:
        spans.append((first, last))
        visitors.add(get_ident())
        visits[first:last] += 1

    run_over_tiles(kernel, n_tiles, n_jobs, visits)
    assert (visits == 1).all()
    assert len(visitors) <= max(1, min(n_jobs, n_tiles // MIN_TILES_PER_THREAD))
    assert all(one[1] == other[0] for one, other in pairwise(sorted(spans)))


def test_a_thread_that_is_held_up_leaves_its_tiles_to_the_others():
    held, visited = Event(), Counter()

    def kernel(first: int, last: int) -> None:
        if current_thread() is not main_thread():
            assert held.wait(PATIENCE)
        visited[current_thread() is main_thread()] += last - first
        # What a thread has taken is its own: a quarter at most.
        if visited[True] >= 75:
            held.set()

    run_over_tiles(kernel, 100, 2)
    assert sum(visited.values()) == 100
    assert visited[True] >= 75


def test_an_error_in_a_thread_is_raised():
    def kernel(first: int, last: int) -> None:
        if first > 0:
            raise FloatingPointError(f"tile {first}")

    with pytest.raises(FloatingPointError, match="tile"):
        run_over_tiles(kernel, 100, 3)
    run_over_tiles(lambda first, last: None, 100, 3)


def test_the_number_of_threads_is_forgotten_after_the_call():
    with use_threads(3) as number:
        assert number == N_JOBS.get() == 3
        with use_threads(None) as inner:
            assert inner == N_JOBS.get() == 1
        assert N_JOBS.get() == 3
    assert N_JOBS.get() == 1
    with pytest.raises(KeyError), use_threads(2):
        raise KeyError
    assert N_JOBS.get() == 1


@pytest.mark.parametrize(("n_jobs", "threads"), [(None, 1), (1, 1), (5, 5), (-1, 4), (-2, 3), (-9, 1)])
def test_negative_numbers_of_threads_count_from_all_cores(n_jobs, threads, monkeypatch):
    monkeypatch.setattr("joblib.cpu_count", lambda: 4)
    assert count_threads(n_jobs) == threads


def fit_and_predict() -> Array:
    """A fit with two threads, in whatever process this is."""
    X, y = data()
    return make(LEARNERS["rff_1"], "float32", 2).fit(X, y).decision_function(X[:30_000])


def answer(queue: Any) -> None:
    # A warning of joblib about a daemonic process would be an error here.
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        queue.put((fit_and_predict(), count_threads(2)))


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system cannot fork")
def test_a_forked_process_has_threads_of_its_own():
    expected = fit_and_predict()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=answer, args=(queue,), daemon=True) for _ in range(2)]
    for child in children:
        child.start()
    try:
        answers = [queue.get(timeout=PATIENCE) for _ in children]
    finally:
        for child in children:
            child.join(timeout=5)
            child.kill()
    for got, threads in answers:
        np.testing.assert_array_equal(got, expected)
        assert threads == 2
    # And the parent still has its own.
    np.testing.assert_array_equal(fit_and_predict(), expected)


@pytest.mark.parametrize(("backend", "n_jobs"), [("loky", 2), ("threading", 3)])
def test_workers_of_joblib_may_use_threads(backend, n_jobs):
    model, X = make(LEARNERS["rff_1"], "float32", 2).fit(*data()), data()[0][:30_000]
    expected = model.decision_function(X)
    # Arrays that are sent to processes, a model's among them, are memory maps there.
    workers = Parallel(n_jobs=n_jobs, backend=backend, timeout=PATIENCE, max_nbytes=16)
    calls = [delayed(fit_and_predict)() for _ in range(n_jobs)]
    for got in workers([*calls, delayed(model.decision_function)(X)]):
        np.testing.assert_array_equal(got, expected)


def sums_of(case: LossCase) -> list[Array]:
    """What parts sum over more rows than a product of vectors takes on one thread."""
    round = make_round(case, n=N)
    sums = [round.loss.baseline(round.y, round.weight), mean_hessian(round)]
    if round.raw.shape[1] == 1:
        sums.append(np.array(FIT_CRITERIA.create("squared").compiled(round).offset))
    return sums


@pytest.mark.parametrize("case", LOSS_CASES, ids=str)
def test_sums_over_rows_do_not_depend_on_the_threads_of_blas(case):
    with threadpool_limits(1, "blas"):
        expected = sums_of(case)
    with threadpool_limits(2, "blas"):
        for got, sum_ in zip(sums_of(case), expected, strict=True):
            np.testing.assert_array_equal(got, sum_)
