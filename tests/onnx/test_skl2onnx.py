"""Our estimators inside scikit-learn's, converted by skl2onnx: equal to scikit-learn, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
import skl2onnx
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from onnx_export import register_skl2onnx
from onnx_export.runtimes import open_session
from rffboost_ext import (
    RFF1,
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    RFFBoostSurvival,
    Tree,
)
from rffboost_ext.interop import lightgbm as rlgb

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 4)).astype(np.float32)
SIGNAL = X[:, 0] + X[:, 1] + np.sin(X[:, 3])
Y, THREE = (SIGNAL > 0).astype(int), np.digitize(SIGNAL, [-0.8, 0.8])
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(colour=np.where(RNG.random(120) < 0.5, "red", "blue"))
BRIEF: dict[str, Any] = {"n_estimators": 5, "early_stopping": False, "random_state": 0}
TREE = Tree(max_depth=3)


def classifier(learner: Any = "rff_1", **params: Any) -> RFFBoostClassifier:
    return RFFBoostClassifier(learner=learner, **BRIEF, **params)


def regressor(learner: Any = "mixture") -> RFFBoostRegressor:
    return RFFBoostRegressor(learner=learner, **BRIEF)


def quantiles(levels: tuple[float, ...]) -> RFFBoostQuantileRegressor:
    return RFFBoostQuantileRegressor(levels, "mixture", **BRIEF)


def in_pipeline(model: Any) -> Any:
    return make_pipeline(StandardScaler(), model)


def in_search(model: Any) -> Any:
    return GridSearchCV(model, {}, cv=2)


def column(data: Any, name: str) -> np.ndarray:
    """One input: a column of a table, or the whole matrix."""
    if not isinstance(data, pd.DataFrame):
        return data
    values = data[name].to_numpy()[:, None]
    return values if values.dtype.kind == "f" else values.astype(object)


def outputs(model: Any, data: Any = X, **options: Any) -> list[np.ndarray]:
    """What the file that skl2onnx makes gives for rows."""
    register_skl2onnx()
    if hasattr(model, "classes_"):
        options = {id(model): {"zipmap": False} | options}
    file = skl2onnx.to_onnx(model, data[:1], options=options or None, target_opset=13)
    onnx.checker.check_model(file, full_check=True)
    session = open_session(file.SerializeToString())
    return session.run(None, {entry.name: column(data, entry.name) for entry in session.get_inputs()})


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "pipeline": lambda: make_pipeline(SimpleImputer(), StandardScaler(), classifier()),
    "pipeline of trees": lambda: make_pipeline(SimpleImputer(), classifier(TREE)),
    "exponential": lambda: make_pipeline(SimpleImputer(), classifier(loss="exponential")),
    "squared": lambda: make_pipeline(SimpleImputer(), classifier(loss="squared_error")),
    "calibrated": lambda: CalibratedClassifierCV(classifier(), method="sigmoid", cv=2),
    "calibrated, not refitted": lambda: CalibratedClassifierCV(
        classifier(), method="sigmoid", cv=2, ensemble=False
    ),
    "one versus rest": lambda: OneVsRestClassifier(classifier()),
    "voting": lambda: VotingClassifier(
        [("ours", classifier()), ("trees", classifier(TREE)), ("theirs", LogisticRegression())],
        voting="soft",
        weights=np.array([3, 1, 1]),
        flatten_transform=False,
    ),
    "stacking": lambda: StackingClassifier(
        [("ours", classifier()), ("trees", classifier(TREE))], LogisticRegression(), cv=2
    ),
    "bagging": lambda: BaggingClassifier(classifier(), n_estimators=3, random_state=0),
    "search": lambda: GridSearchCV(classifier(), {"learner": [RFF1(), TREE]}, cv=2),
}


@pytest.mark.parametrize("labels", [[0, 1], ["no", "yes"]], ids=["numbers", "text"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name: str, labels: list[Any]) -> None:
    model = CLASSIFIERS[name]().fit(X, np.array(labels)[Y])
    found, probabilities = outputs(model)
    np.testing.assert_array_equal(found, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("labels", [THREE, THREE.astype(float), THREE > 1])
@pytest.mark.parametrize("around", [OneVsRestClassifier, OneVsOneClassifier])
def test_labels_of_several_classifiers(around: Any, labels: np.ndarray) -> None:
    model = around(classifier()).fit(X, labels)
    np.testing.assert_array_equal(outputs(model)[0].ravel(), model.predict(X))


def test_a_table() -> None:
    steps = [("numbers", StandardScaler(), list("abcd")), ("text", OneHotEncoder(), ["colour"])]
    model = make_pipeline(ColumnTransformer(steps), classifier()).fit(TABLE, Y)
    np.testing.assert_allclose(outputs(model, TABLE)[1], model.predict_proba(TABLE), atol=1e-5)


def test_options() -> None:
    model = classifier().fit(X, np.array(["no", "yes"])[Y])
    score = model.decision_function(X)
    np.testing.assert_array_equal(outputs(model, nocl=True)[0], model.predict(X) == "yes")
    np.testing.assert_allclose(outputs(model, raw_scores=True)[1], np.column_stack([-score, score]), atol=1e-5)
    assert list(outputs(model, output_class_labels=True)[2]) == ["no", "yes"]


REGRESSORS: dict[str, Callable[[], Any]] = {
    "pipeline": lambda: make_pipeline(SimpleImputer(), regressor()),
    "stacking": lambda: StackingRegressor([("a", regressor()), ("b", regressor(TREE))], cv=2),
    "bagging": lambda: BaggingRegressor(regressor(), n_estimators=2, random_state=0),
    "median": lambda: quantiles((0.5,)),
    "quantiles": lambda: quantiles((0.1, 0.5, 0.9)),
    "quantiles in a pipeline": lambda: in_pipeline(quantiles((0.1, 0.9))),
    "quantiles in a search": lambda: in_search(quantiles((0.1, 0.9))),
    "several targets": lambda: regressor(),
    "survival": lambda: in_pipeline(RFFBoostSurvival("cox", "tree", **BRIEF)),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors(name: str) -> None:
    y = {"several targets": np.column_stack([SIGNAL, X[:, 2], -SIGNAL]), "survival": np.exp(SIGNAL)}
    model = REGRESSORS[name]().fit(X, y.get(name, SIGNAL))
    found, wanted = outputs(model)[0], model.predict(X)
    np.testing.assert_allclose(found, wanted.reshape(found.shape), rtol=1e-4, atol=1e-5)
    assert found.shape == (len(X), wanted.size // len(X))


def test_double_thresholds_declare_the_version_that_has_them() -> None:
    wide = X.astype(float)
    start = rlgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1).fit(wide, SIGNAL)
    model = regressor("tree").set_params(n_estimators=8).fit(wide, SIGNAL, init_model=start)
    np.testing.assert_allclose(outputs(model, wide)[0][:, 0], model.predict(wide), atol=1e-9)


@pytest.mark.parametrize("around", [lambda model: model, in_pipeline, in_search])
def test_a_tuned_threshold_is_refused(around: Any) -> None:
    inner = in_pipeline(classifier("tree")).fit(X, SIGNAL > 1.0)
    tuned = TunedThresholdClassifierCV(inner, cv="prefit", refit=False)
    if around is in_search:
        tuned = TunedThresholdClassifierCV(classifier("tree"), cv=2, random_state=0)
    tuned = around(tuned).fit(X, SIGNAL > 1.0)
    with pytest.raises(ValueError, match="skl2onnx leaves its threshold out, here 0"):
        outputs(tuned)


def test_an_offset_is_refused() -> None:
    with pytest.raises(ValueError, match="fitted with base_margin"):
        outputs(regressor("tree").fit(X, SIGNAL, base_margin=X[:, 0]))


def test_what_holds_none_of_ours_is_left_to_skl2onnx() -> None:
    assert len(outputs(TunedThresholdClassifierCV(LogisticRegression(), cv=2).fit(X, SIGNAL > 1.0))) == 2
