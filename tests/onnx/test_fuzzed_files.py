"""Random damage to ONNX files: an error in one sentence, or a model, within little memory."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from onnx_export import OnnxPredictor, describe_onnx, to_onnx
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

from .test_damaged_files import sums
from .test_tools import model_of, table

SECONDS, MEGABYTES = 40, 300
VALUES: list[Any] = [
    *(None, True, -1, 0.5, 10**18, 10**30, "", "x", "<U200000000", "|O", [], [[]], [None], {}, {"t0": "Trees"}),
    *([0], ["a"], ["a", "a"], ["a", 1], [0, 10**30], [1e308, float("nan")], [["a"], None, None], {"t0": 1}),
]
TEXTS = [*map(json.dumps, VALUES), "[" * 100_000, "9" * 5_000, "nan", '"\\ud800"', "{", "\0"]


def models() -> list[tuple[onnx.ModelProto, Any]]:
    """Models of all kinds of terms and inputs, and rows."""
    X, y = table()
    text = RFFBoostClassifier(learner="tree", n_estimators=3, early_stopping=False).fit(
        X, np.where(y, "yes", "no")
    )
    steps = make_pipeline(MinMaxScaler(), RFFBoostRegressor(learner="tree", n_estimators=3, early_stopping=False))
    numbers = np.random.default_rng(0).normal(size=(20, 2))
    pairs = [(sums("float32"), numbers), (sums("float64"), numbers), (to_onnx(text), X)]
    return [*pairs, (to_onnx(model_of("default")), X), (to_onnx(steps.fit(numbers, numbers[:, 0])), numbers)]


def flipped(model: onnx.ModelProto, rng: np.random.Generator) -> bytes:
    content = bytearray(model.SerializeToString())
    for at in rng.integers(len(content), size=int(rng.integers(1, 4))):
        content[at] ^= 1 << int(rng.integers(8))
    return bytes(content)


def cut(model: onnx.ModelProto, rng: np.random.Generator) -> bytes:
    content = model.SerializeToString()
    start, stop = sorted(rng.integers(len(content), size=2).tolist())
    return content[:start] + content[stop:]


def with_another_entry(model: onnx.ModelProto, rng: np.random.Generator) -> bytes:
    entry = model.metadata_props[int(rng.integers(len(model.metadata_props)))]
    entry.value = TEXTS[int(rng.integers(len(TEXTS)))]
    return model.SerializeToString()


def with_another_tensor(model: onnx.ModelProto, rng: np.random.Generator) -> bytes:
    tensor = model.graph.initializer[int(rng.integers(len(model.graph.initializer)))]
    tensor.dims[:] = rng.choice([0, 1, 2, 3, 40, 1000, 10**9, -1], size=int(rng.integers(4))).tolist()
    tensor.data_type = int(rng.choice([tensor.data_type, *range(20)]))
    if rng.random() < 0.3:
        tensor.raw_data = b""
    return model.SerializeToString()


def without_a_part(model: onnx.ModelProto, rng: np.random.Generator) -> bytes:
    parts: Any = [
        model.graph.input,
        model.graph.output,
        model.graph.node,
        model.graph.initializer,
        model.metadata_props,
    ]
    part = parts[int(rng.integers(len(parts)))]
    del part[int(rng.integers(len(part)))]
    return model.SerializeToString()


DAMAGES: list[Callable[[onnx.ModelProto, np.random.Generator], bytes]] = [
    *(flipped, cut, with_another_entry, with_another_tensor, without_a_part)
]
READERS: dict[str, Callable[[Any, Any], Any]] = {
    "describe_onnx": lambda content, X: str(describe_onnx(content)),
    "OnnxPredictor": lambda content, X: OnnxPredictor(content, n_jobs=1).predict(X),
}


def peak() -> float:
    """The largest memory of the process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def refusal(read: Callable[[Any, Any], Any], content: bytes, X: Any) -> str:
    """The words with which a file is refused; empty if it is not."""
    try:
        with np.errstate(all="ignore"):
            read(content, X)
    except ValueError as error:
        return str(error)
    except TypeError as error:
        if "of X must be" in str(error):
            return str(error)
        raise
    return ""


@pytest.mark.slow
def test_damaged_files_are_refused_in_one_sentence() -> None:
    rng, known, refused, number = np.random.default_rng(0), models(), 0, 0
    for model, X in known:
        OnnxPredictor(model).predict(X)
    before, end = peak(), time.monotonic() + SECONDS
    while time.monotonic() < end:
        model, X = known[number % len(known)]
        copy = onnx.ModelProto()
        copy.CopyFrom(model)
        content = DAMAGES[int(rng.integers(len(DAMAGES)))](copy, rng)
        for name, read in READERS.items():
            words = refusal(read, content, X)
            refused += words != ""
            assert "\n" not in words.strip(), name
        number += 1
        assert peak() - before < MEGABYTES, (number, content[:200])
    assert refused > number
