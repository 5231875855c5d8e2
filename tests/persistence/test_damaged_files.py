"""Damaged, forged and foreign files: one clear error, no crash, and no code is run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import pickle
import random
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rffboost_ext import Ensemble, RFFBoostClassifier, RFFBoostRegressor, RFFBoostSurvival, load_model
from rffboost_ext.persistence import container
from rffboost_ext.persistence.values import Packer

from .model_file_cases import FEW, X, Y, sealed


def packed(value) -> bytes:
    """The file of a value that may be damaged."""
    packer = Packer()
    return container.encode(packer.pack(value, "model"), packer.arrays)


def small_model(learner: str) -> bytes:
    """The file of a model of two rounds."""
    model = RFFBoostClassifier(**(FEW | {"n_estimators": 2, "learner": learner}))
    return packed(model.fit(X, np.array(["a", "b"])[Y]))


@pytest.fixture(scope="module")
def good() -> bytes:
    """A small model with cosines and trees."""
    return small_model("mixture")


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "model"


def flipped(data: bytearray, rng: random.Random) -> bytes:
    for _ in range(rng.choice([1, 1, 1, 2, 20])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data[: rng.randrange(len(data))])


def overwritten(data: bytearray, rng: random.Random) -> bytes:
    start, size = rng.randrange(len(data)), rng.choice([1, 16, 512])
    data[start : start + size] = rng.randbytes(len(data[start : start + size]))
    return bytes(data)


def inserted(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    data[start:start] = rng.randbytes(rng.choice([1, 7, 64]))
    return bytes(data)


def deleted(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice([1, 7, 64])]
    return bytes(data)


def doubled(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data + data[rng.randrange(len(data)) :])


DAMAGES = [flipped, cut, overwritten, inserted, deleted, doubled]


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(damage=st.sampled_from(DAMAGES), seed=st.integers(0, 2**32))
def test_damaged_files_are_named(good, place, damage, seed):
    data = damage(bytearray(good), random.Random(seed))
    if data == good:
        return
    place.write_bytes(data)
    with pytest.raises(ValueError, match=r"model' (is damaged|was not written)"):
        load_model(place)


def nodes(data, path=()):
    """All places in JSON."""
    yield path
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in children:
        yield from nodes(value, (*path, key))


def replaced(data, path, value):
    """JSON with another value at a place."""
    if not path:
        return value
    data = data.copy()
    data[path[0]] = replaced(data[path[0]], path[1:], value)
    return data


NUMBERS = [True, -1, 10**9, 10**30, 0.5]
ODD = [None, *NUMBERS, "", "os.system", [], {}, [[]], {"array": 0}, {"array": 99}, {"tuple": 3}]


CHANGES = [
    lambda array: array.astype(np.float16),
    lambda array: array.astype(np.int64),
    lambda array: array.astype("U5"),
    lambda array: array[:0],
    lambda array: array[:-1],
    lambda array: array[..., None],
    lambda array: -array,
]


def forged(data: bytes, rng: random.Random) -> bytes:
    """A file with another value in its header or contents, or another array, and a right checksum."""
    if rng.random() < 0.3:
        text, arrays = container.split_sections(data)
        header, raw = json.loads(text), bytearray(arrays)
        raw[rng.randrange(len(raw))] ^= 0xFF
        header = replaced(header, rng.choice(list(nodes(header))), rng.choice(ODD))
        return sealed(json.dumps(header).encode(), bytes(raw))
    contents, arrays = container.decode(data)
    if rng.random() < 0.5:
        contents = replaced(contents, rng.choice(list(nodes(contents))), rng.choice(ODD))
    else:
        with contextlib.suppress(TypeError, ValueError, IndexError):
            at = rng.randrange(len(arrays))
            arrays[at] = rng.choice(CHANGES)(arrays[at])
    return container.encode(contents, arrays)


@pytest.mark.parametrize("learner", ["mixture", "symmetric_tree", "rff_ridge"])
def test_a_forged_file_with_a_right_checksum_does_not_crash(learner, place):
    data, rng = small_model(learner), random.Random(0)
    for _ in range(200):
        place.write_bytes(forged(data, rng))
        # What loads is a model of another content: it answers for each row, or says why it cannot.
        with np.errstate(all="ignore"), contextlib.suppress(ValueError):
            assert load_model(place).predict(X).shape == (len(X),)


@pytest.mark.parametrize("kind", ["sparse", "device", "pipe", "nested"])
def test_files_of_any_size_are_refused_in_constant_memory(kind, tmp_path):
    path = tmp_path / "model"
    if kind == "sparse":
        with open(path, "wb") as file:
            file.truncate(1 << 31)
    if kind == "device":
        path.symlink_to("/dev/zero")
    if kind == "pipe":
        os.mkfifo(path)
    if kind == "nested":
        depth = 100_000
        header = '{"kind":"model","arrays":[],"contents":' + "[" * depth + "]" * depth + "}"
        path.write_bytes(sealed(header.encode(), b""))
    tracemalloc.start()
    with pytest.raises(ValueError, match="model'"):
        load_model(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_walks_of_forged_trees_end(good, place):
    for name in ("left", "right", "feature", "roots"):
        model = RFFBoostRegressor(learner="tree", **FEW).fit(X, X[:, 0])
        trees = model.ensemble_.terms[0]
        wrong = getattr(trees, name).copy()
        wrong[0] = 10**6 if name != "left" else 0
        terms = (replace(trees, **{name: wrong}),)
        place.write_bytes(packed(Ensemble(np.zeros(1), terms, np.ones((1, 2)))))
        if name == "feature":
            # By itself an ensemble does not know how many features there are; its trees ask for as many.
            with pytest.raises(ValueError, match="d >= 1000001"):
                load_model(place).raw(X)
            continue
        with pytest.raises(ValueError, match="out of range"):
            load_model(place)


@pytest.mark.parametrize("value", [True, 2.0, "a", ["a"], {"objects": [[1], [None]]}], ids=str)
def test_categories_are_checked_at_loading(value, tmp_path):
    table = pd.DataFrame({"k": pd.Categorical(np.where(Y, "p", "q"))})
    model = RFFBoostRegressor(**(FEW | {"learner": "tree"})).fit(table, X[:, 0])
    contents, arrays = container.decode(packed(model))
    path = next(path for path in nodes(contents) if path[-3:] == ("categories", "tuple", 0))
    (tmp_path / "model").write_bytes(container.encode(replaced(contents, path, value), arrays))
    with pytest.raises(ValueError, match=r"model' .*categories cannot be"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("value", [None, 2.0, "a", ["a"], np.zeros((2, 2)), np.array(["a"]), np.zeros(1)], ids=str)
@pytest.mark.parametrize("name", ["unique_times_", "_baseline_hazard"])
def test_times_of_survival_are_checked_at_loading(name, value, tmp_path):
    model = RFFBoostSurvival(**(FEW | {"learner": "tree"})).fit(X, np.exp(X[:, 0]))
    setattr(model, name, value)
    (tmp_path / "model").write_bytes(packed(model))
    with pytest.raises(ValueError, match=r"model' .*(unique_times_|_baseline_hazard) cannot be"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize(
    "contents",
    [
        {"part": ["os.system", {"command": "true"}]},
        {"part": ["builtins:eval", {"source": "1"}]},
        {"part": ["posix.system", {}]},
        {"class": "subprocess.Popen"},
        {"part": ["learner:subprocess.Popen", {}]},
        {"eval": "1 + 1"},
        {"list": [], "tuple": []},
    ],
    ids=str,
)
def test_a_file_runs_no_code(contents, tmp_path):
    header = {"kind": "model", "written_by": "somebody", "contents": contents, "arrays": []}
    (tmp_path / "model").write_bytes(sealed(json.dumps(header).encode(), b""))
    with pytest.raises(ValueError, match=r"model' (holds|has invalid contents)"):
        load_model(tmp_path / "model")


def foreign() -> dict[str, bytes]:
    archive = io.BytesIO()
    np.savez(archive, a=np.zeros(3))
    return {
        "empty": b"",
        "text": b"hello\n",
        "pickle": pickle.dumps({"a": 1}),
        "zip": archive.getvalue(),
        "json": b'{"learner": {}}',
        "only the beginning": b"\x93RFFB\r\n\x1a",
    }


@pytest.mark.parametrize("name", foreign())
def test_foreign_files(name, tmp_path):
    (tmp_path / "model").write_bytes(foreign()[name])
    with pytest.raises(ValueError, match=r"model' (was not written by rffboost_ext|is damaged)"):
        RFFBoostClassifier.load_model(tmp_path / "model")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "model")


def test_a_model_of_another_kind(tmp_path):
    RFFBoostRegressor(**FEW).fit(X, X[:, 0]).save_model(tmp_path / "model")
    with pytest.raises(ValueError, match="holds a RFFBoostRegressor, not a RFFBoostClassifier"):
        RFFBoostClassifier.load_model(tmp_path / "model")
    assert isinstance(RFFBoostRegressor.load_model(tmp_path / "model"), RFFBoostRegressor)
