"""Signals during calls into libraries that call Python back: none is lost, and none damages memory."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import xgboost

from rffboost_ext import Mixture, RFFBoostClassifier, RFFBoostRegressor, Tree
from rffboost_ext._signals import SIGNALS, atomic_fit, defer_signals, install, watch_signals
from rffboost_ext.interop.xgboost import XGBClassifier, XGBRegressor

X = np.random.default_rng(0).standard_normal((60, 3))
Y = (X[:, 0] > 0).astype(int)
ignores_dropped = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
FEW = {"n_estimators": 3, "random_state": 0, "early_stopping": False}
FITS = {
    "classifier": lambda: RFFBoostClassifier(learner="tree", **FEW),
    "mixture": lambda: RFFBoostRegressor(learner=Mixture(trees="tree"), **FEW),
    "constraints": lambda: RFFBoostRegressor(learner=Tree(monotone_constraints=(1, 0, 0)), **FEW),
    "XGBClassifier": lambda: XGBClassifier(n_estimators=3),
    "XGBRegressor": lambda: XGBRegressor(n_estimators=3),
}


@pytest.fixture
def handlers():
    """Python's own handler of SIGINT, which a job in the background ignores; the test must leave all handlers."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    own = before | {signal.SIGINT: signal.default_int_handler}
    install(own)
    yield
    after = {number: signal.getsignal(number) for number in SIGNALS}
    install(before)
    assert after == own


@pytest.mark.parametrize("name", FITS)
def test_an_interrupt_in_the_reader_of_a_matrix_comes_afterwards(name, handlers, monkeypatch):
    expected = FITS[name]().fit(X, Y).predict(X)
    plain, calls = xgboost.core.DataIter._next_wrapper, []

    def interrupting(self, this):
        # As if the interrupt came at the first line of the callback, where it is dropped.
        calls.append(1)
        if len(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return plain(self, this)

    monkeypatch.setattr(xgboost.core.DataIter, "_next_wrapper", interrupting)
    with pytest.raises(KeyboardInterrupt):
        FITS[name]().fit(X, Y)
    np.testing.assert_array_equal(FITS[name]().fit(X, Y).predict(X), expected)


def test_deferred_handlers_run_at_the_end_each_once(handlers):
    seen = []

    def handler(number, frame):
        seen.append(number)
        raise TimeoutError

    names = [signal.SIGTERM, signal.SIGINT]
    for number in names:
        signal.signal(number, handler)
    with pytest.raises(TimeoutError), defer_signals(), defer_signals():  # noqa: PT012
        for number in 2 * names:
            signal.raise_signal(number)
        assert seen == []
    assert sorted(seen) == sorted(names)
    for number in names:
        assert signal.getsignal(number) is handler
        signal.signal(number, signal.SIG_DFL if number != signal.SIGINT else signal.default_int_handler)


def test_an_error_does_not_hide_an_interrupt(handlers):
    with pytest.raises(KeyboardInterrupt), defer_signals():  # noqa: PT012
        signal.raise_signal(signal.SIGINT)
        raise OSError


def test_other_threads_leave_the_handlers_alone(handlers):
    seen = []

    def fit():
        with defer_signals(), watch_signals():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=fit)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def dropped_by_a_callback() -> None:
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()


def replaced_by_an_error() -> None:
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise OSError from None


@ignores_dropped
@pytest.mark.parametrize("lose", [dropped_by_a_callback, replaced_by_an_error])
def test_an_interrupt_that_is_lost_in_a_fit_is_raised(lose, handlers):
    class Model:
        @atomic_fit
        def fit(self):
            lose()

    with pytest.raises(KeyboardInterrupt):
        Model().fit()


@ignores_dropped
def test_an_interrupt_that_is_dropped_in_a_round_ends_the_fit(handlers):
    model = RFFBoostRegressor(callbacks=[lambda progress: progress.round.index == 1 and dropped_by_a_callback()])
    with pytest.raises(KeyboardInterrupt, match="2 rounds"):
        model.set_params(learner="rff_1", **FEW).fit(X, Y)
    assert len(model.ensemble_) == 2


def test_timeouts_that_a_callback_handles_do_not_end_the_fit(handlers):
    def expire(number, frame):
        raise TimeoutError

    def callback(progress):
        with pytest.raises(TimeoutError):
            signal.raise_signal(signal.SIGTERM)

    signal.signal(signal.SIGTERM, expire)
    assert RFFBoostRegressor(callbacks=[callback], **FEW).fit(X, Y).n_estimators_ == 3
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [300, 4000])
def test_interrupts_at_random_moments(rows):
    command = [sys.executable, "-m", "tests.boosting.interrupted_fits", "30", "0", str(rows)]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, cwd=root, check=True)
    interrupted, late, lost = map(int, done.stdout.split())
    assert interrupted + late == 30
    assert interrupted > 10
    assert lost == 0
