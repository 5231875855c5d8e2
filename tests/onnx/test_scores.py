"""A graph computes what its estimator computes: every loss, learner and type, and the hard cases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from onnx_export.export import LOWEST_OPSET
from onnx_export.runtimes import open_session
from rffboost_ext import RFFBoostClassifier
from rffboost_ext.terms import FeatureMap

from ..cases import PAIR_NAMES
from .oracle import (
    DTYPES,
    NEWEST_OPSET,
    Array,
    classifier,
    ensemble_of,
    exact,
    fitted,
    posed,
    published_tolerance,
    random_cosines,
    random_trees,
)


def run(model: onnx.ModelProto, X: Array) -> dict[str, Array]:
    """All outputs of a model for X, by ONNX Runtime."""
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    names = [entry.name for entry in model.graph.output]
    return dict(zip(names, open_session(model.SerializeToString()).run(names, {"X": X}), strict=True))


def held(X: Array, dtype: str) -> Array:
    """X as a file of that type takes it."""
    return X.astype(np.float64 if dtype == "float64" else np.float32)


def score_of(model: onnx.ModelProto, X: Array, dtype: str) -> Array:
    """Raw scores by ONNX Runtime, where the response is the score too."""
    outputs = run(model, held(X, dtype))
    return outputs["score"] if "score" in outputs else outputs["variable"]


def check(estimator: Any, X: Array, dtype: str) -> onnx.ModelProto:
    """A file, by both runtimes within the tolerance, and float64 within 1e-12 of the size of the summands."""
    model = to_onnx(estimator, dtype=dtype)
    verify_onnx(estimator, model, X, raise_on_mismatch=True)
    verify_onnx(estimator, model, X[:8], runtime="reference", raise_on_mismatch=True)
    if dtype == "float64":
        found, wanted = score_of(model, X, dtype), exact(estimator.ensemble_, X)
        assert np.abs(found - wanted).max(initial=0.0) <= 1e-12 * max(1.0, np.abs(wanted).max(initial=0.0))
    return model


# `check_lowering` has terms in all types.
LOWERED = [
    pytest.param(index, dtype, id=f"{name}-{dtype}")
    for index, name in enumerate(PAIR_NAMES)
    for dtype in (DTYPES if name.endswith("rff_newton") else ("float64",))
]


@pytest.mark.parametrize(("index", "dtype"), LOWERED)
def test_every_loss_with_every_learner(index: int, dtype: str) -> None:
    estimator, X = fitted(index)
    model = check(estimator, X, dtype)
    # ONNX Runtime before 1.29 has no cosine of float64.
    assert dtype == "float32" or "Cos" not in {node.op_type for node in model.graph.node}
    if dtype != "float64":
        return
    predictor = OnnxPredictor(model)
    if isinstance(estimator, RFFBoostClassifier):
        assert np.array_equal(predictor.predict(X), estimator.predict(X))
        methods, absent = ["predict_proba", "decision_function"], "predict_interval"
    else:
        methods, absent = ["predict"], "predict_proba"
    for name in methods:
        wanted = getattr(estimator, name)(X)
        np.testing.assert_allclose(getattr(predictor, name)(X), wanted, rtol=1e-9, atol=1e-12)
    with pytest.raises(AttributeError, match="the model is of a"):
        getattr(predictor, absent)(X)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["cosines", "trees", "both", "neither", "leaves"])
def test_few_rows_and_any_mixture(kind: str, dtype: str) -> None:
    stump = random_trees(0, 3, d=2, depth=0)
    terms = {
        "cosines": (random_cosines(0, 7, 2),),
        "trees": (random_trees(1, 5, 2),),
        "both": (random_cosines(0, 7, 2), random_trees(1, 5, 2), random_cosines(2, 3, 2), stump),
        "neither": (),
        "leaves": (stump,),
    }[kind]
    estimator = classifier(ensemble_of(*terms, baseline=0.3), 2)
    X = np.random.default_rng(5).standard_normal((2, 2))
    model = check(estimator, X, dtype)
    for n in range(3):
        shapes = {name: array.shape for name, array in run(model, held(X[:n], dtype)).items()}
        assert shapes == {"label": (n,), "probabilities": (n, 2), "score": (n, 1)}


@settings(max_examples=20, deadline=None)
@given(
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 2**16),
    n=st.integers(1, 12),
    d=st.integers(1, 6),
    m=st.integers(1, 40),
    n_outputs=st.integers(1, 3),
    spread=st.floats(-3.0, 3.0).map(lambda power: 10.0**power),
    mean=st.sampled_from([0.0, 1.0, -50.0, 1e5, -1e6]),
    centred=st.booleans(),
    n_trees=st.integers(0, 6),
)
def test_any_model_and_input(
    dtype: str,
    seed: int,
    n: int,
    d: int,
    m: int,
    n_outputs: int,
    spread: float,
    mean: float,
    centred: bool,
    n_trees: int,
) -> None:
    rng = np.random.default_rng(seed)
    center = mean + 0.1 * rng.standard_normal(d) if centred else None
    terms = [random_cosines(seed, m, d, n_outputs, spread, center)]
    terms += [random_trees(seed, n_trees, d, n_outputs)] if n_trees else []
    estimator = posed(ensemble_of(*terms, baseline=rng.standard_normal(n_outputs)), d)
    model = to_onnx(estimator, dtype=dtype)
    verify_onnx(estimator, model, held(mean + rng.standard_normal((n, d)), dtype), raise_on_mismatch=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_many_cosines_and_trees(dtype: str) -> None:
    d = 20
    terms = random_cosines(0, 2000, d, spread=0.3), random_trees(1, 200, d, depth=6)
    estimator = classifier(ensemble_of(*terms, baseline=0.5), d)
    X = np.random.default_rng(2).standard_normal((60, d))
    model = to_onnx(estimator, dtype=dtype)
    verify_onnx(estimator, model, X, raise_on_mismatch=True)
    if dtype == "float64":
        wanted = exact(estimator.ensemble_, X)
        assert np.abs(score_of(model, X, dtype) - wanted).max() <= 1e-12 * np.abs(wanted).max()


@pytest.mark.parametrize("spread", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("mean", [0.0, 30.0, 1e5])
def test_float32_error_is_within_the_published_formula(spread: float, mean: float) -> None:
    d = 10
    center = np.random.default_rng(1).normal(mean, 0.1, d)
    term = random_cosines(3, 300, d, spread=spread, center=center)
    estimator = classifier(ensemble_of(term, baseline=0.2), d)
    X = held(np.random.default_rng(4).normal(mean, 1.0, (200, d)), "float32")
    error = np.abs(score_of(to_onnx(estimator), X, "float32") - exact(estimator.ensemble_, X)).max()
    assert error <= published_tolerance(term, 0.2, X.astype(np.float64))


def test_float64_trees_add_up_exactly() -> None:
    trees = random_trees(3, 300, d=3, n_outputs=2, depth=5)
    # Leaf values over many magnitudes, which a float32 sum would lose.
    scaled = replace(trees, value=trees.value * 10.0 ** np.linspace(-9, 3, len(trees.value))[:, None])
    estimator = posed(ensemble_of(scaled, baseline=[0.0, 0.0]), 3)
    X = np.random.default_rng(0).standard_normal((50, 3))
    wanted = exact(estimator.ensemble_, X)
    errors = {
        dtype: np.abs(score_of(to_onnx(estimator, dtype=dtype), X, dtype) - wanted).max() for dtype in DTYPES[:2]
    }
    assert errors["float64"] <= 1e-15 * np.abs(scaled.value).sum()
    assert errors["float32"] > 1e-12 * np.abs(wanted).max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_on_a_threshold_goes_the_same_way(dtype: str) -> None:
    trees = random_trees(0, 20, d=2, depth=4)
    thresholds = trees.threshold[trees.left >= 0]
    X = np.repeat(np.concatenate([thresholds, np.nextafter(thresholds, np.float32(-9))]), 2).reshape(-1, 2)
    scaler = FeatureMap(center=np.array([0.3, 1e5]), scale=np.array([1.7, 0.2]))
    for term, rows in ((trees, X), (scaler.around(trees), X * scaler.scale + scaler.center)):
        estimator = posed(ensemble_of(term), 2)
        seen = held(rows, dtype).astype(np.float64)
        error = np.abs(score_of(to_onnx(estimator, dtype=dtype), rows, dtype) - exact(estimator.ensemble_, seen))
        assert error.max() < 1e-5


@pytest.mark.parametrize("dtype", DTYPES)
def test_missing_values(dtype: str) -> None:
    X = np.random.default_rng(0).standard_normal((40, 3))
    X[::3, 1] = np.nan
    cosines = posed(ensemble_of(random_cosines(0, 9, 3)), 3)
    assert np.array_equal(np.isnan(score_of(to_onnx(cosines, dtype=dtype), X, dtype))[:, 0], np.isnan(X[:, 1]))
    constant = posed(ensemble_of(random_trees(0, 2, 3, depth=0)), 3)
    assert np.isfinite(score_of(to_onnx(constant, dtype=dtype), np.full((2, 3), np.nan), dtype)).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_graph_does_not_grow_with_the_number_of_rounds(dtype: str) -> None:
    def nodes(m: int, n_trees: int) -> int:
        terms = [random_cosines(i, 1, 3) for i in range(m)] + [random_trees(i, 1, 3) for i in range(n_trees)]
        return len(to_onnx(classifier(ensemble_of(*terms), 3), dtype=dtype).graph.node)

    assert nodes(3, 3) == nodes(50, 40)


@pytest.mark.parametrize("opset", range(LOWEST_OPSET, NEWEST_OPSET + 1))
def test_every_opset(opset: int) -> None:
    estimator, X = fitted(PAIR_NAMES.index("exponential-rff_1"))
    dtype = DTYPES[opset % 3] if LOWEST_OPSET < opset < NEWEST_OPSET else "float64"
    for one in (estimator, classifier(ensemble_of(), 3)):
        model = to_onnx(one, dtype=dtype, opset=opset)
        assert {entry.domain: entry.version for entry in model.opset_import} == {"": opset}
        verify_onnx(one, model, X, raise_on_mismatch=True)
        run(model, held(X, dtype))


def test_the_default_format_and_the_size() -> None:
    estimator = classifier(ensemble_of(random_cosines(0, 100, 30, center=np.full(30, 5.0)), baseline=0.1), 30)
    model = to_onnx(estimator)
    assert model.ir_version == 8
    assert {entry.domain: entry.version for entry in model.opset_import} == {"": 13}
    assert model.ByteSize() <= 14_100
    trees = to_onnx(classifier(ensemble_of(random_trees(0, 2, 3)), 3))
    assert {entry.domain: entry.version for entry in trees.opset_import} == {"": 13, "ai.onnx.ml": 3}


def test_a_classifier_is_not_compared_with_a_regressor() -> None:
    ensemble = ensemble_of(random_cosines(0, 4, 3))
    report = verify_onnx(classifier(ensemble, 3), to_onnx(posed(ensemble, 3)), np.zeros((2, 3)))
    assert report["label"].fault == "MISSING in the file"
    assert report["variable"].fault == "NOT of the estimator"


def test_a_wrong_graph_is_found() -> None:
    estimator, X = fitted(0)
    for name in ("t0.weight", "t0.omega"):
        model = to_onnx(estimator)
        entry = next(tensor for tensor in model.graph.initializer if tensor.name == name)
        entry.CopyFrom(onnx.numpy_helper.from_array(1.01 * onnx.numpy_helper.to_array(entry), name))
        assert not verify_onnx(estimator, model, X).passed
        with pytest.raises(ValueError, match="NOT EQUAL on 40 rows"):
            verify_onnx(estimator, model, X, raise_on_mismatch=True)
    flipped = to_onnx(estimator)
    classes = next(tensor for tensor in flipped.graph.initializer if tensor.name == "classes")
    classes.CopyFrom(onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(classes)[::-1].copy(), "classes"))
    assert verify_onnx(estimator, flipped, X)["label"].error > 0.9


@pytest.mark.parametrize(("offset", "said"), [(0.0, False), (1e6, True)])
def test_a_report_speaks_of_numbers_that_are_finer_than_the_file(offset: float, said: bool) -> None:
    X = np.random.default_rng(0).standard_normal((200, 3))
    model = RFFBoostClassifier(n_estimators=20, early_stopping=False, random_state=0)
    model.fit(X + offset, X[:, 0] * X[:, 1] > 0.0)
    report = verify_onnx(model, to_onnx(model), X + offset)
    single = (X + offset).astype(np.float32).astype(np.float64)
    moved = np.abs(model.decision_function(X + offset) - model.decision_function(single)).max()
    assert report.passed != said
    assert report["score"].passed
    assert report["end to end"].passed != said
    assert report.rounding == pytest.approx(moved)
    assert ("rounding X to float32 moves scores by up to" in str(report)) == said
    assert verify_onnx(model, to_onnx(model, dtype="float64"), X + offset).rounding == 0.0
