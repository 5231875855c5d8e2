"""Data with gaps and categories for the tests: what the losses' own data look like with holes and in a table, and
which losses and learners meet them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from rffboost_ext import RFFBoostClassifier

from .cases import LEARNER_CASES, LOSS_NAMED, LossCase, make_data, over_pairs

Array = np.ndarray
COLUMNS = ["text", "number", "whole"]
BRIEF: dict[str, Any] = {"n_estimators": 6, "early_stopping": False, "random_state": 0}
LOSS = LOSS_NAMED["exponential"]
# Learners that see a matrix of numbers, and one for each way in which terms treat gaps and categories.
of_cosines = over_pairs([(LOSS, one) for one in LEARNER_CASES if "tree" not in one.name and one.name != "mixture"])
of_each_kind = over_pairs([(LOSS, one) for one in LEARNER_CASES if one.name in ("tree", "mixture")])


def gapped(X: Array, share: float = 0.2, seed: int = 5, columns: Any = slice(None)) -> Array:
    """X with some cells of some columns missing."""
    out = np.array(X, dtype=float)
    holes = np.random.default_rng(seed).uniform(size=out.shape) < share
    mask = np.zeros(out.shape, dtype=bool)
    mask[:, columns] = holes[:, columns]
    out[mask] = np.nan
    return out


def make_gapped(loss: LossCase, seed: int = 0, n: int = 60) -> tuple[Array, Array]:
    """Features with gaps in the first two of three columns, and a target that depends on what was there."""
    X, y = make_data(loss, seed, n)
    return gapped(X, columns=[0, 1]), y


def make_table(loss: LossCase, seed: int = 0, n: int = 60, share: float = 0.15) -> tuple[pd.DataFrame, Array]:
    """A table of a column of text, one of numbers and one of whole numbers that are categories, the first two with
    gaps; and a target that depends on what was there."""
    X, y = make_data(loss, seed, n)
    holes = np.random.default_rng(seed + 7).uniform(size=(n, 2)) < share
    text = np.array(list("fbeacd"), dtype=object)[np.digitize(X[:, 0], [-1.5, 0.0, 1.0, 2.0, 3.5])]
    text[holes[:, 0]] = None
    whole = 10 * np.digitize(X[:, 2], [0.0, 2.0]) + 5
    table = pd.DataFrame({"text": text, "number": np.where(holes[:, 1], np.nan, X[:, 1]), "whole": whole})
    return table.astype({"text": "category", "whole": "category"}), y


def by_hand(table: pd.DataFrame) -> Array:
    """What cosines are to see of such a table: the number, its indicator, one-hot columns, the gap a category."""
    number = table["number"].to_numpy()
    parts = [np.where(np.isnan(number), np.nanmean(number), number)[:, None], np.isnan(number)[:, None]]
    for name in ("text", "whole"):
        values = table[name].astype(object).to_numpy()
        known = sorted({value for value in values if value is not None and value == value})
        parts += [np.array([[value == category for category in known] for value in values])]
        gaps = np.array([[value is None or value != value] for value in values])
        parts += [gaps] if gaps.any() else []
    return np.hstack(parts).astype(float)


def scores(model: Any, X: Any) -> Array:
    """Raw scores, (n, C)."""
    return model.raw_scores(X)


TABLE, Y = make_table(LOSS, n=150)


def classifier(learner: Any = "mixture", **params: Any) -> RFFBoostClassifier:
    """A classifier of few rounds."""
    return RFFBoostClassifier(learner=learner, **(BRIEF | params))
