"""Writes how a launch overlaps with the previous grid into the schedule of a kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from math import prod

from xdsl.ir import BlockArgument, Operation, SSAValue

from mirage_mlir.decisions.schedule import iterations_before, iterations_in_flight
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.deferred_mma import StartDeferredOp
from mirage_mlir.dialects.layout import GlobalAttr, layout_of
from mirage_mlir.dialects.overlap import (
    AwaitPreviousGridOp,
    LaunchDependentsOp,
    OneThreadOp,
    PrefetchTilesOp,
)
from mirage_mlir.dialects.pipeline import (
    EPILOGUE,
    MAIN_LOOP,
    PRODUCER,
    PROLOGUE,
    AwaitMmaOp,
    ClearPaddingOp,
    FillBuffersOp,
    IssueCopiesOp,
    ReleaseTilesOp,
)
from mirage_mlir.dialects.schedule import Overlap
from mirage_mlir.passes.analysis.buffers import buffer_bytes, loads_of_tiles
from mirage_mlir.passes.analysis.launch_groups import blocks_of_launch
from mirage_mlir.passes.analysis.tensor_views import view_of
from mirage_mlir.passes.analysis.tile_attributes import tensor_bytes
from mirage_mlir.passes.schedule.block_resources import (
    follows_kernel,
    producer_share,
)
from mirage_mlir.passes.schedule.dependent_launches import LaunchOverlap
from mirage_mlir.passes.schedule.sections import sections_of, write_sections
from mirage_mlir.passes.schedule.staggering import begins_apart
from mirage_mlir.targets.target import Target

MAX_LINES = 16
"""Lines that a thread prefetches at most; so many keep a multiprocessor's requests in flight."""

FIRST_BLOCKS = 2048
"""Blocks along the first grid axis that prefetch. Later blocks start when these have ended, and so
after the previous grid has. An H200 runs 132 * 16 blocks at a time."""

MAX_BESIDE_COPIES = 6 << 20
"""
Bytes of inputs up to which also tiles that TMA will copy are prefetched.

On an H200 attention of 1 to 4 MB of keys and values gained, or lost nothing; with 8 to 33 MB it
took 6.1 us for 5.6, 7.9 for 7.4, 14.6 for 13.7 and 12.5 for 11.3.
"""


