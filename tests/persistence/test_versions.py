"""Versions of the format: the first loads for ever, a later one is named, and the description is kept to."""

from __future__ import annotations

import hashlib
import json
import struct

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import Cosines, RFFBoostRegressor, load_model
from rffboost_ext.persistence import container
from rffboost_ext.persistence.values import rule_named

from .model_file_cases import FEW, X, sealed

OMEGA, PHASE, WEIGHT, CENTER = np.array([[0.5, -1.0]]), np.array([0.25]), np.array([[2.0]]), np.array([1.0, 2.0])


def file_of_version_1() -> bytes:
    """A regressor of one cosine and one stump, as the first release wrote it. This must load for ever."""
    stump = [
        np.array([0]),
        np.array([1, -1, -1], dtype=np.int32),
        np.array([2, -1, -1], dtype=np.int32),
        np.array([0, 0, 0], dtype=np.int32),
        np.array([0.5, 0.0, 0.0], dtype=np.float32),
        np.array([True, False, False]),
        np.array([[0.0], [-1.0], [1.0]]),
    ]
    arrays = [np.array([3.0]), OMEGA, PHASE, WEIGHT, CENTER, *stump, np.array([[1.0, 0.5], [1.0, 2.0]])]
    names = ["roots", "left", "right", "feature", "threshold", "missing_left", "value"]
    cosine = {name: {"array": i} for i, name in enumerate(["omega", "phase", "weight", "center"], 1)}
    trees = {name: {"array": i} for i, name in enumerate(names, 5)}
    terms = {"tuple": [{"part": ["Cosines", cosine]}, {"part": ["Trees", trees]}]}
    ensemble = {"baseline": {"array": 0}, "terms": terms, "moves": {"array": 12}}
    params = [["learner", {"part": ["learner:rff_1", {"gamma": 2.0}]}], ["n_estimators", 2], ["tol", 1e-7]]
    fitted = [
        ["n_features_in_", 2],
        ["ensemble_", {"part": ["Ensemble", ensemble]}],
        ["loss_", {"part": ["loss:squared_error", {}]}],
        ["feature_names_in_", {"objects": [[2], ["a", "b"]]}],
    ]
    header = {
        "kind": "model",
        "written_by": "rffboost_ext 0.1.0",
        "contents": {"part": ["RFFBoostRegressor", {"params": {"dict": params}, "fitted": {"dict": fitted}}]},
        "arrays": [[array.dtype.str, list(array.shape), "C"] for array in arrays],
    }
    return sealed(json.dumps(header).encode(), b"".join(array.tobytes() for array in arrays))


def test_a_file_of_version_1(tmp_path):
    (tmp_path / "model").write_bytes(file_of_version_1())
    model = RFFBoostRegressor.load_model(tmp_path / "model")
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, -2.0]})
    cosine = 2.0 * np.cos((frame.to_numpy() - CENTER) @ OMEGA[0] - 0.25)
    np.testing.assert_allclose(model.predict(frame), 3.0 + 0.5 * cosine + 2.0 * np.array([-1.0, 1.0]), atol=1e-12)
    assert (model.learner.gamma, model.n_estimators, model.tol, model.learning_rate) == (2.0, 2, 1e-7, "auto")


def test_a_file_of_a_later_version(tmp_path):
    (tmp_path / "model").write_bytes(sealed(b"{}", b"", version=container.VERSION + 1))
    with pytest.raises(ValueError, match=r"is of version \d+ of the format; this release reads up to version \d+"):
        load_model(tmp_path / "model")


def test_a_file_of_an_earlier_version_is_brought_up_to_date(tmp_path, monkeypatch):
    """As it will be when the names of a header change: 'regressor' here, 'RFFBoostRegressor' from version 2 on."""

    def newer(header):
        name, state = header["contents"]["part"]
        assert name == "regressor"
        return header | {"contents": {"part": ["RFFBoostRegressor", state]}}

    monkeypatch.setattr(container, "VERSION", 2)
    monkeypatch.setitem(container.UPGRADES, 1, newer)
    old = file_of_version_1()
    _, text, arrays = container.split_sections(old)
    renamed = text.replace(b'"RFFBoostRegressor"', b'"regressor"')
    (tmp_path / "model").write_bytes(sealed(renamed, bytes(arrays)))
    assert load_model(tmp_path / "model").n_features_in_ == 2


def test_what_is_written_is_what_the_description_says(tmp_path):
    """Read again by a reader of its own, from the table in the documentation."""
    model = RFFBoostRegressor(learner="rff_newton", **FEW).fit(X, X[:, 0])
    model.save_model(tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    assert hashlib.sha256(data[:-32]).digest() == data[-32:]
    version, length = struct.unpack("<QQ", data[8:24])
    header = json.loads(data[24 : 24 + length])
    assert (version, header["kind"]) == (1, "model")
    assert header["written_by"].startswith("rffboost_ext ")
    start, arrays = 24 + length, []
    for dtype, shape, order in header["arrays"]:
        size = np.dtype(dtype).itemsize * int(np.prod(shape))
        arrays.append(np.frombuffer(data[start : start + size], dtype).reshape(shape, order=order))
        start += size
    assert start == len(data) - 32
    fitted = dict(header["contents"]["part"][1]["fitted"]["dict"])
    state = fitted["ensemble_"]["part"][1]
    np.testing.assert_array_equal(arrays[state["baseline"]["array"]], model.ensemble_.baseline)
    name, first = state["terms"]["tuple"][0]["part"]
    assert rule_named(name).cls is Cosines
    np.testing.assert_array_equal(arrays[first["omega"]["array"]], model.ensemble_.terms[0].omega)
