"""Metadata of a file: ``metadata_props``, written and read."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import onnx
from onnx import ModelProto, helper

import rffboost_ext
from rffboost_ext.exporting import Array, category_lists

from .graph import Graph
from .model import DTYPES, OFFSET
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
    n_step_columns : int
        Columns of the output of the steps; 0 if there are none.
    absent_is_missing : bool
        Whether an absent entry of a sparse X is a missing value, as to XGBoost itself, not 0.
    n_offsets : int
        Columns of the input ``base_margin``, an offset of the raw scores; 0 if there is none.
    missing_text : dict of str to str, or None
        The text to write for a missing one, by the names of inputs that are text and take missing values; None if
        no input is text.
    times : tuple of float, or None
        The times of the output ``survival``; None if there is none.
    user_metadata : dict of str to str, or None
        The entries that the user, or another program, has added.
    model_version : int
        The version that the user has given to the model; 0 for none.
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
    n_step_columns: int = 0
    absent_is_missing: bool = False
    categories: tuple[list[Any] | None, ...] = ()
    gaps: tuple[int, ...] | None = None
    n_offsets: int = 0
    missing_text: dict[str, str] | None = None
    times: tuple[float, ...] | None = None
    user_metadata: dict[str, str] | None = None
    model_version: int = 0


LARGEST_LABEL = 2**20
"""Bytes of a class label."""
OUTSIDE = ("user_metadata", "model_version")
"""Fields that are no entries of ours: the entries of the user, and a field of ONNX."""
KEYS = (*(name for name in Metadata.__annotations__ if name not in OUTSIDE), "labels")
RESERVED_KEYS = (*KEYS, "format", "checksum")


def metadata_for(source: ExportSource, dtype: str, graph: Graph, steps: str, **more: Any) -> Metadata:
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
        n_step_columns=source.n_step_columns or 0,
        absent_is_missing=source.absent_is_missing and source.steps is None,
        categories=() if source.encoding is None else tuple(category_lists(source.encoding)),
        gaps=source.missing_columns,
        **more,
        versions={"rffboost_ext": rffboost_ext.__version__, "onnx": onnx.__version__},
    )


def write_metadata(model: ModelProto, metadata: Metadata) -> None:
    """Put `metadata` into `model`: our entries in JSON with a checksum, the user's as they are."""
    fields = {name: value for name, value in vars(metadata).items() if name not in ("classes", *OUTSIDE)}
    entries = {name: value for name, value in fields.items() if value != getattr(Metadata, name, None)}
    if metadata.classes is not None:
        entries |= {"classes": metadata.classes.tolist(), "labels": metadata.classes.dtype.str}
    props = {name: json.dumps(value, ensure_ascii=False) for name, value in entries.items()}
    ours = {"format": FORMAT, "checksum": checksum(props)} | props
    helper.set_model_props(model, ours | (metadata.user_metadata or {}))
    model.model_version = metadata.model_version


def checksum(props: dict[str, str]) -> str:
    """A checksum of entries, in any order."""
    return f"{zlib.crc32(repr(sorted(props.items())).encode()):08x}"


def read_metadata(model: ModelProto, name: str = "the model") -> Metadata:
    """The metadata of a model of this package; a ValueError for one of another program, or damaged metadata."""
    props = {prop.key: prop.value for prop in model.metadata_props}
    if props.get("format") != FORMAT:
        raise ValueError(
            f"{name} was not written by onnx_export (or by another version of its format): "
            f"producer {model.producer_name or 'unknown'!r}, no entry 'format' equal to {FORMAT!r}"
        )
    texts = {key: text for key, text in props.items() if key in KEYS}
    if props.get("checksum") != checksum(texts):
        raise ValueError(f"{name} has damaged metadata: the entries do not have their checksum")
    try:
        user = {key: text for key, text in props.items() if key not in RESERVED_KEYS}
        metadata = replace(parse(texts), user_metadata=user or None, model_version=model.model_version)
    # Of what is forged, JSON, NumPy and the constructor raise errors of many kinds.
    except Exception as error:
        raise ValueError(f"{name} has invalid metadata: {type(error).__name__}: {error}") from error
    n_inputs = len(model.graph.input) - (metadata.n_offsets > 0)
    if metadata.categories and n_inputs not in (1, metadata.n_features):
        raise ValueError(
            f"{name} is damaged: it must have {metadata.n_features} inputs of features, got {n_inputs}"
        )
    shapes = {entry.name: entry.type.tensor_type.shape.dim for entry in model.graph.input}
    columns = {entry: shape[1].dim_value for entry, shape in shapes.items() if len(shape) == 2}
    for entry, width, absent in (("X", metadata.n_features, metadata.n_features), (OFFSET, metadata.n_offsets, 0)):
        if (actual := columns.get(entry, absent)) != width:
            raise ValueError(f"{name} is damaged: its input {entry!r} must have {width} columns, got {actual}")
    return metadata


def parse(texts: dict[str, str]) -> Metadata:
    """Metadata from entries in JSON, whose types are checked."""
    entries = {key: json.loads(text) for key, text in texts.items()}
    entries |= {
        key: tuple(entries[key]) for key in ("feature_names", "categories", "gaps", "times") if key in entries
    }
    labels = np.dtype(entries.pop("labels", None))
    if labels.itemsize > LARGEST_LABEL:
        raise ValueError(f"labels must have at most {LARGEST_LABEL} bytes, got {labels}")
    if "classes" in entries:
        entries["classes"] = np.array(entries["classes"], dtype=labels)
        if entries["classes"].ndim != 1:
            raise ValueError(f"classes must be a list, got the shape {entries['classes'].shape}")
    for key, hint in get_type_hints(Metadata).items():
        if key in entries and not is_of_type(entries[key], hint):
            raise TypeError(f"{key} must be of type {hint}, got {entries[key]!r:.60}")
    metadata = Metadata(**entries)
    if metadata.dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {DTYPES}, got {metadata.dtype!r:.60}")
    for key in ("feature_names", "categories"):
        if len(getattr(metadata, key)) not in (0, metadata.n_features):
            raise ValueError(f"{key} must have an entry for each of {metadata.n_features} columns")
    return metadata


def is_of_type(value: Any, hint: Any) -> bool:
    """Whether a value read from JSON is of the type of an annotation; integers are numbers of something."""
    if hint is Any:
        return True
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind is UnionType:
        return any(is_of_type(value, one) for one in inner)
    if not isinstance(value, kind) or (kind is int and (isinstance(value, bool) or value < 0)):
        return False
    if kind is dict:
        return all(
            is_of_type(entry, one) for pair in value.items() for entry, one in zip(pair, inner, strict=True)
        )
    return kind not in (list, tuple) or all(is_of_type(entry, inner[0]) for entry in value)


def require_free_keys(metadata: Mapping[str, str]) -> None:
    """Raise a ValueError if an entry of a user has the key of one of ours."""
    taken = [key for key in metadata if key in RESERVED_KEYS]
    if taken:
        raise ValueError(f"to_onnx: metadata must have other names than {RESERVED_KEYS}, got {taken[0]!r}")
