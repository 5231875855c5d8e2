"""Compiled kernels are stored where that is possible, and a cache that cannot be used fails nobody."""

from __future__ import annotations

import errno
import os
import pickle
import subprocess
import sys
import warnings
from functools import partial
from importlib import reload
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from rffboost_ext.kernels import compile_cache
from rffboost_ext.kernels.kernel import CompiledKernel, kernel

COUNT = """
from numba.core import event

recorder = event.RecordingListener()
event.register("numba:compile", recorder)
"""
PRINT = """
print(len(recorder.buffer))
"""
FIT = """
import numpy as np
from rffboost_ext import presets

X = np.random.default_rng(0).standard_normal((300, 3))
y = X[:, 0] > X[:, 1]
for preset in (presets.gbrff1, presets.gbrff2):
    preset(n_estimators=2, random_state=0).fit(X, y).predict(X)
"""
# Sums in float32 over more than one tile: where one is reordered, the last bits show it.
BITS = """
from rffboost_ext import RFF1, RFFBoostClassifier
import numpy as np

X = np.random.default_rng(0).standard_normal((3000, 3))
y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] > 0.0
model = RFFBoostClassifier("exponential", RFF1(), n_estimators=3, random_state=0).fit(X, y)
print(model.decision_function(X).tobytes().hex())
"""


def printed(script: str, folder: Path) -> str:
    """What the script prints in a process of its own, with the cache in `folder`."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def double() -> CompiledKernel:
    """A kernel that has not been compiled."""

    @kernel("f8[1] f8[1]*")
    def double(x, out):
        for i in range(len(x)):
            out[i] = 2.0 * x[i]

    return double


@pytest.fixture
def folders(monkeypatch, tmp_path) -> list[Path]:
    """Two folders of the cache; the second is used if the first cannot be."""
    folders = [tmp_path / "package", tmp_path / "user"]
    monkeypatch.setattr(compile_cache, "cache_folders", lambda: folders)
    compile_cache.warn_of_missing_folder.cache_clear()
    yield folders
    compile_cache.warn_of_missing_folder.cache_clear()


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def doubled(double: CompiledKernel) -> list[float]:
    """The result of a kernel that is compiled, or loaded, anew."""
    double._compiled.clear()
    out = np.empty(2)
    double(np.array([1.0, 4.0]), out)
    return out.tolist()


def forged(file: Path) -> None:
    """A file with the right digest that would end the process."""
    payload = pickle.dumps(Exit())
    file.write_bytes(compile_cache.hashlib.sha256(payload).digest() + payload)


class Exit:
    def __reduce__(self):
        return os._exit, (1,)


def linked(path: Path) -> None:
    """The path as a link to what it was."""
    path.symlink_to(path.rename(path.with_name("elsewhere")))


DAMAGES = {
    "empty": lambda file: file.write_bytes(b""),
    "zeros": lambda file: file.write_bytes(b"\0" * 4096),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-100]),
    "no kernel": lambda file: file.write_bytes(compile_cache.hashlib.sha256(b"?").digest() + b"?"),
    "huge": lambda file: os.truncate(file, 2**40),
    "pipe": lambda file: (file.unlink(), os.mkfifo(file)),
    "link": lambda file: (forged(file), linked(file)),
    "written by others": lambda file: (forged(file), file.chmod(0o666)),
    "owned by others": lambda file: (forged(file), os.chown(file, 65534, -1)),
}
"""What a file of the cache may become."""


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_file_that_is_damaged_or_of_others_is_compiled_again(double, folders, damage):
    assert doubled(double) == [2.0, 8.0]
    (file,) = files(folders[0])
    try:
        damage(file)
    except PermissionError:
        pytest.skip("needs root")
    assert doubled(double) == [2.0, 8.0]
    assert file.is_file()
    assert not file.is_symlink()
    digest, payload = file.read_bytes()[:32], file.read_bytes()[32:]
    assert digest == compile_cache.hashlib.sha256(payload).digest()


@pytest.mark.parametrize(
    "change",
    [linked, lambda path: path.chmod(0o777), lambda path: os.chown(path, 65534, -1)],
    ids=["link", "mode", "owner"],
)
def test_a_folder_that_others_may_have_written_is_passed_over(double, folders, change):
    doubled(double)
    forged(files(folders[0])[0])
    try:
        change(folders[0])
    except PermissionError:
        pytest.skip("needs root")
    assert doubled(double) == [2.0, 8.0]
    assert len(files(folders[1])) == 1


@pytest.mark.parametrize("setting", compile_cache.SETTINGS)
def test_files_of_other_settings_have_other_names(monkeypatch, setting):
    name = partial(compile_cache.KernelCache("kernel").file_name, "i8", SimpleNamespace(magic_tuple=tuple))
    before = name()
    monkeypatch.setattr(compile_cache.numba.config, setting, "another")
    assert name() != before


def test_a_folder_that_is_no_folder_is_passed_over_and_without_any_there_is_one_warning(double, folders):
    folders[0].write_text("")
    with warnings.catch_warnings(action="error"):
        assert doubled(double) == [2.0, 8.0]
    (file,) = files(folders[1])
    file.unlink()
    folders[1].rmdir()
    folders[1].write_text("")
    with pytest.warns(UserWarning, match="NUMBA_CACHE_DIR") as caught:
        assert [doubled(double), doubled(double)] == [[2.0, 8.0]] * 2
    assert len(caught) == 1
    assert compile_cache.find_writable_folder() is None


def test_a_full_disk_leaves_nothing_half_written(double, folders, monkeypatch):
    def fill(self, content):
        with open(self, "wb") as file:
            file.write(content[:10])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.warns(UserWarning, match="NUMBA_CACHE_DIR"):
        assert doubled(double) == [2.0, 8.0]
    assert [files(folder) for folder in folders] == [[], []]


def test_a_folder_that_cannot_be_written_is_read(double, folders, monkeypatch):
    doubled(double)
    monkeypatch.setattr(compile_cache, "is_written", lambda *_: pytest.fail("compiled again"))
    assert doubled(double) == [2.0, 8.0]


def test_files_of_older_sources_are_removed_from_the_package_folder(double, folders, monkeypatch):
    monkeypatch.setattr(compile_cache, "PACKAGE_FOLDER", folders[0])
    folders[0].mkdir()
    older = folders[0] / f"{double.name}-0-1.kernel"
    other = folders[0] / "another.kernel"
    for file in (older, other):
        file.write_text("")
    doubled(double)
    assert not older.exists()
    assert len(files(folders[0])) == 2


def test_no_file_keeps_the_folder_of_a_package_that_is_removed():
    assert not compile_cache.PACKAGE_FOLDER.is_relative_to(Path(compile_cache.__file__).parents[1])


def test_variables_name_the_only_folder(monkeypatch):
    monkeypatch.setattr(compile_cache.numba.config, "CACHE_DIR", "/some/where")
    assert compile_cache.cache_folders() == [Path("/some/where/rffboost_ext")]
    monkeypatch.setattr(compile_cache.numba.config, "CACHE_DIR", "")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert compile_cache.cache_folders() == [compile_cache.PACKAGE_FOLDER]


TWO_KERNELS = """
import numpy as np
from rffboost_ext.kernels.kernel import kernel

