"""Sums of pairs of numbers in one vector operation, which the compiler does not find by itself."""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

PAIR = ir.VectorType(ir.DoubleType(), 2).as_pointer()


@intrinsic
def add_pair(typing_context, target, at, source, of):  # type: ignore[no-untyped-def]
    """Add entries `of` and ``of + 1`` of the data of `source` to entries `at` and ``at + 1`` of that of `target`.

    Both are C-contiguous arrays of float64 of any shape, and entries are counted in that order.
    """

    def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
        kinds = signature.args

        def pointer(array, place):  # type: ignore[no-untyped-def]
            data = context.make_array(kinds[array])(context, builder, args[array]).data
            return builder.bitcast(builder.gep(data, [args[place]]), PAIR)

        here, there = pointer(0, 1), pointer(2, 3)
        total = builder.fadd(builder.load(here, align=8), builder.load(there, align=8))
        builder.store(total, here, align=8)
        return context.get_dummy_value()

    return types.void(target, at, source, of), generate
