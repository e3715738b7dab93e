"""
Kernels of a function that run at the same time: each runs beside the previous one.

`overlap-kernels` writes that on each (`schedule <beside_previous>`); a group is a kernel that has
it not, and all behind it that have.
"""

from collections.abc import Sequence
from math import prod

from xdsl.ir import SSAValue

from mirage_mlir.decisions.overlap import OverlapCandidate
from mirage_mlir.decisions.schedule import Array, side_by_side
from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import cluster_sizes
from mirage_mlir.targets.target import Target


def overlap_candidates(graphs: Sequence[kernel.GraphDefinedOp]) -> list[OverlapCandidate]:
    """What decides which of the kernels of a function, in order, run at the same time."""
    makers: dict[SSAValue, int] = {}
    found: list[OverlapCandidate] = []
    for number, graph in enumerate(graphs):
        roots = [view_of(value).root for value in graph.inputs]
        reads = frozenset(makers[root] for root in roots if root in makers)
        found.append(OverlapCandidate(reads, prod(graph.grid_sizes)))
        makers.update(dict.fromkeys(graph.outputs, number))
    return found


def kernels_around(graph: kernel.GraphDefinedOp) -> list[kernel.GraphDefinedOp]:
    """The kernels of the block that `graph` is in, in order."""
    block = graph.parent_block()
    assert block is not None
    return [op for op in block.ops if isinstance(op, kernel.GraphDefinedOp)]


def groups_of(
    graphs: Sequence[kernel.GraphDefinedOp],
) -> list[list[kernel.GraphDefinedOp]]:
    """The groups of the kernels of a function, in order."""
    groups: list[list[kernel.GraphDefinedOp]] = []
    for graph in graphs:
        if not groups or not graph.schedule.beside_previous:
            groups.append([])
        groups[-1].append(graph)
    return groups


def group_of(graph: kernel.GraphDefinedOp) -> list[kernel.GraphDefinedOp]:
    """The kernels that run at the same time as `graph`, which is one of them."""
    return next(group for group in groups_of(kernels_around(graph)) if graph in group)


def blocks_side_by_side(
    graph: kernel.GraphDefinedOp, target: Target, *, clusters: bool = True
) -> Array:
    """
    Blocks that each multiprocessor gets of the group of `graph`, where they are spread evenly.

    Args:
        graph: one kernel.
        target: whose multiprocessors they are.
        clusters: whether it counts that some have too few neighbours for a large cluster.
    """
    group = group_of(graph)
    blocks = sum(prod(each.grid_sizes) for each in group)
    largest = max(prod(cluster_sizes(each)) for each in group) if clusters else 1
    return side_by_side(blocks, largest, target)
