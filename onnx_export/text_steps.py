"""Missing texts in the steps before an ensemble: scikit-learn's None and NaN, for which ONNX has no text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, ModelProto, NodeProto, helper
from sklearn.pipeline import Pipeline

from rffboost_ext.exporting import Array, is_missing

from .graph import ML, ML_OPSET
from .protos import numpy_type
from .runtimes import runner
from .sparse_steps import dense, parts

TOKENS = "", "None", "nan"
"""Texts that may stand for a missing one; skl2onnx writes the last two."""
MISSING, UNKNOWN = "\0missing", "\0unknown"
"""Texts that no column has."""
CATEGORIES = {"OneHotEncoder": "cats_strings", "LabelEncoder": "keys_strings"}
"""The attribute of encoders' nodes that lists the texts they know."""


def accept_empty_texts(model: ModelProto, steps: Pipeline) -> None:
    """Let '' be the missing text to encoders that have a missing category, unless it is a category itself.

    Parameters
    ----------
    model : ModelProto
        The steps by skl2onnx, which is changed.
    steps : Pipeline
        The fitted steps.
    """
    graph, known = model.graph, list(text_categories(steps))
    with_gap = {tuple(map(str, texts)): (texts, code) for texts, code in known if any(map(is_missing, texts))}
    ambiguous = {tuple(texts) for texts, _ in known if not any(map(is_missing, texts))}
    if not with_gap:
        return
    if any(code is not None and not float(code).is_integer() for _, code in with_gap.values()):
        for node in graph.node:
            use_real_codes(node)
    nodes: list[NodeProto] = []
    for node in graph.node:
        attribute = attribute_of(node, CATEGORIES.get(node.op_type, "no attribute"))
        texts = () if attribute is None else tuple(text.decode() for text in attribute.strings)
        if texts in with_gap and texts not in ambiguous:
            nodes += encode_empty_text(node, *with_gap[texts])
        nodes.append(node)
    del graph.node[:], graph.value_info[:]
    graph.node.extend(nodes)
    for entry in model.opset_import:
        # The first version with texts for texts is 2; graphs are of a later one in any case.
        if entry.domain == ML:
            entry.version = max(entry.version, ML_OPSET)


def text_categories(steps: Pipeline) -> Iterator[tuple[list[Any], float | None]]:
    """The categories of each column of text of each encoder, missing ones included, and the code of NaN."""
    for step in parts(steps):
        for categories in getattr(step, "categories_", ()):
            if np.asarray(categories).dtype.kind in "OU":
                texts, code = list(categories), getattr(step, "encoded_missing_value", None)
                # To OrdinalEncoder None is a category like others.
                yield texts, code if any(text != text for text in texts) else None


def attribute_of(node: NodeProto, name: str) -> AttributeProto | None:
    """The attribute of a node whose name begins so."""
    return next((entry for entry in node.attribute if entry.name.startswith(name)), None)


def use_real_codes(node: NodeProto) -> None:
    """Let a node that encodes texts as whole numbers output real ones: skl2onnx has no code that is NaN."""
    for name, other in (("values_int64s", "values_floats"), ("default_int64", "default_float")):
        given = attribute_of(node, name)
        if node.op_type == "LabelEncoder" and given is not None:
            value = [float(code) for code in given.ints] if given.ints else float(given.i)
            given.CopyFrom(helper.make_attribute(other, value))


def encode_empty_text(node: NodeProto, categories: Sequence[Any], code: float | None) -> list[NodeProto]:
    """Change the node of an encoder so that '' is its missing category; nodes that are to come before it.

    `code` is that of the missing category if the encoder has a parameter for it.
    """
    gap = next(place for place, category in enumerate(categories) if is_missing(category))
    texts = [category for place, category in enumerate(categories) if place != gap]
    # skl2onnx's own text is one of them only if it is no category.
    tokens = [token for token in ("", str(categories[gap])) if token not in texts]
    known, values = attribute_of(node, CATEGORIES[node.op_type]), attribute_of(node, "values_")
    assert known is not None
    if values is None:
        known.strings[gap] = MISSING.encode()
        name, mapped = f"{node.output[0]}_texts", [*texts, *[MISSING] * len(tokens)]
        lists: dict[str, Any] = {"keys_strings": [*texts, *tokens], "values_strings": mapped}
        lists["default_string"] = UNKNOWN
        first = helper.make_node("LabelEncoder", [node.input[0]], [name], name=name, domain=ML, **lists)
        node.input[0] = name
        return [first]
    numbers = values.ints or values.floats
    if code is not None:
        numbers[gap] = code if numbers is values.floats else int(code)
    order = [*(place for place in range(len(categories)) if place != gap), *[gap] * len(tokens)]
    known.strings[:] = [text.encode() for text in (*texts, *tokens)]
    numbers[:] = [numbers[place] for place in order]
    return []


def missing_texts(model: ModelProto, steps: Pipeline, X: Any) -> dict[str, str] | None:
    """The text to write for a missing one in each column of text that may have it, by the name of the input.

    Found by trial: in the first row of X, the text of each column is missing. None if no column is text, and where
    that cannot be tried: ONNX Runtime is not installed, or X is no data frame of pandas.

    Parameters
    ----------
    model : ModelProto
        The steps, with an input for each column.
    steps : Pipeline
    X : DataFrame
        The columns of the fit.
    """
    kinds = {entry.name: numpy_type(entry.type) for entry in model.graph.input}
    columns = [k for k, kind in enumerate(kinds.values()) if kind.kind == "O"]
    if not columns or not hasattr(X, "iloc") or not len(X):
        return None
    try:
        runtime, run = runner(model, "auto")
    except ValueError:
        # The whole file is tried later, with an error of its own.
        return None
    if runtime != "onnxruntime":
        return None
    found = {}
    for k in columns:
        wanted = output_without_text(steps, X, k)
        if wanted is None:
            continue
        for token in TOKENS:
            row = {name: X.iloc[:1, [j]].to_numpy().astype(kind) for j, (name, kind) in enumerate(kinds.items())}
            row[list(kinds)[k]][:] = token
            try:
                (output,) = run(row).values()
            except ValueError:
                continue
            if np.allclose(output, wanted, rtol=1e-4, atol=1e-6, equal_nan=True):
                found[list(kinds)[k]] = token
                break
    return found


def output_without_text(steps: Pipeline, X: Any, column: int) -> Array | None:
    """The output of steps for the first row of X if its text in a column is missing; None if they refuse it.

    To encoders None and NaN are different: what is missing in X, or else in the categories, comes first.
    """
    row = X.iloc[:1].astype({X.columns[column]: object})
    known = [*X.iloc[:1000, column], *(text for texts, _ in text_categories(steps) for text in texts)]
    for gap in [text for text in known if is_missing(text)][:1] or (None, np.nan):
        row.iloc[0, column] = gap
        try:
            return dense(steps.transform(row))
        # Transformers of scikit-learn raise errors of many kinds.
        except Exception:
            continue
    return None
