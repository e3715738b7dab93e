"""
How long a graph takes, for all combinations of tile sizes at once.

A model of one kernel: what it moves through device memory, L2 and shared memory, what it
computes, and what a block waits for in each turn of its loop. Only the order of candidates
matters; the constants are those of the target's row. Combinations that do not fit the GPU cost
infinitely much.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.graph.target import Target
from mirage_mlir.search.extract import Derivation
from mirage_mlir.search.hypergraph import Edge, Hypergraph, Stage
from mirage_mlir.search.instantiate import Array, Mesh
from mirage_mlir.search.program import Input, Kind, Program
from mirage_mlir.search.values import Algebra

SECTOR = 32
"""Bytes that device memory hands out at once."""

VECTOR = 16
"""Bytes that a thread copies at once, where addresses are multiples of it."""

MIN_STAGES, MAX_STAGES = 2, 8
"""Copies of the loop's tiles in shared memory: what the schedule needs, and what it profits of."""

RESERVED_SHARED = 1024
"""Bytes of shared memory that the hardware takes for each block."""

MAX_BLOCKS, MAX_BLOCKS_BEHIND = 2**31, 65535
"""Blocks along the first axis of a grid, and along each of the others."""

FUNCTION_WORK = 8.0
"""Scalar operations that a division or a transcendental function counts for."""

PIECE_WORK = 4.0
"""Scalar operations that one copied piece (16 bytes where aligned) counts for: its address."""

MAX_LIVE = 48 * 1024
"""Elements in f32 that a block keeps in registers: 96 for each of 512 threads."""

BUSY_THREADS = 512
"""Threads that keep the arithmetic units of a multiprocessor busy."""

STRUCTURAL_WAIT = (Kind.MATMUL, Kind.REDUCE_SUM, Kind.REDUCE_MAX)
"""What a block must meet at a barrier for; whole tiles live across it."""


Mask = NDArray[np.bool_]


def item_bytes(element_type: str) -> int:
    """Bytes of one element in memory."""
    return 4 if element_type == "f32" else 2


@dataclass(frozen=True)
class Tiling:
    """What a graph's cost depends on besides its edges."""

    program: Program
    algebra: Algebra
    graph: Hypergraph
    target: Target
    mesh: Mesh

    def axes(self, value: int) -> Sequence[str]:
        """The axes along which a tile of `value` has an extent."""
        return self.algebra.tile_axes(self.graph.values[value].form)

    def volume(self, value: int) -> Array:
        """Elements of one tile of `value`."""
        return self.extent(self.axes(value))

    def extent(self, axes: Sequence[str]) -> Array:
        """Elements of a tile over `axes`."""
        volume = np.ones_like(self.mesh.blocks)
        for axis in axes:
            volume = volume * self.mesh.tiles[axis]
        return volume

    def turns(self, value: int) -> Array:
        """How often a block computes `value`."""
        if self.graph.values[value].stage is Stage.LOOP:
            return self.mesh.iterations
        return np.ones_like(self.mesh.blocks)


@dataclass
class _Totals:
    """What one block does (bytes, operations, barriers), and the kernel's traffic."""

    dram: Array
    l2: Array
    staged: Array
    """Shared memory of one stage of the loop's tiles."""
    held: Array
    """Shared memory in use all the time."""
    matrix: Array
    scalar: Array
    shared: Array
    waits: Array
    accumulators: Array
    in_flight: Array
    """Bytes that a block without loop asks for at once."""


def _empty(mesh: Mesh) -> _Totals:
    return _Totals(*(np.zeros_like(mesh.blocks) for _ in range(10)))


def round_up(value: Array, step: int) -> Array:
    """The next multiple of `step`."""
    return np.ceil(value / step) * step


