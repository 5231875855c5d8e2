"""What a measurement was made on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    *("rffboost-ext", "numpy", "scipy", "numba", "scikit-learn"),
    *("xgboost", "lightgbm", "catboost", "onnxruntime"),
)


def environment(jobs: int = 1) -> str:
    """Versions, processor and processes as a line of text."""
    versions = ", ".join(f"{name} {number}" for name in PACKAGES if (number := installed(name)))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (
        f"Python {platform.python_version()}, {versions}; {processor()}, {cores} cores; one thread per fit, "
        f"processes: {jobs}."
    )


def installed(package: str) -> str:
    """The version of a package; empty if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def processor() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
