"""A notice when kernels are compiled, which happens once per machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event


class _NoticeListener(event.Listener):
    """Prints a line at the first compilation event."""

    def __init__(self) -> None:
        self.printed = False

    def on_start(self, event: Any) -> None:
        if not self.printed:
            print("[rffboost] compiling, once for this machine; later fits start from the cache", file=sys.stderr)
        self.printed = True

    def on_end(self, event: Any) -> None:
        """Do nothing."""


@contextmanager
def announce_compilation() -> Iterator[None]:
    """A context in which the first compilation is announced on standard error."""
    with event.install_listener("numba:compile", _NoticeListener()):
        yield
