"""Where tiles start in their tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.passes.analysis.buffers import TileAccess, cuts, tile_of
from mirage_mlir.passes.codegen.emitter import Index

if TYPE_CHECKING:
    from mirage_mlir.passes.codegen.context import KernelContext


def tile_numbers(ctx: KernelContext, op: TileAccess, iterations: list[Index]) -> list[Index]:
    """The number of a tile along each dimension of its tensor."""
    numbers: list[Index] = []
    for dim in range(len(threadblock.shape_of(tile_of(op)))):
        grid, loops = cuts(op, dim)
        digits = [(iterations[loop], ctx.graph.loop_sizes[loop]) for loop in loops]
        if grid is not None:
            place = len(digits) if ctx.graph.is_cyclic else 0
            digits.insert(place, (ctx.blocks[grid], ctx.graph.grid_sizes[grid]))
        index: Index = 0
        for digit, count in digits:
            index = ctx.emit.add(ctx.emit.mul(index, count), digit)
        numbers.append(index)
    return numbers


def unshifted_origin(ctx: KernelContext, op: TileAccess, iterations: list[Index]) -> list[Index]:
    """The index of a tile's first element along each dim, if the last tiles are not shifted."""
    sizes = threadblock.shape_of(tile_of(op))
    numbers = tile_numbers(ctx, op, iterations)
    return [ctx.emit.mul(number, size) for number, size in zip(numbers, sizes, strict=True)]


def origin_of(ctx: KernelContext, op: TileAccess, iterations: list[Index]) -> list[Index]:
    """The index of a tile's first element along each dim of its tensor."""
    starts = unshifted_origin(ctx, op, iterations)
    whole, sizes = ctx.whole_shape(op), threadblock.shape_of(tile_of(op))
    for dim in shifted_dims(ctx.graph, op):
        starts[dim] = ctx.emit.least(starts[dim], whole[dim] - sizes[dim])
    return starts


def shifted_dims(graph: kernel.GraphDefinedOp, op: TileAccess) -> list[int]:
    """The dims of a tensor along which its last tile is shifted, to end with the tensor."""
    dims = [op.grid_map.get_values()[axis] for axis in graph.schedule.shifted_axes]
    return [dim for dim in dims if dim >= 0]
