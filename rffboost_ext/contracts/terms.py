"""The laws of a term, each a function of a case, terms with rows."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Term
from ..terms.total_effects import total_effects, variance
from ..utils.coalitions import shapley_by_evaluation
from ..utils.typing import Array
from .comparison import ContractError, require_close, require_shape, require_that

FACTORS = -0.5, 0.0, 1.0
# How far from a row a jump is looked for, relative to its numbers and those of other rows.
JUMP = 1e-6
# Differences for gradients, in standard deviations; rows for Shapley values, and features with all sets of them.
STEP, FEW_ROWS, MAX_ENUMERATED = 1e-3, 4, 8
# Relative to the size of the summands. The terms of a fit may compute in single precision.
TOLERANCE, TOLERANCE_OF_FIT = 1e-6, 1e-4
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "column by column": np.asfortranarray,
    "with gaps between the rows": lambda X: np.repeat(X, 2, axis=0)[::2],
    "in reverse order": lambda X: X[::-1].copy()[::-1],
}
"""Layouts of X in memory."""


@dataclass(frozen=True)
class TermCase:
    """Terms of one family with rows to check them on.

    Attributes
    ----------
    terms : sequence of Term
        The first one is checked by itself, all are stacked.
    X : ndarray of shape (r, d)
        Rows, at least two.
    tolerance : float
        Allowed difference, as a share of the size of the summands.
    rows : ndarray of shape (r,), optional
        Indices of the rows in the data of a fit, for messages.
    """

    terms: Sequence[Term]
    X: Array
    tolerance: float = TOLERANCE
    rows: Array | None = None

    @property
    def term(self) -> Term:
        """The term that is checked."""
        return self.terms[0]

    @property
    def name(self) -> str:
        """The class of the term, for messages."""
        return f"term {type(self.term.innermost).__name__}"

    def outputs(self, what: str, function: Callable[[Array], Any], X: Array) -> Array:
        """Outputs of a function for rows X, or a ContractError that says `what` unless they are finite and 2-d."""
        actual = function(X)
        require_that(np.ndim(actual) == 2, f"{self.name}: {what} must have two dimensions, got {np.shape(actual)}")
        require_shape(f"{self.name}: {what}", actual, (len(X), np.shape(actual)[1]))
        return np.asarray(actual, dtype=np.float64)

    def require_same(
        self, what: str, expected: Array, function: Callable[[Array], Any], X: Array, size: Array | None = None
    ) -> None:
        """Raise a ContractError unless a function has the wanted outputs, up to rounding of `size` (C,)."""
        actual = np.asarray(function(X), dtype=np.float64)
        size = np.abs(expected).max(axis=0, initial=0.0) if size is None else size
        shapes = f"{actual.shape}, not {expected.shape}"
        require_that(actual.shape == expected.shape, f"{self.name}: {what}, got outputs of shape {shapes}")
        wrong = np.flatnonzero(~(np.abs(actual - expected) <= self.tolerance * size).all(axis=1))
        if len(wrong):
            row = wrong[0]
            raise ContractError(
                f"{self.name}: {what}, got {actual[row]} instead of {expected[row]} in row "
                f"{row if self.rows is None else self.rows[row]} of X ({len(wrong)} of {len(actual)} rows differ)"
                f"{advice_on_jumps(function, X, wrong)}"
            )


def advice_on_jumps(function: Callable[[Array], Any], X: Array, rows: Array) -> str:
    """What to do about a function that jumps at all of some rows of X, where rounding decides; else empty."""
    away = JUMP * (np.abs(X[rows]) + np.nanstd(X, axis=0))
    below, here, above = (np.asarray(function(X[rows] + side * away)) for side in (-1.0, 0.0, 1.0))
    size = 1e-3 * max(np.abs(here).max(initial=0.0), 1e-300)
    moved = (np.abs(below - here) > size) | (np.abs(above - here) > size)
    if not len(rows) or not moved.any(axis=1).all():
        return ""
    return (
        ": its outputs jump at these rows, so that rounding decides; put thresholds between the rows of a fit, as "
        "in the middle of two values"
    )


def outputs_stand_alone(case: TermCase) -> None:
    """The output and the features of a row depend on that row only, in any layout; X stays as it is."""
    for what, method in (("term(X)", case.term), ("features(X)", case.term.features)):
        X = case.X.copy()
        whole = case.outputs(what, method, X)
        same = np.array_equal(X, case.X, equal_nan=True)
        require_that(same, f"{case.name}: {what} must not change X in place")
        law = f"{what} of a row must not depend on other rows"
        for n_rows in (1, len(X) // 2):
            case.require_same(law, whole[:n_rows], method, X[:n_rows].copy())
        case.require_same(law, whole[::-1], method, X[::-1].copy())
        for layout, arrange in LAYOUTS.items():
            case.require_same(f"{what} must be the same for X {layout}", whole, method, arrange(X))


def scaled_multiplies(case: TermCase) -> None:
    """``scaled`` multiplies the outputs, and leaves the term as it is."""
    term, outputs = case.term, case.term(case.X)
    for factor in FACTORS:
        law = f"scaled({factor})(X) must be {factor} * term(X)"
        case.require_same(law, factor * outputs, term.scaled(factor), case.X)
        case.require_same("scaled() must not change the term", outputs, term, case.X)


def stack_is_the_sum(case: TermCase) -> None:
    """``stack`` is the sum of terms of one family, and leaves them as they are."""
    X, terms = case.X, [*case.terms, case.term.scaled(FACTORS[0])]
    parts, stack = [term(X) for term in terms], type(terms[0]).stack
    size = np.abs(parts).sum(axis=0).max(axis=0)
    for count in sorted({2, len(terms)}):
        law, total = f"stack of {count} terms must be their sum", np.sum(parts[:count], axis=0)
        case.require_same(law, total, stack(terms[:count]), X, size)
        for term, before in zip(terms, parts, strict=True):
            case.require_same("stack() must not change its terms", before, term, X)
    if len(terms) > 2:
        nested = stack([stack(terms[:2]), *terms[2:]])
        case.require_same("a stack of stacks must be the sum", total, nested, X, size)
    case.require_same("merged() must be the same function", total, stack(terms).merged(), X, size)


def forms_are_equal(case: TermCase) -> None:
    """Merged, materialized and pickled, the term is the same function."""
    term, X = case.term, case.X
    outputs, stored = term(X), term.materialized()
    case.require_same("merged() must be the same function", outputs, term.merged(), X)
    case.require_same("materialized() must be the same function", outputs, stored, X)
    if is_importable(term):
        case.require_same("a pickled term must be the same", outputs, pickle.loads(pickle.dumps(stored)), X)


def gradient_is_the_slope(case: TermCase) -> None:
    """A gradient is between the differences of the outputs to both sides, for each output and feature."""
    term, X = case.term, case.X
    if type(term.innermost).gradient is Term.gradient:
        return
    actual, outputs = np.asarray(term.gradient(X), dtype=np.float64), case.outputs("term(X)", term, X)
    require_shape(f"{case.name}: gradient(X)", actual, (*outputs.shape, X.shape[1]))
    size = np.abs(actual).max(initial=0.0)
    for j, step in enumerate(STEP * np.nanstd(X, axis=0)):
        move = step * (np.arange(X.shape[1]) == j)
        sides = np.stack([outputs - term(X - move), term(X + move) - outputs]) / max(step, 1e-300)
        expected = np.clip(actual[:, :, j], sides.min(axis=0), sides.max(axis=0))
        wrong = np.abs(actual[:, :, j] - expected) > 0.02 * (size + np.abs(expected))
        if step > 0.0 and wrong.any():
            row, output = np.argwhere(wrong)[0]
            raise ContractError(
                f"{case.name}: gradient(X) must be the derivative, got {actual[row, output, j]:.6g} instead of "
                f"{expected[row, output]:.6g}, entry [{row}, {output}, {j}]"
            )


def shapley_values_are_exact(case: TermCase) -> None:
    """Shapley values sum to the output less its mean over the background; of few features all are enumerated."""
    kind, X = type(case.term.innermost), case.X[:FEW_ROWS]
    background, columns = case.X[-FEW_ROWS:], np.arange(case.X.shape[1])
    for name in ("shapley", "grouped_shapley"):
        if getattr(kind, name) is getattr(Term, name):
            continue
        groups = () if name == "shapley" else (columns, len(columns))
        actual = np.asarray(getattr(case.term, name)(X, background, *groups), dtype=np.float64)
        outputs = case.term(X)
        require_shape(f"{case.name}: {name}", actual, (*outputs.shape, len(columns)))
        atol = 10.0 * case.tolerance * np.abs(case.term(case.X)).max(initial=0.0)
        if len(columns) <= MAX_ENUMERATED:
            expected = shapley_by_evaluation(case.term, X, background, columns, len(columns))
            what = f"{case.name}: {name} must be the values by enumeration of all sets of features"
        else:
            actual, expected = actual.sum(axis=2), outputs - case.term(background).mean(axis=0)
            what = f"{case.name}: {name} must sum to the output less its mean over the background"
        require_close(what, actual, expected, atol=atol)


def variances_are_shares(case: TermCase) -> None:
    """Variances are not negative, near the total effects of the features, and sum to that of the outputs.

    Those of a sum of trees are sums over the trees.
    """
    term, X = case.term, case.X
    weight = np.full(len(X), 1.0 / len(X))
    actual = term.variances(X, weight)
    if actual is None:
        return
    require_shape(f"{case.name}: variances", actual, (X.shape[1],))
    total, effects = variance(term(X), weight).sum(), total_effects(term, X, weight)
    bound = 1e-3 * total
    require_that(bool((actual >= -bound).all()), f"{case.name}: variances must not be negative, got {actual}")
    shares, expected = (values / max(values.sum(), 1e-300) for values in (actual, effects))
    near = bool((actual[effects == 0.0] <= bound).all() and (np.abs(shares - expected) <= 0.5).all())
    require_that(
        near,
        f"{case.name}: variances must be 0 for features without effect, and near the shares of total effects, "
        f"{expected}, got shares {shares}",
    )
    is_whole = term.innermost.is_tree or abs(actual.sum() - total) <= bound
    require_that(
        is_whole, f"{case.name}: variances must sum to that of the outputs, {total:.6g}, got {actual.sum():.6g}"
    )


LAWS = outputs_stand_alone, scaled_multiplies, forms_are_equal, stack_is_the_sum
"""The laws of a term; a fit relies on all of them."""


LAWS_OF_METHODS = gradient_is_the_slope, shapley_values_are_exact, variances_are_shares
"""The laws of methods that a term need not have, which ``check_term`` and ``check_learner`` add."""


def is_importable(term: Term) -> bool:
    """Whether the class of the term that a learner fitted is found by its name, as pickling needs."""
    kind = type(term.innermost)
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
