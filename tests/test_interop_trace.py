"""A hybrid is bound to the booster of its own training, and to no other."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import xgboost as xgb

from rffboost_ext import Tree
from rffboost_ext.interop import xgboost as rxgb

from .interop_cases import BINARY, CLASSES, PARAMS, SIGNAL, TWO, X

X32 = X.astype(np.float32)
HOLES = np.where(np.abs(X32) < 0.3, np.nan, X32)
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


def grown(kind="plain", matrix=xgb.DMatrix, data=X32, rounds=12, **params):
    y, loss, own = GROWN[kind]
    hybrid, held = hybrid_for(y, loss), matrix(data, label=y)
    hybrid.attach(held, np.nan_to_num(data))
    return hybrid, xgb.train(PARAMS | own | params, held, rounds, obj=hybrid)


@pytest.mark.parametrize("data", [X32, HOLES], ids=["full", "gaps"])
@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize("kind", GROWN)
def test_the_booster_of_the_training_is_taken(kind, matrix, data):
    hybrid, booster = grown(kind, matrix, data)
    for rounds in (1, 5, 11, 12):
        assert len(hybrid.bind(booster[:rounds]).ensemble_) == 2 * rounds


@pytest.mark.parametrize("rounds", [slice(5, None), slice(1, 4), slice(0, 12, 2), slice(3, 4)], ids=str)
@pytest.mark.parametrize("matrix", [xgb.DMatrix, xgb.QuantileDMatrix])
@pytest.mark.parametrize("kind", [kind for kind in GROWN if kind != "no trees"])
def test_slices_from_another_round_are_refused(kind, matrix, rounds):
    hybrid, booster = grown(kind, matrix)
    with pytest.raises(ValueError, match="bind: the booster must be the one that was trained with this"):
        hybrid.bind(booster[rounds])


def test_a_stored_hybrid_knows_its_booster():
    hybrid, booster = grown()
    again = pickle.loads(pickle.dumps(hybrid))
    assert len(again.bind(booster).ensemble_) == 24
    with pytest.raises(ValueError, match="a slice of it"):
        again.bind(booster[5:])


@pytest.mark.parametrize("other", [{"eta": 0.1}, {"max_depth": 2}, {"seed": 1, "subsample": 0.9}])
@pytest.mark.parametrize("data", [X32, HOLES], ids=["full", "gaps"])
def test_boosters_of_another_training_are_refused(other, data):
    hybrid, _ = grown(data=data)
    with pytest.raises(ValueError, match="from another training"):
        hybrid.bind(grown(data=data, **other)[1])


class TestLightGBM:
    """The same of the other host."""

    lgb = pytest.importorskip("lightgbm")

    def grown(self, rounds=12, construct=False, **params):
        from rffboost_ext.interop import lightgbm as rlgb

        hybrid, data = rlgb.CosineObjective("log_loss"), self.lgb.Dataset(HOLES, BINARY, free_raw_data=False)
        hybrid.attach(data.construct() if construct else data, np.nan_to_num(HOLES))
        params = {"num_leaves": 7, "verbose": -1, "num_threads": 1, "objective": hybrid} | params
        return hybrid, self.lgb.train(params, data, rounds)

    def test_the_booster_of_the_training_is_taken(self):
        hybrid, booster = self.grown(bagging_fraction=0.5, bagging_freq=1)
        assert len(hybrid.bind(booster).ensemble_) == 24
        first = self.lgb.Booster(model_str=booster.model_to_string(num_iteration=5))
        assert len(hybrid.bind(first).ensemble_) == 10

    def test_another_booster_is_refused(self):
        hybrid, booster = self.grown()
        last = self.lgb.Booster(model_str=booster.model_to_string(start_iteration=5))
        for other in (last, self.grown(learning_rate=0.3)[1]):
            with pytest.raises(ValueError, match="from another training"):
                hybrid.bind(other)

    def test_trees_that_change_later_are_refused(self):
        for spelling in ("boosting", "boost"):
            with pytest.raises(ValueError, match=r"boosting must be 'gbdt' .* 'dart', whose earlier trees change"):
                self.grown(**{spelling: "dart"})
        hybrid, booster = self.grown(construct=True, boosting="dart")
        with pytest.raises(ValueError, match="boosting must be 'gbdt'"):
            hybrid.bind(booster)