class CostModel:
    """Costs one derivation on every combination of a tiling."""

    def __init__(self, tiling: Tiling, derivation: Derivation) -> None:
        self.tiling = tiling
        self.mesh = tiling.mesh
        self.target = tiling.target
        self.derivation = derivation
        self.edges = dict(zip(derivation.values, derivation.edges, strict=True))
        self.uses: dict[int, list[int]] = {value: [] for value in derivation.values}
        for value, edge in self.edges.items():
            for operand in edge.operands:
                self.uses[operand].append(value)
        self.totals = _empty(tiling.mesh)

    def seconds(self) -> Array:
        """The modelled time of every combination; infinite for those that do not fit."""
        for value, edge in self.edges.items():
            self._edge(value, edge)
        for output, goal in zip(self.tiling.program.outputs, self.derivation.goals, strict=True):
            traffic = self._whole(output.axes) * item_bytes(output.element_type)
            last = [axis for axis in output.axes if axis is not None][-1:]
            run = self.tiling.extent(last) * item_bytes(output.element_type)
            self.totals.dram += traffic * _waste(run)
            self.totals.l2 += traffic
            self.totals.scalar += self.tiling.volume(goal) * PIECE_WORK
        return self._combine()

    # One edge

    def _edge(self, value: int, edge: Edge) -> None:
        match edge.kind:
            case Kind.INPUT:
                self._load(value, self.tiling.program.inputs[edge.source])
            case Kind.CONSTANT:
                pass
            case Kind.MATMUL:
                self._matmul(value, edge)
            case Kind.REDUCE_SUM | Kind.REDUCE_MAX:
                work = self.tiling.volume(edge.operands[0]) * self.tiling.turns(value)
                self.totals.scalar += work
                self.totals.waits += self.tiling.turns(value)
            case Kind.ACCUMULATE_SUM | Kind.ACCUMULATE_MAX:
                volume = self.tiling.volume(value)
                self.totals.accumulators += volume
                if self.edges[edge.operands[0]].kind is not Kind.MATMUL:
                    self.totals.scalar += volume * self.mesh.iterations
            case _:
                heavy = edge.kind in (Kind.DIV, Kind.INVERSE, Kind.FUNCTION)
                work = self.tiling.volume(value) * self.tiling.turns(value)
                self.totals.scalar += work * (FUNCTION_WORK if heavy else 1.0)

    def _load(self, value: int, tensor: Input) -> None:
        item = item_bytes(tensor.element_type)
        elements, turns = self.tiling.volume(value), self.tiling.turns(value)
        tile = elements * item
        run, vector = self._contiguous(tensor, item)
        waste = _waste(run)
        traffic = tile * turns * self.mesh.blocks
        whole = self._whole(tensor.axes) * item
        # What does not fit L2 is read again by blocks that come later.
        again = 0.25 if float(whole[0]) > 0.7 * self.target.l2_bytes else 0.0
        self.totals.dram += (whole + again * np.maximum(traffic - whole, 0.0)) * waste
        self.totals.l2 += traffic * waste
        self.totals.scalar += tile / vector * turns * PIECE_WORK
        self.totals.shared += tile * turns
        if self.tiling.graph.values[value].stage is Stage.LOOP:
            self.totals.staged += tile
        elif self._staged(value):
            self.totals.held += tile
            self.totals.in_flight += tile
        else:
            self.totals.in_flight += tile
            self.totals.l2 += traffic * max(0, len(self.uses[value]) - 1)

    def _staged(self, value: int) -> bool:
        """Whether a tile that is loaded once goes to shared memory, not to registers."""
        values = self.tiling.graph.values
        return any(
            self.edges[user].kind is Kind.MATMUL or values[user].stage is Stage.LOOP
            for user in self.uses[value]
        )

    def _contiguous(self, tensor: Input, item: int) -> tuple[Array, Array]:
        """Bytes of a tile that lie side by side, and bytes that can be copied at once."""
        run = np.full_like(self.mesh.blocks, float(item))
        order = tensor.by_stride()
        expected, open_ = 1, np.ones_like(self.mesh.blocks, dtype=bool)
        for axis, stride in order:
            if stride != expected:
                break
            size = self.tiling.program.sizes[axis]
            tile = self.mesh.tiles[axis]
            run = np.where(open_, run * tile, run)
            open_ = open_ & (tile >= size)
            expected *= size
        rows = [stride for _, stride in order if stride > 1]
        pitch = min(rows, default=0) * item
        vector = np.gcd(np.gcd(run.astype(np.int64), pitch), VECTOR)
        return run, vector.astype(float)

    def _matmul(self, value: int, edge: Edge) -> None:
        assert edge.axis is not None
        depth = self.mesh.tiles[edge.axis]
        sides = [
            self.tiling.extent([a for a in self.tiling.axes(operand) if a != edge.axis])
            for operand in edge.operands
        ]
        rows, columns = sides
        turns = self.tiling.turns(value)
        if self.tiling.program.matrix_type == "f32":
            self.totals.scalar += 2 * rows * columns * depth * turns
        else:
            # Which side has the 16 rows of an instruction is the lowering's choice of operands.
            whole = round_up(rows, 16) * round_up(columns, 8)
            self.totals.matrix += 2 * whole * round_up(depth, 16) * turns
        for operand, side in zip(edge.operands, sides, strict=True):
            self.totals.shared += 2 * round_up(side, 8) * round_up(depth, 16) * turns
            if self.edges[operand].kind is not Kind.INPUT:
                self._materialise(operand)
        if Kind.ACCUMULATE_SUM in (self.edges[user].kind for user in self.uses[value]):
            # Warps that share the depth meet in shared memory, four copies of f32 at most.
            self.totals.held += np.minimum(4.0 * 4.0 * rows * columns, 64.0 * 1024)
        else:
            self.totals.accumulators += rows * columns
            self.totals.waits += turns

    def _materialise(self, operand: int) -> None:
        """A computed operand of a matrix unit goes through shared memory."""
        tile = self.tiling.volume(operand) * item_bytes(self.tiling.program.matrix_type)
        turns = self.tiling.turns(operand)
        self.totals.held += tile
        self.totals.shared += 2 * tile * turns
        self.totals.scalar += 2 * self.tiling.volume(operand) * turns
        self.totals.waits += turns

    # The whole

    def _whole(self, axes: Sequence[str | None]) -> Array:
        """Elements of a whole tensor."""
        elements = 1.0
        for axis in axes:
            if axis is not None:
                elements *= self.tiling.program.sizes[axis]
        return np.full_like(self.mesh.blocks, elements)

    def _live(self) -> Array:
        """Elements that a block keeps in registers across barriers, at the worst moment."""
        place = {value: i for i, value in enumerate(self.derivation.values)}
        barriers = [place[v] for v, e in self.edges.items() if e.kind in STRUCTURAL_WAIT]
        worst = self.totals.accumulators
        for barrier in barriers:
            live = np.zeros_like(worst)
            for value, edge in self.edges.items():
                last = max((place[user] for user in self.uses[value]), default=place[value])
                if edge.kind not in (Kind.INPUT, Kind.CONSTANT) and place[value] < barrier <= last:
                    live = live + self.tiling.volume(value)
            worst = np.maximum(worst, live)
        return worst

    def _residency(self) -> tuple[Array, Array, Mask]:
        """Stages, blocks that run on one multiprocessor at a time, and whether all fits."""
        totals, target = self.totals, self.target
        wanted = np.clip(np.ceil(self.mesh.blocks / target.multiprocessors), 1, 8)
        share = target.shared_per_multiprocessor / wanted - RESERVED_SHARED - totals.held
        staged = np.maximum(totals.staged, 1.0)
        stages = np.clip(np.floor(share / staged), MIN_STAGES, MAX_STAGES)
        stages = np.minimum(stages, np.maximum(self.mesh.iterations, MIN_STAGES))
        block = totals.staged * stages + totals.held
        fit = (totals.staged * MIN_STAGES + totals.held <= target.shared_per_block) & (
            self._live() <= MAX_LIVE
        )
        by_shared = np.floor(target.shared_per_multiprocessor / (block + RESERVED_SHARED))
        by_threads = np.floor(target.threads_per_multiprocessor / self._threads())
        registers = self._live() + 40 * self._threads()
        by_registers = np.floor(target.registers_per_multiprocessor / registers)
        resident = np.minimum.reduce([by_shared, by_threads, by_registers])
        return stages, np.clip(resident, 1, target.blocks_per_multiprocessor), fit

    def _threads(self) -> Array:
        """A guess at the threads of a block: the lowering's choice."""
        return np.where(self._live() > 8192, 256.0, 128.0)

    def _combine(self) -> Array:
        totals, target, blocks = self.totals, self.target, self.mesh.blocks
        stages, resident, fit = self._residency()
        active = np.minimum(blocks, target.multiprocessors)
        at_once = np.minimum(resident, np.ceil(blocks / target.multiprocessors))
        flight = at_once * (totals.staged * (stages - 1) + totals.in_flight)
        rate = np.minimum.reduce(
            [
                np.full_like(blocks, target.dram_rate),
                active * target.dram_rate_of_one,
                active * np.maximum(flight, 1024.0) / target.dram_latency,
            ]
        )
        slots = target.multiprocessors * resident
        waves = np.ceil(blocks / slots)
        # The last wave leaves multiprocessors idle that the others used.
        tail = np.minimum(1.0, (blocks - (waves - 1) * slots) / active)
        last = np.minimum(rate, np.ceil(tail * active) * target.dram_rate_of_one)
        share = np.where(waves > 1, 1 / waves, 1.0)
        dram = totals.dram * ((1 - share) / rate + share / last)
        l2 = totals.l2 / target.l2_rate * target.multiprocessors / active
        compute = self._compute(at_once)
        chain = waves * totals.waits + waves * self.mesh.iterations * (self.mesh.iterations > 1)
        waiting = chain * target.barrier / np.minimum(at_once, 4.0)
        # A loop overlaps its copies with its work; without one only other blocks do.
        apart = np.where(self.mesh.iterations > 1, 0.15, np.maximum(0.15, 0.7 / at_once))
        busy = np.maximum.reduce([dram, l2, compute]) + apart * (dram + l2 + compute)
        starts = target.launch + target.dram_latency * (1 + 0.3 * (waves - 1))
        return np.where(fit & self._launchable(), starts + busy + waiting, np.inf)

    def _launchable(self) -> Mask:
        """Whether the grid is one: its first axis may be long, the others may not."""
        long = np.zeros_like(self.mesh.blocks)
        for count in self.mesh.counts.values():
            long = long + (count > MAX_BLOCKS_BEHIND)
        return (self.mesh.blocks < MAX_BLOCKS) & (long <= 1)

    def _compute(self, at_once: Array) -> Array:
        """Seconds of arithmetic of the multiprocessor with the most blocks."""
        totals, target = self.totals, self.target
        most = np.ceil(self.mesh.blocks / target.multiprocessors)
        busy = np.minimum(1.0, at_once * self._threads() / BUSY_THREADS)
        one = 1.0 / target.multiprocessors
        matrix = totals.matrix / (target.matrix_rate * one * np.minimum(1.0, 2 * busy))
        scalar = totals.scalar / (target.scalar_rate * one * busy)
        shared = totals.shared / (target.shared_rate * one)
        return most * np.maximum(matrix, np.maximum(scalar, shared) + 0.5 * matrix)


