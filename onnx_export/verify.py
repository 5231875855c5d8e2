"""Comparison of a graph with its estimator."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from rffboost_ext.utils.param_validation import OneOf, require
from rffboost_ext.utils.typing import Array

from .inputs import graph_inputs
from .links import same_as_raw
from .metadata import Metadata, read_metadata
from .model import load, name_of
from .predictor import open_session, run_session, with_steps_output
from .source import ExportSource, export_source
from .tolerance import EPS, response_tolerance, score_tolerance

RUNTIMES = ("onnxruntime", "reference", "auto")
# Input rounding is reported when it moves scores by more than this multiple of the largest tolerance.
NOTABLE = 10.0
# Tolerance of the steps before the ensemble, as a multiple of the rounding error of a column's largest value:
# powers and logarithms of large numbers lose some digits.
STEPS = 10_000.0
# Relative difference of scores beyond which rounding is not the cause.
CLOSE = 1e-3


class MismatchError(ValueError):
    """A graph that does not compute what its estimator computes; the message is the report."""


@dataclass(frozen=True)
class Comparison:
    """One output of a graph compared with the estimator's.

    Attributes
    ----------
    output : str
        Name of the output, or "steps" for the output of the steps before the ensemble.
    error : float
        Largest absolute difference; for labels the fraction of rows that differ although the score is clear of the
        decision boundary, for steps the difference relative to the largest absolute value of its column.
    tolerance : float
        Largest difference that round-off explains.
    fault : str, default=""
        The fault, if there is nothing to compare.
    """

    output: str
    error: float
    tolerance: float
    fault: str = ""

    @property
    def passed(self) -> bool:
        """Whether the error is within the tolerance."""
        return self.error <= self.tolerance

    def __str__(self) -> str:
        verdict = "ok" if self.passed else self.fault or "MISMATCH"
        return f"{self.output:<14}error {self.error:9.3g}   tolerance {self.tolerance:9.3g}   {verdict}"


@dataclass(frozen=True)
class Report:
    """The result of :func:`verify_onnx`; ``print`` shows it.

    Attributes
    ----------
    rows : int
        Rows compared.
    runtime : str
        What ran the graph.
    dtype : str
        Type of the graph's numbers.
    comparisons : tuple of Comparison
        One per output.
    rounding : float, default=0.0
        Largest change of scores, in Python, when X is rounded to the graph's input type and passed through the
        graph's steps before the ensemble, if any. Both sides of a comparison of scores include it; for X of higher
        precision the graph differs from the estimator by this much more.
    """

    rows: int
    runtime: str
    dtype: str
    comparisons: tuple[Comparison, ...]
    rounding: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every output is within its tolerance."""
        return all(comparison.passed for comparison in self.comparisons)

    def __getitem__(self, output: str) -> Comparison:
        known = {comparison.output: comparison for comparison in self.comparisons}
        if output not in known:
            raise KeyError(f"a comparison of {output!r}; there are those of {', '.join(known)}")
        return known[output]

    def __str__(self) -> str:
        head = f"{'equal' if self.passed else 'NOT EQUAL'} on {self.rows} rows, {self.dtype}, by {self.runtime}"
        lines = [head, *(f"  {comparison}" for comparison in self.comparisons)]
        known = [comparison.output for comparison in self.comparisons]
        allowed = [comparison.tolerance for comparison in self.comparisons if comparison.output != "steps"]
        if self.rounding > NOTABLE * max(allowed, default=0.0):
            what = "rounding X and the steps" if "steps" in known else "rounding X"
            kind, advice = ("float64", "") if self.dtype == "float64" else ("float32", ": see dtype='float64'")
            lines.append(f"  {what} to {kind} moves scores by up to {self.rounding:.3g}{advice}")
        return "\n".join(lines)


