"""
How long a graph takes, for all combinations of tile sizes at once.

A model of one kernel: what it moves through device memory, L2 and shared memory, what it
computes, and what a block waits for in each iteration of its loop. Only the order of candidates
matters; the constants are those of the target's row, and of `fitted.py`. Combinations that do not
fit the GPU cost infinitely much.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from mirage_mlir.graph.rasterization import MAX_BLOCKS, MAX_BLOCKS_BEHIND
from mirage_mlir.graph.target import Target
from mirage_mlir.graph.wgmma import WGMMA_ROWS
from mirage_mlir.search.element_reads import ElementReads
from mirage_mlir.search.element_work import element_work
from mirage_mlir.search.extract import Derivation
from mirage_mlir.search.fitted import (
    AGAIN,
    ALL_APART,
    APART,
    BLOCK_START,
    BUSY_THREADS,
    CHAIN_ITERATION,
    CHAIN_START,
    CLUSTER_BARRIER,
    CLUSTER_BARRIER_PER_BLOCK,
    COPY_BOX,
    COPY_ITERATION,
    EARLY_BYTES,
    EARLY_START,
    ENOUGH_BUSY,
    EXCHANGE_RATE,
    GROUPS_BUSY,
    HIDING_BLOCKS,
    IDLE_LATENCY,
    KEPT_IN_L2,
    LAST_ITERATION,
    LEAST_PIECE,
    LINE,
    LINE_SHARE,
    ODD_PIECE,
    PIECE_WORK,
    PIPELINE_APART,
    PIPELINE_CLUSTER_BARRIER,
    PIPELINE_CLUSTER_BARRIER_PER_BLOCK,
    PIPELINE_LAUNCH,
    PIPELINE_READ_AGAIN,
    PIPELINE_WAITS,
    PRODUCTS_BUSY,
    READ_AGAIN,
    READING_ITERATION,
    SECTOR,
    TF32_READ,
    TF32_WORK,
    THREE_APART,
    TOGETHER,
    TWO_APART,
    UNCHAINED_ELEMENT,
    UNCHAINED_ITERATION,
    WARPS_BESIDE,
    WARPS_BUSY,
    WORKSPACE_BARRIER,
)
from mirage_mlir.search.hypergraph import Edge, Hypergraph, Stage
from mirage_mlir.search.instantiate import Array
from mirage_mlir.search.program import Input, Kind, Output
from mirage_mlir.search.resources import (
    ACCUMULATIONS,
    REDUCTIONS,
    Mask,
    Resources,
    operand_waits,
    reduction_waits,
)
from mirage_mlir.search.tile_bytes import VECTOR, contiguous
from mirage_mlir.search.tiling import Tiling, item_bytes


def least_start(target: Target) -> float:
    """Seconds that every kernel takes, whatever it does."""
    least = min(-PIPELINE_LAUNCH, IDLE_LATENCY - EARLY_START)
    return target.launch_latency + (least if target.has_tma else IDLE_LATENCY)


def least_reading(target: Target, together: float, alone: float = 0.0) -> float:
    """Seconds that reading so many bytes takes at least: all blocks together, and one alone."""
    rate = max(target.dram_bandwidth, target.tma_bandwidth)
    rate_of_one = max(target.dram_bandwidth_per_sm, target.tma_bandwidth_per_sm)
    return max(together / rate, alone / max(rate_of_one, target.tma_l2_bandwidth_per_sm))


def _touched(run: Array, unit: int) -> Array:
    """Bytes of whole units that hold a run, on average over runs that lie end to end."""
    shared = np.gcd(np.ceil(run).astype(np.int64), unit) / unit
    return (run / unit + 1 - shared) * unit


def _waste(run: Array) -> Array:
    """How much more than `run` bytes is moved for a run of `run` bytes."""
    sectors, lines = _touched(run, SECTOR), _touched(run, LINE)
    return ((1 - LINE_SHARE) * sectors + LINE_SHARE * lines) / run


@dataclass
class Work:
    """What one block computes: operations, and bytes of shared memory."""

    matrix: Array
    scalar: Array
    shared: Array


class CostModel:
    """Costs one derivation on every combination of a tiling."""

    def __init__(
        self, tiling: Tiling, derivation: Derivation, resources: Resources | None = None
    ) -> None:
        self.tiling = tiling
        self.derivation = derivation
        self.resources = resources or Resources(tiling, derivation)
        zero = tiling.zero
        self.dram, self.l2 = zero, zero
        """Bytes of the whole kernel."""
        self.during, self.after = Work(zero, zero, zero), Work(zero, zero, zero)
        """Before the loop and in it, or where there is none; and behind the loop."""
        self.asked_at_once = zero
        """Bytes that a block asks for before it waits, the loop's aside."""
        self.reads = ElementReads(self.resources)

    def seconds(self) -> Array:
        """The modelled time of every combination; infinite for those that do not fit."""
        for value, edge in self.resources.edges.items():
            self._add(value, edge)
        for value in self.resources.shifted:
            # The maximum, and its subtraction.
            work = self._work(value)
            work.scalar = work.scalar + 2 * self.tiling.volume(value) * self.tiling.iterations(
                value
            )
        for value in self.resources.rescaled:
            iterations = self.tiling.mesh.iterations
            self.during.scalar = self.during.scalar + self.tiling.volume(value) * iterations
        for operand, stored in self.resources.materialised():
            elements = stored * self.tiling.volume(operand) * self.tiling.iterations(operand)
            work = self._work(operand)
            work.shared = work.shared + 2 * elements
            work.scalar = work.scalar + 2 * elements
        self._add_stores()
        fits = self.resources.fits() & self._launchable()
        return np.where(fits, self._combined(), np.inf)

    # One edge

    def _work(self, value: int) -> Work:
        """Where what `value` takes is counted."""
        post = self.tiling.graph.values[value].stage is Stage.POST
        return self.after if post else self.during

    def _add(self, value: int, edge: Edge) -> None:
        elements, work = (
            self.tiling.volume(value) * self.tiling.iterations(value),
            self._work(value),
        )
        if edge.kind is Kind.INPUT:
            self._add_load(value, self.tiling.program.inputs[edge.source])
        elif edge.kind is Kind.MATMUL:
            self._add_product(value, edge)
        elif edge.kind in REDUCTIONS:
            operand = edge.operands[0]
            work.scalar = work.scalar + self.tiling.volume(operand) * self.tiling.iterations(value)
        elif edge.kind in ACCUMULATIONS:
            if self.resources.edges[edge.operands[0]].kind is not Kind.MATMUL:
                iterations = self.tiling.mesh.iterations
                self.during.scalar = self.during.scalar + self.tiling.volume(value) * iterations
        elif edge.kind is not Kind.CONSTANT:
            each = element_work(self.tiling.algebra, edge) + self._read_work(edge)
            work.scalar = work.scalar + elements * each

    def _read_work(self, edge: Edge) -> Array | float:
        """What reading the operands in shared memory takes for each element of the result."""
        return self.reads.work(edge)

    def _add_load(self, value: int, tensor: Input) -> None:
        tiling, target = self.tiling, self.tiling.target
        item = item_bytes(tensor.element_type)
        tile, iterations = tiling.volume(value) * item, tiling.iterations(value)
        run, vector = contiguous(tiling, tensor)
        waste = tiling.once(("waste", tensor.node), lambda: _waste(run))
        traffic = tile * iterations * tiling.mesh.blocks
        whole = tiling.whole(tensor.axes) * item
        again: Array | float = 0.0
        if whole > KEPT_IN_L2 * target.l2_bytes:
            again = np.where(self.resources.pipelined, PIPELINE_READ_AGAIN, READ_AGAIN)
        self.dram = self.dram + (whole + again * np.maximum(traffic - whole, 0.0)) * waste
        if not self.resources.in_shared(value):
            # The blocks of a multiprocessor find a small tensor in L1 after the first.
            traffic = np.minimum(traffic, whole * target.sm_count)
        self.l2 = self.l2 + traffic * waste
        pieces = tile / vector * iterations
        if self.resources.in_shared(value):
            pieces = np.where(vector < LEAST_PIECE, ODD_PIECE * pieces, pieces)
        if tiling.in_loop(value):
            # Tensor copies find their addresses themselves.
            pieces = np.where(self.resources.pipelined, 0.0, pieces)
        work = self._work(value)
        work.scalar = work.scalar + pieces * PIECE_WORK
        work.shared = work.shared + tile * iterations
        if not tiling.in_loop(value):
            self.asked_at_once = self.asked_at_once + tile
        if not self.resources.in_shared(value):
            self._add_reading_again(value, tile / vector)

    def _add_reading_again(self, value: int, pieces: Array) -> None:
        """A tile that is not in shared memory is read again where it is used again, from L1."""
        again = len(self.resources.uses[value]) - 1
        work = self._work(value)
        work.scalar = work.scalar + pieces * max(0, again) * PIECE_WORK

    def _add_product(self, value: int, edge: Edge) -> None:
        iterations, warps = self.tiling.iterations(value), self.resources.products[value]
        work = self._work(value)
        if self.tiling.program.matrix_type == "f32":
            assert edge.axis is not None
            depth = self.tiling.mesh.tiles[edge.axis]
            work.scalar = work.scalar + 2 * self.tiling.volume(value) * depth * iterations
        elif self.tiling.program.matrix_type == "tf32":
            work.matrix = work.matrix + TF32_WORK * warps.flops * iterations
            work.scalar = work.scalar + TF32_READ * warps.read * iterations
        else:
            work.matrix = work.matrix + warps.flops * iterations
        work.shared = work.shared + warps.read * iterations + 2 * warps.exchange

    def _add_stores(self) -> None:
        outputs = self.tiling.program.computed
        for output, goal in zip(outputs, self.derivation.goals, strict=True):
            item = item_bytes(output.element_type)
            last = [axis for axis in output.axes if axis is not None][-1:]
            traffic = self.tiling.whole(output.axes) * item
            for axis in output.partial:
                traffic = traffic * self.tiling.mesh.counts[axis]
            run = self.tiling.extent(last) * item
            copies = self._copies(output)
            waste = self.tiling.once(("waste", tuple(last), item), partial(_waste, run))
            self.dram = self.dram + traffic * waste
            self.l2 = self.l2 + traffic * copies
            pieces = self.tiling.volume(goal) * item / np.minimum(run, VECTOR)
            work = self._work(goal)
            work.scalar = work.scalar + pieces * PIECE_WORK

    def _copies(self, output: Output) -> Array:
        """Blocks that store the same part of an output."""
        copies = self.tiling.one
        for axis, count in self.tiling.mesh.counts.items():
            if axis not in output.axes and axis not in output.partial:
                copies = copies * count
        return copies

    # The whole

    def _launchable(self) -> Mask:
        """Whether the grid is one: its first axis may be long, the others may not."""
        mesh = self.tiling.mesh
        long = self.tiling.zero
        for count in mesh.counts.values():
            long = long + (count > MAX_BLOCKS_BEHIND)
        return (mesh.blocks <= MAX_BLOCKS) & (long <= 1)

    def _combined(self) -> Array:
        target, mesh = self.tiling.target, self.tiling.mesh
        resident = self.resources.resident()
        most = np.ceil(mesh.blocks / self._multiprocessors())
        at_once = np.minimum(resident, most)
        waves = np.ceil(most / resident)
        pipelined, looped = self.resources.pipelined, mesh.iterations > 1
        memory = self._memory_seconds(at_once, most)
        if pipelined.any():
            memory = np.where(pipelined, self._with_iterations(memory, waves), memory)
        hidden = np.minimum(at_once, HIDING_BLOCKS)
        barriers = np.where(pipelined | ~looped, 0.0, target.barrier_latency / hidden)
        compute = self._compute_seconds(self.during, at_once, most)
        compute = compute + waves * mesh.iterations * barriers
        compute = np.maximum(compute, waves * mesh.iterations * self._reading_seconds())
        reduced = reduction_waits(self.resources) * np.where(pipelined, PIPELINE_WAITS, 1.0)
        waiting = (reduced + operand_waits(self.resources)) * target.barrier_latency
        chained = self._chain_seconds() + self._unchained_seconds()
        waiting = waves * (waiting / hidden + chained)
        # A loop overlaps its copies with its work; without one only other blocks do.
        compute = compute + np.where(looped, 0.0, waiting)
        apart = self._apart(at_once, most, waves)
        overlapped = np.maximum(memory, compute) + apart * np.minimum(memory, compute)
        # The first tile comes before any work, and the last iteration's work after all tiles.
        first = waves * self.resources.staged / target.dram_bandwidth_per_sm
        last = np.where(looped, compute / mesh.iterations, 0.0)
        overlapped = overlapped + np.where(pipelined, LAST_ITERATION * last, first + last)
        exchanged = np.where(mesh.shares > 1, self._exchange_seconds(waves), 0.0)
        started = self._start_seconds() + waves * BLOCK_START
        after = self._compute_seconds(self.after, at_once, most) + exchanged
        return started + overlapped + np.where(looped, waiting, 0.0) + after

    def _apart(self, at_once: Array, most: Array, waves: Array) -> Array:
        """How much of the shorter of copying and computing comes apart from the other."""
        pipelined, looped = self.resources.pipelined, self.tiling.mesh.iterations > 1
        # Blocks that start together wait together.
        rounds = np.where(at_once > 1, waves, 1.0)
        return np.where(
            pipelined,
            np.where(looped, self._apart_in_loop(), PIPELINE_APART / rounds),
            np.where(looped, APART, ALL_APART / rounds),
        )

    def _apart_in_loop(self) -> Array:
        """The same in a loop of tensor copies: a buffer is free when its product has ended."""
        stages, iterations = self.resources.stages, self.tiling.mesh.iterations
        if self.resources.chains:
            # These wait for their products anyway, and most of them for their bytes.
            return np.where(iterations > 2, 0.0, PIPELINE_APART * (stages <= 2))
        two = np.where(iterations > 2, TWO_APART, PIPELINE_APART)
        return np.where(stages <= 2, two, np.where(stages <= 3, THREE_APART, 0.0))

    def _chain_seconds(self) -> Array | float:
        """What products wait for each other where there are exps and their maxima between them."""
        if not self.resources.shifted or not self.resources.products:
            return 0.0
        iterations = np.maximum.reduce(
            [self.tiling.iterations(value) for value in self.resources.shifted]
        )
        return CHAIN_START + CHAIN_ITERATION * iterations

    def _reading_seconds(self) -> Array | float:
        """
        What an iteration takes at least where threads read what warpgroups of 64 rows multiply.
        """
        resources, iteration = self.resources, self.tiling.zero
        for value, edge in resources.edges.items():
            users = [resources.edges[user] for user in resources.uses[value]]
            products = [user for user in users if user.kind is Kind.MATMUL]
            if edge.kind is Kind.INPUT and 0 < len(products) < len(users):
                rows = self.tiling.extent(
                    [axis for axis in self.tiling.axes(value) if axis != products[0].axis]
                )
                waits = resources.grouped & self.tiling.in_loop(value) & (rows % WGMMA_ROWS == 0)
                iteration = np.where(waits, READING_ITERATION, iteration)
        return iteration

    def _unchained_seconds(self) -> Array:
        """What a block waits where products take others' results from shared memory, in a loop."""
        waits = self.tiling.zero
        for operand, stored in self.resources.materialised():
            if operand in self.resources.kept and self.tiling.in_loop(operand):
                each = UNCHAINED_ITERATION + UNCHAINED_ELEMENT * self.tiling.volume(operand)
                waits = waits + stored * each * self.tiling.iterations(operand)
        return waits

    def _start_seconds(self) -> Array:
        """From the end of the previous grid to the first tile that is there."""
        target = self.tiling.target
        answer = np.full_like(self.l2, IDLE_LATENCY)
        if target.has_tma:
            early = self.l2 <= EARLY_BYTES * self.tiling.mesh.blocks
            answer = np.where(early, IDLE_LATENCY - EARLY_START, answer)
        # A warp that does nothing else asks while the previous grid ends.
        return target.launch_latency + np.where(self.resources.pipelined, -PIPELINE_LAUNCH, answer)

    def _latency(self, at_once: Array) -> Array:
        """From the first request to its answer, which waits for what all ask for at the start."""
        target = self.tiling.target
        active = np.minimum(self.tiling.mesh.blocks, target.sm_count)
        queued = active * self._in_flight(at_once) / target.dram_bandwidth
        return np.minimum(target.dram_latency, IDLE_LATENCY + queued)

    def _in_flight(self, at_once: Array) -> Array:
        """Bytes that a multiprocessor has asked for and not yet got."""
        # `cp.async` keeps a buffer free for what is read; a producer fills it when it is.
        free = np.where(self.resources.pipelined, 0.0, 1.0)
        looped = self.resources.staged * np.maximum(self.resources.stages - free, 1)
        return at_once * np.maximum(looped + self.asked_at_once, SECTOR)

    def _multiprocessors(self) -> Array:
        """How many multiprocessors get a block before one gets a second."""
        target, shares = self.tiling.target, self.tiling.mesh.shares
        large = (shares > 2) & self._clustered()
        return np.where(large, target.sm_count_in_clusters, target.sm_count)

    def _clustered(self) -> Mask:
        """Where the blocks that share a loop are a cluster."""
        return self.tiling.mesh.shares <= self.tiling.target.cluster_max

    def _exchange_seconds(self, waves: Array) -> Array:
        """Blocks that share a loop bring their sums together."""
        clustered = self._clustered()
        if clustered.all():
            return self._cluster_seconds(waves)
        return np.where(clustered, self._cluster_seconds(waves), self._parts_seconds(waves))

    def _parts_seconds(self, waves: Array) -> Array:
        """Each block writes its part, and the last one reads those of all."""
        mesh, target = self.tiling.mesh, self.tiling.target
        part = self.resources.part_bytes()
        added = (mesh.shares + 1) * part / target.dram_bandwidth_per_sm
        return waves * (WORKSPACE_BARRIER + added) + 2 * mesh.blocks * part / target.l2_bandwidth

    def _cluster_seconds(self, waves: Array) -> Array:
        """Clusters meet, and each part of a sum crosses from one multiprocessor to another."""
        mesh = self.tiling.mesh
        read = self.resources.handed_over() * (1 - 1 / mesh.shares) / EXCHANGE_RATE
        pipelined, others = self.resources.pipelined, mesh.shares - 2
        barriers = np.where(
            pipelined,
            PIPELINE_CLUSTER_BARRIER + PIPELINE_CLUSTER_BARRIER_PER_BLOCK * others,
            CLUSTER_BARRIER + CLUSTER_BARRIER_PER_BLOCK * others,
        )
        return waves * (barriers + read)

    def _memory_seconds(self, at_once: Array, most: Array) -> Array:
        """
        Device memory for what is read first, L2 for what is read again, and each multiprocessor.

        A multiprocessor takes what it asked for a latency ago: bytes on their way bound its rate.
        """
        target, blocks = self.tiling.target, self.tiling.mesh.blocks
        again = np.maximum(self.l2 - self.dram, 0.0)
        together = self.dram / target.dram_bandwidth + again / target.l2_bandwidth
        flight, latency = self._in_flight(at_once), self._latency(at_once)
        answered = flight / latency
        rate = np.minimum(target.dram_bandwidth_per_sm, answered)
        asked_later = np.maximum(most * self.l2 / blocks - flight, 0.0)
        seconds = np.maximum(together, latency - IDLE_LATENCY + asked_later / rate)
        if not self.resources.pipelined.any():
            return seconds
        return np.where(self.resources.pipelined, self._pipeline_seconds(most, answered), seconds)

    def _pipeline_seconds(self, most: Array, answered: Array) -> Array:
        """The same where tensor copies do nothing else, and nobody waits for the first answers."""
        target = self.tiling.target
        each = most / self.tiling.mesh.blocks
        rate = np.minimum(target.tma_bandwidth_per_sm, answered)
        l2_rate = np.minimum(target.tma_l2_bandwidth_per_sm, answered)
        first = np.minimum(self.dram, self.l2)
        alone = np.maximum(each * first / rate, each * self.l2 / l2_rate)
        again = (self.l2 - first) / (target.tma_l2_bandwidth_per_sm * target.sm_count)
        return np.maximum(self.dram / target.tma_bandwidth + AGAIN * again, alone)

    def _with_iterations(self, memory: Array, waves: Array) -> Array:
        """What the bytes take, and the producer's iterations."""
        looped = waves * self.tiling.mesh.iterations
        iterations = looped * (COPY_ITERATION + COPY_BOX * self.resources.boxes)
        return (memory**TOGETHER + iterations**TOGETHER) ** (1 / TOGETHER)

    def _compute_seconds(self, work: Work, at_once: Array, most: Array) -> Array:
        """Seconds of arithmetic of the multiprocessor with the most blocks."""
        target = self.tiling.target
        busy = self._busy(at_once)
        share = most * target.sm_count
        enough = GROUPS_BUSY if target.has_wgmma else WARPS_BUSY
        matrix = work.matrix / (target.mma_throughput * np.minimum(1.0, enough * busy))
        scalar = work.scalar / (target.fp32_throughput * busy)
        return share * np.maximum(
            matrix, np.maximum(scalar, work.shared / target.shared_memory_bandwidth)
        )

    def _busy(self, at_once: Array) -> Array:
        """The part of a multiprocessor's arithmetic units that its threads keep busy."""
        busy = np.minimum(1.0, at_once * self.resources.threads / BUSY_THREADS)
        if not self.resources.products:
            return busy
        # Each thread has many independent elements.
        beside = PRODUCTS_BUSY * np.sqrt(np.minimum(1.0, busy / ENOUGH_BUSY))
        alone = WARPS_BESIDE * busy if self.resources.chains else busy
        return np.where(
            self.resources.grouped, beside, np.where(self.resources.pipelined, alone, busy)
        )


