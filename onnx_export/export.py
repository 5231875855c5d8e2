"""From a fitted estimator to an ONNX model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, ValueInfoProto
from onnx.defs import onnx_opset_version

from rffboost_ext.exporting import (
    Array,
    Integer,
    OneOf,
    check_metadata,
    native_table,
    require,
    resolve_target,
    write_atomically,
)

from . import (  # noqa: F401  register kinds of terms and of estimators
    cosines,
    host_models,
    linear,
    linear_trees,
    mapped,
    pipelines,
    survival,
    symmetric_trees,
    trees,
    uncertainty,
)
from .category_nodes import open_categories
from .check import check_conversion, features_of
from .conversion import convert_ensemble
from .graph import FLOAT32, FLOAT64, INT64, Graph
from .inputs import graph_inputs, input_types
from .links import class_columns, response_nodes
from .metadata import metadata_for, read_metadata, require_free_keys, write_metadata
from .model import DTYPES, OFFSET, RESERVED, assemble, outer_dtype, value_info
from .preprocessing_steps import ROWS, first_rows, open_steps
from .runtimes import runner, with_output
from .source import ExportSource, export_source
from .survival import check_times
from .verify import features_in_graph, in_float64

SINGLE = 1e-4
"""Errors of float64 by operators of float32 are smaller, relative to the largest number of a column."""
OPSET, LOWEST_OPSET, HIGHEST_OPSET = 13, 9, 26


def to_onnx(
    estimator: Any,
    X: Any = None,
    *,
    dtype: str = "float32",
    opset: int = OPSET,
    tree_operators: bool | None = None,
    times: Any = None,
    metadata: Mapping[str, str] | None = None,
    model_version: int = 0,
) -> ModelProto:
    """Export a fitted estimator as an ONNX model.

    The graph has as many nodes after ten rounds as after ten thousand, but for a group of nodes for every 32 trees
    that are written as tensor operators. Its input is ``X`` (n, d), in which NaN is
    a missing value. Where categories are text each column is a separate input, (n, 1), named after it; any text
    that is none of the categories is a missing value. Columns of an array of text are ``x0``, ``x1``, ...; the
    input of a pipeline that takes texts is ``text``, (n, 1). A model that was fitted with an offset has another
    input, ``base_margin``, (n, C). A classifier's outputs are ``label`` (n,), int64 or text, ``probabilities``
    (n, K) and ``score`` (n, C), the raw scores; a regressor's is ``variable`` (n, W), and the
    raw ``score`` where that differs; a conformal one also has ``interval`` (n, 2). Where ``link.names`` of the
    loss names the columns of its response, each is a further output (n, 1) of that name. Models of survival times
    have the output ``risk``, which is ``variable`` too, and, for `times`, ``survival`` (n, T): the probabilities
    that the event comes later. Of distributions, ``variable`` is the mean.

    Parameters
    ----------
    estimator : estimator
        A fitted classifier or regressor of rffboost_ext, conformal and quantile ones too; a tree model of XGBoost
        or LightGBM; a Pipeline that ends in one (StandardScaler right before it becomes part of the ensemble,
        other steps are converted by skl2onnx); a search whose best estimator is one.
    X : array-like or sparse matrix of shape (n, d), table, or sequence of str, optional
        A few rows. Only needed for a pipeline whose first steps take columns by name or columns of text: names and
        types of the inputs are taken from it.
    dtype : {"float32", "float64", "mixed"}, default="float32"
        Type of numbers; "mixed" is float32 at the inputs and outputs and float64 inside.
    opset : int, default=13
        Version of the operator set, 9 to 26. Every ONNX Runtime from 1.15 on loads the default.
    tree_operators : bool, optional
        True computes all trees by the tree operator of ai.onnx.ml, False by tensor operators, which more runtimes
        have. By default symmetric trees become tensor operators, and all others the tree operator.
    times : array-like of shape (T,), optional
        Of survival analysis: the times at which the output ``survival`` has the survival function.
    metadata : dict of str to str, optional
        Entries of your own, such as the data or the commit of a fit; any program reads them in ``metadata_props``.
    model_version : int, default=0
        The version of your model, a field of ONNX files.

    Returns
    -------
    onnx.ModelProto

    Raises
    ------
    TypeError
        If the estimator is of a kind that cannot be exported, or holds a term or loss without an ONNX form;
        the message says how to register one. Symmetric trees with linear leaves have none for
        ``tree_operators=True``.
    ValueError
        If a step before the ensemble has no exact graph; the message names its parameter and what is allowed. If
        `dtype`, `opset`, `tree_operators`, `times` or `model_version` is out of range, `metadata` has a name
        that the file uses itself, or the estimator is not fitted or, for `times`, predicts no survival.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from rffboost_ext import RFFBoostClassifier
    >>> from onnx_export import to_onnx
    >>> X, y = make_moons(100, noise=0.1, random_state=0)
    >>> model = to_onnx(RFFBoostClassifier(learner="rff_newton", n_estimators=20, random_state=0).fit(X, y))
    >>> [node.op_type for node in model.graph.node][:6]
    ['Sub', 'IsNaN', 'Where', 'Max', 'Min', 'MatMul']
    """
    require("to_onnx", "dtype", dtype, OneOf(DTYPES))
    require("to_onnx", "opset", opset, Integer(LOWEST_OPSET))
    require("to_onnx", "tree_operators", tree_operators, OneOf((None, True, False)))
    user, grid = check_metadata("to_onnx", metadata, model_version), None if times is None else check_times(times)
    require_free_keys(user["metadata"])
    newest = min(HIGHEST_OPSET, onnx_opset_version())
    if opset > newest:
        raise ValueError(
            f"to_onnx: opset must be at most {newest}, the newest that is tested and that onnx {onnx.__version__} "
            f"has, got {opset}"
        )
    source = export_source(estimator).with_times(grid).with_scaling(dtype)
    X = None if X is None else first_rows(source, X)
    more = {"user_metadata": user["metadata"], "model_version": model_version}
    more["times"] = None if grid is None else tuple(grid.tolist())
    model = build(source, dtype, opset, X, tree_operators, **more)
    if source.steps is not None:
        require_same_steps(source, model, X, dtype)
    onnx.checker.check_model(model, full_check=True)
    return model


def require_same_steps(source: ExportSource, model: ModelProto, X: Any, dtype: str) -> None:
    """Raise a ValueError unless the steps before the ensemble have a graph that outputs the same for some rows.

    They are the first rows of X, or random ones; where the steps themselves have no output for them, or no
    runtime is installed that can run the graph, nothing is compared.
    """
    rows = np.random.default_rng(0).standard_normal((ROWS, source.n_features)) if X is None else X
    rows = in_float64(native_table(rows))
    features = features_of(source, rows)
    if features is None:
        return
    metadata = read_metadata(model)
    zeros = np.zeros((len(features), source.n_offsets)) if source.n_offsets else None
    advice = "; export with dtype='float32'" if dtype == "float64" else ""
    try:
        feed = graph_inputs(rows, input_types(model), metadata, zeros)
        outputs = runner(with_output(model, metadata.steps), "auto")[1](feed)
    except ValueError as error:
        if find_spec("onnxruntime") is None:
            return
        raise ValueError(
            f"to_onnx: the steps before the ensemble have no graph that runs on X: {error}{advice}"
        ) from error
    in_graph, (steps,) = features_in_graph(metadata, outputs, features)
    is_shape_wrong = in_graph.shape != features.shape
    # Random rows may be too far from those of the fit: only rounding to float32 counts.
    is_comparable = X is not None or (dtype == "float64" and steps.error < SINGLE)
    if is_shape_wrong or (is_comparable and not steps.passed):
        fault = (
            f"shape {in_graph.shape} for {features.shape}" if is_shape_wrong else f"an error of {steps.error:.2g}"
        )
        raise ValueError(
            f"to_onnx: skl2onnx converts the steps before the ensemble into a graph whose output in {dtype} has "
            f"{fault}{advice}"
        )


def save_onnx(
    estimator: Any,
    path: str | os.PathLike[str],
    X: Any = None,
    *,
    dtype: str = "float32",
    opset: int = OPSET,
    tree_operators: bool | None = None,
    times: Any = None,
    metadata: Mapping[str, str] | None = None,
    model_version: int = 0,
) -> ModelProto:
    """Export a fitted estimator into a file.

    The file is created or replaced atomically; on failure the path is left unchanged.

    Parameters
    ----------
    estimator, X, dtype, opset, tree_operators, times, metadata, model_version
        As in :func:`to_onnx`.
    path : path-like
        Where to write.

    Returns
    -------
    onnx.ModelProto
        What was written.

    Raises
    ------
    TypeError, ValueError
        As in :func:`to_onnx`, or if `path` is no path.
    OSError
        If there is no such folder, the path is a folder, or it cannot be written; the error names the path.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from onnx_export import OnnxPredictor, save_onnx
    >>> from rffboost_ext import RFFBoostRegressor
    >>> X = np.arange(50.0, dtype=np.float32)[:, None]
    >>> model = RFFBoostRegressor(learner="tree", n_estimators=5).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     graph = save_onnx(model, f"{folder}/line.onnx")
    ...     predictor = OnnxPredictor(f"{folder}/line.onnx")
    >>> bool(np.allclose(predictor.predict(X), model.predict(X), atol=1e-3))
    True
    """
    resolve_target(path)
    choices: dict[str, Any] = {"dtype": dtype, "opset": opset, "tree_operators": tree_operators, "times": times}
    model = to_onnx(estimator, X, **choices, metadata=metadata, model_version=model_version)
    write_atomically(path, model.SerializeToString())
    return model


def build(
    source: ExportSource, dtype: str, opset: int, X: Any, tree_operators: bool | None, **metadata: Any
) -> ModelProto:
    """The model of a source with further metadata; its terms are compared on rows of X."""
    outer = outer_dtype(dtype)
    graph = Graph(FLOAT32 if dtype == "float32" else FLOAT64, opset, tree_operators=tree_operators)
    # Constants and nodes with the names of outputs get a number.
    graph.types.update(dict.fromkeys([*RESERVED, *(extra.name for extra in source.extras)], graph.dtype))
    inputs, x, missing_text = open_graph(source, graph, X, dtype)
    raw = convert_ensemble(source.ensemble, graph, graph.cast(x, graph.dtype))
    if source.n_offsets:
        inputs = [*inputs, value_info(OFFSET, outer, ["N", source.n_offsets])]
        raw = graph.node("Add", raw, graph.cast(graph.input(OFFSET, outer), graph.dtype))
    values = graph_outputs(source, graph, raw)
    check_conversion(source, graph, x, X)
    outputs = []
    for name, (value, shape) in values.items():
        kind = graph.types[value] if name == "label" else outer
        graph.finish(value, name, kind)
        outputs.append(value_info(name, kind, shape))
    model = assemble(graph, inputs, outputs)
    steps_output = "" if source.steps is None else x
    write_metadata(model, metadata_for(source, dtype, graph, steps_output, missing_text=missing_text, **metadata))
    return model


def open_graph(
    source: ExportSource, graph: Graph, X: Any, dtype: str
) -> tuple[list[ValueInfoProto], str, dict[str, str] | None]:
    """Begin a graph with what comes before the ensemble: steps of a pipeline, or the encoding of categories.

    The declared inputs, the name of the features of the ensemble, and the text to write for a missing one.
    """
    outer = outer_dtype(dtype)
    if source.encoding is not None:
        return open_categories(source, source.encoding, graph, outer)
    if source.steps is not None:
        return open_steps(source, graph, X, dtype)
    return [value_info("X", outer, ["N", source.n_features])], graph.input("X", outer), None


def graph_outputs(source: ExportSource, graph: Graph, raw: str) -> dict[str, tuple[str, list[Any]]]:
    """Label, probabilities and score, or variable and score, and others: their names in the graph and shapes."""
    response, n_outputs = response_nodes(source.link, graph, raw), source.ensemble.n_outputs
    values: dict[str, tuple[str, list[Any]]] = {}
    if source.classes is not None:
        labels = label(source, graph, raw, class_tensor(source.classes))
        values["label"] = labels, ["N", source.width] if source.multilabel else ["N"]
    values[source.main_output] = response, ["N", source.width]
    if source.classes is not None or response != raw:
        values["score"] = raw, ["N", n_outputs]
    for extra in source.extras:
        values[extra.name] = response_nodes(extra.link, graph, raw), ["N", extra.width]
    return values


def label(source: ExportSource, graph: Graph, raw: str, classes: Array) -> str:
    """The class of each row, (n,), that of the largest response; or zeros and ones, (n, L), for several labels."""
    if source.multilabel:
        is_likely = graph.node("Greater", response_nodes(source.link, graph, raw), graph.constant(0.5, "half"))
        return graph.cast(is_likely, INT64)
    columns = class_columns(source.link, graph, raw, source.ensemble.n_outputs)
    index = graph.node("ArgMax", columns, axis=1, keepdims=0)
    return graph.node("Gather", graph.constant(classes, "classes"), index, axis=0)


def class_tensor(classes: Array) -> Array:
    """Class labels as ONNX can store them: text, or int64 for whole numbers and booleans; else a TypeError."""
    if classes.dtype.kind in "UO" and all(isinstance(name, str) for name in classes):
        return classes.astype(np.str_)
    if classes.dtype.kind in "iufb" and np.array_equal(classes.astype(np.int64), classes):
        return classes.astype(np.int64)
    raise TypeError(f"class labels must be text, whole numbers or truth values for export, got {classes!r}")