def verify_onnx(
    estimator: Any,
    model: str | os.PathLike[str] | bytes | ModelProto,
    X: Any,
    *,
    runtime: str = "onnxruntime",
    raise_on_mismatch: bool = False,
) -> Report:
    """Compare the outputs of a model file with those of the estimator in Python.

    Both get the same numbers: X rounded to the file's type, or the output of the file's own steps before the
    ensemble, which is compared with the pipeline's separately. The tolerance of the scores is a bound on rounding
    errors (:func:`onnx_export.rounding_error`); that of probabilities and means follows from it. Labels
    must be equal if the score is further than the tolerance from the decision boundary.

    Parameters
    ----------
    estimator : estimator
        The exported estimator.
    model : path-like, bytes or ModelProto
        The exported model.
    X : array-like of shape (n, d)
        Features to compare on.
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
    """
    require("verify_onnx", "runtime", runtime, OneOf(RUNTIMES))
    source, proto = export_source(estimator), load(model)
    metadata = read_metadata(proto, name_of(model))
    feed = graph_inputs(X, {entry.name: entry.type.tensor_type.elem_type for entry in proto.graph.input}, metadata)
    if not len(next(iter(feed.values()))):
        raise ValueError(f"verify_onnx: X must have at least one row, got shape {np.shape(X)}")
    runtime, run = runner(with_steps_output(proto, metadata), runtime)
    if ("label" in (entry.name for entry in proto.graph.output)) != (source.classes is not None):
        kinds = ("classifier", "regressor") if source.classes is not None else ("regressor", "classifier")
        raise ValueError(f"the estimator is a {kinds[0]}, the model is of a {kinds[1]}: {metadata.estimator}")
    outputs = run(feed)
    seen = rounded(X, "float64" if metadata.dtype == "float64" else "float32")
    whole = source.raw(seen)
    inner, features, steps = after_steps(source, metadata, outputs, seen, whole)
    raw = inner.raw(features) if steps else whole
    rounding = largest_difference(source.raw(X), raw)
    found = (*compare(inner, metadata, outputs, features, raw), *steps)
    report = Report(len(seen), runtime, metadata.dtype, found, rounding)
    if raise_on_mismatch and not report.passed:
        raise MismatchError(str(report))
    return report


def after_steps(
    source: ExportSource, metadata: Metadata, outputs: dict[str, Array], X: Any, raw: Array
) -> tuple[ExportSource, Any, tuple[Comparison, ...]]:
    """The ensemble without the steps before it, its input in the graph, and the comparison of that input."""
    if not metadata.steps:
        return source, X, ()
    found, dtype = outputs[metadata.steps].astype(np.float64), metadata.dtype
    wanted = source.features(X).astype(np.float64)
    size = np.nanmax(np.abs(wanted), axis=0, initial=0.0) if wanted.ndim == 2 else np.ones(1)
    size[size == 0.0] = 1.0
    error = largest_difference(found / size, wanted / size) if found.shape == wanted.shape else float("inf")
    if not is_consistent(source, raw, wanted):
        error = float("inf")
    inner = replace(source, steps=None, raw=source.ensemble.raw)
    return inner, found, (Comparison("steps", error, STEPS * EPS[dtype]),)


def is_consistent(source: ExportSource, wanted: Array, features: Array) -> bool:
    """Whether the extracted ensemble reproduces a pipeline's scores from the output of the extracted steps."""
    found = source.ensemble.raw(features)
    return bool(np.allclose(found, wanted, rtol=CLOSE, atol=CLOSE * (1.0 + np.abs(wanted).max()), equal_nan=True))


def runner(model: ModelProto, runtime: str) -> tuple[str, Callable[[dict[str, Array]], dict[str, Array]]]:
    """The runtime that will be used and a function from inputs to outputs, by name."""
    names = [entry.name for entry in model.graph.output]
    if runtime != "reference":
        try:
            session = open_session(model.SerializeToString())
            return "onnxruntime", lambda feed: dict(zip(names, run_session(session, names, feed), strict=True))
        except ImportError:
            if runtime != "auto":
                raise
    evaluator = ReferenceEvaluator(model)

    def run(feed: dict[str, Array]) -> dict[str, Array]:
        try:
            found: Any = evaluator.run(names, feed)
        except TypeError as error:
            raise ValueError(
                f"verify_onnx: the reference evaluator of onnx {onnx.__version__} cannot run this file, such as "
                f"trees in double precision: give runtime='onnxruntime'"
            ) from error
        return dict(zip(names, found, strict=True))

    return "reference", run


