"""Trees by the tree operator and by tensor operators: the same model, whichever is chosen."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from onnx_export.inputs import graph_inputs
from onnx_export.runtimes import runner
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, SymmetricTree
from rffboost_ext.terms import LinearTrees

from .oracle import DTYPES, classifier, ensemble_of, exact, posed, random_symmetric_trees, random_trees

RNG = np.random.default_rng(0)
ROWS = np.where(RNG.random((40, 4)) < 0.2, np.nan, RNG.standard_normal((40, 4))).astype(np.float32)
ENSEMBLES = {
    "binary": ensemble_of(random_trees(1, 70, 4), baseline=0.3),
    "binary, several outputs": ensemble_of(random_trees(2, 10, 4, n_outputs=3), baseline=[0.0, 1.0, 2.0]),
    "symmetric": ensemble_of(random_symmetric_trees(3, 70, 4), baseline=0.3),
    "symmetric, depth 0": ensemble_of(random_symmetric_trees(4, 5, 4, depth=0), baseline=0.3),
    "symmetric, several outputs": ensemble_of(
        random_symmetric_trees(5, 10, 4, n_outputs=3), baseline=[0.0, 1.0, 2.0]
    ),
}
LEARNERS: dict[str, Any] = {
    "tree": "tree",
    "constant leaves": SymmetricTree(leaf="constant"),
    "linear leaves": SymmetricTree(leaf="linear"),
    "crosses": SymmetricTree(leaf="constant", crosses=2),
}


def has_tree_operator(model: Any) -> bool:
    return any(node.domain == "ai.onnx.ml" for node in model.graph.node)


@cache
def fitted(learner: str) -> tuple[Any, pd.DataFrame]:
    """A classifier of three classes, and rows with a category of many levels, numbers and missing values."""
    n = 300
    frame = pd.DataFrame(RNG.standard_normal((n, 2)), columns=["a", "b"])
    frame["c"] = codes = RNG.integers(0, 30, n)
    y = np.digitize(frame.a + frame.b**2 + RNG.standard_normal(30)[codes], [0.0, 1.5])
    frame = frame.assign(c=pd.Categorical(codes)).mask(RNG.random((n, 3)) < 0.1)
    model = RFFBoostClassifier(learner=LEARNERS[learner], n_estimators=20, early_stopping=False, random_state=0)
    return model.fit(frame, y), frame


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ENSEMBLES)
def test_all_forms_are_the_same_model(kind: str, dtype: str) -> None:
    ensemble, estimator = ENSEMBLES[kind], posed(ENSEMBLES[kind], 4)
    known = exact(ensemble, ROWS).astype(float)
    tolerance = {"float32": 2e-5, "mixed": 1e-5, "float64": 1e-11}[dtype]
    outer = np.float64 if dtype == "float64" else np.float32
    files = {form: to_onnx(estimator, dtype=dtype, tree_operators=form) for form in (True, False)}
    for form, file in files.items():
        assert has_tree_operator(file) == (form and kind != "symmetric, depth 0")
        found = runner(file, "onnxruntime")[1]({"X": ROWS.astype(outer)})["variable"]
        np.testing.assert_allclose(found, known, atol=tolerance)
    assert to_onnx(estimator, dtype=dtype).graph == files[kind.startswith("binary")].graph


@pytest.mark.parametrize(
    ("learner", "tree_operators"), [*product(["tree", "constant leaves"], [True, False]), ("crosses", False)]
)
def test_categories_and_missing_values(learner: str, tree_operators: bool) -> None:
    model, frame = fitted(learner)
    file = to_onnx(model, dtype="float64", tree_operators=tree_operators)
    assert verify_onnx(model, file, frame)
    np.testing.assert_allclose(OnnxPredictor(file).decision_function(frame), model.raw_scores(frame), atol=1e-12)


def test_linear_leaves_of_binary_trees_by_look_ups() -> None:
    ensemble = ensemble_of(LinearTrees(random_trees(4, 10, 4, n_outputs=10), 2), baseline=[0.0, 1.0])
    file = to_onnx(posed(ensemble, 4), dtype="float64", tree_operators=False)
    assert not has_tree_operator(file)
    X = ROWS.astype(float)
    found = runner(file, "onnxruntime")[1]({"X": X})["variable"]
    np.testing.assert_allclose(found, ensemble.raw(X), atol=1e-12)


def test_linear_leaves_of_large_features_are_as_precise_as_these() -> None:
    term, shift = random_symmetric_trees(6, 40, 4, linear=True), 1e6 + 0.3
    moved = {name: getattr(term, name) + shift for name in ("threshold", "low", "high", "center")}
    ensemble, rows = ensemble_of(replace(term, **moved)), (ROWS + shift).astype(np.float32)
    file, known = to_onnx(posed(ensemble, 4), dtype="float32"), exact(ensemble, rows).astype(float)
    found = runner(file, "onnxruntime")[1]({"X": rows})["variable"]
    np.testing.assert_allclose(found, known, atol=1e-4)


@pytest.mark.parametrize("learner", LEARNERS)
def test_rows_that_rounding_moves_to_another_leaf_are_errors(learner: str) -> None:
    rows = np.column_stack([1e8 + RNG.integers(0, 20, 500), RNG.standard_normal(500)])
    y = 1e-2 * (rows[:, 0] - 1e8) + np.sign(rows[:, 1])
    model = RFFBoostRegressor(learner=LEARNERS[learner], n_estimators=20, early_stopping=False).fit(rows, y)
    report = verify_onnx(model, to_onnx(model, dtype="float32"), rows)
    assert not report.passed
    assert report["variable"].passed
    # Rounding of X itself moves what linear leaves add by up to 0.04.
    assert report["end to end"].tolerance < (0.04 if learner == "linear leaves" else 1e-4)


def test_what_has_no_such_form() -> None:
    for learner, words in (("linear leaves", "linear leaves"), ("crosses", "crosses")):
        with pytest.raises(
            TypeError, match=f"tree_operators must be None or False for symmetric trees with {words}"
        ):
            to_onnx(fitted(learner)[0], tree_operators=True)
    trees = classifier(ENSEMBLES["binary"], 4)
    with pytest.raises(ValueError, match="opset must be at least 11 for tree_operators=False, got 9"):
        to_onnx(trees, opset=9, tree_operators=False)
    with pytest.raises((TypeError, ValueError), match="tree_operators"):
        to_onnx(trees, tree_operators="no")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("learner", LEARNERS)
def test_openvino_runs_tensor_operators(learner: str, dtype: str) -> None:
    openvino = pytest.importorskip("openvino")
    model, frame = fitted(learner)
    file = to_onnx(model, dtype=dtype, tree_operators=False)
    core = openvino.Core()
    read = core.read_model(file.SerializeToString())
    compiled = core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    predictor = OnnxPredictor(file)
    found = compiled(graph_inputs(frame, predictor._inputs, predictor.metadata))
    np.testing.assert_allclose(found["probabilities"], predictor.predict_proba(frame), atol=1e-5)
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(frame), atol=1e-5)