def static_weights(tiling: Tiling, graph: Hypergraph) -> Iterator[dict[Edge, float]]:
    """For each value the weight of its edges, in scalar operations of one block, at one point."""
    for value, edges in enumerate(graph.edges):
        yield {edge: _static_weight(tiling, value, edge) for edge in edges}


def _static_weight(tiling: Tiling, value: int, edge: Edge) -> float:
    volume, iterations = float(tiling.volume(value)[0]), float(tiling.iterations(value)[0])
    match edge.kind:
        case Kind.CONSTANT:
            return 0.0
        case Kind.INPUT:
            return 4 * volume * iterations
        case Kind.MATMUL:
            assert edge.axis is not None
            work = volume * float(tiling.mesh.tiles[edge.axis][0]) / 8
            for operand in edge.operands:
                if all(other.kind is not Kind.INPUT for other in tiling.graph.edges[operand]):
                    work += 8 * float(tiling.volume(operand)[0]) + 256
            return 64 + work * iterations
        case Kind.REDUCE_SUM | Kind.REDUCE_MAX:
            return 256 * iterations + float(tiling.volume(edge.operands[0])[0]) * iterations
        case Kind.ACCUMULATE_SUM | Kind.ACCUMULATE_MAX:
            return 16 + volume
        case _:
            return 16 + volume * iterations * element_work(tiling.algebra, edge)
