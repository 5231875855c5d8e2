"""Options for the compilation of kernels.

Unused wrappers for C and Python are not compiled, because they take as long as the kernel itself.
"""

from __future__ import annotations

from typing import Final

COMMON: Final = {"no_cfunc_wrapper": True, "error_model": "numpy"}
"""Options of all kernels; callees are compiled once per set of options, including NumPy's functions."""

KERNEL: Final = COMMON | {"cache": True, "nogil": True}
"""Options of a kernel that is called from Python. It is cached on disk with its callees."""

INNER: Final = COMMON | {"no_cpython_wrapper": True}
"""Options of an inner kernel, which is called from kernels only. A call from Python would crash."""

INLINED: Final = INNER | {"forceinline": True}
"""Options of an inner kernel that may reorder its sums.

Without inlining, a process that compiles and one that loads the caller from the cache would call different copies
of the callee. The copies are optimised separately and may differ in the last bits.
"""
