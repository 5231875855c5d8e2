"""Searches for the papers' tables and figures: by the oracle of scikit-learn, and for every size at once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.papers.baselines import greedy_pbrff, pbrff
from benchmarks.papers.reproduce.comparison import published
from benchmarks.papers.reproduce.grid_search import (
    MappedPath,
    RedrawnPath,
    ResampledPath,
    StagedPath,
    reduced_grid,
    tune,
)
from benchmarks.papers.reproduce.papers import ECML_2020, LETARTE_2019, preset, width_2019
from benchmarks.papers.reproduce.splits import CrossValidated

from .reproduce_cases import WINE


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("path", "grid"),
    [
        (ECML_2020["GBRFF2"].restricted(8), [{"learner__gamma": [0.02, 0.1], "learner__l2": [0.0, 0.25]}]),
        (ECML_2020["PBRFF"].restricted(8), [{"mapping__gamma": [0.02, 0.2], "C": [0.01, 1.0, 100.0]}]),
        (LETARTE_2019["SVM_RBF"].restricted(), [{"gamma": [0.001, 0.02, 0.2], "C": [0.1, 10.0]}]),
    ],
)
def test_search_is_that_of_scikit_learn(path, grid):
    rng = np.random.RandomState(3)
    y = WINE.y ^ (rng.uniform(size=len(WINE.y)) < 0.2)
    parts = CrossValidated(0.3).of(WINE.X, y, np.random.RandomState(1))
    accuracy, params = tune(path, parts, [8], grid)
    rng = np.random.RandomState(1)
    X, X_test, y, y_test = train_test_split(WINE.X, y, test_size=0.3, stratify=y, random_state=rng)
    folds = StratifiedKFold(5, shuffle=True, random_state=rng)
    model = make_pipeline(StandardScaler(), path.make(8))
    prefix = model.steps[-1][0] + "__"
    named = [{prefix + name: values for name, values in part.items()} for part in grid]
    search = GridSearchCV(model, named, cv=folds).fit(X, y)
    means = search.cv_results_["mean_test_score"].round(10)
    first = ParameterGrid(named)[int(np.argmax(means))]
    assert params == [{name.removeprefix(prefix): value for name, value in first.items()}]
    assert accuracy[0] == model.set_params(**first).fit(X, y).score(X_test, y_test)


def test_smaller_sizes_are_what_a_fit_of_that_size_gives():
    parts = CrossValidated(0.3).parts(WINE, 1)
    path = ECML_2020["GBRFF1"].restricted(9)
    together = path.scores([{}], parts.train, parts.test, [2, 5, 9])[0]
    alone = [preset("gbrff1", size).fit(*parts.train).score(*parts.test) for size in (2, 5, 9)]
    np.testing.assert_array_equal(together, alone)


def test_a_map_of_fewer_landmarks_is_its_first_columns():
    parts = CrossValidated(0.3).parts(WINE, 2)
    path = MappedPath(lambda size: pbrff(int(size), random_state=1, standardize=False), lambda d: [{}], 6)
    model = path.make(6)
    F, F_test = next(iter(path.features(model, parts.train, parts.test[0], [2, 6])))
    whole = model.mapping.fit(*parts.train)
    np.testing.assert_array_equal(F, whole.transform(parts.train[0])[:, :2])
    np.testing.assert_array_equal(F_test, whole.transform(parts.test[0])[:, :2])


@pytest.mark.parametrize("kind", [ResampledPath, RedrawnPath])
def test_kernel_learning_at_each_size_is_a_fit_of_that_size(kind):
    parts = CrossValidated(0.3).parts(WINE, 2)

    def make(size: float):
        return greedy_pbrff(int(size), n_candidates=200, random_state=1, standardize=False)

    together = kind(make, lambda d: [{}]).scores([{}, {"C": 0.01}], parts.train, parts.test, [1, 5, 20])
    for index, C in enumerate((1.0, 0.01)):
        alone = [make(size).set_params(C=C).fit(*parts.train).score(*parts.test) for size in (1, 5, 20)]
        np.testing.assert_array_equal(together[index], alone)


def test_one_candidate_needs_no_folds():
    class Refusing(StagedPath):
        calls = 0

        def scores(self, candidates, train, test, sizes):
            self.calls += 1
            return np.full((len(candidates), len(sizes)), 0.75)

    path = Refusing(lambda size: None, lambda d: [{}])
    parts = CrossValidated(0.3).parts(WINE, 1)
    assert tune(path, parts, [1, 2], [{}])[0].tolist() == [0.75, 0.75]
    assert path.calls == 1


def test_the_width_for_the_workshop_paper_reaches_its_accuracy_where_the_one_it_names_does_not():
    accuracy_2019 = published("workshop2019_table2").loc["wine", "GBRFF"]
    for gamma, reached in ((0.5, False), (width_2019(WINE.X.shape[1]), True)):
        scores = []
        for seed in range(3):
            X, X_test, y, y_test = train_test_split(
                WINE.X, WINE.y, train_size=0.3, stratify=WINE.y, random_state=seed
            )
            model = preset("gbrff", 200).set_params(learner__gamma=gamma)
            scaler = StandardScaler().fit(X)
            scores.append(model.fit(scaler.transform(X), y).score(scaler.transform(X_test), y_test))
        assert (100.0 * np.mean(scores) > accuracy_2019 - 3.0) == reached


def test_a_sample_of_a_grid_is_part_of_it():
    grid = [{"a": [1], "b": [1, 2, 3, 4, 5]}, {"a": [2], "b": list(range(10))}, {"a": [3], "b": [7, 8]}]
    points = list(ParameterGrid(reduced_grid(grid)))
    assert all(point in list(ParameterGrid(grid)) for point in points)
    assert len(points) == 4
