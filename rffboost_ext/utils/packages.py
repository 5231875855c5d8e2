"""Optional packages, and how they are installed."""

from __future__ import annotations

from importlib.util import find_spec

EXTRAS = {
    "typer": "cli",
    "rich": "cli",
    "pandas": "cli",
    "matplotlib": "plot",
    "lightgbm": "peers",
    "catboost": "peers",
    "onnxruntime": "onnx",
    "shap": "shap",
    "pyarrow": "files",
    "dask": "dask",
    "distributed": "dask",
}
"""The extra that has a package."""


def require_packages(owner: str, *packages: str) -> None:
    """Raise an ImportError that says how to install optional packages unless all of them are there."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        extras = " and ".join(dict.fromkeys(f"extra {EXTRAS[one]!r}" for one in missing if one in EXTRAS))
        raise ImportError(
            f"{owner} needs {' and '.join(missing)}: pip install {' '.join(missing)}"
            + (f" ({extras})" if extras else "")
        )
