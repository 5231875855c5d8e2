"""Metadata of a file: ``metadata_props``, written and read."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, helper

import rffboost_ext
from rffboost_ext.preprocessing.category_encoding import category_lists
from rffboost_ext.utils.typing import Array

from .source import ExportSource
from .tolerance import tolerance_text

FORMAT = "rffboost-onnx 1"
NAMES_IN_FILES = {
    "LabelRegression": "Signed",
    "IdentityLink": "Identity",
    "LogLink": "Exp",
    "LogitLink": "Logistic",
    "BinaryLogitLink": "Sigmoid",
    "MultinomialLogitLink": "Softmax",
    "LabelMeanLink": "HalfWay",
    "SortLink": "Sorted",
    "MedianLink": "Middle",
    "ComposedLink": "Both",
}
"""Names of losses and links in files, if they are not those of the classes."""


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
    terms : dict of str to str
        Type of term for each scope of names in the graph, for ``from_onnx``.
    standalone : bool
        Whether the file has no steps before the ensemble.
    tolerance : str
        Tolerance of ``verify_onnx`` for the scores, and its cause.
    versions : dict of str to str
        Packages that wrote the file.
    steps : str
        Name, in the graph, of the output of the steps before the ensemble; empty if there are none.
    categories : tuple
        Categories of each column, a list of text or numbers, or None for a numeric column; empty if all are
        numeric.
    gaps : tuple of int or None
        Columns that may have missing values, of X or of the output of the steps if there are any; None for all.
    """

    estimator: str
    loss: str
    link: str
    dtype: str
    n_features: int
    n_outputs: int
    terms: dict[str, str]
    tolerance: str
    versions: dict[str, str]
    classes: Array | None = None
    feature_names: tuple[str, ...] = ()
    n_cosines: int = 0
    n_trees: int = 0
    standalone: bool = True
    steps: str = ""
    categories: tuple[list[Any] | None, ...] = ()
    gaps: tuple[int, ...] | None = None


KEYS = (*Metadata.__annotations__, "labels")


def metadata_for(source: ExportSource, dtype: str, terms: dict[str, str], steps: str = "") -> Metadata:
    """The metadata of an export; `steps` is the name of the output of the steps before the ensemble."""
    blocks = source.ensemble.terms
    return Metadata(
        estimator=source.estimator,
        loss=text_in_files(source.loss),
        link=text_in_files(repr(source.link)),
        dtype=dtype,
        classes=source.classes,
        feature_names=source.feature_names,
        n_features=source.n_features,
        n_outputs=source.ensemble.n_outputs,
        n_cosines=sum(array_length(term, "omega") for term in blocks),
        n_trees=sum(array_length(term, "roots") for term in blocks),
        terms=terms,
        standalone=source.steps is None,
        steps=steps,
        categories=tuple(category_lists(source.encoding)),
        gaps=source.missing_columns,
        tolerance=tolerance_text(source, dtype),
        versions={"rffboost_ext": rffboost_ext.__version__, "onnx": onnx.__version__},
    )


def text_in_files(text: str) -> str:
    """The repr of losses or links with their names in files."""
    return re.sub(r"\w+(?=\()", lambda found: NAMES_IN_FILES.get(found[0], found[0]), text)


def array_length(term: Any, name: str) -> int:
    """Length of the array `name` of a term or of its inner term; 0 if there is none."""
    if hasattr(term, name):
        return len(getattr(term, name))
    return array_length(term.term, name) if hasattr(term, "term") else 0


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
        if "classes" in entries:
            entries["classes"] = np.array(entries["classes"], dtype=np.dtype(entries.pop("labels")))
        entries |= {key: tuple(entries.get(key, ())) for key in ("feature_names", "categories")}
        entries |= {"gaps": tuple(entries["gaps"])} if "gaps" in entries else {}
        return check_metadata(Metadata(**entries))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{name} has damaged metadata: {error}") from error


def check_metadata(metadata: Metadata) -> Metadata:
    """`metadata` itself if the entries that readers rely on are of the right type; else a ValueError."""
    for name in ("n_features", "n_outputs", "n_cosines", "n_trees"):
        if type(getattr(metadata, name)) is not int or getattr(metadata, name) < 0:
            raise ValueError(f"{name} must be a number, got {getattr(metadata, name)!r}")
    if not isinstance(metadata.steps, str):
        raise ValueError(f"steps must be the name of an output, got {metadata.steps!r}")
    # The number of columns after the steps is not in the file.
    most = math.inf if metadata.steps else metadata.n_features
    if not all(type(column) is int and 0 <= column < most for column in metadata.gaps or ()):
        allowed = "columns by number" if metadata.steps else f"some of {most} columns"
        raise ValueError(f"gaps must be {allowed}, got {metadata.gaps!r}")
    if len(metadata.categories) not in (0, metadata.n_features) or not all(
        known is None or isinstance(known, list) for known in metadata.categories
    ):
        raise ValueError(f"categories must be a list for each column, or none, got {metadata.categories!r}")
    terms = metadata.terms
    if not isinstance(terms, dict) or not all(isinstance(kind, str) for kind in terms.values()):
        raise ValueError(f"terms must be names by scope, got {terms!r}")
    return metadata
