"""Estimators of scikit-learn around ours that skl2onnx gets wrong: refused, or their limits named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import skl2onnx
from sklearn.ensemble import BaggingRegressor, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsOneClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import register_skl2onnx
from onnx_export.runtimes import open_session
from rffboost_ext import RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor

X = np.random.default_rng(0).standard_normal((90, 3)).astype(np.float32)
SIGNAL = X[:, 0] + X[:, 1]
THREE = np.digitize(SIGNAL, [-0.5, 0.5])
BRIEF: dict[str, Any] = {"n_estimators": 4, "early_stopping": False, "random_state": 0}


def classifier() -> RFFBoostClassifier:
    return RFFBoostClassifier(**BRIEF)


def regressor() -> RFFBoostRegressor:
    return RFFBoostRegressor(**BRIEF)


def outputs(model: Any, **options: Any) -> list[np.ndarray]:
    """What the file that skl2onnx makes gives."""
    register_skl2onnx()
    file = skl2onnx.to_onnx(model, X[:1], options=options or None, target_opset=13)
    return open_session(file.SerializeToString()).run(None, {"X": X})


def in_pipeline(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def in_search(model: Any) -> Any:
    return GridSearchCV(model, {}, cv=2)


AROUND = pytest.mark.parametrize("around", [lambda model: model, in_pipeline, in_search])


@pytest.mark.parametrize("levels", [(0.5,), (0.1, 0.5, 0.9)])
@AROUND
def test_quantiles_are_converted(around: Any, levels: tuple[float, ...]) -> None:
    model = around(RFFBoostQuantileRegressor(levels, regressor())).fit(X, SIGNAL)
    found = outputs(model)[0]
    np.testing.assert_allclose(found, model.predict(X).reshape(found.shape), atol=1e-5)
    assert found.shape == (len(X), len(levels))


def test_a_bag_of_one_target_is_converted() -> None:
    bag = BaggingRegressor(regressor(), n_estimators=2, random_state=0).fit(X, SIGNAL)
    np.testing.assert_allclose(outputs(bag)[0].ravel(), bag.predict(X), atol=1e-5)


@AROUND
@pytest.mark.parametrize("inner", [classifier, lambda: in_pipeline(classifier())])
def test_a_tuned_threshold_is_refused(around: Any, inner: Any) -> None:
    tuned = around(TunedThresholdClassifierCV(inner(), cv=2, random_state=0)).fit(X, SIGNAL > 1.0)
    with pytest.raises(ValueError, match="skl2onnx leaves its threshold out, here 0"):
        outputs(tuned)


@pytest.mark.parametrize("labels", [THREE, THREE.astype(float), THREE > 1])
def test_pairs_of_numbered_labels_are_converted(labels: np.ndarray) -> None:
    pairs = OneVsOneClassifier(classifier()).fit(X, labels)
    np.testing.assert_array_equal(outputs(pairs, zipmap=False)[0].ravel(), pairs.predict(X))


def test_what_holds_none_of_ours_is_left_to_skl2onnx() -> None:
    assert len(outputs(TunedThresholdClassifierCV(LogisticRegression(), cv=2).fit(X, SIGNAL > 1.0))) == 2


def test_votes_that_weigh_as_an_array_says_are_converted() -> None:
    parts = [("ours", classifier()), ("theirs", LogisticRegression())]
    votes = VotingClassifier(parts, voting="soft", weights=np.array([3, 1]), flatten_transform=False)
    votes.fit(X, SIGNAL > 0.0)
    np.testing.assert_allclose(outputs(votes, zipmap=False)[1], votes.predict_proba(X), atol=1e-5)
