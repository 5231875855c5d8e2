"""The format of files: another version is named, and the description is kept to."""

from __future__ import annotations

import hashlib
import json
import struct

import numpy as np
import pytest

from rffboost_ext import Cosines, RFFBoostRegressor, load_model
from rffboost_ext.persistence import container
from rffboost_ext.persistence.values import rule_named

from .model_file_cases import FEW, X, sealed


@pytest.mark.parametrize("version", [container.VERSION - 1, container.VERSION + 1])
def test_a_file_of_another_version(version, tmp_path):
    (tmp_path / "model").write_bytes(sealed(b"{}", b"", version=version))
    with pytest.raises(ValueError, match=rf"is of version {version} of the format"):
        load_model(tmp_path / "model")


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
