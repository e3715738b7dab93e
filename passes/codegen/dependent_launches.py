"""
When each kernel of a function may start, and what it may read then (programmatic dependent launch).

A kernel may start before the previous grid has ended, once all blocks of that grid have said so. It
waits for that grid, whose end means that all before it have ended, before it uses what they wrote.

    previous call | 0 waits, then says so | 1 waits for 0 ...
                                          | 2, beside 1: starts once 1 has waited, and so after 0

A kernel beside the previous one (`overlap-kernels`) has all it reads when it starts: the
first kernel of its group says so only after it has waited. It waits at its end, in one block, so
that its end still means that all before it have ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

from xdsl.ir import BlockArgument, SSAValue

from mirage_mlir.decisions.schedule import (
    bytes_beside,
    is_spread,
    occupancy_limit_bytes,
)
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.passes.analysis.buffers import is_staged
from mirage_mlir.passes.analysis.kernel_groups import blocks_side_by_side
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.codegen.kernel_function import roots_of
from mirage_mlir.targets.target import Target

MAX_EARLY_BYTES = 96 * 1024
"""Bytes that each block of a kernel reads, at most, where kernels overlap: three microseconds of
an H200. A kernel of 112 blocks with 4 MB each took 40 % more time, small ones 10 to 25 % less."""


def bytes_of_block(graph: kernel.GraphDefinedOp) -> int:
    """What a block reads from device memory."""
    total = 0
    for op in graph.body.block.ops:
        if isinstance(op, threadblock.LoadOp):
            kind = threadblock.tile_type(op.result)
            iterations = prod(graph.loop_sizes) if is_staged(op) else 1
            total += iterations * prod(kind.get_shape()) * byte_width(kind.element_type)
    return total


@dataclass(frozen=True)
class DependentLaunches:
    """
    The launches of a function.

    Args:
        graphs: its kernels, in order.
        inputs: its inputs.
        constants: those that never change between calls.
        target: the GPU.
    """

    graphs: Sequence[kernel.GraphDefinedOp]
    inputs: Sequence[SSAValue]
    constants: Sequence[SSAValue]
    target: Target

    def available(self, number: int) -> list[SSAValue] | None:
        """
        What kernel `number` may read before the previous grid has ended.

        That is constant inputs; for all but the first kernel all inputs, where the first one only
        lets others start when it has waited itself; and all that it reads for a kernel beside the
        previous one. None for a kernel that starts after the previous grid.
        """
        graph = self.graphs[number]
        if graph.schedule.beside_previous:
            return roots_of(graph)
        if not self.uses_pdl(graph):
            return None
        if number > 0 and not self.first_launches_dependents:
            return [*self.inputs]
        return [*self.constants]

    def launches_dependents(self, number: int) -> bool:
        """Whether the next kernel may start before kernel `number` has ended."""
        # After the last kernel comes the first one of the next call.
        return self.uses_pdl(self.graphs[(number + 1) % len(self.graphs)])

    def at_once(self, number: int) -> bool:
        """Whether it may even before that kernel has waited for the previous grid."""
        if len(self.graphs) == 1:
            return True
        if self.graphs[(number + 1) % len(self.graphs)].schedule.beside_previous:
            return self.graphs[number].schedule.beside_previous
        return number > 0 or self.first_launches_dependents

    @cached_property
    def first_launches_dependents(self) -> bool:
        """
        Whether the first kernel lets the second start before it has waited for the call before.

        The second has something to fetch then, constant tiles of its loop, and those behind the
        first read no input that such a call may still write.
        """
        if len(self.graphs) == 1 or not self.graphs[1].schedule.producer_warps:
            return False
        if self.graphs[1].schedule.beside_previous:
            return False
        constants = {*self.constants}
        roots = [{view_of(value).root for value in graph.inputs} for graph in self.graphs[1:]]
        read = {root for each in roots for root in each if isinstance(root, BlockArgument)}
        return read <= constants and not constants.isdisjoint(roots[0])

    def uses_pdl(self, graph: kernel.GraphDefinedOp) -> bool:
        """
        Whether a kernel starts before the previous grid has ended.

        Its blocks are then placed where there is room, several where a multiprocessor had nothing
        to do. Kernels with little work for each block lose less by that than they gain; where a
        producer fills large buffers there is no room for several.
        """
        if not self.target.has_pdl:
            return False
        if graph.schedule.beside_previous or bytes_of_block(graph) <= MAX_EARLY_BYTES:
            return True
        # Of clusters too: where others fit beside them, some multiprocessors would get two.
        share = blocks_side_by_side(graph, self.target, clusters=False)
        spread = is_spread(graph.memory.shared_bytes, share, self.target)
        return graph.schedule.producer_warps > 0 and bool(spread)

    def occupancy_limit_bytes(self, graph: kernel.GraphDefinedOp) -> int:
        """
        Shared memory that a launch asks for so that the blocks are spread evenly, 0 for none.

        It asks for no more than is left beside a block of the kernel behind it, where that has its
        tiles copied while this one still runs.
        """
        if len(self.graphs) == 1 or not self.uses_pdl(graph):
            return 0
        asked = occupancy_limit_bytes(self.share_of(graph), self.target)
        behind = self.graphs[(self.graphs.index(graph) + 1) % len(self.graphs)]
        if graph.schedule.producer_warps > 0 or not behind.schedule.producer_warps:
            return asked
        needed, share = behind.memory.shared_bytes, self.share_of(behind)
        return min(asked, bytes_beside(needed, share, self.target))

    def share_of(self, graph: kernel.GraphDefinedOp) -> int:
        """Blocks that each multiprocessor gets of `graph` and those beside it, spread evenly."""
        return int(blocks_side_by_side(graph, self.target))
