"""
Matmuls of f32 on the tensor cores, which take the upper 19 bits of a number (tf32).

In 3xtf32 a number is split into its upper bits and the rest, `x = h + l`. Of the product
`(h + l) (g + m)` three terms are computed; `l m`, at most 2^-21 of it, is left out. Source: Ootomo
and Yokota, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
theoretical peak performance" (2022).

A matmul with `precision = "tf32"` rounds its operands to the nearest tf32, and multiplies once.
"""

from dataclasses import dataclass

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.passes.analysis.buffers import shared_layout
from mirage_mlir.passes.codegen.addresses import shared_offset
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index

UPPER_BITS = -(1 << 13)
"""The mask of the bits that tf32 has: sign, exponent and ten bits of the fraction."""


@dataclass(frozen=True)
class Split:
    """
    The registers of a fragment: the upper bits of the numbers, and the rest.

    The rest is empty for numbers that are rounded to tf32.
    """

    upper: list[SSAValue]
    rest: list[SSAValue]


def split_loads(
    ctx: KernelContext, value: SSAValue, places: list[tuple[Index, Index]], *, rounded: bool
) -> Split:
    """Load and split the elements at (row, column) `places` of a tile in shared memory."""
    emit, layout = ctx.emit, shared_layout(value)
    upper: list[SSAValue] = []
    rest: list[SSAValue] = []
    for row, column in places:
        offset = shared_offset(ctx, layout, byte_width(f32), row, column)
        (number,) = emit.load(emit.pointer(ctx.shared_pointer(value), offset, f32), f32, 1)
        if rounded:
            upper.append(emit.result(nvvm.ConvertFloatToTf32Op(number)))
            continue
        bits = upper_bits(ctx, number)
        left = arith.SubfOp(number, emit.result(llvm.BitcastOp(bits, f32)))
        upper.append(bits)
        rest.append(upper_bits(ctx, emit.result(left)))
    return Split(upper, rest)


def upper_bits(ctx: KernelContext, number: SSAValue) -> SSAValue:
    """The bits of an f32 that are its upper part in tf32."""
    bits = ctx.emit.bits(ctx.emit.result(llvm.BitcastOp(number, i32)), UPPER_BITS)
    assert isinstance(bits, SSAValue)
    return bits


def multiply_fragments(
    ctx: KernelContext, left: Split, right: Split, added: list[SSAValue]
) -> list[SSAValue]:
    """The matmul of a 16 x 8 and an 8 x 8 fragment, added to `added`; small parts first."""
    emit = ctx.emit
    parts = [(left.rest, right.upper), (left.upper, right.rest)] if left.rest else []
    for a, b in (*parts, (left.upper, right.upper)):
        mma = emit.result(nvvm.MmaSyncOp(a, b, added, (16, 8, 8), "tf32"))
        added = [emit.field(mma, slot, f32) for slot in range(4)]
    return added
