"""Models with categorical columns in files: what is damaged or does not fit is refused."""

from __future__ import annotations

from collections import deque

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from rffboost_ext import (
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    load_model,
    save_model,
)

from ..tables import BRIEF, COLUMNS, TABLE, Y, classifier, scores


@pytest.mark.parametrize("name", ["categories", "expansion", "missing_columns"])
def test_files_with_wrong_columns_are_refused(name, tmp_path):
    model, narrow = classifier("tree").fit(TABLE, Y), classifier("tree").fit(TABLE[COLUMNS[:2]], Y)
    setattr(model.encoder_, name, getattr(narrow.encoder_, name))
    save_model(model, tmp_path / "model")
    with pytest.raises(ValueError, match=f"whose encoder_.{name} cannot be"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("wrapped", [lambda model: model, lambda model: RFFBoostQuantileRegressor([0.5], model)])
def test_categories_that_a_file_cannot_hold_are_named(wrapped, tmp_path):
    dates = pd.to_datetime("2020-01-01") + pd.to_timedelta(np.arange(150) % 3, unit="D")
    for values, kind in (
        (pd.cut(TABLE["number"], 3), "Interval"),
        (pd.Series(dates).astype("category"), "Timestamp"),
    ):
        model = wrapped(RFFBoostRegressor(learner="tree", **BRIEF)).fit(TABLE.assign(text=values), Y)
        with pytest.raises(TypeError, match=f"column 'text' has categories of type {kind}, which a model file"):
            model.save_model(tmp_path / "model")
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", [list, tuple, np.array, pd.Index, pd.Series], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("given", [["text", "whole"], [0, 2], [True, False, True]], ids=str)
def test_columns_may_be_told_by_any_sequence(kind, given, tmp_path):
    table = TABLE.astype(object)
    model = classifier("tree", categorical_features=kind(given)).fit(table, Y)
    model.save_model(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert list(again.categorical_features) == given
    np.testing.assert_array_equal(scores(again, table), scores(clone(again).fit(table, Y), table))
    np.testing.assert_array_equal(scores(again, table), scores(classifier("tree").fit(TABLE, Y), TABLE))


@pytest.mark.parametrize("given", [range(0, 3, 2), deque([0, 2])], ids=repr)
def test_columns_may_be_told_by_sequences_of_other_types(given, tmp_path):
    model = classifier("tree", categorical_features=given).fit(TABLE, Y)
    model.save_model(tmp_path / "model")
    assert load_model(tmp_path / "model").categorical_features == [0, 2]
