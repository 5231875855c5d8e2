"""Reader of XGBoost's model format."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...terms import Trees
from ...utils.typing import Array

BOOSTERS = ("gbtree", "dart")
# The categories of all splits of a tree, in order; quotes in texts are escaped.
SETS = re.compile(rb'"categories":\[([0-9,]*)\]')
# Python's character for undecodable bytes.
REPLACEMENT = "\ufffd"


def parse_model(booster: Any) -> dict[str, Any]:
    """The part "learner" of the model of a ``Booster``, as in XGBoost's JSON schema, and its "version".

    The categories of splits are arrays: a list of Python's integers takes eight times the memory.
    """
    raw = bytes(booster.save_raw("json"))
    category_sets = [np.fromstring(numbers, np.int32, sep=",") for numbers in SETS.findall(raw)]
    content = json.loads(SETS.sub(b'"categories":[]', raw) if any(map(len, category_sets)) else raw)
    booster = content["learner"]["gradient_booster"]
    # A linear booster has no trees.
    trees = booster.get("gbtree", booster)["model"].get("trees", ())
    for tree, categories in zip(trees, category_sets, strict=True):
        tree["categories"] = categories
    return {**content["learner"], "version": content["version"]}


def count_outputs(learner: dict[str, Any]) -> int:
    """The number of raw scores per row, C."""
    params = learner["learner_model_param"]
    return max(1, int(params["num_class"]), int(params["num_target"]))


def model_categories(learner: dict[str, Any]) -> list[Array | None]:
    """The categories of each column in the order of their codes, None for numbers; empty without categories.

    Raises
    ------
    ValueError
        If text of categories is corrupt: up to version 3.3, XGBoost counts characters instead of bytes, so that
        one letter beyond ASCII shifts the text of later categories.
    """
    booster = learner["gradient_booster"]
    stored = booster.get("gbtree", booster)["model"].get("cats") or {"enc": []}
    counts_bytes = tuple(learner["version"]) >= (3, 4)
    columns = [column_categories(entry) for entry in stored["enc"]]
    for column, categories in enumerate(columns):
        corrupt = [
            c for c in ([] if categories is None else categories.tolist()) if not is_intact(c, counts_bytes)
        ]
        if corrupt:
            raise ValueError(
                f"column {column} of the model must have categories of ASCII letters: its version of XGBoost does "
                f"not keep others, got text such as {corrupt[0]!r}; rename the categories and train it again"
            )
    return columns if any(categories is not None for categories in columns) else []


def is_intact(category: Any, counts_bytes: bool) -> bool:
    """Whether a category is the same as in training."""
    return not isinstance(category, str) or category.isascii() or (counts_bytes and REPLACEMENT not in category)


def column_categories(entry: dict[str, Any]) -> Array | None:
    """The categories of one column: numbers, or text from bytes and offsets; None without categories."""
    values = np.asarray(entry["values"])
    if "offsets" not in entry:
        return np.array(values.tolist()) if len(values) else None
    content, ends = values.astype(np.uint8).tobytes(), entry["offsets"]
    text = [content[start:stop].decode(errors="replace") for start, stop in pairwise(ends)]
    return np.array(text, dtype=object) if text else None


def parse_base_score(text: str) -> Array:
    """Parse ``"5E-1"``, ``"[5E-1]"`` or ``"[1E0,2E0]"``, the formats of XGBoost's versions, to (1,) or (C,)."""
    return np.array([float(part) for part in text.strip("[] ").split(",")])


def read_rounds(learner: dict[str, Any], kinds: Sequence[str] = BOOSTERS) -> list[Trees]:
    """The trees of a model as one term per boosting round; see :func:`read_trees`."""
    trees, counts = read_trees(learner, kinds)
    return trees.split(counts)


