"""
What the lowering decides about a whole kernel, on its `kernel.graph_defined`.

    kernel.graph_defined ins(%x) grid [4] loop [8] schedule <threads = 128, stages = 5> { ... }
    #threadblock.schedule<threads = 128, producer_warps = 1, stages = 5>
    #threadblock.memory<shared_bytes = 66048, mbarrier_offset = 65536, results = [-1]>
    #threadblock.overlap<starts_early, available = [1]>

and on the operations whose tiles are in shared memory, where each one lies

    %x = threadblock.load ... {layout = #x, buffer = #threadblock.buffer<offset = 1024>} : ...

The passes from `split-cross-block-sums` to `software-pipeline` write the schedule, `plan-memory`
the memory plan, `overlap-launches` the overlap. What is left out of the text has not been decided,
or is not needed.
"""

from dataclasses import dataclass

from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.decisions.registers import MAX_REGISTERS
from mirage_mlir.decisions.schedule import MBARRIER_BYTES
from mirage_mlir.dialects.facts import Facts, FactsAttr, to_facts
from mirage_mlir.layouts.layout import WARP_THREADS

MAX_THREADS = 1024
"""Of a block, on every GPU that CUDA knows."""

WORD_BYTES = 4
"""What the offset of a number in shared memory, or of a counter, is a multiple of."""


@dataclass(frozen=True)
class Schedule(Facts):
    """How a block runs a kernel; 0 and empty lists are what has not been decided."""

    threads: int = 0
    """Threads of a block that compute, in whole warps."""
    producer_warps: int = 0
    """Warps besides these that do nothing but copy the loop's tiles."""
    stages: int = 0
    """Buffers of each tile that the loop loads."""
    max_registers: int = 0
    """The limit of registers per thread that gives the planned blocks per multiprocessor."""
    raster_width: int = 0
    """Blocks along the first grid axis that start before the second axis advances; 0 for all."""
    stagger: int = 0
    """Iterations by which a block's loop begins later than that of its neighbour, and wraps around;
    0 where all begin with the first."""
    longest_first: bool = False
    """Blocks start in the order of the iterations that `bounds` gives them, the most first."""
    shifted_axes: tuple[int, ...] = ()
    """Axes of the grid along which the last tile starts early enough to end with its tensor, and
    stores only what the tile before it has not."""
    persistent_blocks: int = 0
    """Blocks of the launch, each of which computes one tile of the grid after another, while the
    producer copies for the next one; 0 for a block for each tile."""
    cluster_reduction: bool = False
    """Each block of a cluster reduces its share of a sum, and goes on with that share."""
    sums_in_workspace: bool = False
    """Partial sums of blocks go through a workspace, and the last block adds them."""
    joins_launch: bool = False
    """Its blocks are in one grid with those of the previous kernel of the function."""

    def verify(self) -> None:
        """Raise `VerifyException` for numbers that no kernel has."""
        if self.threads % WARP_THREADS or not 0 <= self.threads <= MAX_THREADS:
            most = f"whole warps of {WARP_THREADS}, up to {MAX_THREADS}"
            raise VerifyException(f"threads is {self.threads}: they are {most}")
        for name in ("producer_warps", "stages", "stagger", "persistent_blocks"):
            if (value := getattr(self, name)) < 0:
                raise VerifyException(f"{name} is {value}, which is below 0")
        if not 0 <= self.max_registers <= MAX_REGISTERS:
            found = self.max_registers
            raise VerifyException(f"max_registers is {found}, not 1 to {MAX_REGISTERS}")


