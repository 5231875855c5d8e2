"""A hybrid is bound to the booster of its own training, and to no other."""

from __future__ import annotations

import pickle

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from rffboost_ext import Learner, Tree
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from .interop_cases import BINARY, CLASSES, LIGHTGBM, PARAMS, SIGNAL, TWO, X

X32 = X.astype(np.float32)
GROWN = {
    "plain": (BINARY, "log_loss", {}),
    "three classes": (CLASSES, "log_loss", {"num_class": 3}),
    "two targets": (TWO, "squared_error", {}),
    "a far start": (1e3 * (SIGNAL + 5.0), "squared_error", {"base_score": 5e3}),
    "parallel trees of a sample": (BINARY, "log_loss", {"num_parallel_tree": 3, "subsample": 0.5}),
    "no trees": (BINARY, "log_loss", {"gamma": 1e9}),
}


def hybrid_for(y, loss):
    several = y is CLASSES or y is TWO
    return rxgb.CosineObjective(loss, Tree(2) if several else "rff_1")


def grown(kind="plain", matrix=xgb.DMatrix, rounds=12, **params):
    y, loss, own = GROWN[kind]
    hybrid, held = hybrid_for(y, loss), matrix(X32, label=y)
    hybrid.attach(held, X32)
    return hybrid, xgb.train(PARAMS | own | params, held, rounds, obj=hybrid)


@pytest.mark.parametrize(
    ("kind", "matrix"), [*((kind, xgb.DMatrix) for kind in GROWN), ("plain", xgb.QuantileDMatrix)]
)
def test_the_booster_of_the_training_is_taken_from_its_first_round_on(kind, matrix):
    hybrid, booster = grown(kind, matrix)
    for made in (hybrid, pickle.loads(pickle.dumps(hybrid))):
        for rounds in (1, 5, 11, 12):
            assert len(made.bind(booster[:rounds]).ensemble_) == 2 * rounds
        for rounds in (slice(5, None), slice(1, 4), slice(0, 12, 2), slice(3, 4)) if kind != "no trees" else ():
            with pytest.raises(ValueError, match="bind: the booster must be the one trained with this"):
                made.bind(booster[rounds])


@pytest.mark.parametrize("other", [{"eta": 0.1}, {"max_depth": 2}, {"seed": 1, "subsample": 0.9}])
def test_boosters_of_another_training_are_refused(other):
    hybrid, _ = grown()
    with pytest.raises(ValueError, match="from another training"):
        hybrid.bind(grown(**other)[1])


def grown_in_lightgbm(construct=False, **params):
    hybrid, data = rlgb.CosineObjective("log_loss"), LIGHTGBM.matrix(X, BINARY)
    hybrid.attach(data.construct() if construct else data, X)
    return hybrid, LIGHTGBM.train(data, hybrid, 12, **params)[0]


def test_the_booster_of_the_training_is_taken_in_lightgbm():
    hybrid, booster = grown_in_lightgbm(bagging_fraction=0.5, bagging_freq=1)
    assert len(hybrid.bind(booster).ensemble_) == 24
    first = lgb.Booster(model_str=booster.model_to_string(num_iteration=5))
    assert len(hybrid.bind(first).ensemble_) == 10
    last = lgb.Booster(model_str=booster.model_to_string(start_iteration=5))
    for other in (last, grown_in_lightgbm(learning_rate=0.3)[1]):
        with pytest.raises(ValueError, match="from another training"):
            hybrid.bind(other)


def test_trees_that_change_later_are_refused():
    hybrid, booster = grown_in_lightgbm(boosting="dart")
    with pytest.raises(ValueError, match="differs"):
        hybrid.bind(booster)


def half_squares(raw, y):
    return np.mean((np.ravel(raw) - y) ** 2) / 2.0


@pytest.mark.parametrize("gain", [0.0, 1.0, 3.0, 1e9])
@pytest.mark.parametrize("every", [1, 3])
def test_rounds_without_a_tree_keep_their_cosine(gain, every):
    y, hybrid = np.cos(3.0 * X[:, 0]) + 0.1 * SIGNAL, rlgb.CosineObjective("squared_error", every=every)
    data = LIGHTGBM.matrix(X, y)
    booster, (shown,) = LIGHTGBM.train(data, hybrid, 20, hybrid.metric, min_gain_to_split=gain)
    assert (booster.num_trees() < 20) == (gain > 0.0)
    for model in (hybrid.bind(booster), pickle.loads(pickle.dumps(hybrid)).bind(booster)):
        assert half_squares(model.predict(X), y) == pytest.approx(shown[-1], rel=1e-6)
    stages = [half_squares(raw, y) for raw in hybrid.bind(booster).ensemble_.staged(X)]
    for value in shown:
        assert np.isclose(stages, value, rtol=1e-6).any()


def test_early_stopping_counts_rounds_without_a_tree():
    y, seen = np.cos(3.0 * X[:, 0]) + np.random.default_rng(0).standard_normal(400), {}
    hybrid, data = rlgb.CosineObjective("squared_error"), LIGHTGBM.matrix(X[:200], y[:200])
    held = lgb.Dataset(X[200:], y[200:], reference=data, free_raw_data=False)
    stop = [lgb.early_stopping(10, verbose=False), lgb.record_evaluation(seen)]
    params = LIGHTGBM.native | {"objective": hybrid, "min_gain_to_split": 8.0}
    booster = lgb.train(params, data, 100, valid_sets=[held], feval=hybrid.metric, callbacks=stop)
    (shown,) = seen["valid_0"].values()
    assert booster.best_iteration == np.argmin(shown) + 1 > booster.num_trees()
    found = half_squares(hybrid.bind(booster).predict(X[200:]), y[200:])
    assert found == pytest.approx(min(shown), rel=1e-6)


GAPS = np.where(np.abs(X32) < 0.3, np.nan, X32)


@pytest.mark.parametrize("made", [xgb.DMatrix, xgb.QuantileDMatrix])
def test_features_that_the_trees_do_not_see_are_refused_with_the_booster(made):
    matrix, hybrid = made(GAPS, BINARY), rxgb.CosineObjective()
    hybrid.attach(matrix, X32)
    with pytest.raises(ValueError, match="differs"):
        hybrid.bind(xgb.train(PARAMS, matrix, 5, obj=hybrid))


class Wrong(Learner):
    """Returns what is no term."""

    def fit(self, round):
        return np.cos(round.y)


def test_parts_are_checked_as_in_our_own_loop():
    with pytest.raises(TypeError, match="fit must return a Term"):
        xgb.train(PARAMS, xgb.DMatrix(X32, BINARY), 2, obj=rxgb.CosineObjective("log_loss", Wrong()))
