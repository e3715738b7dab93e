"""
When each launch of a function may start, and what it may read then (programmatic dependent launch).

A launch may start before the previous grid has ended, once all blocks of that grid have said so. It
waits for that grid, whose end means that all before it have ended, before it uses what they wrote.
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
from mirage_mlir.passes.analysis.launch_groups import blocks_side_by_side
from mirage_mlir.passes.analysis.tensor_views import view_of
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
class LaunchOverlap:
    """
    How a launch overlaps with those around it.

    Args:
        available: the tensors that it may read before the previous grid has ended; None where it
            starts after that.
        launches_dependents: whether the next launch may start before this one has ended.
        at_once: whether it may even before this one has waited for the previous grid.
        occupancy_limit_bytes: shared memory that it asks for at least, 0 for no limit.
    """

    available: Sequence[SSAValue] | None
    launches_dependents: bool
    at_once: bool
    occupancy_limit_bytes: int


@dataclass(frozen=True)
class DependentLaunches:
    """
    The launches of a function.

    Args:
        launches: the kernels of each, in order.
        inputs: the function's inputs.
        constants: those that never change between calls.
        target: the GPU.
    """

    launches: Sequence[Sequence[kernel.GraphDefinedOp]]
    inputs: Sequence[SSAValue]
    constants: Sequence[SSAValue]
    target: Target

    def overlap(self, number: int) -> LaunchOverlap:
        """All that is decided of launch `number`."""
        return LaunchOverlap(
            self.available(number),
            self.launches_dependents(number),
            self.at_once(number),
            self.occupancy_limit_bytes(number),
        )

    def available(self, number: int) -> list[SSAValue] | None:
        """
        What launch `number` may read before the previous grid has ended.

        That is constant inputs; for all but the first launch all inputs, where the first one only
        lets others start when it has waited itself. None for a launch that starts after the
        previous grid.
        """
        if not self.uses_pdl(number):
            return None
        if number > 0 and not self.first_launches_dependents:
            return [*self.inputs]
        return [*self.constants]

    def launches_dependents(self, number: int) -> bool:
        """
        Whether the next launch may start before launch `number` has ended.

        Behind the last one comes a call of another function, too, whose first launch may do so: in
        a layer of LLaMA-3-8B attention, which starts after the previous grid, kept a matmul behind
        it from copying its weights.
        """
        last = number + 1 == len(self.launches)
        return self.target.has_pdl if last else self.uses_pdl(number + 1)

    def at_once(self, number: int) -> bool:
        """Whether it may even before that launch has waited for the previous grid."""
        return number > 0 or len(self.launches) == 1 or self.first_launches_dependents

    @cached_property
    def first_launches_dependents(self) -> bool:
        """
        Whether the first launch lets the second start before it has waited for the call before.

        The second has something to fetch then, constant tiles of its loop, and those behind the
        first read no input that such a call may still write.
        """
        if len(self.launches) == 1:
            return False
        if not any(graph.schedule.producer_warps for graph in self.launches[1]):
            return False
        constants = {*self.constants}
        roots = [
            {view_of(value).root for graph in launch for value in graph.inputs}
            for launch in self.launches[1:]
        ]
        read = {root for each in roots for root in each if isinstance(root, BlockArgument)}
        return read <= constants and not constants.isdisjoint(roots[0])

    def uses_pdl(self, number: int) -> bool:
        """
        Whether a launch starts before the previous grid has ended.

        Its blocks are then placed where there is room, several where a multiprocessor had nothing
        to do. Kernels with little work for each block lose less by that than they gain; where a
        producer fills large buffers there is no room for several.
        """
        launch = self.launches[number]
        # Of clusters too: where others fit beside them, some multiprocessors would get two.
        share = blocks_side_by_side(launch[0], self.target, clusters=False)
        # Kernels of one launch have what the largest of them needs.
        shared = max(graph.memory.shared_bytes for graph in launch)
        spread = bool(is_spread(shared, share, self.target))
        return self.target.has_pdl and all(
            bytes_of_block(graph) <= MAX_EARLY_BYTES
            or (spread and graph.schedule.producer_warps > 0)
            for graph in launch
        )

    def occupancy_limit_bytes(self, number: int) -> int:
        """
        Shared memory that a launch asks for so that the blocks are spread evenly, 0 for none.

        It asks for no more than is left beside a block of the launch behind it, where that has its
        tiles copied while this one still runs. Behind the last one is another call, of this or of
        any other function: to keep room for its blocks took a LayerNorm of 320 blocks behind a
        matmul from 6.5 to 7.5 us on an H200, six of them on some multiprocessors, on others none.

        So does a single launch, whose next call is placed while it runs: a call of attention of 77
        tokens after the other took 4.7 us on an H200, and 2.4 spread evenly. But where producers
        copy constants before the previous grid has ended, several blocks on a multiprocessor that
        is done are welcome: LoRA of 48 rows took 4.8 us with a limit, and 4.5 without.
        """
        launch = self.launches[number]
        produced = any(graph.schedule.producer_warps for graph in launch)
        if not self.uses_pdl(number) or (produced and len(self.launches) == 1):
            return 0
        asked = occupancy_limit_bytes(self._share(launch), self.target)
        if produced or number + 1 == len(self.launches):
            return asked
        behind = self.launches[number + 1]
        if not any(graph.schedule.producer_warps for graph in behind):
            return asked
        needed = max(graph.memory.shared_bytes for graph in behind)
        return min(asked, bytes_beside(needed, self._share(behind), self.target))

    def _share(self, launch: Sequence[kernel.GraphDefinedOp]) -> int:
        """Blocks that each multiprocessor gets of a launch, where they are spread evenly."""
        return int(blocks_side_by_side(launch[0], self.target))
