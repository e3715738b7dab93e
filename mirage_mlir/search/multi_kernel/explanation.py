"""
Explains a choice of the search: the terms of the cost model, the resources of each kernel, the
candidates that lost.

All numbers are the model's: times in seconds, sizes in bytes, registers of a thread before ptxas
runs.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.bounds import read_bytes
from mirage_mlir.search.cost_model.tiling import item_bytes
from mirage_mlir.search.multi_kernel.kernel_plan import PlanKernel
from mirage_mlir.search.program.program import Axes, Kind, Program
from mirage_mlir.search.program.program_cuts import Source
from mirage_mlir.targets.target import Target

Name = Callable[[Source], str]
"""What an argument of a kernel's program is called in the program as it was written."""


@dataclass(frozen=True)
class Dimension:
    """
    An index of a kernel: its name, its size, and the dimensions of tensors that it stands for.
    """

    name: str
    size: int
    places: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} = {', '.join(self.places)} (size {self.size})"


@dataclass(frozen=True)
class Tiles:
    """How a kernel cuts its dimensions. Kernels with equal tiles differ in their operations."""

    grid: tuple[tuple[str, int], ...]
    """The dimension along each axis of the grid, and blocks."""
    loop: tuple[tuple[str, int], ...]
    """The dimension that each loop walks, the outermost first, and iterations."""
    sizes: Mapping[str, int]
    """Elements of a tile along each dimension."""
    splits: int
    """Blocks that share a loop: split-K."""
    cyclic: bool = False
    """Whether blocks take turns with the tiles of a dimension that a loop walks, too."""

    def __str__(self) -> str:
        grid = " x ".join(f"{count} ({name})" for name, count in self.grid) or "1"
        loop = " x ".join(f"{count} ({name})" for name, count in self.loop) or "none"
        distribution = ", blocks take turns (cyclic)" if self.cyclic else ""
        split = f", split-K {self.splits}" if self.splits > 1 else ""
        return f"grid {grid}, loop {loop}{distribution}{split}"


@dataclass(frozen=True)
class KernelExplanation:
    """What the model predicts for one kernel."""

    dimensions: tuple[Dimension, ...]
    tiles: Tiles
    seconds: float
    phases: Mapping[str, float]
    """One after the other: they add up to `seconds`."""
    units: Mapping[str, float]
    """What each unit would take alone."""
    limit: str
    threads: int
    registers: int
    shared_bytes: int
    stages: int
    producer_warps: int
    blocks_per_sm: int
    waves: int
    mma: str
    copies: str
    dram_bytes: float
    l2_bytes: float
    matmul_operations: int
    """Additions and multiplications of the program's matmuls that the kernel computes."""
    floor_bytes: int
    """Of inputs and outputs, each once."""
    floor_seconds: float
    """These at the rate of device memory."""


@dataclass(frozen=True)
class RunnerUp:
    """A candidate that is slower in the model than the chosen one."""

    seconds: float
    slower: float
    """Its time over that of what was taken."""
    structure: str
    differences: tuple[str, ...]


@dataclass(frozen=True)
class Contest:
    """The choice for a function, or for a piece of one, and the number of candidates."""

    kept: int
    """Candidates that were left of all graphs and tile sizes."""
    runners_up: tuple[RunnerUp, ...]


@dataclass(frozen=True)
class Explanation:
    """
    The explanation of a function: its kernels in the order of launches, and the candidates that
    lost.
    """

    kernels: tuple[KernelExplanation | None, ...]
    """None for one that only copies (`concat`, constants), which the search does not choose."""
    seconds: float
    contests: tuple[Contest, ...]


def tiles_of(graph: BlockGraph) -> Tiles:
    """How a graph cuts its dimensions."""
    loop = graph.configuration.loop
    return Tiles(
        tuple(zip(graph.grid, graph.blocks, strict=True)),
        tuple(zip(loop, graph.trip_counts, strict=True)),
        {name: graph.tiles[name] for name in sorted(graph.tiles)},
        graph.model.resources.splits,
        graph.is_cyclic,
    )


def explain_kernel(kernel: PlanKernel, target: Target, name: Name) -> KernelExplanation:
    """The explanation of one kernel; `name` gives the names of its arguments."""
    graph, program = kernel.graph, kernel.program
    model, needs = graph.model, graph.model.resources
    floor = floor_bytes(program, graph.counts)
    return KernelExplanation(
        dimensions=tuple(_dimensions(kernel, name)),
        tiles=tiles_of(graph),
        seconds=graph.seconds,
        phases=dict(model.time.phases),
        units=dict(model.time.units),
        limit=model.time.limit,
        threads=model.threads,
        registers=needs.registers,
        shared_bytes=model.shared_bytes,
        stages=needs.stages,
        producer_warps=needs.producer_warps,
        blocks_per_sm=model.time.blocks_per_sm,
        waves=model.time.waves,
        mma=_mma(graph),
        copies=_copies(graph),
        dram_bytes=needs.dram_bytes,
        l2_bytes=needs.l2_bytes,
        matmul_operations=matmul_operations(program),
        floor_bytes=floor,
        floor_seconds=floor / max(target.dram_bandwidth, target.tma_bandwidth),
    )


