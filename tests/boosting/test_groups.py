"""Rows of one group are held out together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.model_selection import GroupKFold, cross_val_score

from rffboost_ext import LOSSES, RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.boosting.early_stopping.validation_split import assign_folds, holdout_mask, validation_splits
from rffboost_ext.boosting.training import Trainer
from rffboost_ext.rows.dataset import Dataset

RNG = np.random.default_rng(0)
N = 240
GROUP = RNG.integers(0, 30, N)
LABELS = {
    "numbers": GROUP,
    "text": [f"patient {one}" for one in GROUP],
    "pairs": [(one // 5, one % 5) for one in GROUP],
    "series": pd.Series(GROUP, dtype="Int64", index=np.arange(N)[::-1]),
    "categories": pd.Categorical(GROUP),
    "dates": pd.to_datetime("2020-01-01") + pd.to_timedelta(GROUP, "D"),
}


def rows(group: np.ndarray | None, y: np.ndarray) -> Dataset:
    return Dataset(RNG.standard_normal((len(y), 2)), y[:, None].astype(float), np.ones(len(y)), group)


def is_split(group: np.ndarray, held: np.ndarray) -> bool:
    return bool(set(group[held]) & set(group[~held]))


@pytest.mark.parametrize(
    "y", [GROUP % 3, RNG.random(N), (RNG.random(N) < 0.2).astype(int)], ids=["pure", "real", "mixed"]
)
@pytest.mark.parametrize("n_folds", [2, 5])
def test_folds_of_groups_are_of_equal_size_and_stratified(y, n_folds: int) -> None:
    fold = assign_folds(rows(GROUP, y), n_folds, seed=1)
    assert not any(is_split(GROUP, fold == k) for k in range(n_folds))
    sizes = np.bincount(fold, minlength=n_folds)
    largest = np.bincount(GROUP).max()
    assert sizes.max() - sizes.min() <= largest
    means = [np.mean(y[fold == k]) for k in range(n_folds)]
    assert np.ptp(means) < 0.3 * (np.max(y) - np.min(y))


@pytest.mark.parametrize("fraction", [0.1, 0.3])
def test_held_out_groups_are_whole(fraction: float) -> None:
    held = holdout_mask(rows(GROUP, RNG.random(N)), fraction, seed=0)
    assert not is_split(GROUP, held)
    assert 0.6 < held.sum() / (fraction * N) < 1.6
    two = holdout_mask(rows(GROUP % 2, RNG.random(N)), fraction, seed=0)
    assert set((GROUP % 2)[two]) in ({0}, {1})


@pytest.mark.parametrize("n_folds", [1, 4])
def test_groups_of_one_row_are_split_as_rows(n_folds: int) -> None:
    data, loss = rows(None, RNG.random(N) < 0.3), LOSSES.create("log_loss")
    single = Dataset(data.X, data.y, data.weight, np.arange(N))
    splits = (validation_splits(one, n_folds, 0.2, 3, loss) for one in (data, single))
    for (kept, held), (other, others) in zip(*splits, strict=True):
        np.testing.assert_array_equal(kept, other)
        np.testing.assert_array_equal(held.X, others.X)


def test_the_only_group_of_a_class_is_not_held_out() -> None:
    y = (GROUP == 7).astype(int)
    splits = validation_splits(rows(GROUP, y), 4, 0.2, 0, LOSSES.create("log_loss"))
    assert all(set(np.flatnonzero(GROUP == 7)) <= set(kept) for kept, _ in splits)


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_fits_hold_out_groups(monkeypatch, labels) -> None:
    seen: list[bool] = []
    original = Trainer.fit_stopping

    def watched(self, data: Dataset, held: Dataset, *rules):
        seen.append(bool(set(data.group) & set(held.group)))
        return original(self, data, held, *rules)

    monkeypatch.setattr(Trainer, "fit_stopping", watched)
    X, y = RNG.standard_normal((N, 3)), RNG.integers(0, 2, N)
    weight = RNG.integers(0, 3, N)
    make = RFFBoostClassifier if labels is GROUP else RFFBoostRegressor
    make(n_estimators=2, random_state=0).fit(X, y, sample_weight=weight, groups=labels)
    assert len(seen) >= 4
    assert not any(seen)


def test_groups_are_routed() -> None:
    X, y = RNG.standard_normal((N, 2)), RNG.random(N)
    with config_context(enable_metadata_routing=True):
        model = RFFBoostRegressor(n_estimators=2).set_fit_request(groups=True)
        scores = cross_val_score(model, X, y, cv=GroupKFold(3), params={"groups": GROUP})
    assert np.isfinite(scores).all()