@dataclass(frozen=True)
class OverlapWriter:
    """
    Writes the overlap of one kernel.

    Args:
        graph: a scheduled kernel.
        launch: what is decided of its launch.
        target: the GPU.
    """

    graph: kernel.GraphDefinedOp
    launch: LaunchOverlap
    target: Target

    def write(self) -> None:
        """Split copies at the wait for the previous grid, and write the facts on the graph."""
        graph, sections = self.graph, sections_of(self.graph)
        clearing, copies, rest = split_prologue(sections[PROLOGUE])
        if graph.schedule.producer_warps:
            alone, sections[PRODUCER] = self.producer(sections[PRODUCER])
            later = touches_device_memory([*rest, *sections[MAIN_LOOP]])
            if copies or later:
                copies = self.around_wait(copies, self.wait)
            else:
                # It waits as late as possible.
                sections[EPILOGUE] = behind_loop(sections[EPILOGUE], self.wait)
            sections[PROLOGUE] = [*self.prefetch(), *clearing, *alone, *copies, *rest]
        else:
            at_once = self.launches if self.launch.at_once else []
            waits = [*self.wait, *([] if at_once else self.launches)]
            copies = self.around_wait(copies, waits)
            sections[PROLOGUE] = [*at_once, *self.prefetch(), *clearing, *copies, *rest]
        write_sections(graph, self.loads, sections)
        if self.starts_early:
            available = (n for n, value in enumerate(graph.inputs) if self.is_available(value))
            graph.overlap = Overlap(
                starts_early=True,
                available=tuple(available),
                occupancy_limit_bytes=self.launch.occupancy_limit_bytes,
            )

    @property
    def starts_early(self) -> bool:
        """Whether the kernel may start before the previous grid has ended."""
        return self.launch.available is not None

    @property
    def wait(self) -> list[Operation]:
        """The wait for the previous grid, where the kernel may start before its end."""
        return [AwaitPreviousGridOp()] if self.starts_early else []

    @property
    def launches(self) -> list[Operation]:
        """What lets the next launch start, where it may before this one has ended."""
        return [LaunchDependentsOp()] if self.launch.launches_dependents else []

    @cached_property
    def loads(self) -> list[threadblock.LoadOp]:
        """The loads of the kernel."""
        return [op for op in self.graph.body.block.ops if isinstance(op, threadblock.LoadOp)]

    def is_available(self, value: SSAValue) -> bool:
        """Whether an input is there before the previous grid has ended, which is waited for."""
        return self.launch.available is not None and view_of(value).root in self.launch.available

    def split(self, op: Operation) -> tuple[list[SSAValue], list[SSAValue]]:
        """The tiles that `op` copies: those that are available, and the others."""
        early: list[SSAValue] = []
        later: list[SSAValue] = []
        for load in loads_of_tiles(op):
            (early if self.is_available(load.source) else later).append(load.result)
        return early, later

    def around_wait(
        self, copies: Sequence[IssueCopiesOp], waits: Sequence[Operation]
    ) -> list[Operation]:
        """The `copies` of the prologue, those of what is available in front of the wait."""
        parts = [self.split(op) for op in copies]
        if not waits or not any(later for _, later in parts):
            return [*copies, *waits]
        early: list[Operation] = []
        behind: list[Operation] = []
        for op, (soon, later) in zip(copies, parts, strict=True):
            if soon:
                early.append(IssueCopiesOp(soon, iteration=iteration_of(op), uncommitted=True))
            behind.append(IssueCopiesOp(later, iteration=iteration_of(op)))
            discard(op)
        return [*early, *waits, *behind]

    def producer(self, ops: Sequence[Operation]) -> tuple[list[Operation], list[Operation]]:
        """
        What one consumer thread does alone, and what the producer does.

        Where some of the loop's tiles are available the producer copies these, and the thread what
        must wait: it need not queue behind the producer's copies.
        """
        fill = next((op for op in ops if isinstance(op, FillBuffersOp)), None)
        if fill is None:
            fail(self.graph, "has producer warps, and no threadblock.fill_buffers for them")
        place = ops.index(fill)
        soon = [op for op in ops[:place] if isinstance(op, IssueCopiesOp)]
        late = [op for op in ops[place:] if isinstance(op, IssueCopiesOp)]
        rest = [op for op in ops[place + 1 :] if op not in late]
        if not self.starts_early:
            return [], [*soon, fill, *late, *self.launches, *rest]
        early, later = self.split(fill)
        soon_early, soon_later = self.split_invariants(soon)
        late_early, late_later = self.split_invariants(late)
        if not early or not later:
            before, behind = ([], [fill]) if later else ([fill], [])
            first = [*soon_early, *before, *late_early]
            second = [*soon_later, *behind, *late_later]
            return [], [*first, *self.wait, *self.launches, *second, *rest]
        iterations = fill.iterations.value.data
        discard(fill)
        paced = FillBuffersOp(early, iterations, min(iterations, self.iterations_at_start(early)))
        waiting = [*soon_later, FillBuffersOp(later, iterations), *late_later]
        alone = OneThreadOp([*self.wait, *self.launches, *waiting])
        return [alone], [*soon_early, paced, *late_early, *self.wait, *rest]

    def split_invariants(
        self, ops: Sequence[IssueCopiesOp]
    ) -> tuple[list[Operation], list[Operation]]:
        """Copies of loop-invariant tiles that are available, and of the others."""
        found: tuple[list[Operation], list[Operation]] = ([], [])
        for op in ops:
            for part, tiles in zip(found, self.split(op), strict=True):
                if tiles:
                    part.append(IssueCopiesOp(tiles))
            discard(op)
        return found

    def iterations_at_start(self, early: Sequence[SSAValue]) -> int:
        """
        Iterations whose available tiles are in flight before others are copied.

        Tiles that other blocks load, too, count as a whole: all of their bytes are waited for.
        """
        graph = self.graph
        size = sum(buffer_bytes(op) for op in self.loads if op.result in early)
        if follows_kernel(graph):
            return iterations_before(size, blocks_of_launch(graph), self.target)
        share = int(producer_share(graph, self.target))
        iterations, apart = prod(graph.loop_sizes), begins_apart(graph)
        return iterations_in_flight(size, size, iterations, share, apart=apart)

    def prefetch(self) -> list[Operation]:
        """
        A prefetch of what must wait: inputs of the function that are not copied at once.

        Results of its kernels are in L2. Where a producer copies the loop's tiles, only small
        inputs are prefetched.
        """
        if not self.starts_early or (self.graph.schedule.producer_warps and not self.is_small):
            return []
        tiles = [op.result for op in self.loads if self.is_prefetched(op)]
        blocks = self.graph.grid_sizes[0]
        first = FIRST_BLOCKS if blocks > FIRST_BLOCKS else None
        return [PrefetchTilesOp(tiles, MAX_LINES, first)] if tiles else []

    def is_prefetched(self, op: threadblock.LoadOp) -> bool:
        """Whether the tile of a load is worth a prefetch."""
        at_once = self.is_available(op.source) and not isinstance(layout_of(op.result), GlobalAttr)
        return not at_once and isinstance(view_of(op.source).root, BlockArgument)

    @property
    def is_small(self) -> bool:
        """Whether the inputs that must wait are small enough to be prefetched beside copies."""
        waiting = [value for value in self.graph.inputs if not self.is_available(value)]
        roots = dict.fromkeys(view_of(value).root for value in waiting)
        asked = [root for root in roots if isinstance(root, BlockArgument)]
        return sum(map(tensor_bytes, asked)) <= MAX_BESIDE_COPIES


