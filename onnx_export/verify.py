"""Comparison of a file with its estimator."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from onnx import ModelProto

from rffboost_ext import Ensemble
from rffboost_ext.exporting import Array, OneOf, check_base_margin, require

from .comparison import (
    EPS,
    WHOLE,
    Comparison,
    Report,
    distances,
    largest_difference,
    merged,
    response_tolerance,
    score_tolerance,
)
from .inputs import graph_inputs, input_types, row_blocks
from .metadata import Metadata, read_metadata
from .model import load, name_of, outer_dtype
from .runtimes import runner, with_output
from .source import ExportSource, export_source
from .survival import check_times

# Tolerance of the steps before the ensemble, as a multiple of the rounding error of a column's largest value:
# powers and logarithms of large numbers lose some digits.
STEPS = 10_000.0
# Share of the largest score by which rounding X may move predictions.
CLOSE = 0.01
DIGIT = 4.0 * EPS["float64"]
BLOCK = 1024
"""Rows of which gradients are computed at once."""


class MismatchError(ValueError):
    """A graph that does not compute what its estimator computes; the message is the report."""


def verify_onnx(
    estimator: Any,
    model: str | os.PathLike[str] | bytes | ModelProto,
    X: Any,
    *,
    base_margin: Any = None,
    runtime: str = "onnxruntime",
    raise_on_mismatch: bool = False,
) -> Report:
    """Compare the outputs of a model file with those of the estimator in Python.

    The comparison "end to end" is that of the predictions: the file's for X and the estimator's for X. Its
    tolerance has the effect of rounding X on cosines and on linear leaves, by the gradient, if that is less than a
    hundredth of the scores. Rows that rounding moves to another leaf of a tree are errors. The steps of a pipeline
    compute in the type of X: for X in float32 the estimator is evaluated in float64 too, and the nearer of both is
    compared.

    The other comparisons find where a difference comes from: both sides get the same numbers, X rounded to the
    file's type, or the output of the file's own steps before the ensemble, which is compared with the
    pipeline's separately. The tolerance of the scores is a bound on rounding
    errors (:func:`onnx_export.rounding_error`); that of probabilities and means follows from it. Labels
    must be equal if the score is further than the tolerance from the decision boundary.

    Parameters
    ----------
    estimator : estimator
        The exported estimator.
    model : path-like, bytes or ModelProto
        The exported model.
    X : array-like or sparse matrix of shape (n, d), table, or sequence of str
        What the estimator takes, to compare on; large ones in blocks of rows.
    base_margin : array-like of shape (n,) or (n, C), optional
        The offset of each row; required by a model that was fitted with one, else None.
    runtime : {"onnxruntime", "reference", "auto"}, default="onnxruntime"
        What runs the graph: ONNX Runtime, the (slow) reference evaluator of the onnx package, or ONNX Runtime
        where it is installed and else the reference.
    raise_on_mismatch : bool, default=False
        Whether to raise an error if an output does not pass.

    Returns
    -------
    Report

    Raises
    ------
    MismatchError
        If the error of an output exceeds its tolerance and `raise_on_mismatch` is set. It is a ValueError.
    ValueError, TypeError
        If the file is not readable or does not match the estimator or X, or X has no row.

    Examples
    --------
    >>> import numpy as np
    >>> from onnx_export import to_onnx, verify_onnx
    >>> from rffboost_ext import RFFBoostRegressor
    >>> X = np.arange(50.0)[:, None]
    >>> model = RFFBoostRegressor(learner="tree", n_estimators=5).fit(X, X[:, 0])
    >>> bool(verify_onnx(model, to_onnx(model), X))
    True
    """
    require("verify_onnx", "runtime", runtime, OneOf(("onnxruntime", "reference", "auto")))
    source, proto = export_source(estimator), load(model)
    metadata = read_metadata(proto, name_of(model))
    times = None if metadata.times is None else check_times(metadata.times)
    source = source.with_times(times).with_scaling(metadata.dtype)
    runtime, run = runner(with_output(proto, metadata.steps), runtime)
    reports = []
    for rows, margin in row_blocks(X, base_margin, metadata):
        feed = graph_inputs(rows, input_types(proto), metadata, margin)
        n_samples = len(next(iter(feed.values())))
        if not n_samples:
            raise ValueError(f"verify_onnx: X must have at least one row, got shape {np.shape(X)}")
        offset = check_base_margin(margin, n_samples, metadata.n_offsets) if metadata.n_offsets else np.zeros(1)
        reports.append(compare_all(source, metadata, rows, run(feed), runtime, offset))
    report = merged(reports)
    if raise_on_mismatch and not report.passed:
        raise MismatchError(str(report))
    return report


def compare_all(
    source: ExportSource, metadata: Metadata, X: Any, outputs: dict[str, Array], runtime: str, offset: Array
) -> Report:
    """The report on the outputs of a file for X and an offset of the scores."""
    outer = outer_dtype(metadata.dtype)
    offset_in_graph = offset.astype(outer).astype(np.float64)
    # Steps of a pipeline compute in the type of X: of float32 and float64, the one that the file follows.
    scores = [(rows, source.raw(rows) + offset) for rows in (X, in_float64(X))]
    X, raw = min(scores, key=lambda pair: prediction_errors(source, outputs, pair[1]).max(initial=0.0))
    features = source.features(X).astype(np.float64)
    in_graph, steps = features_in_graph(metadata, outputs, features)
    raw_in_graph = source.ensemble.raw(in_graph) + offset_in_graph
    score = score_tolerance(source, in_graph, metadata.dtype, metadata.n_trees)
    score += 2.0 * EPS[outer] * float(np.abs(offset).max())
    moved = effect_within_leaves(source.ensemble, in_graph, features) + largest_difference(offset, offset_in_graph)
    lines = (
        *compare(source, metadata, outputs, raw_in_graph, score),
        *steps,
        end_to_end(source, metadata, outputs, raw, score + moved),
    )
    single = max(largest_difference(values, raw) for _, values in scores)
    return Report(len(raw), runtime, metadata.dtype, lines, largest_difference(raw, raw_in_graph), single)


def prediction_errors(source: ExportSource, outputs: dict[str, Array], raw: Array) -> Array:
    """The differences of the file's predictions to those of an estimator with raw scores `raw`."""
    return distances(outputs.get(source.main_output, np.empty(0)), source.response(raw))


