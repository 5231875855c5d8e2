"""The protocol: identical loops, for every registered system."""

import csv
import math
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import log_loss
from sklearn.model_selection import ParameterGrid, cross_val_score, train_test_split
from sklearn.tree import DecisionTreeClassifier
from xgboost import XGBClassifier

from rffboost_ext import RFFBoostClassifier
from rffboost_ext.experiments.compare import SYSTEMS, NamedDataset, Protocol, System, compare, load, mean_accuracy

SHARED = Path(__file__).resolve().parents[3] / "shared"
QUICK = Protocol(rounds=4, splits=2)


@pytest.fixture(scope="module")
def toy():
    rng = np.random.default_rng(0)
    X = rng.normal(3.0, 5.0, size=(90, 4))
    y = (X[:, 0] + X[:, 1] + rng.normal(0, 4, 90) > 6.0).astype(int)
    return NamedDataset("toy", X, y)


@pytest.fixture(params=SYSTEMS)
def name(request):
    pytest.importorskip("lightgbm" if request.param == "lightgbm" else "xgboost")
    return request.param


def without_times(records):
    return [(record.key, record["accuracy"], record["log_loss"], record["params"]) for record in records]


def measured(system, protocol, dataset, split=1, curves=False):
    """The values of a system that is not registered."""
    return protocol.measure("unregistered", system, protocol.parts(dataset, split), curves)


def split_by_hand(dataset, seed, test_size=0.3, scaled=True):
    X, X_test, y, y_test = train_test_split(
        dataset.X, dataset.y, test_size=test_size, stratify=dataset.y, random_state=seed
    )
    mean, deviation = (X.mean(axis=0), X.std(axis=0)) if scaled else (0.0, 1.0)
    return (X - mean) / deviation, y, (X_test - mean) / deviation, y_test


class Spy(ClassifierMixin, BaseEstimator):
    """Predicts the sign of the first feature, and notes what it is given."""

    def fit(self, X, y):
        self.fitted_to_, self.classes_ = (X, y), np.unique(y)
        return self

    def predict(self, X):
        self.tested_, self.asked_ = X, [*getattr(self, "asked_", []), len(X)]
        return (X[:, 0] > 0).astype(int)

    def predict_proba(self, X):
        positive = np.where(X[:, 0] > 0, 0.75, 0.25)
        return np.column_stack([1 - positive, positive])

    def staged_predict(self, X):
        yield np.zeros(len(X), dtype=int)
        yield self.predict(X)


@pytest.fixture
def built():
    """What a system is asked to build, and the model."""
    return {}


@pytest.fixture
def spied(built):
    """A system whose models note what they are given."""

    def build(**setting):
        built.update(setting=setting, model=Spy())
        return built["model"]

    return System(build, learning_rate=0.25)


@pytest.mark.parametrize("split", [1, 3])
@pytest.mark.parametrize("test_size", [0.3, 0.5])
def test_a_system_meets_the_protocol(toy, split, test_size, spied, built):
    protocol = Protocol(rounds=7, seed=5, test_size=test_size)
    record = measured(spied, protocol, toy, split, curves=True)
    X, y, X_test, y_test = split_by_hand(toy, 5 + split - 1, test_size)
    np.testing.assert_allclose(built["model"].fitted_to_[0], X, atol=1e-12)
    np.testing.assert_array_equal(built["model"].fitted_to_[1], y)
    np.testing.assert_allclose(built["model"].tested_, X_test, atol=1e-12)
    assert built["setting"] == {"rounds": 7, "learning_rate": 0.25, "seed": 1, "threads": 1}
    right = (X_test[:, 0] > 0) == y_test
    assert record["accuracy"] == pytest.approx(right.mean())
    assert record["log_loss"] == pytest.approx(-np.where(right, math.log(0.75), math.log(0.25)).mean())
    # One row is predicted before predictions are timed.
    assert built["model"].asked_[:2] == [1, len(X_test)]
    # A model that offers two stages only keeps the second one's accuracy.
    np.testing.assert_allclose(record["curve"], [np.mean(y_test == 0), *6 * [right.mean()]])


def test_the_shrinkage_is_the_systems_own_unless_set_for_all(toy, spied, built):
    measured(spied, replace(QUICK, learning_rate=0.7), toy)
    assert built["setting"]["learning_rate"] == 0.7


def test_a_record_is_what_a_fit_by_hand_gives(name, toy):
    record = compare([toy], [name], QUICK)[1]
    X, y, X_test, y_test = split_by_hand(toy, 2, scaled=not SYSTEMS[name].as_it_comes)
    system = SYSTEMS[name]
    model = system.build(rounds=4, learning_rate=system.learning_rate, seed=1, threads=1).fit(X, y)
    assert record.key == ("toy", name, 2, 4.0)
    assert record["accuracy"] == pytest.approx(np.mean(model.predict(X_test) == y_test))
    expected = log_loss(y_test, model.predict_proba(X_test))
    assert record["log_loss"] == pytest.approx(expected, rel=1e-6)
    assert min(record["fit_seconds"], record["predict_seconds"]) > 0