def _waste(run: Array) -> Array:
    """How much more than `run` bytes is moved for a run: whole sectors, and a row's start."""
    return (np.ceil(run / SECTOR) * SECTOR + 8) / run


def static_weights(tiling: Tiling, graph: Hypergraph) -> Iterator[dict[Edge, float]]:
    """For each value the weight of its edges, in scalar operations of one block, at one point."""
    for value, edges in enumerate(graph.edges):
        yield {edge: _static_weight(tiling, value, edge) for edge in edges}


def _static_weight(tiling: Tiling, value: int, edge: Edge) -> float:
    volume, turns = float(tiling.volume(value)[0]), float(tiling.turns(value)[0])
    match edge.kind:
        case Kind.CONSTANT:
            return 0.0
        case Kind.INPUT:
            return 4 * volume * turns
        case Kind.MATMUL:
            assert edge.axis is not None
            work = volume * float(tiling.mesh.tiles[edge.axis][0]) / 8
            for operand in edge.operands:
                if all(other.kind is not Kind.INPUT for other in tiling.graph.edges[operand]):
                    work += 8 * float(tiling.volume(operand)[0]) + 256
            return 64 + work * turns
        case Kind.REDUCE_SUM | Kind.REDUCE_MAX:
            return 256 * turns + float(tiling.volume(edge.operands[0])[0]) * turns
        case Kind.ACCUMULATE_SUM | Kind.ACCUMULATE_MAX:
            return 16 + volume
        case _:
            heavy = edge.kind in (Kind.DIV, Kind.INVERSE, Kind.FUNCTION)
            return 16 + volume * turns * (FUNCTION_WORK if heavy else 1.0)
