"""Functions that are compiled for one signature in each precision, when they are first called."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any, Final, get_type_hints

import numba
import numpy as np
from numba.types import Array, NamedTuple

from .._signals import defer_signals
from .compile_cache import KernelCache

if numba.config.DISABLE_JIT:
    raise RuntimeError("rffboost_ext computes in compiled code: unset the environment variable NUMBA_DISABLE_JIT")

COMMON: Final = {"no_cfunc_wrapper": True, "error_model": "numpy"}
"""Options of all functions; callees are compiled once per set of options, including NumPy's functions.

Unused wrappers for C and Python are not compiled, because they take as long as the function itself.
"""

INNER: Final = COMMON | {"no_cpython_wrapper": True}
"""Options of a function that is called from kernels only. A call from Python would crash."""

INLINED: Final = INNER | {"forceinline": True}
"""Options of an inner function that may reorder its sums.

Without inlining, a process that compiles and one that loads the caller from the cache would call different copies
of the callee. The copies are optimised separately and may differ in the last bits.
"""

MERGED: Final = INNER | {"inline": "always"}
"""Options of a function that is called from one place, of which it becomes a part before types are inferred.

Otherwise it is optimised by itself, and again within each function above it.
"""

COMPILING = RLock()

KERNELS: list[CompiledKernel] = []
"""All kernels of the modules that have been imported."""


class CompiledKernel:
    """A compiled function that is called from Python.

    The signature is declared, so that arrays that may not be written, or are memory maps, need no second
    compilation.

    Parameters
    ----------
    function : callable
        The function in Python.
    signature : sequence of str or type
        The type of each parameter: NumPy's code of a scalar such as ``i8``, ``f8[2]`` for a C-contiguous array of
        two dimensions that is read, and ``f8[2]*`` for one that is written. T is the precision, f4 or f8. A class
        is a NamedTuple, whose fields are annotated with such types; its arrays are all declared as written.
    fastmath : bool
        Whether sums may be reordered.
    """

    def __init__(self, function: Callable[..., Any], signature: Sequence[str | type], fastmath: bool) -> None:
        self.function, self.signature, self.fastmath = function, signature, fastmath
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self._first = next((i for i, one in enumerate(signature) if str(one).startswith("T[")), None)
        self._compiled: dict[str, Callable[..., Any]] = {}

    @property
    def precisions(self) -> tuple[str, ...]:
        """NumPy's character codes of the precisions."""
        return ("d",) if self._first is None else ("f", "d")

    def __call__(self, *args: Any) -> Any:
        precision = "f" if self._first is not None and args[self._first].dtype.char == "f" else "d"
        run = self._compiled.get(precision) or self.compile(precision)
        try:
            return run(*args)
        except TypeError:
            # Raised before anything is computed: an array has another type or order than declared.
            return run(*self._converted(args, precision))

    def _converted(self, args: Sequence[Any], precision: str) -> list[Any]:
        """The arguments, with arrays that are read in the declared type and order."""
        types = [parameter_type(one, precision) for one in self.signature]
        return [
            np.ascontiguousarray(arg, dtype=str(one.dtype)) if isinstance(one, Array) and not one.mutable else arg
            for arg, one in zip(args, types, strict=True)
        ]

    @defer_signals()
    def compile(self, precision: str) -> Callable[..., Any]:
        """Compile the function for a precision, or load it from the cache, once in a process."""
        # Threads that need a kernel at once wait for the first of them.
        with COMPILING:
            return self._compiled.get(precision) or self._newly_compiled(precision)

    def _newly_compiled(self, precision: str) -> Callable[..., Any]:
        dispatcher = numba.njit(fastmath=self.fastmath, nogil=True, **COMMON)(self.function)
        dispatcher._cache = KernelCache(self.name)
        with without_garbage_collection():
            dispatcher.compile(tuple(parameter_type(one, precision) for one in self.signature))
        # Other types are converted instead of compiled.
        dispatcher.disable_compile()
        self._compiled[precision] = dispatcher
        return dispatcher


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """A context without garbage collection, which takes a tenth of the time of the compiler and finds nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def kernel(*signature: str | type, fastmath: bool = False) -> Callable[[Callable[..., Any]], CompiledKernel]:
    """The decorator that makes a :class:`CompiledKernel` of a function; a string may have several types."""
    parameters = [one for part in signature for one in (part.split() if isinstance(part, str) else [part])]

    def decorate(function: Callable[..., Any]) -> CompiledKernel:
        KERNELS.append(CompiledKernel(function, parameters, fastmath))
        return KERNELS[-1]

    return decorate


def parameter_type(declared: str | type, precision: str) -> Any:
    """Numba's type of a parameter of a signature."""
    if not isinstance(declared, str):
        fields = get_type_hints(declared, include_extras=True).values()
        return NamedTuple([parameter_type(one.__metadata__[0], precision) for one in fields], declared)
    kind, _, array = declared.partition("[")
    dtype = numba.from_dtype(np.dtype(precision if kind == "T" else kind))
    return Array(dtype, int(array[0]), "C", readonly=not array.endswith("*")) if array else dtype