def features_in_graph(
    metadata: Metadata, outputs: dict[str, Array], features: Array
) -> tuple[Array, tuple[Comparison, ...]]:
    """The input of the ensemble in the graph, and its comparison with that in Python if there are steps."""
    if metadata.steps not in outputs:
        with np.errstate(over="ignore"):
            return features.astype(outer_dtype(metadata.dtype)).astype(np.float64), ()
    in_graph = outputs[metadata.steps].astype(np.float64)
    size = np.nanmax(np.abs(features), axis=0, initial=0.0) if features.ndim == 2 else np.ones(1)
    size[size == 0.0] = 1.0
    is_shape_equal = in_graph.shape == features.shape
    error = largest_difference(in_graph / size, features / size) if is_shape_equal else float("inf")
    return in_graph, (Comparison("steps", error, STEPS * EPS[metadata.dtype]),)


def end_to_end(
    source: ExportSource, metadata: Metadata, outputs: dict[str, Array], raw: Array, score: float
) -> Comparison:
    """The predictions of the file compared with the estimator's, whose raw scores of X are `raw`."""
    limit = response_tolerance(source.response, raw, score, EPS[outer_dtype(metadata.dtype)])
    errors = np.broadcast_to(prediction_errors(source, outputs, raw), (len(raw), source.width))
    fault = f"MISMATCH on {(errors.max(axis=1) > limit).sum()} of {len(raw)} rows"
    return Comparison(WHOLE, float(errors.max(initial=0.0)), limit, fault)


