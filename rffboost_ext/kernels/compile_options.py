"""How kernels are compiled: those that Python calls, and those that only other kernels call.

Unused wrappers are not compiled: those for C and for Python take as long as the kernel itself.
"""

from __future__ import annotations

from typing import Final

COMMON: Final = {"no_cfunc_wrapper": True, "error_model": "numpy"}
"""Options of all kernels: what a kernel calls is compiled once per set of options, NumPy's functions too."""

KERNEL: Final = COMMON | {"cache": True, "nogil": True}
"""Options of a kernel that Python calls. It is kept on disk, with all that it calls."""

INNER: Final = COMMON | {"no_cpython_wrapper": True}
"""Options of an inner kernel, which only kernels call. A call from Python would crash."""

INLINED: Final = INNER | {"forceinline": True}
"""Options of an inner kernel that may reorder its sums.

A call that is not inlined goes to whichever copy of the callee was loaded first: to the one compiled on its own
where this process compiles, to the caller's where the caller comes from the cache on disk. They are optimised
separately, and can differ in the last bits. Inlined code has no second copy: a fit has the same bits in a process
that compiles and in the next one.
"""
