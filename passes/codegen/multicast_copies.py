"""Multicast copies: the slice of a shared tile that each block of a cluster copies."""

from dataclasses import dataclass
from functools import reduce
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import SSAValue

from mirage_mlir.decisions.multicast import block_mask, sharing_axes, strides_of
from mirage_mlir.dialects import kernel, nvvm_hopper, threadblock
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes, cut_axes
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Condition, Index
from mirage_mlir.passes.schedule.multicast import axes_shared

I16 = IntegerType(16)


@dataclass(frozen=True)
class Share:
    """
    The part of a tile that this block copies.

    Args:
        number: the index of the part.
        mask: an i16 with a bit for each block that receives the part.
    """

    number: Index
    mask: SSAValue


def places(ctx: KernelContext) -> list[Index]:
    """Where the block is in its cluster, along each axis of the grid."""
    sizes = cluster_sizes(ctx.graph)
    return [ctx.emit.rem(block, n) for block, n in zip(ctx.blocks, sizes, strict=True)]


def share_of(ctx: KernelContext, op: threadblock.LoadOp) -> Share:
    """The block's part in a load that the cluster shares."""
    emit, sizes = ctx.emit, cluster_sizes(ctx.graph)
    axes = sharing_axes(sizes, cut_axes(op))
    number: Index = 0
    for axis in axes:
        number = emit.add(emit.mul(number, sizes[axis]), places(ctx)[axis])
    mask = mask_of(ctx, axes)
    if isinstance(mask, int):
        return Share(number, emit.result(arith.ConstantOp(IntegerAttr(mask, I16))))
    return Share(number, emit.result(arith.TruncIOp(mask, I16)))


def mask_of(ctx: KernelContext, axes: tuple[int, ...]) -> Index:
    """A bit for each block of the cluster that differs from this one only along `axes`."""
    emit, sizes = ctx.emit, cluster_sizes(ctx.graph)
    first: Index = 0
    for axis, stride in enumerate(strides_of(sizes)):
        if axis not in axes:
            first = emit.add(first, emit.mul(places(ctx)[axis], stride))
    mask = block_mask(sizes, axes)
    return mask if first == 0 else emit.pure(arith.ShLIOp, emit.i32(mask), emit.i32(first))


def writers(graph: kernel.GraphDefinedOp) -> int:
    """How many blocks write to the buffers of each block, itself included."""
    masks = [block_mask(cluster_sizes(graph), axes) for axes in axes_shared(graph)]
    return reduce(int.__or__, masks, 1).bit_count()


def is_writer(ctx: KernelContext, block: Index) -> Condition:
    """Whether a block of the cluster writes to the buffers of this one."""
    emit, blocks = ctx.emit, prod(cluster_sizes(ctx.graph))
    inside = emit.less(block, blocks)
    if writers(ctx.graph) == blocks:
        return inside
    masks = [emit.i32(mask_of(ctx, axes)) for axes in axes_shared(ctx.graph)]
    mask = reduce(lambda x, y: emit.pure(arith.OrIOp, x, y), masks)
    bit = emit.bits(emit.pure(arith.ShRUIOp, mask, emit.i32(block)), 1)
    return emit.both(inside, emit.equal(bit, 1))


def in_block(ctx: KernelContext, pointer: SSAValue, block: Index) -> SSAValue:
    """An address of shared memory, taken in a block of the cluster."""
    return ctx.emit.result(nvvm_hopper.MapClusterAddressOp(pointer, ctx.emit.i32(block)))


def own_rank(ctx: KernelContext) -> SSAValue:
    """The block's number in its cluster."""
    return ctx.emit.result(nvvm_hopper.ClusterBlockRankOp())