@dataclass(frozen=True)
class BlockMemory(Facts):
    """Where the parts of a kernel's memory lie, in bytes."""

    shared_bytes: int = 0
    """Shared memory of a block."""
    mbarrier_offset: int = 0
    """Where in shared memory a pipeline's barriers lie: one for each stage that says full, then as
    many for empty, as many for early copies, and one for each loop-invariant tile."""
    arrival_offset: int = 0
    """Where in shared memory the block's place in the order of arrival is told to all threads."""
    results: tuple[int, ...] = ()
    """For each result its offset in scratch; -1 where it is a result of the function."""
    partial_sums_offset: int = 0
    """Where in scratch the partial sums of blocks start."""
    counters_offset: int = 0
    """Where among the function's counters those of the kernel start."""

    def verify(self) -> None:
        """Raise `VerifyException` for places that are misaligned, or outside of the memory."""
        alignments = {
            "shared_bytes": 1,
            "mbarrier_offset": MBARRIER_BYTES,
            "arrival_offset": WORD_BYTES,
            "partial_sums_offset": WORD_BYTES,
            "counters_offset": WORD_BYTES,
        }
        for name, alignment in alignments.items():
            if (value := getattr(self, name)) < 0 or value % alignment:
                raise VerifyException(f"{name} is {value}, which is no multiple of {alignment}")
        for name in ("mbarrier_offset", "arrival_offset"):
            if (value := getattr(self, name)) and value >= self.shared_bytes:
                inside = f"{self.shared_bytes} bytes of shared memory"
                raise VerifyException(f"{name} is {value}, outside of the {inside}")
        if any(place < -1 for place in self.results):
            raise VerifyException(f"results is {list(self.results)}: places start at 0, -1 is none")


@dataclass(frozen=True)
class Overlap(Facts):
    """How a launch overlaps with the previous grid (programmatic dependent launch)."""

    starts_early: bool = False
    """It may start before the previous grid has ended."""
    available: tuple[int, ...] = ()
    """The inputs that are there before the previous grid has ended: nothing then writes them."""
    occupancy_limit_bytes: int = 0
    """Shared memory that the launch asks for at least, so that blocks are spread evenly."""

    def verify(self) -> None:
        """Raise `VerifyException` for what contradicts itself."""
        if self.available and not self.starts_early:
            raise VerifyException("available is of kernels with starts_early")
        if self.occupancy_limit_bytes < 0:
            found = self.occupancy_limit_bytes
            raise VerifyException(f"occupancy_limit_bytes is {found}, which is below 0")


@dataclass(frozen=True)
class SharedBuffer(Facts):
    """The memory of one tile in shared memory."""

    offset: int = -1
    """Where in the block's shared memory it starts, in bytes; -1 before `plan-memory`."""
    double_buffered: bool = False
    """Of what the loop writes: even and odd iterations use separate buffers."""
    zero_padding: bool = False
    """What its layout has memory for past the tile is zero: MMAs read whole fragments."""

    def verify(self) -> None:
        """Raise `VerifyException` for a place that is none."""
        if self.offset < -1 or (self.offset > 0 and self.offset % WORD_BYTES):
            raise VerifyException(f"offset is {self.offset}, which is no multiple of {WORD_BYTES}")


@irdl_attr_definition
class ScheduleAttr(FactsAttr):
    """How a block runs a kernel: `#threadblock.schedule<threads = 128, stages = 5>`."""

    name = "threadblock.schedule"

    KIND = Schedule

    @property
    def schedule(self) -> Schedule:
        """The schedule that the attribute carries."""
        return to_facts(Schedule, self.facts.data)


@irdl_attr_definition
class MemoryAttr(FactsAttr):
    """Where a kernel's memory lies: `#threadblock.memory<shared_bytes = 66048, results = [-1]>`."""

    name = "threadblock.memory"

    KIND = BlockMemory

    @property
    def plan(self) -> BlockMemory:
        """The plan that the attribute carries."""
        return to_facts(BlockMemory, self.facts.data)


@irdl_attr_definition
class OverlapAttr(FactsAttr):
    """How a launch overlaps: `#threadblock.overlap<starts_early, available = [1]>`."""

    name = "threadblock.overlap"

    KIND = Overlap

    @property
    def overlap(self) -> Overlap:
        """The facts that the attribute carries."""
        return to_facts(Overlap, self.facts.data)


@irdl_attr_definition
class SharedBufferAttr(FactsAttr):
    """Where the tile of an operation lies: `#threadblock.buffer<offset = 1024, zero_padding>`."""

    name = "threadblock.buffer"

    KIND = SharedBuffer

    @property
    def buffer(self) -> SharedBuffer:
        """The facts that the attribute carries."""
        return to_facts(SharedBuffer, self.facts.data)
