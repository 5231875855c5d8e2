"""What all estimators can do: files, copies, averages, continued fits, and offsets."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, clone

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import (
    ConformalRegressor,
    Decay,
    Mixture,
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostQuantileRegressor,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
    Tree,
    average,
    load_model,
)

N = 160
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
LABELS = (X + 0.5 * RNG.standard_normal((N, 3)) > 0.0).astype(int)
TIMES = np.rec.fromarrays([X[:, 1] < 1.0, np.exp(X[:, 0]) + 0.1 * np.arange(1, N + 1) / N], names="event,time")
COUNTS = RNG.poisson(np.exp(np.sin(2.0 * X[:, 0])))
BOOSTER = RFFBoostRegressor(learner="rff_newton", n_estimators=8, early_stopping=False, random_state=0)


@dataclass
class Kind:
    """An estimator, its target, further arguments of its methods, and the number of its scores."""

    estimator: BaseEstimator
    y: Any
    n_scores: int = 1
    given: dict[str, Any] = field(default_factory=dict)

    def made(self, **params: Any) -> Any:
        shared = {"learner": "rff_newton", "n_estimators": 8, "early_stopping": False, "random_state": 0}
        return clone(self.estimator).set_params(**shared | params)

    def fitted(self, base_margin: Any = None, **params: Any) -> Any:
        return self.fit(self.made(**params), base_margin)

    def fit(self, model: Any, base_margin: Any = None, **more: Any) -> Any:
        more |= {} if base_margin is None else {"base_margin": base_margin}
        return model.fit(X, self.y, **self.given, **more)


BOOSTERS = {
    "labels": Kind(RFFBoostClassifier(), np.array(list("ab"))[LABELS[:, 0]]),
    "several labels": Kind(RFFBoostClassifier(eval_metric="f1_macro"), LABELS, 3),
    "counts": Kind(RFFBoostRegressor("poisson"), COUNTS),
    "ranker": Kind(
        RFFBoostRanker(eval_metric="ndcg"), np.digitize(X[:, 0], [0, 1]), given={"qid": np.arange(N) % 16}
    ),
    "cox": Kind(RFFBoostSurvival(eval_metric="concordance"), TIMES),
    "times": Kind(RFFBoostSurvival("aft_normal"), TIMES),
    "quantiles": Kind(RFFBoostQuantileRegressor((0.2, 0.8)), X[:, 0] + 0.3 * X[:, 1], 2),
    "distribution": Kind(RFFBoostDistribution("normal", eval_metric="crps"), X[:, 0] + 0.3 * X[:, 1], 2),
}
WRAPPERS = {
    "interval": ConformalRegressor(BOOSTER, random_state=0),
}
boosters = pytest.mark.parametrize("kind", BOOSTERS.values(), ids=BOOSTERS)


@boosters
@pytest.mark.parametrize("with_offset", [False, True])
def test_files_copies_and_averages_are_the_same_model(kind, with_offset, tmp_path):
    offset = RNG.standard_normal((N, kind.n_scores)) if with_offset else None
    model = kind.fitted(offset)
    model.save_model(tmp_path / "model")
    score = {"base_margin": offset} | kind.given
    for twin in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(model)), average([model, model])):
        assert type(twin) is type(model)
        assert twin.get_params(deep=False).keys() == model.get_params(deep=False).keys()
        np.testing.assert_allclose(twin.raw_scores(X, offset), model.raw_scores(X, offset), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(twin.feature_importances_, model.feature_importances_)
        assert twin.score(X, kind.y, **score) == pytest.approx(model.score(X, kind.y, **score))
        if with_offset:
            with pytest.raises(ValueError, match="base_margin must be given"):
                twin.predict(X)
    assert not any(name.endswith("_") for name in vars(clone(model)))


@boosters
def test_graphs_agree(kind):
    model = kind.fitted()
    verify_onnx(model, to_onnx(model), X, raise_on_mismatch=True)


@boosters
def test_fits_go_on(kind):
    whole, half = kind.fitted(), kind.fitted(n_estimators=4)
    further = kind.fit(kind.made(n_estimators=4), init_model=half)
    warm = kind.fit(kind.fitted(n_estimators=4, warm_start=True).set_params(n_estimators=8))
    np.testing.assert_array_equal(further.ensemble_.truncated(4).raw(X), half.ensemble_.raw(X))
    assert further.n_estimators_ == 8
    np.testing.assert_allclose(warm.raw_scores(X), whole.raw_scores(X), rtol=0, atol=1e-5)


@boosters
def test_shapley_values_are_of_each_score(kind):
    model = kind.fitted()
    values = model.shap_values(X[:5], X[:20]).reshape(5, 3, kind.n_scores)
    scores = model.ensemble_.raw(X[:20])
    np.testing.assert_allclose(values.sum(axis=1), scores[:5] - scores.mean(axis=0), atol=1e-6)


@boosters
def test_offsets_are_part_of_the_scores(kind):
    offset = RNG.standard_normal((N, kind.n_scores))

    def scores(base_margin):
        model = kind.fitted(base_margin, early_stopping=True, n_folds=2)
        np.testing.assert_allclose(model.raw_scores(X, base_margin), model.ensemble_.raw(X) + base_margin)
        return model.ensemble_.raw(X), model.score(X, kind.y, base_margin=base_margin, **kind.given)

    (wanted, score), (found, again) = scores(offset), scores(offset + 2.0)
    np.testing.assert_allclose(found + 2.0, wanted, rtol=0, atol=1e-9)
    assert again == pytest.approx(score, rel=1e-9)


NESTED = {name: kind.made(learner=Mixture(trees=Tree()), learning_rate=Decay()) for name, kind in BOOSTERS.items()}
NESTED["interval"] = ConformalRegressor(NESTED["counts"])


@pytest.mark.parametrize("model", NESTED.values(), ids=NESTED)
def test_constructors_take_nested_parameters(model):
    before, prefix = str(model.get_params()), "estimator__" * hasattr(model, "estimator")
    assert str(type(model)(**model.get_params()).get_params()) == before
    changes = {f"{prefix}learner__trees__max_depth": 2, f"{prefix}learning_rate__factor": 0.5}
    for given in (changes, {f"{prefix}learner": "tree", f"{prefix}learner__max_depth": 2}):
        wanted = clone(model).set_params(**given)
        assert str(type(model)(**model.get_params(deep=False) | given).get_params()) == str(wanted.get_params())
    assert str(model.get_params()) == before
    for unknown in (f"{prefix}learner__max_dept", "part__max_depth", f"{prefix}step__tol"):
        with pytest.raises(ValueError) as wanted:
            clone(model).set_params(**{unknown: 2})
        with pytest.raises(ValueError) as found:
            type(model)(**model.get_params(deep=False) | {unknown: 2})
        assert str(found.value) == str(wanted.value)


@pytest.mark.parametrize("wrapper", WRAPPERS.values(), ids=WRAPPERS)
def test_wrappers_pass_the_offset_on(wrapper, tmp_path):
    offset = RNG.standard_normal(N)
    fitted = clone(wrapper).fit(X, X[:, 0] + offset, base_margin=offset)
    fitted.save_model(tmp_path / "model")
    for twin in (load_model(tmp_path / "model"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(twin.predict(X, base_margin=offset), fitted.predict(X, base_margin=offset))
        with pytest.raises(ValueError, match="base_margin must be given"):
            twin.predict(X)


@pytest.mark.parametrize("name", [*BOOSTERS, *WRAPPERS])
def test_no_rows_are_an_error_that_says_so(name):
    kind = BOOSTERS.get(name) or Kind(WRAPPERS[name], X[:, 0])
    model = clone(kind.estimator).fit(X, kind.y, **kind.given) if name in WRAPPERS else kind.fitted()
    given = {key: value[:0] for key, value in kind.given.items()}
    calls = [lambda rows, method=method: method(rows, kind.y[:0], **given) for method in (model.fit, model.score)]
    if hasattr(model, "refresh"):
        calls.append(lambda rows: model.refresh(rows, kind.y[:0], **given))
    for call in (model.predict, *calls):
        for rows in (X[:0], pd.DataFrame(X[:0]), csr_array(X[:0])):
            with pytest.raises(ValueError, match=r"0 sample\(s\)|must have at least one row, got shape \(0"):
                call(rows)
