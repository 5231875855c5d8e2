"""Operations on the bits of floats as LLVM intrinsics.

Numba widens 32-bit integers to 64 bits, which halves the vector lanes. Here an integer k is encoded as the float
``k + 1.5 * 2**b``, where b is the number of bits of the mantissa: k is in the low bits.
"""

from __future__ import annotations

import numba
from llvmlite import ir
from numba.extending import intrinsic


def _integers(context, builder, value):  # type: ignore[no-untyped-def]
    """The bits of a float as an integer of its width, and that integer type."""
    integer = ir.IntType(64 if value.type == ir.DoubleType() else 32)
    return builder.bitcast(value, integer), integer


@intrinsic
def fma(typing_context, a, b, c):  # type: ignore[no-untyped-def]
    """a * b + c, rounded once."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        return builder.fma(*args)

    return a(a, a, a), generate


@intrinsic
def is_odd(typing_context, encoded):  # type: ignore[no-untyped-def]
    """Whether the encoded integer is odd."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        bits, _ = _integers(context, builder, args[0])
        return builder.trunc(bits, ir.IntType(1))

    return numba.boolean(encoded), generate


@intrinsic
def negate_if_odd(typing_context, value, encoded):  # type: ignore[no-untyped-def]
    """-value if the encoded integer is odd, else value."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        (bits, integer), (k, _) = (_integers(context, builder, arg) for arg in args)
        sign = builder.shl(k, integer(integer.width - 1))
        return builder.bitcast(builder.xor(bits, sign), args[0].type)

    return value(value, value), generate


@intrinsic
def halve(typing_context, encoded):  # type: ignore[no-untyped-def]
    """The encoding of half the encoded integer, rounded down."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        k, integer = _integers(context, builder, args[0])
        return builder.bitcast(builder.lshr(k, integer(1)), args[0].type)

    return encoded(encoded), generate


@intrinsic
def times_power_of_two(typing_context, value, encoded):  # type: ignore[no-untyped-def]
    """value * 2**k for the encoded integer k, by adding to the exponent of value."""

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        (bits, integer), (k, _) = (_integers(context, builder, arg) for arg in args)
        exponent = builder.shl(k, integer(52 if integer.width == 64 else 23))
        return builder.bitcast(builder.add(bits, exponent), args[0].type)

    return value(value, value), generate
