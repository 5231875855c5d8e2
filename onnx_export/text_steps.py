"""Missing texts in the steps before an ensemble: scikit-learn's None and NaN, for which ONNX has no text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from onnx import AttributeProto, ModelProto, NodeProto, helper
from sklearn.pipeline import Pipeline

from rffboost_ext.exporting import is_missing

from .graph import ML
from .sparse_steps import parts

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


def missing_texts(steps: Pipeline, names: dict[str, str], texts: list[str]) -> dict[str, str] | None:
    """The text to write for a missing one in each column of text whose encoder takes it, by the name of the input.

    That is '', as :func:`accept_empty_texts` has it, or skl2onnx's own text where '' is a category.

    Parameters
    ----------
    steps : Pipeline
        The fitted steps.
    names : dict of str to str
        The name of the input of each column.
    texts : list of str
        The inputs that are text.
    """
    found: dict[str, str] = {}
    for step in parts(steps):
        ignores = getattr(step, "handle_unknown", "ignore") != "error"
        columns = zip(getattr(step, "feature_names_in_", ()), getattr(step, "categories_", ()), strict=False)
        for column, categories in columns:
            gaps, name = [text for text in categories if is_missing(text)], names.get(column)
            if name in texts and (gaps or ignores):
                found[name] = "" if "" not in categories else str(gaps[0]) if gaps else MISSING
    return found if texts else None
