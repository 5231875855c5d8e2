"""Compilation of all kernels beforehand, for images and continuous integration."""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from multiprocessing import get_context
from pkgutil import iter_modules

from joblib import cpu_count

from .compile_cache import cache_folders, find_writable_folder
from .kernel import KERNELS, CompiledKernel

WIDTH = 40


def command(argv: Sequence[str]) -> None:
    """Run ``rffboost warmup``.

    Raises
    ------
    ValueError
        If no folder of the cache can be written.
    """
    parser = argparse.ArgumentParser(
        prog="rffboost warmup",
        description="Compile all kernels in parallel processes, so that no fit waits for the compiler.",
    )
    parser.add_argument("--jobs", type=int, default=cpu_count(), help="number of processes; default: %(default)s")
    n_jobs = parser.parse_args(argv).jobs
    if n_jobs < 1:
        parser.error(f"--jobs must be at least 1, got {n_jobs}")
    if find_writable_folder() is None:
        folders = " or ".join(map(str, cache_folders()))
        raise ValueError(f"{folders} cannot be written; set NUMBA_CACHE_DIR to a writable folder")
    start = time.perf_counter()
    number = compile_all(n_jobs, draw_progress)
    print(f"{number} kernels are ready after {time.perf_counter() - start:.0f} s, in {find_writable_folder()}")


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
    """
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
        one.compile(precision)


def draw_progress(done: int, number: int) -> None:
    """Draw a progress bar on standard error; without a terminal, only when it is full."""
    bar = "#" * (WIDTH * done // number)
    end = "\n" if done == number else ""
    if end or sys.stderr.isatty():
        print(f"\rcompiling [{bar:{WIDTH}}] {done}/{number}", end=end, file=sys.stderr, flush=True)
