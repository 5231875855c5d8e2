"""Models that have seen different categories, as on folds: their average, and terms with other codes."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_validate

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import Mixture, RFFBoostClassifier, RFFBoostRegressor, Tree, average, load_model
from rffboost_ext.rows.category_encoding import CategoryEncoding, joint_encoding, recoding_of
from rffboost_ext.terms import Recoding

from ..own_parts import Linear

LETTERS = np.array(list("abcdefghij"))
LEARNERS = {
    "tree": Tree(max_depth=3),
    "rff_newton": "rff_newton",
    "rff_ridge": "rff_ridge",
    "mixture": Mixture(),
}


def table(n: int = 200, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Two numbers, letters and codes 10, 20, ..., and a target of all of them."""
    rng = np.random.default_rng(seed)
    letter, code = rng.integers(10, size=n), rng.integers(5, size=n)
    frame = pd.DataFrame({"x": rng.standard_normal(n), "z": rng.standard_normal(n)})
    frame["letter"] = pd.Categorical(LETTERS[letter])
    frame["code"] = pd.Categorical(10 * (1 + code))
    return frame, np.sin(frame["x"].to_numpy()) + 0.3 * (letter % 3) - 0.2 * code


def halves(frame: pd.DataFrame) -> list[np.ndarray]:
    """Two groups of rows, of which each has letters that the other lacks."""
    letter = frame["letter"].astype(str)
    return [np.flatnonzero(letter <= "g"), np.flatnonzero(letter >= "d")]


def fitted(learner, frame, target, rows, **params):
    options = {"n_estimators": 16, "early_stopping": False, "random_state": 0} | params
    model = RFFBoostRegressor(learner=learner, **options)
    part = frame.iloc[rows].copy()
    part["letter"] = part["letter"].cat.remove_unused_categories()
    return model.fit(part, target[rows])


@pytest.mark.parametrize(("name", "gaps"), [*zip(LEARNERS, [False, True, False, True], strict=True)])
def test_an_average_predicts_the_mean(name, gaps, tmp_path):
    (frame, target), learner, missing = table(), LEARNERS[name], "auto" if gaps else "error"
    if gaps:
        frame.loc[::7, "x"] = np.nan
        frame.loc[::11, "letter"] = np.nan
    models = [
        fitted(learner, frame, target, rows, missing=missing) for rows in halves(frame.fillna({"letter": "d"}))
    ]
    averaged = average(models)
    assert averaged.encoder_.categories.categories[2].tolist() == list(LETTERS)
    assert [len(one) for one in averaged.encoder_.expansion.one_hot] == [11, 6]
    assert all(len(model.encoder_.categories.categories[2]) < 10 for model in models)
    expected = np.mean([model.predict(frame) for model in models], axis=0)
    np.testing.assert_allclose(averaged.predict(frame), expected, atol=1e-9)
    np.testing.assert_allclose(average(models[::-1]).predict(frame), expected, atol=1e-9)
    averaged.save_model(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(frame), averaged.predict(frame))
    verify_onnx(averaged, to_onnx(averaged), frame, raise_on_mismatch=True)


def test_models_of_the_same_categories_keep_their_codes():
    frame, target = table()
    models = [fitted("rff_newton", frame, target, np.arange(200), random_state=seed) for seed in range(2)]
    assert average(models).encoder_.categories is models[0].encoder_.categories


def test_folds_with_a_rare_category():
    frame, target = table()
    frame["letter"] = pd.Categorical(
        ["rare" if row == 17 else letter for row, letter in enumerate(frame["letter"])]
    )
    model = RFFBoostClassifier(n_estimators=30, early_stopping=False, random_state=0)
    folds = cross_validate(model, frame, (target > 0.0).astype(int), cv=4, return_estimator=True)
    averaged = average(folds["estimator"])
    assert "rare" in averaged.encoder_.categories.categories[2]
    assert averaged.score(frame, (target > 0.0).astype(int)) > 0.8


def test_an_average_goes_on_to_be_fitted():
    frame, target = table()
    averaged = average([fitted("mixture", frame, target, rows, warm_start=True) for rows in halves(frame)])
    grown = averaged.set_params(n_estimators=averaged.n_estimators_ + 5).fit(frame, target)
    assert grown.score(frame, target) > 0.5


def test_kinds_must_agree():
    frame, target = table()
    other = frame.assign(letter=pd.Categorical(frame["letter"].cat.codes))
    plain = frame.assign(letter=frame["letter"].cat.codes.astype(float))
    models = [fitted("rff_newton", one, target, np.arange(200)) for one in (frame,)]
    for wrong in (other, plain):
        model = clone(models[0]).fit(wrong, target)
        with pytest.raises(ValueError, match=r"the kinds of categories of models must agree, got .*'text'"):
            average([models[0], model])


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_an_ensemble_says_the_same_of_the_same_categories(learner):
    frame, target = table()
    model = fitted(learner, frame, target, np.arange(200))
    more = np.array([*LETTERS, "cc", "zz"], dtype=object)
    wide = joint_encoding([model.encoder_.categories, CategoryEncoding((None, None, more, np.array([5, 25, 70])))])
    moved = model.ensemble_.recoded(recoding_of(model.encoder_.categories, wide))
    codes = model.encoder_.categories.transform(frame)[0]
    np.testing.assert_allclose(moved.raw(wide.transform(frame)[0]), model.ensemble_.raw(codes), atol=1e-12)
    # Categories that were not known, and missing values, are the same to the first model.
    unknown = codes.copy()
    unknown[:, 2], unknown[:, 3] = wide.categories[2].tolist().index("zz"), wide.categories[3].tolist().index(70)
    codes[:, 2:] = np.nan
    np.testing.assert_allclose(moved.raw(unknown), model.ensemble_.raw(codes), atol=1e-12)


def test_a_term_without_a_rule_is_named():
    with pytest.raises(TypeError, match="Linear must have a method recoded"):
        Linear(np.ones((1, 1))).recoded(Recoding({}, {}))
