"""Writing model files: whole or not at all, as described, and what cannot be saved is named."""

from __future__ import annotations

import hashlib
import json
import os
import re
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from onnx_export import save_onnx
from rffboost_ext import Cosines, Ensemble, RFFBoostClassifier, RFFBoostRegressor, load_model, save_model
from rffboost_ext.persistence import container
from rffboost_ext.persistence.values import rule_named
from rffboost_ext.utils.files import write_atomically

from .model_file_cases import FEW, X, Y, sealed


def test_a_model_that_is_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        RFFBoostClassifier().save_model(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_callbacks_are_left_out_with_a_word(tmp_path):
    model = RFFBoostClassifier(callbacks=[lambda progress: None], **FEW).fit(X, Y)
    with pytest.warns(UserWarning, match="callbacks are no part of a model file"):
        model.save_model(tmp_path / "model")
    assert load_model(tmp_path / "model").callbacks is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(callbacks=None).save_model(tmp_path / "model")


@pytest.mark.parametrize("path", ["missing/model", Path("missing") / "model"])
def test_a_folder_that_is_not_there(path, tmp_path):
    with pytest.raises(FileNotFoundError, match="path must be in an existing folder"):
        save_model(Ensemble(np.zeros(1), (), np.empty((0, 2))), tmp_path / path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_a_pipe_is_not_replaced(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(ValueError, match="the device, pipe or socket"):
            save_model(Ensemble(np.zeros(1), (), np.empty((0, 2))), path)
        with pytest.raises(ValueError, match="the device, pipe or socket"):
            save_onnx(Ensemble(np.zeros(1), (), np.empty((0, 2))), path)
    assert pipe.is_fifo()
    assert sorted(tmp_path.iterdir()) == [link, pipe]


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_what_was_there(step, tmp_path, monkeypatch):
    path = tmp_path / "model"
    write_atomically(path, b"good")

    def fails(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, step, fails)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, b"bad")
    assert path.read_bytes() == b"good"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", b"data")
    assert (tmp_path / "real").read_bytes() == b"data"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no permissions of groups and others")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o666, 0o777, None])
def test_a_file_that_is_replaced_keeps_its_permissions(mode, tmp_path, monkeypatch):
    path, modes = tmp_path / "model", []
    if mode is not None:
        path.touch()
        path.chmod(mode)
    monkeypatch.setattr(os, "fsync", lambda file: modes.append(os.fstat(file).st_mode & 0o777))
    mask = os.umask(0o027)
    try:
        write_atomically(path, b"data")
    finally:
        os.umask(mask)
    assert path.read_bytes() == b"data"
    assert path.stat().st_mode & 0o777 == (0o640 if mode is None else mode)
    # Nor is the file that is written first open to more, but for its owner.
    assert modes[0] & ~(0o666 if mode is None else mode) & 0o077 == 0


@pytest.mark.parametrize(
    ("path", "error"),
    [
        (5, TypeError),
        (True, TypeError),
        (None, TypeError),
        (b"a", TypeError),
        ("", ValueError),
        ("a\0b", ValueError),
    ],
)
def test_what_is_no_path_is_named(path, error):
    for use in (load_model, lambda path: save_model(Ensemble(np.zeros(1), (), np.empty((0, 2))), path)):
        with pytest.raises(error, match=f"path must .* got {re.escape(repr(path))}"):
            use(path)


def test_a_path_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    empty = Ensemble(np.zeros(1), (), np.empty((0, 2)))
    monkeypatch.chdir(tmp_path)
    for path, error in ((".", IsADirectoryError), (str(tmp_path), IsADirectoryError), ("x" * 300, OSError)):
        with pytest.raises(error, match=f"'{path}'"):
            save_model(empty, path)
    with pytest.raises(IsADirectoryError, match=re.escape("'.'")):
        load_model(".")
    assert list(tmp_path.iterdir()) == []


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
