"""Everything that a process loads in its first fit, loaded beforehand."""

from __future__ import annotations

from importlib import import_module


def warmup() -> None:
    """Load all compiled kernels, and compile those that are not stored yet, so that no fit waits for them.

    A benchmark calls it before it starts its clock. It also imports XGBoost, which fits of `learner="tree"` need.

    Notes
    -----
    The first call on a machine compiles for about half a minute on one core; the command ``rffboost warmup`` does
    so in parallel processes. Later processes load the kernels from the cache in about half a second. A second call
    in a process does nothing. A folder that cannot be written is no error: each process then compiles in memory.

    Examples
    --------
    >>> import rffboost_ext
    >>> rffboost_ext.warmup()
    """
    from ..kernels.warmup import package_kernels

    import_module("xgboost")
    for one in package_kernels().values():
        for precision in one.precisions:
            one.compile(precision)
