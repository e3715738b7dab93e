"""
Lower bounds on the modelled time of every graph of a configuration, for all tile sizes at once.

A configuration alone says which tiles of inputs and outputs a kernel moves, and in which
iterations. The hypergraph says which values, with their matmuls and sums, all of its graphs have.
The modelled time of these alone is a lower bound. Configurations and tile sizes whose bound is
above the best time need no hypergraph, and none of their graphs is costed.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from mirage_mlir.decisions.registers import FEWEST_BESIDE
from mirage_mlir.decisions.schedule import RESERVED_BYTES, STAGE_COUNTS
from mirage_mlir.decisions.threads import MATRIX_THREADS, MAX_THREADS, MIN_THREADS
from mirage_mlir.search.cost_model.chains import Chain
from mirage_mlir.search.cost_model.cost import CostModel
from mirage_mlir.search.cost_model.fitted import BEHIND_RATE, IDLE_LATENCY, SECTOR
from mirage_mlir.search.cost_model.groups import GROUP_WORK, OPERAND_READ
from mirage_mlir.search.cost_model.instantiate import Array, Mesh
from mirage_mlir.search.cost_model.live_values import ACCUMULATIONS, REDUCTIONS, Mask
from mirage_mlir.search.cost_model.resources import Resources, most_live
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.cost_model.warps import COLUMNS, DEPTH, RIGHT_BYTES, Warps
from mirage_mlir.search.program.program import Axes, Kind, Program
from mirage_mlir.search.saturation.config import Configuration
from mirage_mlir.search.saturation.extract import Derivation
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph, Stage, Value
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.targets.target import Target

UNKNOWN = Edge(Kind.CONSTANT)
"""Stands for the edge of a value that has several: a constant costs nothing."""

LEAST_BYTES = 2
"""Of an element that a block keeps."""


class _LeastResources(Resources):
    """
    The resources of the values that all graphs have.

    Whatever depends on other values is assumed to be what makes a kernel fastest: few threads, so
    that many blocks are resident; many bytes in flight, and room in shared memory for all of them.
    """

    def fits(self) -> Mask:
        shared = self.shared <= self.tiling.target.shared_memory_per_block
        most = most_live(self.tiling.program) * MAX_THREADS
        return shared & (self.live <= most) & self._reducible()

    def _resident(self) -> Array:
        """
        The resident blocks, without rounding to allocation units: more threads may round to fewer
        units.
        """
        target = self.tiling.target
        return np.minimum.reduce(
            [
                target.shared_memory_per_sm / (self.shared + RESERVED_BYTES),
                target.threads_per_sm / self.threads,
                target.registers_per_sm / (self.registers * self.threads),
            ]
        )

    def _most_registers(self) -> Array:
        """The register limit, as if the kernel had no other sums."""
        return np.where(self.pipelined & bool(self.matmuls), float(FEWEST_BESIDE), 0.0)

    def _share(self) -> Array:
        """One block, as with several producer warps: that leaves most shared memory for buffers."""
        return self.tiling.one if self.matmuls else super()._share()

    def _order_operands(self) -> None:
        """Leave them: the dimensions of most are unknown."""

    def _moved(self) -> frozenset[int]:
        """No tile: another graph may need no transpose."""
        return frozenset()

    def _reduced_bytes(self) -> Array:
        """Zero: each warp may have all elements that it reduces."""
        return self.tiling.zero

    def materialised(self) -> Iterator[tuple[int, Array]]:
        """No operand: each may stay in registers."""
        return iter(())

    def _shared_bytes(self) -> Array:
        """The bytes with the fewest buffers: other tiles may leave room for no more."""
        stages, self.stages = self.stages, np.minimum(STAGE_COUNTS[0], self.stages)
        shared = super()._shared_bytes()
        self.stages = stages
        return shared

    def handed_over(self) -> Array:
        """Zero: sums may be reduced first."""
        return self.tiling.zero

    def part_bytes(self) -> Array:
        """Zero, likewise."""
        return self.tiling.zero

    def _threads(self) -> Array:
        multiplies = any(edge.kind is Kind.MATMUL for edge in self.edges.values())
        return self.tiling.one * float(MATRIX_THREADS if multiplies else MIN_THREADS)

    def _live(self) -> Array:
        """The elements of sums whose results something other than a sum reads."""
        total = self.tiling.zero
        for value, edge in self.edges.items():
            if edge.kind in ACCUMULATIONS and self._is_kept(value):
                total = total + self.tiling.volume(value)
        return total

    def _is_kept(self, value: int) -> bool:
        sums = (*REDUCTIONS, *ACCUMULATIONS)
        users = [self.edges[user].kind for user in self.uses[value]]
        return value in self.derivation.goals or any(kind not in sums for kind in users)

    def _chains(self) -> list[Chain]:
        # An exp may stay in registers, where each warp has a maximum of its own.
        self.kept = dict.fromkeys(self.shifted, self.tiling.one > 0)
        return []

    def _warps(self, value: int, edge: Edge) -> Warps:
        """
        A matmul without padding that reads nothing of its left operand, which may be in registers.

        Which of the two that is depends on dimensions that are unknown: it is the larger.
        """
        rows, columns, depth = self._sides(edge)
        right = np.minimum(rows, columns)
        read = np.ceil(right / COLUMNS) * np.ceil(depth / DEPTH) * RIGHT_BYTES
        work = 1.0
        if self.tiling.target.has_wgmma:
            read, work = OPERAND_READ * read, GROUP_WORK
        return Warps(work * 2 * rows * columns * depth, read, self.tiling.zero)


class _LeastCost(CostModel):
    """Costs the values that all graphs have, with the least that depends on other values."""

    def _add(self, value: int, edge: Edge) -> None:
        unknown = [self.resources.edges[operand] is UNKNOWN for operand in edge.operands]
        if not (edge.kind in ACCUMULATIONS and any(unknown)):
            # A matmul is summed where it is made.
            super()._add(value, edge)

    def _read_work(self, edge: Edge) -> float:
        return 0.0

    def _add_reading_again(self, value: int, pieces: Array) -> None:
        # Another value may want the tile in shared memory.
        pass

    def _latency(self, at_once: Array) -> Array:
        # Where other operations leave room for one block and one iteration, less is asked for at
        # first.
        target = self.tiling.target
        active = np.minimum(self.tiling.mesh.blocks, target.sm_count)
        asked = active * np.maximum(self.resources.staged + self.asked_at_once, SECTOR)
        return np.minimum(target.dram_latency, IDLE_LATENCY + asked / target.dram_bandwidth)

    def _apart(self, at_once: Array, most: Array, waves: Array) -> Array:
        """
        The least share without overlap: a kernel may have more waves and more buffers than these
        need.
        """
        least = super()._apart(np.full_like(at_once, 2.0), most, most)
        looped = self.tiling.mesh.iterations > 1
        return np.where(self.resources.pipelined & looped, 0.0, least)

    def _steps(self, waves: Array) -> Array:
        # Another graph may have no tensor copies.
        return self.tiling.zero

    def _together(self, memory: Array, compute: Array) -> Array:
        return np.maximum(memory, compute)

    def _stretching(self, value: int) -> float:
        return 1.0

    def _is_behind(self, value: int) -> bool:
        # The loop may need it in other graphs.
        return False

    def _is_single(self, axes: Axes) -> bool:
        # Other values may bring the tiles into other dimensions.
        return False

    def _busy(self, at_once: Array, behind: Mask | bool) -> Array:
        return self.tiling.one * BEHIND_RATE

    def _is_persistent(self, most: Array, resident: Array) -> Mask:
        return self.tiling.one > 0

    # Other graphs may have other threads, chains, and no copies of a warp.

    def _meets(self) -> Mask:
        return self.tiling.one < 0

    def _turn_seconds(self) -> float:
        return 0.0

    def _meeting_seconds(self) -> float:
        return 0.0

    def _split_seconds(self) -> float:
        return 0.0

    # With more tiles in an iteration, blocks may begin with the same one.

    def _scattered(self, at_once: Array) -> Array:
        return self.tiling.one

    def _next_starts(self, most: Array) -> Array:
        return self.tiling.zero


def least_seconds_of_graphs(tiling: Tiling, goals: Sequence[int]) -> Array:
    """A lower bound on the time of each derivation of `goals`; infinite where none fits."""
    values = tiling.graph.unavoidable(goals)
    ways = [tiling.graph.edges[value] for value in values]
    edges = tuple(edges[0] if len(edges) == 1 else UNKNOWN for edges in ways)
    common = Derivation(tuple(values), edges, tuple(goals), 0.0)
    return _LeastCost(tiling, common, _LeastResources(tiling, common)).seconds()


def least_seconds_of_loads(
    program: Program,
    algebra: Algebra,
    configuration: Configuration,
    target: Target,
    mesh: Mesh,
) -> Array:
    """
    A lower bound on the time of each graph of a configuration, whose hypergraph is not known yet.

    Infinite where none fits.
    """
    graph = Hypergraph()
    edges: dict[int, Edge] = {}
    for number, form in enumerate(algebra.sources):
        if form in algebra.read:
            wide = [axis for axis in algebra.tile_axes(form) if axis not in configuration.single]
            if len(wide) > algebra.max_rank:
                return np.full_like(mesh.blocks, np.inf)
            looped = any(axis in configuration.loop for axis in algebra.forms.free(form))
            edge = Edge(Kind.INPUT, source=number)
            value = Value(form, Stage.LOOP if looped else Stage.INVARIANT)
            edges[graph.add(value, edge)] = edge
    goals: list[int] = []
    for form in algebra.outputs:
        if form is None:
            return np.full_like(mesh.blocks, np.inf)
        goals.append(graph.add(Value(form, Stage.POST), UNKNOWN))
    loads = Derivation(tuple(edges), tuple(edges.values()), tuple(goals), 0.0)
    tiling = Tiling(program, algebra, graph, target, mesh)
    if not (holds := _holds_sums(tiling)).any():
        return np.full_like(mesh.blocks, np.inf)
    seconds = _LeastCost(tiling, loads, _LeastResources(tiling, loads)).seconds()
    return np.where(holds, seconds, np.inf)


def _holds_sums(tiling: Tiling) -> Mask:
    """
    Whether a block has room for each sum that all graphs compute, in registers or in 16 bits.

    The scores of attention, of which every exponential is a function, are such a sum.
    """
    target = tiling.target
    registers = most_live(tiling.program) * MAX_THREADS
    room = registers + target.shared_memory_per_block / LEAST_BYTES
    fits = tiling.one > 0
    for axes in tiling.algebra.summed:
        fits = fits & (tiling.extent(axes) <= room)
    return fits