def split_prologue(
    ops: Sequence[Operation],
) -> tuple[list[Operation], list[IssueCopiesOp], list[Operation]]:
    """The prologue's clearing of padding with its barrier, the copies that it starts, the rest."""
    clears = bool(ops) and isinstance(ops[0], ClearPaddingOp)
    clearing, left = list(ops[: 2 * clears]), ops[2 * clears :]
    copies = [op for op in takewhile(is_copy, left) if isinstance(op, IssueCopiesOp)]
    return clearing, copies, list(left[len(copies) :])


def is_copy(op: Operation) -> bool:
    """Whether `op` starts a group of copies."""
    return isinstance(op, IssueCopiesOp)


def behind_loop(epilogue: Sequence[Operation], added: Sequence[Operation]) -> list[Operation]:
    """The epilogue with operations `added` behind what ends the loop."""
    ending = [
        *takewhile(
            lambda op: isinstance(op, StartDeferredOp | AwaitMmaOp | ReleaseTilesOp), epilogue
        )
    ]
    return [*ending, *added, *epilogue[len(ending) :]]


def touches_device_memory(ops: Sequence[Operation]) -> bool:
    """Whether `ops` read tiles in place, from device memory, or write any."""
    return any(
        isinstance(op, threadblock.StoreOp)
        or any(isinstance(layout_of(value), GlobalAttr) for value in op.operands)
        for op in ops
    )


def iteration_of(op: IssueCopiesOp) -> int | None:
    """The iteration whose tiles a group of copies brings; None for loop-invariant tiles."""
    return None if op.iteration is None else op.iteration.value.data


def discard(op: Operation) -> None:
    """Remove an operation that others replace."""
    op.detach()
    op.erase()
