"""
Kernels of a function that share a launch: each is launched with the previous one.

`fuse-horizontally` writes that on each (`schedule <joins_launch>`); a launch has a kernel without
it, and all behind that which have it.
"""

from collections.abc import Hashable, Sequence
from math import prod

from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.horizontal_fusion import FusionCandidate
from mirage_mlir.decisions.schedule import Array, side_by_side
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.passes.analysis.buffers import is_staged
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes, item_bytes
from mirage_mlir.targets.target import Target


def fusion_candidates(
    graphs: Sequence[kernel.GraphDefinedOp], blocks: Sequence[Hashable | None]
) -> list[FusionCandidate]:
    """
    What decides which of the kernels of a function share a launch.

    Args:
        graphs: the kernels, in order.
        blocks: for each what all blocks of a launch have in common; None for one to stay alone.
    """
    makers: dict[SSAValue, int] = {}
    found: list[FusionCandidate] = []
    for number, (graph, block) in enumerate(zip(graphs, blocks, strict=True)):
        roots = [view_of(value).root for value in graph.inputs]
        reads = frozenset(makers[root] for root in roots if root in makers)
        found.append(FusionCandidate(reads, prod(graph.grid_sizes), block, _loaded_bytes(graph)))
        makers.update(dict.fromkeys(graph.outputs, number))
    return found


def _loaded_bytes(graph: kernel.GraphDefinedOp) -> int:
    """What a block loads: some tiles in each iteration, the others once."""
    total = 0
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.LoadOp):
            size = prod(threadblock.shape_of(op.result)) * item_bytes(op.result)
            total += size * (prod(graph.loop_sizes) if is_staged(op) else 1)
    return total


def launches_of(graphs: Sequence[kernel.GraphDefinedOp]) -> list[list[kernel.GraphDefinedOp]]:
    """The kernels of each launch of a function, in order."""
    launches: list[list[kernel.GraphDefinedOp]] = []
    for graph in graphs:
        if not launches or not graph.schedule.joins_launch:
            launches.append([])
        launches[-1].append(graph)
    return launches


def launch_of(graph: kernel.GraphDefinedOp) -> list[kernel.GraphDefinedOp]:
    """The kernels that share a launch with `graph`, which is one of them."""
    first = graph
    while first.schedule.joins_launch and (before := _next(first, "prev_op")) is not None:
        first = before
    launch = [first]
    while (behind := _next(launch[-1], "next_op")) is not None and behind.schedule.joins_launch:
        launch.append(behind)
    return launch


def _next(graph: kernel.GraphDefinedOp, way: str) -> kernel.GraphDefinedOp | None:
    """The nearest kernel before one (`prev_op`) or behind it (`next_op`)."""
    op: Operation | None = getattr(graph, way)
    while op is not None and not isinstance(op, kernel.GraphDefinedOp):
        op = getattr(op, way)
    return op


def blocks_of_launch(graph: kernel.GraphDefinedOp) -> int:
    """The blocks of the launch of `graph`, of all its kernels."""
    return sum(
        each.schedule.persistent_blocks or prod(each.grid_sizes) for each in launch_of(graph)
    )


def blocks_side_by_side(
    graph: kernel.GraphDefinedOp, target: Target, *, clusters: bool = True
) -> Array:
    """
    Blocks that each multiprocessor gets of the launch of `graph`, where they are spread evenly.

    Args:
        graph: one kernel.
        target: whose multiprocessors they are.
        clusters: whether it counts that some have too few neighbours for a large cluster.
    """
    return side_by_side(
        blocks_of_launch(graph), prod(cluster_sizes(graph)) if clusters else 1, target
    )
