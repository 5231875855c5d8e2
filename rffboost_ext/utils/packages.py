"""Optional packages."""

from __future__ import annotations

from importlib.util import find_spec


def require_packages(owner: str, *packages: str, extra: str = "all") -> None:
    """Raise an ImportError that names the extra unless optional packages are installed."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise ImportError(
            f"{owner} needs {' and '.join(missing)}, which is not installed: pip install 'rffboost-ext[{extra}]'"
        )
