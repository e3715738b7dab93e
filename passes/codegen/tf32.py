"""
Matmuls of f32 on the tensor cores, which take the upper 19 bits of a number: tf32.

A number is its upper bits and what they leave, `x = h + l`; of `(h + l) (g + m)` all but `l m` is
computed, which is at most 2^-21 of the PRODUCT. Source: Ootomo and Yokota, "Recovering single
precision accuracy from Tensor Cores while surpassing the FP32 theoretical peak performance" (2022).

A matmul that is asked for in tf32 is one matmul of numbers that are rounded to the nearest tf32.
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
"""The sign, exponent and ten bits of the fraction, which tf32 has."""


@dataclass(frozen=True)
class Split:
    """
    The registers of a fragment: of the numbers' upper bits, and of what these leave.

    There is no rest of numbers that are rounded to tf32.
    """

    upper: list[SSAValue]
    rest: list[SSAValue]


def split_loads(
    ctx: KernelContext, value: SSAValue, places: list[tuple[Index, Index]], *, rounded: bool
) -> Split:
    """The elements of a tile in shared memory at (row, column) `places`, in two parts or one."""
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
    """The bits of an f32 that tf32 has."""
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