def test_curves_end_at_the_recorded_accuracy_and_agree_with_shorter_fits(name, toy):
    full = compare([toy], [name], QUICK, curves=True)
    if SYSTEMS[name].as_it_comes:
        assert {record["curve"] for record in full} == {None}
        return
    short = compare([toy], [name], replace(QUICK, rounds=2), curves=True)
    for a, b in zip(full, short, strict=True):
        assert a["curve"].shape == (4,)
        assert a["curve"][-1] == pytest.approx(a["accuracy"])
        np.testing.assert_allclose(a["curve"][:2], b["curve"])


def test_the_number_of_processes_changes_nothing(toy):
    one, two = (compare([toy], ["gbrff1", "xgboost"], QUICK, jobs=jobs, curves=True) for jobs in (1, 2))
    assert without_times(one) == without_times(two)
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a["curve"], b["curve"])


@pytest.mark.parametrize(("name", "make"), [("rffboost", RFFBoostClassifier), ("xgboost", XGBClassifier)])
def test_default_models_come_as_they_are(name, make):
    system = SYSTEMS[f"{name}_default"]
    model = system.build(rounds=3, learning_rate=0.7, seed=0, threads=1)
    assert model.get_params() == make(random_state=0, n_jobs=1).get_params()


def test_a_rate_for_all_leaves_no_rate_to_tune():
    system = SYSTEMS["gbrff"]
    assert "learning_rate" in Protocol().grid(system, 4)[0]
    assert "learning_rate" not in Protocol(learning_rate=0.3).grid(system, 4)[0]


@pytest.mark.parametrize("name", [name for name in SYSTEMS if not SYSTEMS[name].as_it_comes])
def test_every_point_of_a_grid_is_a_valid_setting(name, toy):
    system = SYSTEMS[name]
    model = system.build(rounds=1, learning_rate=0.1, seed=1, threads=1)
    points = list(ParameterGrid(system.grid(4)))
    assert len(points) > 1
    for point in (points[0], points[-1]):
        clone(model).set_params(**point).fit(toy.X, toy.y)


STUMPS = System(
    lambda rounds, learning_rate, seed, threads: DecisionTreeClassifier(max_depth=1, random_state=seed),
    lambda n_features: [{"max_depth": [1, 2, 4], "min_samples_leaf": [1, n_features]}],
)


def test_tuning_is_a_5_fold_search_on_the_training_part(toy):
    record = measured(STUMPS, replace(QUICK, tune=True), toy)
    X, y, X_test, y_test = split_by_hand(toy, 1)
    points = list(ParameterGrid(STUMPS.grid(4)))
    models = [DecisionTreeClassifier(random_state=1, **point) for point in points]
    scores = [cross_val_score(model, X, y, cv=5).mean() for model in models]
    best = points[int(np.argmax(scores))]
    assert {key: record["params"][key] for key in best} == best
    assert record["accuracy"] == pytest.approx(models[int(np.argmax(scores))].fit(X, y).score(X_test, y_test))


def test_what_the_command_cannot_ask_for_is_named(toy):
    with pytest.raises(ValueError, match="at least one data set"):
        compare([], ["tree"], QUICK)
    with pytest.raises(ValueError, match="jobs"):
        compare([toy], ["tree"], QUICK, jobs=0)


def test_a_failure_says_where_it_happened(toy, monkeypatch):
    def build(**setting):
        raise RuntimeError("out of order")

    monkeypatch.setitem(SYSTEMS, "tree", System(build))
    with pytest.raises(ValueError, match="toy, tree, split 1: RuntimeError: out of order"):
        compare([toy], ["tree"], QUICK)


def published():
    """Mean test accuracy of the published implementations, in percent, by data set and system."""
    accuracies = defaultdict(list)
    with (SHARED / "reference" / "authors_fixed_parameters.csv").open() as file:
        for row in csv.DictReader(file):
            accuracies[row["dataset"], row["method"].lower()].append(100 * float(row["test_accuracy"]))
    return {key: np.mean(values) for key, values in accuracies.items() if len(values) == 20}


@pytest.mark.slow
@pytest.mark.skipif(not SHARED.is_dir(), reason=f"the published figures are not at {SHARED}")
@pytest.mark.parametrize("system", ["gbrff1", "gbrff2"])
def test_accuracies_are_those_of_the_published_implementations(system):
    reference = {dataset: mean for (dataset, method), mean in published().items() if method == system}
    assert len(reference) >= 7
    datasets = [load(dataset, SHARED / "data" / "seeds") for dataset in reference]
    records = compare(datasets, [system], Protocol(splits=20))
    ours = 100 * mean_accuracy(records)[system]
    difference = np.array([ours[dataset] - reference[dataset] for dataset in reference])
    assert np.abs(difference).max() < 1.0, dict(zip(reference, difference, strict=True))
    assert abs(difference.mean()) < 0.3, difference.mean()


def test_a_system_names_the_package_that_it_lacks(toy, monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ImportError, match="needs lightgbm: pip install"):
        compare([toy], ["lightgbm"])
