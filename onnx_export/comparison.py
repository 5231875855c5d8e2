"""Comparison of values of a graph with values of a model: differences, what rounding explains, and the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rffboost_ext.exporting import Array

from .conversion import rounding_error
from .source import ExportSource

# Input rounding is reported when it moves scores by more than this multiple of the largest tolerance.
NOTABLE = 10.0
WHOLE = "end to end"
EPS = {"float32": float(np.finfo(np.float32).eps), "float64": float(np.finfo(np.float64).eps)}


def distances(actual: Array, expected: Array) -> Array:
    """The absolute differences of two arrays: 0 where both are equal or NaN, infinite where one is NaN.

    Infinite too if their shapes differ.
    """
    if actual.shape != expected.shape:
        return np.array(np.inf)
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.abs(actual - expected)
    error[(actual == expected) | (np.isnan(actual) & np.isnan(expected))] = 0.0
    error[np.isnan(error)] = np.inf
    return error


def largest_difference(actual: Array, expected: Array) -> float:
    """The largest of the distances."""
    return float(distances(actual, expected).max(initial=0.0))


def score_tolerance(source: ExportSource, features: Array, dtype: str, n_trees: int) -> float:
    """The largest error of a raw score by rounding, in the graph and in the estimator itself.

    The sum over terms of :func:`rounding_error` and ``eps sqrt(1 + trees) |baseline|``: for T cosines ``4 eps (1 +
    max|z|) |v|_2 + eps sqrt(T) max|f|``, where z is the argument of the cosine, v are the weights and f is the
    weighted sum. The constant is empirical: the largest error observed was a fourth to a seventh of the bound.
    """
    ensemble = source.ensemble
    # Tree libraries start from the baseline and round the running sum after every tree.
    baseline = float(np.abs(ensemble.baseline).max(initial=0.0)) * float(np.sqrt(1 + n_trees))

    def bound(eps: float) -> float:
        return eps * baseline + sum(rounding_error(term, features, eps) for term in ensemble.terms)

    graph = bound(EPS["float64" if dtype == "mixed" else dtype])
    if dtype == "mixed":
        graph += EPS["float32"] * float(np.nanmax(np.abs(ensemble.raw(features)), initial=0.0))
    return graph + bound(source.eps)


def response_tolerance(response: Callable[[Array], Array], raw: Array, score: float, eps: float) -> float:
    """The largest error of a response, of precision `eps`, to scores with errors of up to `score` each."""
    exact = response(raw)
    moved = np.zeros(len(exact))
    for shift in score * np.eye(raw.shape[1]):
        sides = [np.abs(response(raw + sign * shift) - exact).max(axis=1) for sign in (-1.0, 1.0)]
        moved += np.maximum(*sides)
    return float(np.nanmax(moved, initial=0.0) + 4.0 * eps * np.nanmax(np.abs(exact), initial=1.0))


@dataclass(frozen=True)
class Comparison:
    """One output of a graph compared with the estimator's.

    Attributes
    ----------
    output : str
        Name of the output, "steps" for the output of the steps before the ensemble, or "end to end" for the
        predictions of the file for X, compared with those of the estimator for X.
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
    """The result of :func:`verify_onnx`; ``print`` shows it, and it is true if every output passed.

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
        graph's steps before the ensemble, if any. Both sides of the comparisons of outputs include it; only
        "end to end" does not.
    single : float, default=0.0
        Largest difference between the scores in Python for X in float32 and for the same numbers in float64: the
        steps of a pipeline compute in the type of X. The file is compared with the nearer of the two.
    """

    rows: int
    runtime: str
    dtype: str
    comparisons: tuple[Comparison, ...]
    rounding: float = 0.0
    single: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether every output is within its tolerance."""
        return all(comparison.passed for comparison in self.comparisons)

    def __bool__(self) -> bool:
        return self.passed

    def __getitem__(self, output: str) -> Comparison:
        by_output = {comparison.output: comparison for comparison in self.comparisons}
        if output not in by_output:
            raise KeyError(f"a comparison of {output!r}; there are those of {', '.join(by_output)}")
        return by_output[output]

    def __str__(self) -> str:
        head = f"{'equal' if self.passed else 'NOT EQUAL'} on {self.rows} rows, {self.dtype}, by {self.runtime}"
        lines = [head, *(f"  {comparison}" for comparison in self.comparisons)]
        limits = {line.output: line.tolerance for line in self.comparisons if line.output != WHOLE}
        what = "rounding X" if limits.pop("steps", None) is None else "rounding X and the steps"
        most = NOTABLE * max(limits.values(), default=0.0)
        if self.rounding > most:
            kind, advice = ("float64", "") if self.dtype == "float64" else ("float32", ": see dtype='float64'")
            lines.append(f"  {what} to {kind} moves scores by up to {self.rounding:.3g}{advice}")
        if self.single > most:
            lines.append(f"  in Python, X in float32 and in float64 differ by {self.single:.3g} in scores")
        return "\n".join(lines)


def merged(reports: Sequence[Report]) -> Report:
    """The report on several blocks of rows: of each output the comparison that passes least."""
    lines = zip(*(report.comparisons for report in reports), strict=True)
    worst = tuple(max(of_blocks, key=lambda line: (not line.passed, line.error)) for of_blocks in lines)
    return replace(
        reports[0],
        rows=sum(report.rows for report in reports),
        comparisons=worst,
        rounding=max(report.rounding for report in reports),
        single=max(report.single for report in reports),
    )
