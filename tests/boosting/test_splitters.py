"""A splitter of scikit-learn as validation_fraction chooses the rows that early stopping holds out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, PredefinedSplit, TimeSeriesSplit

from rffboost_ext import RFFBoostClassifier, RFFBoostRanker, RFFBoostRegressor, load_model

RNG = np.random.default_rng(0)
X = RNG.standard_normal((240, 3))
Y = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.3 * RNG.standard_normal(240)
LAST = np.arange(240) >= 180
PARAMS = {"learner": "tree", "n_estimators": 40, "n_iter_no_change": 5, "random_state": 0}


class Given:
    """A splitter of given parts."""

    def __init__(self, *parts):
        self.parts = parts

    def get_n_splits(self, X=None, y=None, groups=None):
        return len(self.parts)

    def split(self, X, y=None, groups=None):
        yield from self.parts


@pytest.mark.parametrize("weight", [None, np.where(np.arange(240) % 7 == 0, 0.0, 1.0)], ids=["", "weights of 0"])
def test_the_rows_of_a_splitter_are_held_out(weight):
    split = PredefinedSplit(np.where(LAST, 0, -1))
    model = RFFBoostRegressor(validation_fraction=split, refit=False, **PARAMS).fit(X, Y, weight)
    used = np.ones(240, dtype=bool) if weight is None else weight > 0.0
    kept, held = used & ~LAST, used & LAST
    other = RFFBoostRegressor(**PARAMS).fit(X[kept], Y[kept], eval_set=(X[held], Y[held]))
    np.testing.assert_allclose(model.predict(X), other.predict(X))
    np.testing.assert_allclose(model.validation_scores_, other.validation_scores_)


def test_each_split_trains_a_model_and_the_result_is_refitted_to_all_rows():
    model = RFFBoostRegressor(validation_fraction=TimeSeriesSplit(3), **PARAMS).fit(X, Y)
    assert model.n_folds_ == len(model.validation_curves_[0]) == 3
    assert model.n_estimators_ <= 40
    kept = RFFBoostRegressor(validation_fraction=TimeSeriesSplit(3), refit=False, **PARAMS).fit(X, Y)
    assert kept.n_estimators_ > model.n_estimators_
    stacked = RFFBoostRegressor(validation_fraction=TimeSeriesSplit(2), n_estimators=5, random_state=0).fit(X, Y)
    assert [len(folds) for folds in stacked.validation_curves_] == [2] * len(stacked.learners_)


def test_groups_and_labels_reach_the_splitter():
    groups = np.arange(240) // 8
    seen = []

    class Watched(GroupKFold):
        def split(self, X, y=None, groups=None):
            for kept, held in super().split(X, y, groups):
                seen.append(set(groups[kept]) & set(groups[held]))
                yield kept, held

    model = RFFBoostClassifier(validation_fraction=Watched(3), **PARAMS)
    assert model.fit(X, Y > 0.0, groups=groups).n_folds_ == 3
    assert seen == [set()] * 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"validation_fraction": PredefinedSplit([0] * 100 + [-1] * 200)}, "must split the 240 rows"),
        ({"validation_fraction": Given()}, "no split"),
        ({"validation_fraction": Given((np.arange(240), np.arange(0)))}, "rows to hold out, got 240 and 0"),
        ({"validation_fraction": KFold(3), "n_folds": 2}, "n_folds must be 'auto'"),
    ],
    ids=["rows", "none", "empty", "n_folds"],
)
def test_splits_that_cannot_be_are_refused(params, message):
    with pytest.raises(ValueError, match=f"RFFBoostRegressor: .*{message}"):
        RFFBoostRegressor(**params, learner="tree").fit(X, Y)


@pytest.mark.parametrize("given", ["0.1", None, KFold, [0.1]], ids=str)
def test_other_things_are_no_splitters(given):
    with pytest.raises(TypeError, match=r"validation_fraction must be a number .* or a splitter"):
        RFFBoostRegressor(validation_fraction=given).fit(X, Y)


def test_queries_are_not_divided():
    relevance, qid = np.digitize(Y, [0.0, 1.0]), np.arange(240) // 8
    with pytest.raises(ValueError, match="must not divide groups"):
        RFFBoostRanker(validation_fraction=KFold(7), **PARAMS).fit(X, relevance, qid=qid)
    whole = RFFBoostRanker(validation_fraction=KFold(3), **PARAMS).fit(X, relevance, qid=qid)
    assert whole.n_folds_ == 3


def test_a_splitter_is_no_part_of_a_model_file(tmp_path):
    model = RFFBoostRegressor(validation_fraction=KFold(3), **PARAMS).fit(X, Y)
    with pytest.warns(UserWarning, match="validation_fraction"):
        model.save_model(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert loaded.validation_fraction == 0.1
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
