"""Gaps and categories in graphs: every loss and learner, from the table's own columns to the same scores."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import onnx
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from onnx_export import OnnxPredictor, register_skl2onnx, to_onnx, verify_onnx
from onnx_export.runtimes import open_session
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

from ..cases import LEARNER_CASES, LOSS_NAMED, make_estimator, over_pairs
from ..tables import BRIEF, COLUMNS, make_gapped, make_table
from .oracle import DTYPES, NEWEST_OPSET

TABLE, Y = make_table(LOSS_NAMED["exponential"], n=120)
# The nodes of links do not depend on the columns: `test_scores.py` has every loss. Others are cosines too.
KINDS = ("rff_newton", "ridge", "tree", "symmetric_tree", "symmetric_tree linear", "mixture")
each_kind = over_pairs([(LOSS_NAMED["exponential"], case) for case in LEARNER_CASES if case.name in KINDS])


def odd_table(loss: Any) -> pd.DataFrame:
    """Rows with gaps and with categories that no fit has seen."""
    table = make_table(loss, seed=1, n=40)[0].astype({"text": object, "whole": float})
    table.loc[::9, "text"] = "unheard of"
    table.loc[::11, "whole"] = 7.0
    return table


def assert_exported(model: Any, rows: Any, dtypes: Any = DTYPES) -> None:
    """Files of each type, by both runtimes."""
    for dtype in dtypes:
        graph = to_onnx(model, dtype=dtype)
        verify_onnx(model, graph, rows, raise_on_mismatch=True)
        verify_onnx(model, graph, rows[:12], runtime="reference", raise_on_mismatch=True)
    np.testing.assert_allclose(OnnxPredictor(graph).predict(rows), model.predict(rows), rtol=1e-5, atol=1e-5)


@each_kind
def test_gaps(loss: Any, learner: Any) -> None:
    X, y = make_gapped(loss)
    # The last column had no gaps in fit.
    X = np.column_stack([X, np.nan_to_num(X[:, 0])])
    model = make_estimator(loss, learner).fit(X, y)
    assert_exported(model, np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X))


@each_kind
def test_categories(loss: Any, learner: Any) -> None:
    table, y = make_table(loss)
    rows = odd_table(loss)
    assert_exported(make_estimator(loss, learner, missing="error").fit(table, y), rows, ["float32"])
    rows.loc[::5, "whole"] = np.nan
    assert_exported(make_estimator(loss, learner).fit(table, y), rows)


def fitted(learner: str = "mixture", **params: Any) -> RFFBoostClassifier:
    """A classifier of few rounds on the table."""
    return RFFBoostClassifier(learner=learner, **(BRIEF | params)).fit(TABLE, Y)


def test_columns_are_inputs_by_name() -> None:
    model = fitted()
    graph = to_onnx(model)
    assert [entry.name for entry in graph.graph.input] == COLUMNS
    kinds = [entry.type.tensor_type.elem_type for entry in graph.graph.input]
    assert kinds == [onnx.TensorProto.STRING, onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT]
    feed = {
        "text": np.array([["a"], ["nowhere"], [""]], dtype=object),
        "number": np.array([[0.5], [np.nan], [1.0]], dtype=np.float32),
        "whole": np.array([[5.0], [15.0], [np.nan]], dtype=np.float32),
    }
    rows = pd.DataFrame({"text": ["a", None, None], "number": [0.5, np.nan, 1.0], "whole": [5.0, 15.0, 99.0]})
    found = open_session(graph.SerializeToString()).run(["score"], feed)[0]
    np.testing.assert_allclose(found[:, 0], model.decision_function(rows), atol=1e-5)


def test_the_predictor_checks_columns() -> None:
    model = fitted()
    predictor = OnnxPredictor(to_onnx(model, dtype="float64"))
    np.testing.assert_array_equal(predictor.predict(TABLE), model.predict(TABLE))
    np.testing.assert_allclose(predictor.predict_proba(TABLE), model.predict_proba(TABLE), atol=1e-12)
    np.testing.assert_array_equal(predictor.predict(TABLE.to_numpy(dtype=object)), model.predict(TABLE))
    with pytest.raises(ValueError, match="in this order"):
        predictor.predict(TABLE[COLUMNS[::-1]])
    with pytest.raises(ValueError, match="3 columns"):
        predictor.predict(TABLE.to_numpy()[:, :2])
    with pytest.raises(ValueError, match="'number'"):
        predictor.predict(TABLE.assign(number="high"))
    with pytest.raises(TypeError, match="column 'text' of X must be text, as at the fit, got 1"):
        predictor.predict(TABLE.assign(text=1))
    assert predictor.metadata.categories == (list("abcdef"), None, [5, 15, 25])


def test_categories_that_are_numbers_take_one_matrix() -> None:
    codes = np.column_stack([TABLE["whole"].astype(float), TABLE["number"]])
    model = RFFBoostClassifier(categorical_features=[0], **BRIEF).fit(codes, Y)
    graph = to_onnx(model)
    assert [entry.name for entry in graph.graph.input] == ["X"]
    rows = np.vstack([codes, [[7.0, 0.0], [np.nan, 0.0]]])
    for runtime in ("onnxruntime", "reference"):
        verify_onnx(model, graph, rows, runtime=runtime, raise_on_mismatch=True)
    np.testing.assert_array_equal(OnnxPredictor(graph).predict(rows), model.predict(rows))


@pytest.mark.parametrize("names", [["score", "label"], ["X", "score_"], ["classes", "t0.omega"], [0, 1]])
def test_names_that_mean_something_else(names: list[Any]) -> None:
    table = TABLE[["text", "number"]].set_axis(names, axis=1)
    model = RFFBoostClassifier(**BRIEF).fit(table, Y)
    graph = to_onnx(model)
    verify_onnx(model, graph, table, raise_on_mismatch=True)
    np.testing.assert_array_equal(OnnxPredictor(graph).predict(table), model.predict(table))


def test_opsets() -> None:
    gaps = RFFBoostClassifier(learner="rff_1", **BRIEF).fit(TABLE[["number"]], Y)
    verify_onnx(gaps, to_onnx(gaps, opset=9), TABLE[["number"]], raise_on_mismatch=True)
    with pytest.raises(ValueError, match="opset must be at least 11 for categories that are numbers"):
        to_onnx(fitted(), opset=10)
    for opset in (11, 21, NEWEST_OPSET):
        verify_onnx(fitted(), to_onnx(fitted(), opset=opset), TABLE, raise_on_mismatch=True)


class Same(BaseEstimator):
    """A step that does nothing, and knows the columns."""

    def fit(self, X: Any, y: Any = None) -> Same:
        self.n_features_in_ = X.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        return X


def test_categories_behind_steps_are_refused() -> None:
    pipeline = make_pipeline(Same(), RFFBoostClassifier(**BRIEF)).fit(TABLE, Y)
    with pytest.raises(ValueError, match="cannot be exported behind other steps"):
        to_onnx(pipeline, TABLE)
    import skl2onnx

    register_skl2onnx()
    codes = np.nan_to_num(TABLE[["whole", "number"]].astype(float).to_numpy())
    model = RFFBoostClassifier(categorical_features=[0], **BRIEF).fit(codes, Y)
    with pytest.raises(ValueError, match="cannot be converted by skl2onnx"):
        skl2onnx.to_onnx(model, codes.astype(np.float32))


def test_an_expansion_far_from_the_origin() -> None:
    # Phases of omega . mean would leave float32 few digits.
    table = pd.DataFrame({"number": TABLE["number"] + 1e5, "text": TABLE["text"]})
    model = RFFBoostClassifier(learner="rff_1", **BRIEF).fit(table, Y)
    verify_onnx(model, to_onnx(model), table, raise_on_mismatch=True)


@pytest.mark.parametrize("dtype", DTYPES)
def test_gaps_that_other_columns_fill(dtype: str) -> None:
    # Two numbers that say nearly the same, far from the origin and in different units.
    rng = np.random.default_rng(0)
    first = rng.standard_normal(150)
    X = np.column_stack([first + 1e5, 1e-3 * (first + 0.1 * rng.standard_normal(150)), rng.standard_normal(150)])
    X[rng.uniform(size=X.shape) < 0.25] = np.nan
    model = RFFBoostClassifier(learner="rff_newton", **BRIEF).fit(X, first > 0.0)
    graph = to_onnx(model, dtype=dtype)
    for runtime in ("onnxruntime", "reference"):
        verify_onnx(model, graph, X, runtime=runtime, raise_on_mismatch=True)


def test_a_column_whose_categories_all_have_no_weight() -> None:
    rows = pd.DataFrame({"a": np.arange(80.0), "k": pd.Categorical(["u"] * 3 + [None] * 77)})
    model = RFFBoostRegressor(n_estimators=5, early_stopping=False, random_state=0)
    model.fit(rows, rows["a"], np.arange(80) >= 3)
    file = to_onnx(model)
    np.testing.assert_allclose(OnnxPredictor(file).predict(rows[3:]), model.predict(rows[3:]), rtol=1e-5)


@cache
def model_of_table(kind: str) -> tuple[Any, pd.DataFrame]:
    """A model of a table, with categories or steps before it, and the table."""
    numbers = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 2)), columns=["b", "a"], dtype=np.float32)
    if kind == "categories":
        numbers["c"] = pd.Categorical(np.where(numbers["a"] > 0.0, "p", "q"))
        numbers.loc[::7, ["b", "c"]] = np.nan
    columns = ColumnTransformer([("a", MinMaxScaler(), ["a"])], remainder="passthrough")
    steps = {"steps": [MinMaxScaler()], "columns": [columns]}.get(kind, [])
    ours = RFFBoostRegressor("squared_error", "tree", n_estimators=3, early_stopping=False)
    return (make_pipeline(*steps, ours) if steps else ours).fit(numbers, numbers["a"]), numbers


@pytest.mark.parametrize("package", ["pandas", "polars", "narwhals", "pyarrow"])
@pytest.mark.parametrize("kind", ["alone", "categories", "steps", "columns"])
def test_tables_of_every_package(kind: str, package: str) -> None:
    if (package, kind) in (("pyarrow", "columns"), ("narwhals", "columns"), ("narwhals", "steps")):
        pytest.skip("scikit-learn does not take such tables")
    fitted, numbers = model_of_table(kind)
    table = numbers if package == "pandas" else converted_table(numbers, package)
    file = to_onnx(fitted, table)
    verify_onnx(fitted, file, table, raise_on_mismatch=True)
    np.testing.assert_allclose(OnnxPredictor(file).predict(table), fitted.predict(numbers), atol=1e-6)


def converted_table(table: pd.DataFrame, package: str) -> Any:
    """A table of pandas as one of another package."""
    if package == "pyarrow":
        return pytest.importorskip("pyarrow").Table.from_pandas(table)
    if package == "narwhals":
        return pytest.importorskip("narwhals.stable.v2").from_native(table)
    polars = pytest.importorskip("polars")
    texts = {name: [*table[name].astype(object).replace({np.nan: None})] for name in table if name == "c"}
    made = polars.DataFrame({name: texts.get(name, table[name].to_numpy()) for name in table}, nan_to_null=True)
    return made.with_columns(polars.col(*texts).cast(polars.Categorical)) if texts else made