def read_trees(learner: dict[str, Any], kinds: Sequence[str] = BOOSTERS) -> tuple[Trees, Array]:
    """The trees of a model as one term, without the base score, and their number in each boosting round.

    Parameters
    ----------
    learner : dict
        From :func:`parse_model`.
    kinds : sequence of str
        Names of the accepted boosters.

    Raises
    ------
    ValueError
        If the model is not a sum of trees, because it has a linear booster.
    """
    booster = learner["gradient_booster"]
    model = booster.get("gbtree", booster)["model"]
    # From version 3.4 on, any tree booster may drop trees; the model stores the resulting weights.
    dropped = booster.get("weight_drop", model.get("weight_drop"))
    name = booster["name"] if dropped is None else "dart"
    if name not in kinds:
        raise ValueError(f"booster must be one of {', '.join(kinds)}, got {name!r}")
    trees = model["trees"]
    factors = np.ones(len(trees)) if dropped is None else single(dropped)
    joined = join_trees(trees, model["tree_info"], count_outputs(learner), factors)
    return joined, np.diff(model["iteration_indptr"])


def join_trees(trees: Sequence[dict[str, Any]], outputs: Sequence[int], n_outputs: int, factors: Array) -> Trees:
    """Join trees of the format into one term; each is multiplied by a factor.

    A tree is added to one output, or has leaves of one value for each output.
    """
    sizes = np.array([len(tree["left_children"]) for tree in trees], dtype=np.int64)
    roots = np.cumsum(sizes) - sizes
    left, right = (concatenate_field(trees, f"{side}_children", np.int32) for side in ("left", "right"))
    leaf, shift = left < 0, np.repeat(roots, sizes).astype(np.int32)
    condition, values = concatenate_field(trees, "split_conditions", np.float32), leaf_vectors(trees, n_outputs)
    is_vector = len(values) > 0
    value = np.zeros((len(left), n_outputs if is_vector else 1))
    value[leaf] = np.repeat(factors, sizes)[leaf, None] * (values if is_vector else condition[leaf, None])
    return Trees(
        roots=roots,
        left=np.where(leaf, left, left + shift),
        # A leaf with a vector has its number in place of a child.
        right=np.where(leaf, -1, right + shift).astype(np.int32),
        # Pruned nodes have an invalid feature.
        feature=np.where(leaf, 0, concatenate_field(trees, "split_indices", np.int32)),
        threshold=condition,
        missing_left=concatenate_field(trees, "default_left", np.bool_),
        value=value,
        output=None if is_vector or n_outputs == 1 else np.array(outputs, dtype=np.int64),
        n_outputs=n_outputs,
        **read_category_sets(trees, roots, len(left)),
    )


def leaf_vectors(trees: Sequence[dict[str, Any]], n_outputs: int) -> Array:
    """The values of all leaves in the order of the nodes, (leaves, C); empty if leaves have one value."""
    parts = [np.empty((0, n_outputs))]
    for tree in trees:
        if int(tree["tree_param"]["size_leaf_vector"]) > 1:
            left, number = np.asarray(tree["left_children"]), np.asarray(tree["right_children"])
            parts.append(single(tree["leaf_weights"]).reshape(-1, n_outputs)[number[left < 0]])
    return np.concatenate(parts)


def single(values: Sequence[float]) -> Array:
    """The numbers in single precision that the format has as text, (n,)."""
    return np.array(values, dtype=np.float32).astype(np.float64)


def concatenate_field(trees: Sequence[dict[str, Any]], name: str, dtype: type) -> Array:
    """One field of several trees as one array."""
    return np.concatenate([np.empty(0, dtype), *(tree[name] for tree in trees)], dtype=dtype, casting="unsafe")


def read_category_sets(trees: Sequence[dict[str, Any]], roots: Array, n_nodes: int) -> dict[str, Array]:
    """The category sets of splits, as fields of :class:`Trees`: the categories that go right, as in XGBoost."""
    nodes = [root + node for root, tree in zip(roots, trees, strict=True) for node in tree["categories_nodes"]]
    if not nodes:
        return {}
    sizes, categories = (concatenate_field(trees, name, np.int64) for name in ("categories_sizes", "categories"))
    subset = np.full(n_nodes, -1, dtype=np.int32)
    subset[nodes] = np.arange(len(nodes))
    member = np.zeros((len(nodes), int(categories.max(initial=0)) + 1), dtype=bool)
    # The categories of all nodes are concatenated in order.
    member[np.repeat(np.arange(len(nodes)), sizes), categories] = True
    return {"subset": subset, "members": np.packbits(member, axis=1, bitorder="little")}
