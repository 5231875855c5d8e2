"""Announces to the user when the kernels are compiled, which happens once per machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _Once(event.Listener):
    """Prints a line at the first compilation event."""

    def __init__(self) -> None:
        self.told = False

    def on_start(self, event: Any) -> None:
        if not self.told:
            print("[rffboost] compiling, once for this machine; later fits start from the cache", file=sys.stderr)
        self.told = True

    def on_end(self, event: Any) -> None:
        """Do nothing."""


@contextmanager
def compilation_announced() -> Iterator[None]:
    """Within this context the first compilation, if there is one, is announced on standard error."""
    with event.install_listener("numba:compile", _Once()):
        yield
