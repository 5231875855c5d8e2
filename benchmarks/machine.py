"""What a measurement was made on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

PACKAGES = (
    *("rffboost-ext", "numpy", "scipy", "numba", "scikit-learn"),
    *("xgboost", "lightgbm", "catboost", "onnxruntime"),
)
EXTENSIONS = ("sse4.2", "avx", "avx2", "fma", "avx512f", "neon", "sve")


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def machine(threads: int) -> dict[str, object]:
    """Processor, cores, vector extensions, load, versions and threads."""
    from llvmlite.binding import get_host_cpu_features

    features = get_host_cpu_features()
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "vector extensions": [name for name in EXTENSIONS if features.get(name)],
        "load": load(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "threads": threads,
    }


def load() -> float | None:
    """Processes that ran or waited over the last minute: above the number of cores, times mean less."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def cpu_model() -> str:
    """The processor's name, with family and model numbers where the system tells them."""
    info = Path("/proc/cpuinfo")
    if not info.exists():
        return platform.processor() or platform.machine()
    lines = (line.partition(":") for line in info.read_text().split("\n\n")[0].splitlines())
    fields = {name.strip(): value.strip() for name, _, value in lines}
    name = fields.get("model name", platform.machine())
    numbers = [f"{key.removeprefix('cpu ')} {fields[key]}" for key in ("cpu family", "model") if key in fields]
    return f"{name} ({', '.join(numbers)})" if numbers else name


def describe_machine(facts: dict[str, object]) -> str:
    """The facts of :func:`machine` as a line of text."""
    versions = facts["versions"]
    assert isinstance(versions, dict)
    extensions = facts["vector extensions"]
    assert isinstance(extensions, list)
    parts = [
        str(facts["cpu"]),
        f"{facts['cores']} cores",
        " ".join(extensions) or "no known vector extensions",
        f"load {facts['load']} at the start",
        f"threads {facts['threads']}",
        f"Python {facts['python']}",
        *(f"{name} {number}" for name, number in versions.items()),
    ]
    return "; ".join(parts)
