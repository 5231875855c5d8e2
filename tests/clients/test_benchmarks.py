"""The examples for the benchmarks TabArena and AMLB, by AutoGluon where it is installed, else by a stand-in."""

from __future__ import annotations

import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import log_loss

from .stand_ins import MODULES, stand_in

EXAMPLES = Path(__file__).parents[2] / "examples"
ABSENT = [name for name in MODULES if find_spec(name.partition(".")[0]) is None]
TRAIN, HELD, TEST = slice(600), slice(600, 800), slice(800, None)
PROBLEMS = ["binary", "multiclass", "regression"]

pytestmark = pytest.mark.slow


@pytest.fixture
def load(monkeypatch):
    for name in ABSENT:
        monkeypatch.setitem(sys.modules, name, stand_in(name))
    return lambda name: SimpleNamespace(**runpy.run_path(str(EXAMPLES / name)))


def task(problem):
    """A table with categories and gaps, and its target: numbers, or classes from 0 on."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((1_000, 3)), columns=list("abc"))
    X["town"] = pd.Categorical(rng.choice(list("uvwxyz"), len(X)))
    signal = X["a"] + np.sin(2.0 * X["b"]) + X["town"].cat.codes.to_numpy() % 3
    X.loc[rng.random(len(X)) < 0.2, "c"] = np.nan
    cuts = {"binary": [1.0], "multiclass": [0.5, 1.5]}
    return X, signal if problem == "regression" else pd.Series(np.digitize(signal, cuts[problem]))


def check_probabilities(y, found):
    shares = np.bincount(y) / len(y)
    assert log_loss(y, found) < 0.7 * log_loss(y, np.tile(shares, (len(y), 1)))


def fitted(example, problem, X, y, hyperparameters=None, **given):
    model = example.RFFBoostModel(path="", problem_type=problem, hyperparameters=hyperparameters or {})
    return model.fit(X=X[TRAIN], y=y[TRAIN], num_cpus=2, **given)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_model_of_tabarena_watches_the_rows_that_it_gets(problem, load):
    X, y = task(problem)
    example = load("18_tabarena.py")
    model = fitted(example, problem, X, y, X_val=X[HELD], y_val=y[HELD], time_limit=600.0)
    booster = model.model
    # There is no second holdout: all rows are fitted to, and the given ones weight the stack.
    assert (booster.n_rows_seen_, booster.n_folds_, len(booster.evals_result_)) == (600, 1, 1)
    assert len(booster.learners_) > 1
    assert booster.n_jobs == 2
    assert booster.encoder_.categories is not None
    if problem == "regression":
        assert model.score(X[TEST], y[TEST]) > 0.9
    else:
        check_probabilities(y[TEST], model.predict_proba(X[TEST]))
    few, all_rows = (model._estimate_memory_usage_static(X=X[rows], y=y[rows]) for rows in (TRAIN, slice(None)))
    assert 6e8 < few < all_rows < 7e8
    alone = fitted(example, problem, X, y)
    assert alone.model.n_folds_ > 1


def test_a_model_of_tabarena_keeps_to_its_time(load, monkeypatch):
    X, y = task("binary")
    example, seen = load("18_tabarena.py"), []

    def clock():
        seen.append(float(len(seen)))
        return seen[-1]

    monkeypatch.setattr("rffboost_ext.boosting.callbacks.monotonic", clock)
    given = {"X_val": X[HELD], "y_val": y[HELD], "sample_weight": np.ones(600), "sample_weight_val": np.ones(200)}
    model = fitted(example, "binary", X, y, time_limit=30.0, **given)
    assert model.model.n_estimators_ < 30
    assert len(seen) < 40
    check_probabilities(y[TEST], model.predict_proba(X[TEST]))


def values(space):
    """Some values of a dimension of a search space."""
    return space.data if hasattr(space, "data") else getattr(space, "values", None) or (space.lower, space.upper)


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_search_space_is_small_and_valid(problem, load):
    X, y = task(problem)
    example = load("18_tabarena.py")
    assert len(example.SEARCH_SPACE) <= 8
    for place in (0, -1):
        drawn = {name: values(space)[place] for name, space in example.SEARCH_SPACE.items()}
        given = {"X_val": X[HELD], "y_val": y[HELD]}
        booster = fitted(example, problem, X, y, drawn, **given).model
        assert {name: booster.get_params()[name] for name in drawn} == drawn


@pytest.mark.parametrize("problem", PROBLEMS)
def test_amlb_gets_its_results(problem, load):
    X, y = task(problem)
    labels = y if problem == "regression" else y.map(lambda code: f"class {code}").astype("category")
    parts = {
        name: SimpleNamespace(X=X[rows], y=labels[rows].to_frame())
        for name, rows in {"train": slice(800), "test": TEST}.items()
    }
    config = SimpleNamespace(
        type="regression" if problem == "regression" else "classification",
        framework_params={"tol": 1e-3, "_of_amlb": True},
        cores=2,
        seed=1,
        max_runtime_seconds=600,
        measure_inference_time=True,
        output_predictions_file="predictions.csv",
    )
    found = load("19_amlb.py").run(SimpleNamespace(inference_subsample_files=[], **parts), config)
    assert found["models_count"] > 1
    assert found["inference_times"]["df"]
    truth, predictions = labels[TEST].to_numpy(), np.asarray(found["predictions"])
    if problem == "regression":
        assert np.square(predictions - truth).mean() < 0.1 * truth.var()
    else:
        assert found["probabilities_labels"] == sorted(set(labels))
        assert (predictions == truth).mean() > 0.7
        check_probabilities(y[TEST], found["probabilities"])