@kernel("f8[1]*")
def first(x):
    x[0] = 1.0

@kernel("f8[1]*")
def second(x):
    x[1] = 2.0

x = np.zeros(2)
first(x)
second(x)
print(x.tolist())
"""


def test_compilation_is_announced_once_in_a_process_even_if_two_start_at_once(tmp_path):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    env = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    both = [subprocess.Popen([sys.executable, "-c", TWO_KERNELS], env=env, **pipes) for _ in range(2)]
    outputs = [process.communicate(timeout=120) for process in both]
    assert [out.strip() for out, _ in outputs] == ["[1.0, 2.0]"] * 2
    # The later process may find what the other has compiled.
    announced = sorted(len(err.splitlines()) for _, err in outputs)
    assert announced in ([0, 1], [1, 1])
    assert "compiling, once for this machine" in outputs[0][1] + outputs[1][1]
    assert len(files(tmp_path / "rffboost_ext")) == 2
    assert oct(tmp_path.joinpath("rffboost_ext").stat().st_mode)[-3:] == "700"


def test_code_that_is_not_compiled_is_refused(monkeypatch):
    monkeypatch.setattr(compile_cache.numba.config, "DISABLE_JIT", True)
    with pytest.raises(RuntimeError, match="unset the environment variable NUMBA_DISABLE_JIT"):
        reload(sys.modules["rffboost_ext.kernels.kernel"])


@pytest.mark.slow
def test_a_second_process_compiles_nothing(tmp_path):
    assert int(printed(COUNT + FIT + PRINT, tmp_path)) > 0
    assert int(printed(COUNT + FIT + PRINT, tmp_path)) == 0


@pytest.mark.slow
def test_a_fit_has_the_same_bits_whether_it_compiles_or_not(tmp_path):
    assert printed(BITS, tmp_path) == printed(BITS, tmp_path)
