"""Metadata of a file: ``metadata_props``, written and read."""

from __future__ import annotations

import json
import math
import re
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, TensorProto, helper

import rffboost_ext
from rffboost_ext.exporting import Array, category_lists

from .graph import Graph
from .input_names import OFFSET
from .source import ExportSource

FORMAT = "rffboost-onnx 1"


@dataclass(frozen=True)
class Metadata:
    """The metadata in a file written by this package.

    Attributes
    ----------
    estimator, loss, link : str
        Type of the estimator, and its loss and link.
    dtype : str
        "float32", "float64" or "mixed".
    classes : ndarray or None
        Class labels, of their original type; None for a regressor.
    feature_names : tuple of str
        Names of the columns, if the estimator has them.
    n_features, n_outputs, n_cosines, n_trees : int
        Sizes: columns of X, raw scores, cosines and trees.
    versions : dict of str to str
        Packages that wrote the file.
    steps : str
        Name, in the graph, of the output of the steps before the ensemble; empty if there are none.
    categories : tuple
        Categories of each column, a list of text or numbers, or None for a numeric column; empty if all are
        numeric.
    gaps : tuple of int or None
        Columns that may have missing values, of X or of the output of the steps if there are any; None for all.
    n_offsets : int
        Columns of the input ``base_margin``, an offset of the raw scores; 0 if there is none.
    missing_text : dict of str to str, or None
        The text to write for a missing one, by the names of inputs that are text and take missing values; None if
        no input is text.
    """

    estimator: str
    loss: str
    link: str
    dtype: str
    n_features: int
    n_outputs: int
    versions: dict[str, str]
    classes: Array | None = None
    feature_names: tuple[str, ...] = ()
    n_cosines: int = 0
    n_trees: int = 0
    steps: str = ""
    categories: tuple[list[Any] | None, ...] = ()
    gaps: tuple[int, ...] | None = None
    n_offsets: int = 0
    missing_text: dict[str, str] | None = None


KEYS = (*Metadata.__annotations__, "labels")


def metadata_for(source: ExportSource, dtype: str, graph: Graph, steps: str = "", **more: Any) -> Metadata:
    """The metadata of an export; `steps` is the name of the output of the steps before the ensemble."""
    return Metadata(
        estimator=source.estimator,
        loss=source.loss,
        link=repr(source.link),
        dtype=dtype,
        classes=source.classes,
        feature_names=source.feature_names,
        n_features=source.n_features,
        n_outputs=source.ensemble.n_outputs,
        n_cosines=graph.n_cosines,
        n_offsets=source.n_offsets,
        n_trees=graph.n_trees,
        steps=steps,
        categories=tuple(category_lists(source.encoding)),
        gaps=source.missing_columns,
        **more,
        versions={"rffboost_ext": rffboost_ext.__version__, "onnx": onnx.__version__},
    )


def write_metadata(model: ModelProto, metadata: Metadata) -> None:
    """Put `metadata` into `model`, each entry as JSON, omitting those at their default."""
    entries = {name: value for name, value in vars(metadata).items() if name != "classes"}
    entries = {name: value for name, value in entries.items() if value != getattr(Metadata, name, None)}
    if metadata.classes is not None:
        entries |= {"classes": metadata.classes.tolist(), "labels": metadata.classes.dtype.str}
    props = {name: json.dumps(value, ensure_ascii=False) for name, value in entries.items()}
    helper.set_model_props(model, {"format": FORMAT} | props)


def read_metadata(model: ModelProto, name: str = "the model") -> Metadata:
    """The metadata of a model written by this package.

    Raises
    ------
    ValueError
        If it was written by another program or in another version of the format, or its metadata is damaged.
    """
    props = {prop.key: prop.value for prop in model.metadata_props}
    if props.pop("format", None) != FORMAT:
        raise ValueError(
            f"{name} was not written by onnx_export (or by another version of its format): "
            f"producer {model.producer_name or 'unknown'!r}, no entry 'format' equal to {FORMAT!r}"
        )
    try:
        entries = {key: json.loads(text) for key, text in props.items() if key in KEYS}
        entries |= {key: tuple(entries[key]) for key in ("feature_names", "categories", "gaps") if key in entries}
        if "classes" in entries:
            entries["classes"] = read_labels(entries["classes"], entries.pop("labels"))
        metadata = Metadata(**entries)
        check_metadata(metadata)
        check_graph(model, metadata)
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{name} has damaged metadata: {error}") from error
    return metadata


