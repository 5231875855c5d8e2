"""What the tests of model files share: data, ways there and back, and a file written down from its description."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np

from rffboost_ext import load_model, save_model
from rffboost_ext.persistence import container
from rffboost_ext.persistence.values import Packer, Unpacker

Array = np.ndarray
RANDOM = np.random.default_rng(0)
X, Y = RANDOM.standard_normal((80, 3)), RANDOM.integers(2, size=80)
FEW = {"n_estimators": 4, "random_state": 0, "early_stopping": False}


def through_a_file(model, path: Path):
    save_model(model, path)
    return load_model(path)


def again(model, folder: Path):
    return through_a_file(model, folder / "model.rffboost")


def assert_same(one, other, X: Array) -> None:
    """All that a model says, to the bit."""
    assert type(one) is type(other)
    assert repr(one.get_params()) == repr(other.get_params())
    assert repr(one.loss_) == repr(other.loss_)
    assert one.n_features_in_ == other.n_features_in_
    for dtype in (np.float64, np.float32):
        np.testing.assert_array_equal(one.ensemble_.raw(X.astype(dtype)), other.ensemble_.raw(X.astype(dtype)))
    for ours, theirs in zip(one.staged_predict(X), other.staged_predict(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(one.ensemble_.outputs(X), other.ensemble_.outputs(X))
    if one.task == "classification":
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(one.classes_, other.classes_)
        assert one.classes_.dtype == other.classes_.dtype


def packed_and_back(value):
    packer = Packer()
    data = packer.pack(value, "value")
    contents, arrays = container.decode(container.encode(data, packer.arrays))
    return Unpacker(arrays).unpack(contents)


def sealed(header: bytes, arrays: bytes, version: int = 1) -> bytes:
    """A file of version 1, written down from its description."""
    body = b"\x93RFFB\r\n\x1a" + struct.pack("<QQ", version, len(header)) + header + arrays
    return body + hashlib.sha256(body).digest()
