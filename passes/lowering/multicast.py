"""Multicast copies: tiles that blocks of a cluster share, and the slice that each block copies."""

from dataclasses import dataclass
from functools import reduce
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, i64
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel, nvvm_hopper, threadblock
from mirage_mlir.dialects.common import i64_attr
from mirage_mlir.graph.multicast import (
    LoopTile,
    block_mask,
    choose_cluster,
    partial_copy,
    sharing_axes,
    sharing_blocks,
    strides_of,
)
from mirage_mlir.graph.target import Target
from mirage_mlir.passes.lowering.buffers import buffer_bytes, is_staged
from mirage_mlir.passes.lowering.context import KernelContext
from mirage_mlir.passes.lowering.emitter import Condition, Index
from mirage_mlir.passes.lowering.tensor_loads import map_of
from mirage_mlir.passes.lowering.tile_attributes import (
    cluster_sizes,
    cut_axes,
    matmul_sizes,
    summed_axes,
)
from mirage_mlir.passes.lowering.wgmma_selection import uses_wgmma

I16 = IntegerType(16)


def form_clusters(graph: kernel.GraphDefinedOp, target: Target) -> None:
    """Let blocks of a pipelined `graph` share tiles: those of its clusters, or where that pays."""
    chosen = graph.cluster is None
    if chosen and not summed_axes(graph) and (sizes := found_clusters(graph, target)):
        graph.cluster = DenseArrayBase.from_list(i64, sizes)
    if not share_loads(graph) and chosen:
        graph.cluster = None


def found_clusters(graph: kernel.GraphDefinedOp, target: Target) -> tuple[int, ...]:
    """Blocks of a cluster along each axis of the grid where that pays, else nothing."""
    matmuls = [op for op in graph.body.block.ops if isinstance(op, threadblock.MatmulOp)]
    if not matmuls or not all(map(uses_wgmma, matmuls)):
        return ()
    tiles = [
        LoopTile(buffer_bytes(op), cut_axes(op)) for op in graph.body.block.ops if is_staged(op)
    ]
    operations = sum(2.0 * prod(matmul_sizes(op)) for op in matmuls)
    return choose_cluster(graph.grid_sizes, tiles, operations, target)


def share_loads(graph: kernel.GraphDefinedOp) -> bool:
    """Mark the loads of the loop that the blocks of a cluster share; whether there are any."""
    sizes, found = graph.cluster_sizes, False
    if summed_axes(graph):
        return False
    for op in graph.body.block.ops:
        if not is_staged(op):
            continue
        parts, boxes = sharing_blocks(sizes, cut_axes(op)), map_of(op)
        assert boxes is not None, "assign-layouts asks first"
        if parts > 1 and partial_copy(boxes, threadblock.shape_of(op.result), parts) is not None:
            op.multicast = i64_attr(parts)
            found = True
    return found


@dataclass(frozen=True)
class Share:
    """
    What this block copies of a tile.

    Args:
        number: of its part.
        mask: a bit for each block that gets it, as i16.
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


def axes_shared(graph: kernel.GraphDefinedOp) -> list[tuple[int, ...]]:
    """The axes along which blocks share a load, once for all loads that share along the same."""
    sizes = cluster_sizes(graph)
    loads = [op for op in graph.body.block.ops if is_staged(op) and op.multicast]
    return list(dict.fromkeys(sharing_axes(sizes, cut_axes(op)) for op in loads))


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