def effect_within_leaves(ensemble: Ensemble, in_graph: Array, features: Array) -> float:
    """How far scores move with the features of a graph, in place of those in Python, if rows keep their leaves.

    By the gradient at both ends; at most `CLOSE` of the scores.
    """
    if in_graph.shape != features.shape:
        return 0.0
    moved = np.nan_to_num(np.abs(in_graph - features) + DIGIT * np.abs(features))
    raw, largest = ensemble.raw(features), 0.0
    try:
        for start in range(0, len(moved), BLOCK):
            rows = slice(start, start + BLOCK)
            slopes = np.maximum(*(np.abs(ensemble.gradient(ends[rows])) for ends in (in_graph, features)))
            largest = max(largest, float(np.einsum("ncd,nd->nc", slopes, moved[rows]).max(initial=0.0)))
    except TypeError:
        # A user's term need not have a gradient.
        largest = largest_difference(ensemble.raw(in_graph), raw)
    return min(CLOSE * float(np.nanmax(np.abs(raw - ensemble.baseline), initial=0.0)), largest)


def in_float64(X: Any) -> Any:
    """X with its real numbers of NumPy's types in float64."""
    if hasattr(X, "select_dtypes"):
        return X.astype(dict.fromkeys(X.select_dtypes(["float16", "float32"]).columns, np.float64))
    return X.astype(np.float64) if getattr(getattr(X, "dtype", None), "kind", "") == "f" else X


def compare(
    source: ExportSource, metadata: Metadata, outputs: dict[str, Array], raw: Array, score: float
) -> tuple[Comparison, ...]:
    """Each output compared with that for the raw scores `raw`, whose tolerance is `score`."""
    eps = EPS[outer_dtype(metadata.dtype)]
    expected = {"score": (raw, score)}
    for name, function in (
        (source.main_output, source.response),
        *((extra.name, extra.response) for extra in source.extras),
    ):
        expected[name] = function(raw), response_tolerance(function, raw, score, eps)
    lines = [
        Comparison(name, largest_difference(outputs[name], values), limit)
        for name, (values, limit) in expected.items()
        if name in outputs
    ]
    response, limit = expected[source.main_output]
    due = {*expected} if source.classes is None else {*expected, "label"}
    if source.classes is None and np.array_equal(raw, response, equal_nan=True):
        # The score is the response itself of an identity link.
        due.remove("score")
    lines += unmatched_outputs({*outputs} - {metadata.steps}, due)
    if source.classes is not None and "label" in outputs:
        lines.append(Comparison("label", wrong_labels(source, outputs["label"], response, limit), 0.0))
    return tuple(lines)


def unmatched_outputs(names: set[str], due: set[str]) -> list[Comparison]:
    """Outputs of the file or of the estimator that the other does not have."""
    faults = dict.fromkeys(due - names, "MISSING in the file")
    faults |= dict.fromkeys(names - due - {"score"}, "NOT of the estimator")
    return [Comparison(name, float("inf"), 0.0, fault) for name, fault in sorted(faults.items())]


def wrong_labels(source: ExportSource, labels: Array, response: Array, tolerance: float) -> float:
    """The fraction of rows whose label differs although the largest response is clear of the second."""
    if source.multilabel:
        is_clear = np.abs(response - 0.5) > tolerance
        return float(np.mean((labels != (response > 0.5)) & is_clear)) if labels.shape == response.shape else 1.0
    classes, best = np.asarray(source.classes), np.sort(response, axis=1)
    kind = np.str_ if classes.dtype.kind in "UO" else np.int64
    differs = labels.astype(kind) != classes[response.argmax(axis=1)].astype(kind)
    return float(np.mean(differs & (best[:, -1] - best[:, -2] > 2.0 * tolerance)))
