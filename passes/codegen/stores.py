"""Stores of results to device memory."""

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.analysis.tile_attributes import summed_axes
from mirage_mlir.passes.codegen.access import as_f32, write_global
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Condition
from mirage_mlir.passes.codegen.lane_transpose import gathered
from mirage_mlir.passes.codegen.matrix_transpose import with_runs_along_rows


def store_slots(
    ctx: KernelContext, op: threadblock.StoreOp, slots: list[SSAValue], layout: RegisterLayout
) -> None:
    """Write a thread's slots of a tile to its tensor, rounded to the tensor's element type."""
    element = threadblock.tile_type(op.tile).element_type
    if slots[0].type != element:
        slots = [ctx.emit.result(arith.TruncFOp(as_f32(ctx, value), element)) for value in slots]
    slots, layout = with_runs_along_rows(ctx, op, slots, layout)
    slots, layout = gathered(ctx, op, slots, layout)
    with ctx.emit.when(stores_for_all(ctx, op)):
        write_global(ctx, op, slots, layout)


def stores_for_all(ctx: KernelContext, op: threadblock.StoreOp) -> Condition:
    """Whether the block is the first of those that hold the same tile; only it stores."""
    replicated = [
        block
        for axis, block in enumerate(ctx.blocks)
        if op.grid_map.get_values()[axis] < 0 and axis not in summed_axes(ctx.graph)
    ]
    return ctx.emit.all([ctx.emit.equal(block, 0) for block in replicated])
