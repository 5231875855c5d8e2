"""The cache of compiled kernels on disk.

Numba's own cache fails if no folder is writable, if the disk is full and if a file is truncated, and it does not
read a folder that it cannot write. Here a cache that cannot be used costs time only. Files hold code that is run:
what others can write is not read.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import stat
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.resources import files
from multiprocessing import parent_process
from pathlib import Path
from typing import Any
from uuid import uuid4

import llvmlite
import numba
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps
from numba.misc.appdirs import AppDirs

DIGEST_SIZE = hashlib.sha256().digest_size
# Beside the package: files that pip does not know would keep the folder of a package that it removes, which Python
# then imports as a namespace, before a package that is installed as editable.
PACKAGE_FOLDER = Path(__file__).parents[2] / "__pycache__"
# Numba's settings that change the code of a kernel.
SETTINGS = "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE", "USING_SVML"
# A compiled kernel has less than a hundredth of this number of bytes.
MAX_SIZE = 2**26
# Without these flags, a link would be followed, and a named pipe waited for.
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class KernelCache(NullCache):
    """Compiled code of one kernel: a file for each signature, processor and state of the sources.

    A file starts with the digest of its content, and is replaced as a whole. Processes may therefore share a
    folder and write at once, and a damaged file is compiled again.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def cache_path(self) -> str:
        """The folder that is tried first."""
        return str(cache_folders()[0])

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled kernel for a signature; None if no folder has it."""
        target_context.refresh()
        for payload in stored_payloads(self.file_name(sig, target_context.codegen())):
            # Whatever a file holds, the kernel is compiled again.
            with suppress(Exception):
                return CompileResult._rebuild(target_context, *pickle.loads(payload))
        announce_compilation()
        return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Write a compiled kernel to the first folder that can be written."""
        payload, name = dumps(cres._reduce()), self.file_name(sig, cres.codegen)
        content = hashlib.sha256(payload).digest() + payload
        folder = next((folder for folder in cache_folders() if is_written(folder / name, content)), None)
        if folder is None:
            warn_of_missing_folder()
        elif folder == PACKAGE_FOLDER:
            self.remove_outdated()

    def file_name(self, sig: Any, codegen: Any) -> str:
        """The name of the file: kernel, digest of the sources, digest of signature, processor and compiler."""
        settings = [getattr(numba.config, setting) for setting in SETTINGS]
        compiler = sys.version, numba.__version__, llvmlite.__version__, settings
        key = repr((str(sig), codegen.magic_tuple(), compiler))
        return f"{self.name}-{sources_digest()}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.kernel"

    def remove_outdated(self) -> None:
        """Remove the files of other sources from the package's folder, which has one state of the sources."""
        for file in PACKAGE_FOLDER.glob(f"{self.name}-*.kernel"):
            if not file.name.startswith(f"{self.name}-{sources_digest()}-"):
                file.unlink(missing_ok=True)


@cache
def sources_digest() -> str:
    """A digest of the sources of all kernels, which call each other."""
    digest = hashlib.sha256()
    for file in sorted(files(__package__).iterdir(), key=lambda file: file.name):
        if file.name.endswith(".py"):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def cache_folders() -> list[Path]:
    """The folders of the cache in the order of their use: NUMBA_CACHE_DIR, else the package's and the user's."""
    if numba.config.CACHE_DIR:
        return [Path(numba.config.CACHE_DIR) / "rffboost_ext"]
    user = Path(AppDirs(appname="rffboost_ext", appauthor=False).user_cache_dir)
    # Without a home directory the user's folder is a relative path.
    return [PACKAGE_FOLDER, user] if user.is_absolute() else [PACKAGE_FOLDER]


def find_writable_folder() -> Path | None:
    """The folder in which compiled kernels are stored; None if none can be written."""
    for folder in cache_folders():
        probe = folder / "probe"
        if is_written(probe, b""):
            probe.unlink(missing_ok=True)
            return folder
    return None


def stored_payloads(name: str) -> Iterator[bytes]:
    """The undamaged contents of the files of a name."""
    for folder in cache_folders():
        try:
            content = read_private(folder / name)
        except OSError:
            continue
        digest, payload = content[:DIGEST_SIZE], content[DIGEST_SIZE:]
        if hashlib.sha256(payload).digest() == digest:
            yield payload


def read_private(path: Path) -> bytes:
    """The content of a regular file; a PermissionError if others can write the file or its folder."""
    with open(os.open(path, OPEN_FLAGS), "rb") as file:
        require_private(os.fstat(file.fileno()), stat.S_IFREG)
        require_private(path.parent.lstat(), stat.S_IFDIR)
        return file.read(MAX_SIZE)


def require_private(status: os.stat_result, kind: int) -> None:
    """Raise a PermissionError unless a file is of a kind, and only this user or root can write it."""
    is_private = os.name != "posix" or (status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o022)
    if stat.S_IFMT(status.st_mode) != kind or not is_private:
        raise PermissionError("others can write the cache of compiled kernels")


def is_written(path: Path, content: bytes) -> bool:
    """Replace a file as a whole; whether that was possible."""
    temporary = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        for folder in reversed(path.parents):
            if not folder.exists():
                folder.mkdir(0o700, exist_ok=True)
        require_private(path.parent.lstat(), stat.S_IFDIR)
        temporary.write_bytes(content)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        return False
    return True


@cache
def announce_compilation() -> None:
    """Announce on standard error, once in a process, that kernels are compiled; workers of a pool are silent."""
    if parent_process() is None:
        print("[rffboost] compiling, once for this machine; later fits start from the cache", file=sys.stderr)


@cache
def warn_of_missing_folder() -> None:
    """Warn, once in a process, that compiled kernels are lost at its end."""
    folders = " or ".join(str(folder) for folder in cache_folders())
    warnings.warn(
        f"compiled kernels cannot be stored in {folders}, so that each process compiles them again, which takes "
        "seconds; set the environment variable NUMBA_CACHE_DIR to a folder that only you can write",
        UserWarning,
        stacklevel=2,
    )
