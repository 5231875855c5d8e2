"""Options for the compilation of functions that kernels call.

Unused wrappers for C and Python are not compiled, because they take as long as the function itself.
"""

from __future__ import annotations

from typing import Final

import numba

if numba.config.DISABLE_JIT:
    raise RuntimeError("rffboost_ext computes in compiled code: unset the environment variable NUMBA_DISABLE_JIT")

COMMON: Final = {"no_cfunc_wrapper": True, "error_model": "numpy"}
"""Options of all functions; callees are compiled once per set of options, including NumPy's functions."""

INNER: Final = COMMON | {"no_cpython_wrapper": True}
"""Options of a function that is called from kernels only. A call from Python would crash."""

INLINED: Final = INNER | {"forceinline": True}
"""Options of an inner function that may reorder its sums.

Without inlining, a process that compiles and one that loads the caller from the cache would call different copies
of the callee. The copies are optimised separately and may differ in the last bits.
"""