def rounded(X: Any, dtype: str) -> Any:
    """X rounded to `dtype` and returned as float64; in tables and object arrays, only its floats."""
    if not hasattr(X, "columns"):
        # Lists may mix text and numbers.
        X = np.array(X, dtype=object) if isinstance(X, list | tuple) else X
        if np.asarray(X).dtype == object:
            entries = [[rounded_entry(value, dtype) for value in row] for row in np.asarray(X)]
            return np.array(entries, dtype=object).reshape(np.shape(X))
        return X if holds_text(X) else np.asarray(X, dtype=dtype).astype(np.float64)
    if not hasattr(X, "select_dtypes"):
        columns = {name: np.asarray(X[name]) for name in X.columns}
        real = {name: values for name, values in columns.items() if values.dtype.kind == "f"}
        return X.with_columns(**{name: values.astype(dtype).astype(np.float64) for name, values in real.items()})
    real = X.select_dtypes("floating").columns
    return X.astype(dict.fromkeys(real, dtype)).astype(dict.fromkeys(real, "float64"))


def holds_text(X: Any) -> bool:
    """Whether an array is of text that is not all numbers."""
    if np.asarray(X).dtype.kind not in "US":
        return False
    try:
        np.asarray(X, dtype=np.float64)
    except ValueError:
        return True
    return False


def rounded_entry(value: Any, dtype: str) -> Any:
    """A float rounded to `dtype`; anything else unchanged."""
    return float(np.asarray(value, dtype=dtype)) if isinstance(value, float) else value


def compare(
    source: ExportSource, metadata: Metadata, outputs: dict[str, Array], X: Any, raw: Array
) -> tuple[Comparison, ...]:
    """Each output compared with the estimator's, whose raw scores of X are `raw`."""
    eps = EPS["float64" if metadata.dtype == "float64" else "float32"]
    score, response = score_tolerance(source, X, metadata.dtype), source.response(raw)
    allowed = response_tolerance(source, raw, score, eps)
    wanted = {"score": (raw, score), "probabilities": (response, allowed), "variable": (response, allowed)}
    for extra in source.extras:
        limit = response_tolerance(replace(source, response=extra.response), raw, score, eps)
        wanted[extra.name] = extra.response(raw), limit
    found = [
        Comparison(name, largest_difference(outputs[name], values), limit)
        for name, (values, limit) in wanted.items()
        if name in outputs
    ]
    found += unmatched_outputs(source, {*outputs} - {metadata.steps}, [extra.name for extra in source.extras])
    if source.classes is not None:
        found.append(Comparison("label", wrong_labels(source.classes, outputs["label"], raw, score), 0.0))
    return tuple(found)


def unmatched_outputs(source: ExportSource, given: set[str], extras: Sequence[str]) -> list[Comparison]:
    """Outputs of the file or of the estimator that the other does not have."""
    if source.classes is None:
        due = {"variable", *extras} | (set() if same_as_raw(source.link) else {"score"})
    else:
        due = {"label", "probabilities", "score", *extras}
    faults = dict.fromkeys(due - given, "MISSING in the file") | dict.fromkeys(given - due, "NOT of the estimator")
    return [Comparison(name, float("inf"), 0.0, fault) for name, fault in sorted(faults.items())]


def largest_difference(found: Array, wanted: Array) -> float:
    """The largest absolute difference; infinite where one is NaN and the other is not, or shapes differ."""
    if found.shape != wanted.shape or not np.array_equal(np.isnan(found), np.isnan(wanted)):
        return float("inf")
    same = found == wanted
    return float(np.nanmax(np.where(same, 0.0, np.abs(found - np.where(same, 0.0, wanted))), initial=0.0))


def wrong_labels(classes: Array, found: Array, raw: Array, tolerance: float) -> float:
    """The fraction of rows whose label differs although the raw score is clear of the decision boundary."""
    if raw.shape[1] == 1:
        index, gap = (raw[:, 0] > 0.0).astype(int), np.abs(raw[:, 0])
    else:
        best = np.sort(raw, axis=1)
        index, gap = raw.argmax(axis=1), 0.5 * (best[:, -1] - best[:, -2])
    text = classes.dtype.kind in "UO"
    wanted = classes[index].astype(np.str_ if text else np.int64)
    return float(np.mean((found.astype(wanted.dtype) != wanted) & (gap > tolerance)))
