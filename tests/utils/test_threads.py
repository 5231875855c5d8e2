"""How many threads fits and predictions use, and what their calls do on them."""

import threading

import joblib
import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from rffboost_ext import RFFBoostRegressor
from rffboost_ext.boosting.run import MIN_SHARED
from rffboost_ext.utils.parallel import (
    START_CALLS,
    Abandoned,
    call_later,
    count_threads,
    raise_if_abandoned,
    start_on_threads,
)

CORES = 4


@pytest.fixture(autouse=True)
def cores(monkeypatch):
    """Four cores, as far as joblib and BLAS say."""
    monkeypatch.setattr("rffboost_ext.utils.parallel._cores", lambda limit: CORES)
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    with threadpool_limits(CORES):
        yield


def test_none_is_all_cores_within_limits(monkeypatch):
    assert [count_threads(n) for n in (None, -1, -2, -9, 1, 3, np.int64(7))] == [
        CORES,
        CORES,
        CORES - 1,
        1,
        1,
        3,
        7,
    ]
    with threadpool_limits(2):
        assert [count_threads(n) for n in (None, 3, -1)] == [2, 3, CORES]
    monkeypatch.setenv("NUMBA_NUM_THREADS", "3")
    assert count_threads(None) == 3


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_none_is_one_within_a_worker(backend):
    assert joblib.Parallel(2, backend)(joblib.delayed(count_threads)(n) for n in (None, 2)) == [1, 2]
    token = START_CALLS.set(call_later)
    assert count_threads(None) == 1
    START_CALLS.reset(token)


@pytest.mark.parametrize("n_calls", [1, 2, 9])
def test_calls_are_made_once_and_results_have_their_order(n_calls):
    made = []

    def square(number):
        made.append(number)
        return number**2

    calls = start_on_threads(3, square, [(number,) for number in range(n_calls)])
    assert [call() for call in calls] == [number**2 for number in range(n_calls)]
    assert sorted(made) == list(range(n_calls))


def test_a_failure_ends_the_calls_that_have_begun():
    begun, ended = threading.Event(), []

    def work(number):
        if number == 0:
            begun.wait()
            raise ValueError("number must not be 0")
        begun.set()
        try:
            while True:
                raise_if_abandoned()
        except Abandoned:
            ended.append(number)
            raise

    calls = start_on_threads(2, work, [(0,), (1,), (2,)])
    with pytest.raises(ValueError, match="must not be 0"):
        [call() for call in calls]
    assert ended == [1]


def test_an_interrupt_of_the_first_thread_ends_all():
    main, running = threading.main_thread(), []

    def work(number):
        if threading.current_thread() is main:
            raise KeyboardInterrupt
        running.append(number)
        while True:
            raise_if_abandoned()

    with pytest.raises(KeyboardInterrupt):
        [call() for call in start_on_threads(2, work, [(0,), (1,), (2,)])]


class Watch:
    """A callback that several threads may call."""

    concurrent = True

    def __init__(self):
        self.threads = set()

    def __call__(self, progress):
        self.threads.add(threading.get_ident())


@pytest.mark.parametrize(("n", "d"), [(1_500, 88), (3_500, 38)])
def test_default_fits_have_the_same_bits_on_any_threads(n, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    assert X.size >= MIN_SHARED
    y = np.sin(X[:, 0]) + X[:, 1]
    watch = Watch()
    shared = {"random_state": 0, "n_estimators": 2, "n_folds": 2}
    one, *others = (RFFBoostRegressor(n_jobs=k, **shared).fit(X, y) for k in (1, 2))
    others.append(RFFBoostRegressor(n_jobs=3, callbacks=[watch], **shared).fit(X, y))
    assert len(watch.threads) > 1
    for other in others:
        np.testing.assert_array_equal(one.predict(X), other.predict(X))
        np.testing.assert_array_equal(one.learner_weights_, other.learner_weights_)
