"""Forms the clusters of a kernel, whose blocks share tiles by multicast."""

from math import prod

from xdsl.dialects.builtin import DenseArrayBase, i64

from mirage_mlir.decisions.multicast import (
    LoopTile,
    choose_cluster,
    partial_copy,
    sharing_axes,
    sharing_blocks,
)
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import i64_attr
from mirage_mlir.passes.analysis.buffers import buffer_bytes, is_staged
from mirage_mlir.passes.analysis.tensor_loads import map_of
from mirage_mlir.passes.analysis.tile_attributes import (
    cluster_sizes,
    cut_axes,
    matmul_sizes,
    summed_axes,
    uses_wgmma,
)
from mirage_mlir.targets.target import Target


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


def axes_shared(graph: kernel.GraphDefinedOp) -> list[tuple[int, ...]]:
    """The axes along which blocks share a load, once for all loads that share along the same."""
    sizes = cluster_sizes(graph)
    loads = [op for op in graph.body.block.ops if is_staged(op) and op.multicast]
    return list(dict.fromkeys(sharing_axes(sizes, cut_axes(op)) for op in loads))
