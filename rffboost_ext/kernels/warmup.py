"""Compilation of all kernels beforehand, for images and continuous integration."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from multiprocessing import get_context
from pkgutil import iter_modules

from .compile_cache import cache_folders, find_writable_folder
from .kernel import KERNELS, CompiledKernel


def package_kernels() -> dict[str, CompiledKernel]:
    """All kernels of the package by their names."""
    package = sys.modules[__package__]
    for module in iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    return {one.name: one for one in KERNELS if one.function.__module__.startswith(f"{package.__name__}.")}


def kernel_variants() -> list[tuple[str, str]]:
    """The name of each kernel with each of its precisions."""
    return [(name, precision) for name, one in package_kernels().items() for precision in one.precisions]


def compile_all(n_jobs: int, report: Callable[[int, int], None]) -> int:
    """Compile all kernels in `n_jobs` processes; ``report(done, all)`` is called after each one.

    Returns
    -------
    int
        Number of kernels, one for each precision.

    Raises
    ------
    ValueError
        If no folder of the cache can be written.
    """
    if find_writable_folder() is None:
        folders = " or ".join(map(str, cache_folders()))
        raise ValueError(f"{folders} cannot be written; set NUMBA_CACHE_DIR to a writable folder")
    variants = kernel_variants()
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(compile_variant, *variant) for variant in variants]
        try:
            for done, future in enumerate(as_completed(futures), 1):
                future.result()
                report(done, len(variants))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return len(variants)


def compile_variant(name: str, precision: str) -> None:
    """Compile a kernel for a precision; a kernel that cannot be stored is an error."""
    one = package_kernels()[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            one.compile(precision)
        except UserWarning as error:
            raise OSError(str(error)) from error
