"""Copies of a row are rows like any others in fits that hold out rows; a warning states how many there are."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.model_selection import KFold

from rffboost_ext import (
    RFFBoostClassifier,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
    average,
    load_model,
)
from rffboost_ext.learners import SymmetricTree
from rffboost_ext.rows.dataset import Dataset, are_rows_of

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.standard_normal(120)
# 6 copies are 5 % of 120 rows, and 7 are more.
SOME, MANY = (np.r_[np.arange(120 - n), np.arange(n)] for n in (6, 7))
TWICE = np.tile(np.arange(120), 2)
BRIEF = {"learner": "symmetric_tree", "n_estimators": 2, "random_state": 0}


def dataset(X: np.ndarray, y: np.ndarray, **fields: np.ndarray) -> Dataset:
    return Dataset(X, y.astype(float).reshape(len(y), -1), np.ones(len(y)), **fields)


def messages(model, *data, **params) -> list[str]:
    """The messages of a fit about copies."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(*data, **params)
    return [text for text in (str(one.message) for one in caught) if "copies" in text]


@pytest.mark.parametrize(("params", "n_held"), [({"n_folds": 1}, 24), ({"n_folds": 3}, 80)], ids=str)
def test_rows_are_held_out_one_by_one(params, n_held) -> None:
    rows = []
    model = RFFBoostRegressor(**BRIEF, **params, refit=False, callbacks=[lambda p: rows.append(len(p.round.y))])
    assert len(messages(model, X[TWICE], Y[TWICE])) == 1
    assert set(rows) == {240 - n_held}


def test_the_order_of_rows_is_that_given() -> None:
    targets = []
    order = RNG.permutation(240) % 120
    model = RFFBoostRegressor(
        **BRIEF, validation_fraction=KFold(3), callbacks=[lambda p: targets.append(p.round.y)]
    )
    model.fit(X[order], Y[order])
    np.testing.assert_allclose(targets[0][:, 0], Y[order][80:])


@pytest.mark.parametrize(
    ("rows", "n_copies", "read"),
    [
        *((*one, np.asarray) for one in ((np.arange(120), 0), (SOME, 6), (MANY, 7))),
        *((TWICE, 120, read) for read in (pd.DataFrame, scipy.sparse.csr_array, np.float32)),
    ],
)
def test_a_message_states_more_than_5_percent_of_copies(read, rows, n_copies, tmp_path) -> None:
    model = RFFBoostRegressor(**BRIEF)
    warned = messages(model, read(X[rows]), Y[rows])
    assert model.n_copies_ == n_copies
    if n_copies <= 6:
        assert not warned
    else:
        (text,) = warned
        assert text.startswith(f"RFFBoostRegressor: {n_copies} of {len(rows)} rows ({n_copies / len(rows):.1%})")
        assert "training rows" in text
        assert "groups=" in text
    model.save_model(tmp_path / "model")
    assert load_model(tmp_path / "model").n_copies_ == n_copies
    assert not hasattr(average([model, model]), "n_copies_")


def test_copies_are_equal_in_features_targets_and_offsets() -> None:
    model = RFFBoostClassifier(**BRIEF)
    assert not messages(model, X[TWICE], TWICE[:, None] % 2 == np.arange(240)[:, None] // 120)
    assert len(messages(model, X[TWICE], Y[TWICE] > 0.0)) == 1
    assert not messages(model, X[TWICE], Y[TWICE] > 0.0, base_margin=np.arange(240.0) / 240.0)
    assert model.n_copies_ == 0
    survival = RFFBoostSurvival(**BRIEF)
    assert len(messages(survival, X[TWICE], np.exp(Y[TWICE]))) == 1


def test_a_printed_report_has_the_number_too(capsys) -> None:
    assert len(messages(RFFBoostRegressor(**BRIEF, verbose=1), X[TWICE], Y[TWICE])) == 1
    report = capsys.readouterr().err
    assert report.startswith("[rffboost] 240 rows, 120 of them copies of an earlier row\n")
    assert report.count("copies") == 1


@pytest.mark.parametrize(
    ("params", "arguments"),
    [
        ({}, {"groups": TWICE}),
        ({}, {"eval_set": (X + 1.0, Y)}),
        ({"validation_fraction": KFold(3)}, {}),
        ({"early_stopping": False}, {}),
    ],
    ids=["groups", "eval_set", "splitter", "no early stopping"],
)
def test_no_message_where_single_rows_are_not_held_out(params, arguments) -> None:
    model = RFFBoostRegressor(**BRIEF)
    assert messages(model, X[TWICE], Y[TWICE])
    assert not messages(model.set_params(**params), X[TWICE], Y[TWICE], **arguments)
    assert not hasattr(model, "n_copies_")


class Counting(SymmetricTree):
    """Keeps the number of rows to which it fits terms again."""

    sizes: ClassVar[set[int]] = set()

    def refit(self, term, round):
        self.sizes.add(len(round.y))
        return super().refit(term, round)


@pytest.mark.parametrize("stops", [False, True])
def test_a_refresh_merges_copies_only_without_early_stopping(stops) -> None:
    model = RFFBoostRegressor(learner=Counting(leaf="constant"), n_estimators=2, early_stopping=stops)
    model.fit(X, Y)
    Counting.sizes.clear()
    model.refresh(X[TWICE], Y[TWICE])
    assert max(Counting.sizes) == (240 if stops else 120)


def test_queries_are_held_out_as_a_whole() -> None:
    model = RFFBoostRanker(**BRIEF)
    assert not messages(model, X[TWICE], Y[TWICE] > 0.0, qid=TWICE % 10)
    assert not hasattr(model, "n_copies_")


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_of_the_training_set_are_found_in_any_order_and_precision(kind) -> None:
    some = RNG.permutation(120)[:50]
    other = dataset(np.r_[X[some], X[:40] + 1.0].astype(kind), np.r_[Y[some], Y[:40]])
    np.testing.assert_array_equal(are_rows_of(dataset(X, Y), other), np.arange(90) < 50)


def test_new_rows_of_a_table_of_few_values_are_new() -> None:
    cells = RNG.integers(0, 4, (600, 3)).astype(float)
    y = RNG.random(600) < 0.2 + 0.2 * cells[:, 0]
    assert not are_rows_of(dataset(cells[:400], y[:400]), dataset(cells[400:], y[400:])).any()
