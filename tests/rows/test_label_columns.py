"""Classification with columns of y that the loss owns, such as the cost of an error in each row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

from ..own_parts import CostLogit

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(size=(N, 2))
CLASS = (X[:, 0] + 0.5 * RNG.normal(size=N) > 0.0).astype(int)
TEXT = np.array(["no", "yes"])[CLASS]
COST = np.where(X[:, 1] > 0.0, 4.0, 1.0)
TREE = {"learner": "tree", "n_estimators": 5, "random_state": 0, "early_stopping": False}


TARGETS = {
    "array": np.column_stack([CLASS, COST]),
    "table of text": pd.DataFrame({"class": TEXT, "cost": COST}),
    "table of truth": pd.DataFrame({"class": CLASS == 1, "cost": COST}),
}


@pytest.mark.parametrize("kind", TARGETS)
def test_costs_are_weights(kind):
    y, rows = TARGETS[kind], slice(80, None)
    part = y.iloc[rows] if isinstance(y, pd.DataFrame) else y[rows]
    model = RFFBoostClassifier(CostLogit(), **TREE).fit(X, y, eval_set=(X[rows], part))
    plain = RFFBoostClassifier(**TREE).fit(X, CLASS, sample_weight=COST)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), rtol=1e-6)
    assert model.score(X, y) == plain.score(X, CLASS)
    assert model.classes_.tolist() == sorted(set(model.classes_.tolist()))
    np.testing.assert_array_equal(model.predict(X), model.classes_[plain.predict(X)])
    ((curve,),) = (curves.values() for curves in model.evals_result_.values())
    target = np.column_stack([CLASS, COST])[rows]
    assert curve[-1] == pytest.approx(CostLogit().value(target, model.raw_scores(X[rows])).mean())


def test_early_stopping_and_class_weights_read_the_labels():
    weighted = {"class_weight": {"no": 2.0}, "eval_metric": "roc_auc"}
    model = RFFBoostClassifier(CostLogit(), learner="mixture", n_estimators=20, random_state=0, **weighted)
    model.fit(X, TARGETS["table of text"])
    assert model.score(X, TARGETS["table of text"]) > 0.7
    assert -model.best_score_ > 0.7


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (CostLogit(), np.column_stack([CLASS, np.full(N, np.inf)]), "y must be finite, got inf"),
        (CostLogit(), np.column_stack([TEXT, TEXT]), "y must be real numbers, got .*'"),
        ("exponential", np.eye(2)[CLASS], "y must have one column for loss Exponential"),
        ("log_loss", np.column_stack([CLASS, COST]), "y must be class labels"),
    ],
)
def test_other_columns_are_refused(loss, y, message):
    with pytest.raises(ValueError, match=message):
        RFFBoostClassifier(loss, **TREE).fit(X, y)


def test_codes_of_groups_that_would_be_rounded_are_refused():
    codes = 2**60 + np.arange(N) // 10
    with pytest.raises(ValueError, match=f"y must hold integers that differ in double precision, got {2**60} and"):
        RFFBoostRegressor(**TREE).fit(X, np.column_stack([CLASS, codes]))
    RFFBoostRegressor(**TREE).fit(X, np.column_stack([CLASS, 2**60 + 2**12 * CLASS]))
    RFFBoostRegressor(**TREE).fit(X, codes)
