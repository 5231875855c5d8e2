"""Fits on a cluster of two worker processes, which may fail."""

import os
import pickle
import signal
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, get_worker

from rffboost_ext import RFFBoostRegressor
from rffboost_ext.dask import DaskRFFBoostClassifier, DaskRFFBoostRegressor
from rffboost_ext.losses import SquaredError

N = 400
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
Y = X[:, 0] * X[:, 1]
FAST = {"learner": "rff_newton", "n_estimators": 5, "n_folds": 4, "random_state": 0}


@pytest.fixture(scope="module")
def client():
    """A client that is not the current one."""
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit="1GiB", silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def predicted():
    """The predictions of a fit in memory."""
    return RFFBoostRegressor(**FAST).fit(X, Y).predict(X)


def blocks(values, rows=100):
    """An array in blocks of rows."""
    return da.from_array(values, chunks=(rows, *values.shape[1:]))


def kill_once(flag):
    """Kill the process of a worker if nobody has before."""
    try:
        get_worker()
        Path(flag).touch(exist_ok=False)
    except (ValueError, FileExistsError):
        return
    os.kill(os.getpid(), signal.SIGKILL)


class Observed(SquaredError):
    """The squared error, which does something else on workers."""

    def __init__(self, path, kind="note"):
        super().__init__()
        self.path, self.kind = path, kind

    def derivatives(self, y, raw):
        try:
            get_worker()
            {"note": self.note, "kill": self.kill, "fail": self.fail}[self.kind]()
        except ValueError:
            pass
        return super().derivatives(y, raw)

    def note(self):
        (Path(self.path) / str(os.getpid())).touch()

    def kill(self):
        kill_once(Path(self.path) / "killed")

    def fail(self):
        raise LookupError("no derivative today")


def test_models_are_trained_on_both_workers(client, predicted, tmp_path):
    model = DaskRFFBoostRegressor(Observed(str(tmp_path)), client=client, **FAST).fit(blocks(X), blocks(Y))
    np.testing.assert_array_equal(model.predict(blocks(X)).compute(scheduler=client), predicted)
    assert {path.name for path in tmp_path.iterdir()} == set(map(str, client.run(os.getpid).values()))


@pytest.mark.slow
def test_a_worker_killed_in_a_pass_costs_its_part(client, predicted, tmp_path):
    def fragile(block, block_id):
        if block_id == (2, 0):
            kill_once(tmp_path / "killed")
        return block

    lazy = blocks(X).map_blocks(fragile, dtype=X.dtype, meta=np.empty((0, 0)))
    model = DaskRFFBoostRegressor(client=client, **FAST).fit(lazy, blocks(Y))
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(model.predict(X), predicted)


def test_a_worker_killed_in_training_costs_its_model(client, predicted, tmp_path):
    model = DaskRFFBoostRegressor(Observed(str(tmp_path), "kill"), client=client, **FAST).fit(blocks(X), blocks(Y))
    assert (tmp_path / "killed").exists()
    np.testing.assert_array_equal(model.predict(X), predicted)


@pytest.mark.parametrize("max_rows", [N, N // 2], ids=["in training", "in a pass"])
def test_an_error_on_a_worker_arrives_as_itself(client, tmp_path, max_rows):
    model = DaskRFFBoostRegressor(Observed(str(tmp_path), "fail"), client=client, max_rows=max_rows, **FAST)
    with pytest.raises(LookupError, match="no derivative today"):
        model.fit(blocks(X), blocks(Y))
    assert not hasattr(model, "ensemble_")


def test_lost_blocks_are_named(client):
    kept = client.persist(blocks(X))
    client.gather(client.futures_of(kept))
    client.cancel(kept)
    with pytest.raises(RuntimeError, match="DaskRFFBoostRegressor: blocks of X or y are lost"):
        DaskRFFBoostRegressor(client=client, **FAST).fit(kept, blocks(Y))


def test_the_current_client_is_used_and_pickles_do_without(client, predicted, tmp_path):
    model = DaskRFFBoostRegressor(Observed(str(tmp_path)), **FAST)
    with client.as_current():
        model.fit(blocks(X), blocks(Y))
    assert any(tmp_path.iterdir())
    copy = pickle.loads(pickle.dumps(model.set_params(client=client)))
    assert (model.client, copy.client) == (client, None)
    np.testing.assert_array_equal(copy.predict(blocks(X)).compute(), predicted)


def fitted_in_a_task():
    """The predictions of a model that is fitted within a task."""
    return DaskRFFBoostRegressor(**FAST).fit(blocks(X), blocks(Y)).predict(X)


def test_a_fit_within_a_task_does_not_wait_for_itself(client, predicted):
    tasks = [client.submit(fitted_in_a_task, pure=False) for _ in range(2)]
    for task in tasks:
        np.testing.assert_array_equal(task.result(timeout=60), predicted)


def test_a_closed_client_is_refused(client):
    other = Client(client.scheduler.address, set_as_default=False)
    other.close()
    with pytest.raises(ValueError, match="client must be connected to a scheduler, got <Client"):
        DaskRFFBoostClassifier(client=other).fit(blocks(X), blocks(Y))
