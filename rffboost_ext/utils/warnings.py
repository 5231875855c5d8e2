"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings

# With what stands between functions of ours: functools, where they are chosen by type.
OURS = "rffboost_ext", "onnx_export", "functools"


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name as its place the nearest line on the stack that is not of this project."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