def _mma(graph: BlockGraph) -> str:
    if all(operation.kind is not Kind.MATMUL for operation in graph.operations):
        return "none"
    return "wgmma" if graph.model.resources.warpgroups else "mma.sync"


def _copies(graph: BlockGraph) -> str:
    if graph.model.resources.producer_warps:
        return "TMA"
    return "cp.async" if graph.trip_counts else "by threads"


def matmul_operations(program: Program) -> int:
    """The floating-point operations of a program's matmuls, without padding of ragged tiles."""
    return sum(
        2 * prod(program.sizes[axis] for axis in {*node.present, *node.reduced})
        for node in program.nodes
        if node.kind is Kind.MATMUL
    )


def floor_bytes(program: Program, counts: Mapping[str, int]) -> int:
    """
    The bytes of a program's inputs and outputs, each counted once; `counts` are blocks along each
    axis.
    """
    return int(read_bytes(program)) + sum(
        prod(program.shape(output.axes))
        * item_bytes(output.element_type)
        * prod(counts[axis] for axis in output.partial)
        for output in program.outputs
    )


def _dimensions(kernel: PlanKernel, name: Name) -> Iterator[Dimension]:
    program = kernel.program
    places: dict[str, list[str]] = {axis: [] for axis in program.sizes}
    named: list[tuple[str, Axes]] = [
        (name(kernel.arguments[tensor.argument]), tensor.axes) for tensor in program.inputs
    ]
    named += [(f"result {number}", output.axes) for number, output in enumerate(program.outputs)]
    for tensor, axes in named:
        for dim, axis in enumerate(axes):
            place = f"dim {dim} of {tensor}"
            if axis is not None and place not in places[axis]:
                places[axis].append(place)
    for axis, size in program.sizes.items():
        yield Dimension(axis, size, tuple(places[axis]))


def differences(chosen: Sequence[BlockGraph], other: Sequence[BlockGraph]) -> Iterator[str]:
    """The differences between two plans of one program, kernel by kernel."""
    if len(chosen) != len(other):
        yield f"{_count(len(other))} instead of {len(chosen)}"
        return
    for number, (one, two) in enumerate(zip(chosen, other, strict=True)):
        where = f"kernel {number}: " if len(chosen) > 1 else ""
        yield from (where + each for each in _differences(one, two))


def _count(kernels: int) -> str:
    return f"{kernels} kernel{'' if kernels == 1 else 's'}"


def _differences(chosen: BlockGraph, other: BlockGraph) -> Iterator[str]:
    old, new = tiles_of(chosen), tiles_of(other)
    if (old.grid, old.loop, old.splits) != (new.grid, new.loop, new.splits):
        yield str(new)
    sizes = [
        f"{name} {size} instead of {old.sizes[name]}"
        for name, size in new.sizes.items()
        if old.sizes.get(name, size) != size
    ]
    if sizes:
        yield f"tile {', '.join(sizes)}"
    before, after = chosen.model, other.model
    for what, one, two in (
        ("threads", before.threads, after.threads),
        ("stages", before.resources.stages, after.resources.stages),
    ):
        if one != two:
            yield f"{two} {what} instead of {one}"
    if (one := _mma(chosen)) != (two := _mma(other)):
        yield f"MMA {two} instead of {one}"
    counts = [Counter(str(operation.kind) for operation in g.operations) for g in (chosen, other)]
    more, fewer = counts[1] - counts[0], counts[0] - counts[1]
    if changes := [f"+{n} {kind}" for kind, n in more.items()]:
        changes += [f"-{n} {kind}" for kind, n in fewer.items()]
        yield f"other operations: {', '.join(changes)}"
    elif fewer:
        yield f"fewer operations: {', '.join(f'-{n} {kind}' for kind, n in fewer.items())}"
    elif old == new and chosen.operations != other.operations:
        yield "the same operations on other operands, or in another order"


def runners_up(
    chosen: Sequence[BlockGraph],
    seconds: float,
    others: Iterable[tuple[float, str, Sequence[BlockGraph]]],
) -> tuple[RunnerUp, ...]:
    """
    The candidates that lost against `chosen`, whose modelled time is `seconds`.

    Args:
        chosen: the kernels that were taken.
        seconds: their modelled time.
        others: of each candidate its time, its structure and its kernels.
    """
    return tuple(
        RunnerUp(time, time / seconds, structure, tuple(differences(chosen, graphs)))
        for time, structure, graphs in others
    )
