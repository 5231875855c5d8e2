"""How one kernel calls another."""

from __future__ import annotations

from typing import Final

INLINED: Final = {"cache": True, "forceinline": True}
"""Options of a kernel that others call and that may reorder its sums.

A call that stays a call goes to whichever copy of the callee was loaded first: to the one compiled on its own
where this process compiles, to the caller's where the caller comes from the cache on disk. They are optimised
apart, and can differ in the last bits. What is inlined has no second copy: a fit has the same bits in a process
that compiles and in the next one.
"""