def read_labels(labels: Any, dtype: Any) -> Array:
    """Class labels of the type that they had at the fit; text as wide as the longest of them."""
    kinds = {type(label) for label in labels} if isinstance(labels, list) else set()
    if len(kinds) != 1 or not kinds <= {str, int, float, bool} or len(labels) < 2 or len({*labels}) < len(labels):
        raise ValueError(f"classes must be different labels of one kind, got {reprlib.repr(labels)}")
    allowed = r"[<>|=](U\d+|O)" if kinds == {str} else r"[<>|=][biuf][1248]"
    if not isinstance(dtype, str) or not re.fullmatch(allowed, dtype):
        raise ValueError(
            f"labels must be the type of the classes {reprlib.repr(labels)}, got {reprlib.repr(dtype)}"
        )
    # The width of text in the file would claim memory.
    return np.array(labels, dtype=None if dtype[1:].startswith("U") else dtype)


def is_text(value: Any) -> bool:
    """Whether a value is text."""
    return isinstance(value, str)


def is_count(value: Any) -> bool:
    """Whether a value is a number that an array may have as its length."""
    return type(value) is int and 0 <= value <= np.iinfo(np.int64).max


def names_by_name(value: Any) -> bool:
    """Whether a value is a dictionary of text."""
    return isinstance(value, dict) and all(map(is_text, value.values()))


ALLOWED: dict[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("estimator", "loss", "link"), (is_text, "text")),
    "dtype": (("float32", "float64", "mixed").__contains__, "'float32', 'float64' or 'mixed'"),
    **dict.fromkeys(("n_features", "n_outputs", "n_cosines", "n_trees", "n_offsets"), (is_count, "a number")),
    "missing_text": (lambda value: value is None or names_by_name(value), "text by input"),
    "versions": (names_by_name, "text by package"),
    "steps": (is_text, "the name of an output"),
}
"""What entries must be, and in words."""


def check_metadata(metadata: Metadata) -> None:
    """Raise a ValueError unless the entries are of the right types and agree with each other."""
    for name, (is_valid, words) in ALLOWED.items():
        require_entry(name, getattr(metadata, name), is_valid(getattr(metadata, name)), words)
    # The number of columns after the steps is not in the file.
    d, gaps, known = metadata.n_features, metadata.gaps or (), metadata.categories
    most, words = (math.inf, "columns by number") if metadata.steps else (d, f"some of {d} columns")
    require_entry("gaps", gaps, all(type(column) is int and 0 <= column < most for column in gaps), words)
    named = len(metadata.feature_names) in (0, d) and all(map(is_text, metadata.feature_names))
    require_entry("feature_names", metadata.feature_names, named, f"{d} names, or none")
    listed = len(known) in (0, d) and all(entry is None or are_categories(entry) for entry in known)
    require_entry("categories", known, listed, "a list for each column, or none")


def are_categories(entry: Any) -> bool:
    """Whether a value is a list of text and numbers."""
    return isinstance(entry, list) and all(isinstance(value, str | int | float) for value in entry)


def require_entry(name: str, value: Any, is_valid: bool, words: str) -> None:
    """Raise a ValueError that shows an entry if it is not valid."""
    if not is_valid:
        raise ValueError(f"{name} must be {words}, got {reprlib.repr(value)}")


def check_graph(model: ModelProto, metadata: Metadata) -> None:
    """Raise a ValueError unless the graph declares the columns and classes of the metadata."""
    declared = {entry.name: entry.type.tensor_type for entry in (*model.graph.input, *model.graph.output)}
    width = column_count(declared.get("X"))
    require_entry(
        "n_features", metadata.n_features, width in (0, metadata.n_features), f"{width}, as in the graph"
    )
    width = column_count(declared.get(OFFSET)) if metadata.n_offsets else 0
    require_entry("n_offsets", metadata.n_offsets, width == metadata.n_offsets, f"{width}, as in the graph")
    if metadata.classes is None:
        return
    classes, width = metadata.classes.tolist(), column_count(declared.get("probabilities"))
    require_entry("classes", classes, width in (0, len(classes)), f"{width} labels, as in the graph")
    kind = declared["label"].elem_type if "label" in declared else TensorProto.UNDEFINED
    words = "text" if kind == TensorProto.STRING else "numbers"
    same = kind == TensorProto.UNDEFINED or (words == "text") == is_text(classes[0])
    require_entry("classes", classes, same, f"{words}, as in the graph")


def column_count(declared: Any) -> int:
    """The number of columns of a declared input or output; 0 if it is unknown."""
    dims: Any = () if declared is None else declared.shape.dim
    return dims[1].dim_value if len(dims) == 2 else 0
