"""Compilation is announced once, and only where it happens."""

from __future__ import annotations

import numba

from rffboost_ext.kernels.compile_notice import announce_compilation


def test_compilation_is_announced_once(capsys):
    twice = numba.njit(lambda x: 2 * x)
    with announce_compilation():
        twice(1)
        twice(1.0)
    assert capsys.readouterr().err.count("compiling") == 1
    with announce_compilation():
        twice(1)
    twice(1j)
    assert capsys.readouterr().err == ""
