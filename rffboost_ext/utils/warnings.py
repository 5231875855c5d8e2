"""Warnings that point at the line of the user."""

from __future__ import annotations

import sys
import warnings

# The standard modules stand between our functions, in single dispatch and in decorators.
OWN_PACKAGES = "rffboost_ext", "onnx_export", "functools", "contextlib"


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn with the location of the nearest line on the stack outside of this project."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in OWN_PACKAGES:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
