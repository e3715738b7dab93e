"""Converts the accumulators of one matmul into the left MMA fragments of the next."""

from collections.abc import Sequence
from itertools import product

from xdsl.dialects import llvm, vector
from xdsl.dialects.builtin import VectorType, f16, i32
from xdsl.ir import Attribute, SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Emitter


def packed_fragments(
    ctx: KernelContext, op: threadblock.MatmulOp, row_tiles: int, step: int
) -> list[list[SSAValue]]:
    """
    The left fragments of one step, packed from registers that hold another matmul's result.

    Elements past the edge are set to zero: they may have become NaN.
    """
    emit = ctx.emit
    attribute = layout_of(op.lhs)
    assert isinstance(attribute, RegistersAttr)
    layout, shape = attribute.layout, threadblock.shape_of(op.lhs)
    column_tiles = len(layout.offsets) // (4 * row_tiles)
    element = threadblock.tile_type(op.lhs).element_type
    # Rows that do not exist are never stored.
    whole, extents = (layout.spans()[0], shape[-1]), (None, ctx.extents(op.lhs)[-1])
    fragments: list[list[SSAValue]] = []
    for row in range(row_tiles):
        registers: list[SSAValue] = []
        for half, down in product((0, 1), (0, 1)):
            number = 2 * step + half
            first = ((row * column_tiles + number) * 2 + down) * 2
            pair: list[SSAValue] = []
            for slot in (first, first + 1):
                if number >= column_tiles:
                    pair.append(emit.zero(element))
                    continue
                valid = ctx.inside(layout, whole, extents, layout.offsets[slot])
                pair.append(emit.select(valid, ctx.registers[op.lhs][slot], emit.zero(element)))
            registers.append(packed(ctx, pair))
        fragments.append(registers)
    return fragments


def packed(ctx: KernelContext, pair: list[SSAValue]) -> SSAValue:
    """Two 16-bit numbers as one register of a tensor core."""
    emit = ctx.emit
    return emit.together(pair) if pair[0].type == f16 else emit.word(pair)


def as_word(emit: Emitter, pair: SSAValue) -> SSAValue:
    """Two 16-bit numbers as an i32."""
    return pair if pair.type == i32 else emit.result(llvm.BitcastOp(pair, i32))


def unpacked(emit: Emitter, words: Sequence[SSAValue], kind: Attribute) -> list[SSAValue]:
    """The two numbers of type `kind` in each word."""
    pairs = [emit.result(llvm.BitcastOp(word, VectorType(kind, [2]))) for word in words]
    return [emit.result(vector.ExtractOp(pair, [side], kind)) for pair in pairs for side in (0, 1)]
