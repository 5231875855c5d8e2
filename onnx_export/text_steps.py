"""Missing texts in the steps before an ensemble: scikit-learn's None and NaN, for which ONNX has no text."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OrdinalEncoder

from rffboost_ext.exporting import is_missing

from .graph import ConversionError
from .sparse_steps import parts

MISSING = "\0missing"
"""A text that no column has."""


def with_texts_for_gaps(steps: Pipeline) -> Pipeline:
    """A copy of fitted steps whose encoders have a text in place of a missing category of text."""
    steps = deepcopy(steps)
    for step in parts(steps):
        categories = getattr(step, "categories_", [])
        if isinstance(step, OrdinalEncoder) and any(map(has_nan, categories)):
            number_gaps(step)
        if len(categories):
            step.categories_ = list(map(without_gap, categories))
    return steps


def has_nan(categories: Any) -> bool:
    """Whether NaN is one of the categories of a column of text."""
    return np.asarray(categories).dtype.kind in "OU" and any(text != text for text in categories)


def without_gap(categories: Any) -> Any:
    """The categories of a column, with a text for the missing one if they are text."""
    gaps = [text for text in categories if is_missing(text)] if np.asarray(categories).dtype.kind == "O" else []
    if len(gaps) > 1:
        raise ConversionError(f"to_onnx: encoders must have one kind of missing text in a graph, got {gaps}")
    text = text_of_gap(categories)
    return np.array([text if is_missing(c) else c for c in categories], dtype=object) if gaps else categories


def text_of_gap(categories: Sequence[Any]) -> str:
    """The text of a missing category: '' unless that is a category itself."""
    others = ["", *(str(category) for category in categories if is_missing(category)), MISSING]
    return next(text for text in others if text not in categories)


def number_gaps(step: OrdinalEncoder) -> None:
    """Give NaN its code in the list of codes of the categories: skl2onnx has no code that is NaN."""
    n_columns = len(step.categories_)
    lists: list[Any] = step._default_to_infrequent_mappings if step._infrequent_enabled else [None] * n_columns
    for j, categories in enumerate(step.categories_):
        codes = np.arange(len(categories) - has_nan(categories)) if lists[j] is None else lists[j]
        lists[j] = np.append(codes, step.encoded_missing_value) if has_nan(categories) else codes
    step._default_to_infrequent_mappings = lists
    step._infrequent_enabled = True
    # Codes are real numbers to skl2onnx if that of unknown texts is one.
    step.unknown_value = np.nan if step.handle_unknown == "error" else float(step.unknown_value)
    step.handle_unknown = "use_encoded_value"


def missing_texts(steps: Pipeline, names: dict[str, str], texts: list[str]) -> dict[str, str] | None:
    """The text to write for a missing one in each input of `texts` whose encoder takes it.

    `names` are the names of the inputs by column.
    """
    gap_texts: dict[str, str] = {}
    for step in parts(steps):
        ignores = getattr(step, "handle_unknown", "ignore") != "error"
        columns = zip(getattr(step, "feature_names_in_", ()), getattr(step, "categories_", ()), strict=False)
        for column, categories in columns:
            name = names.get(column)
            if name in texts and (ignores or any(map(is_missing, categories))):
                gap_texts[name] = text_of_gap(categories)
    return gap_texts if texts else None
