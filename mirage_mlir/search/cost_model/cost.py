"""
How long a graph takes, for all combinations of tile sizes at once.

A model of one kernel: what it moves through device memory, L2 and shared memory and what it
computes (`work.py` counts that), and what a block waits for in each iteration of its loop. Only the
order of candidates matters; the constants are those of the target's row, and of `fitted.py`.
Combinations that do not fit the GPU cost infinitely much.
"""

import numpy as np

from mirage_mlir.decisions.rasterization import MAX_BLOCKS, MAX_BLOCKS_BEHIND
from mirage_mlir.decisions.wgmma import WGMMA_ROWS
from mirage_mlir.search.cost_model.block_graph import Modelled
from mirage_mlir.search.cost_model.fitted import (
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
    LAST_ITERATION,
    PIPELINE_APART,
    PIPELINE_CLUSTER_BARRIER,
    PIPELINE_CLUSTER_BARRIER_PER_BLOCK,
    PIPELINE_LAUNCH,
    PIPELINE_WAITS,
    PRODUCTS_BUSY,
    READING_ITERATION,
    SECTOR,
    THREE_APART,
    TOGETHER,
    TWO_APART,
    UNCHAINED_ELEMENT,
    UNCHAINED_ITERATION,
    WARPS_BESIDE,
    WARPS_BUSY,
    WORKSPACE_BARRIER,
)
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import Mask
from mirage_mlir.search.cost_model.resources import Resources, operand_waits, reduction_waits
from mirage_mlir.search.cost_model.terms import (
    BLOCKS_IN_TURN,
    DRAM,
    ISSUE,
    L2,
    MMA,
    PER_MULTIPROCESSOR,
    SCALAR,
    SHARED,
    Arrays,
    ModelledResources,
    Terms,
)
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.cost_model.work import Work, WorkCount
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.extract import Derivation
from mirage_mlir.targets.target import Target


def least_start(target: Target) -> float:
    """Seconds that every kernel takes, whatever it does."""
    least = min(-PIPELINE_LAUNCH, IDLE_LATENCY - EARLY_START)
    return target.launch_latency + (least if target.has_tma else IDLE_LATENCY)


def least_reading(target: Target, together: float, alone: float = 0.0) -> float:
    """Seconds that reading so many bytes takes at least: all blocks together, and one alone."""
    rate = max(target.dram_bandwidth, target.tma_bandwidth)
    rate_of_one = max(target.dram_bandwidth_per_sm, target.tma_bandwidth_per_sm)
    return max(together / rate, alone / max(rate_of_one, target.tma_l2_bandwidth_per_sm))


class CostModel(WorkCount):
    """The time of one derivation on every combination of a tiling."""

    def __init__(
        self, tiling: Tiling, derivation: Derivation, resources: Resources | None = None
    ) -> None:
        super().__init__(tiling, derivation, resources or Resources(tiling, derivation))
        self.terms = Terms()
        """What the time is made of; `seconds` fills it."""

    def seconds(self, *, explained: bool = False) -> Array:
        """
        The modelled time of every combination; infinite for those that do not fit.

        Only where it is `explained` its terms are kept: their arrays fill the cache.
        """
        self.terms.kept = explained
        self.count()
        fits = self.resources.fits() & self._launchable()
        return np.where(fits, self._combined(), np.inf)

    def modelled(self, index: int, seconds: float) -> Modelled:
        """What the model says of one combination, once `seconds` computed all of them."""
        resources, mesh = self.resources, self.tiling.mesh
        iterations = int(mesh.iterations[index])
        threads = int(resources.threads[index])
        return Modelled(
            seconds,
            threads,
            int(resources.shared[index]),
            self.terms.at(index, iterations),
            ModelledResources(
                registers=int(np.ceil(resources.registers[index])),
                stages=int(resources.stages[index]) if iterations > 1 else 1,
                producer_warps=int(resources.producers[index]),
                multicast=resources.multicast(index),
                warpgroups=bool(resources.products) and bool(resources.grouped[index]),
                splits=int(mesh.shares[index]),
                dram_bytes=float(self.dram[index]),
                l2_bytes=float(self.l2[index]),
            ),
        )

    def _launchable(self) -> Mask:
        """Whether the grid is one: its first axis may be long, the others may not."""
        mesh = self.tiling.mesh
        long = self.tiling.zero
        for count in mesh.counts.values():
            long = long + (count > MAX_BLOCKS_BEHIND)
        return (mesh.blocks <= MAX_BLOCKS) & (long <= 1)

    def _combined(self) -> Array:
        target, mesh, terms = self.tiling.target, self.tiling.mesh, self.terms
        resident = self.resources.resident()
        most = np.ceil(mesh.blocks / self._multiprocessors())
        at_once = np.minimum(resident, most)
        waves = np.ceil(most / resident)
        pipelined, looped = self.resources.pipelined, mesh.iterations > 1
        memory = self._memory_seconds(at_once, most)
        if pipelined.any():
            memory = np.where(pipelined, self._with_iterations(memory, waves), memory)
        hidden = np.minimum(at_once, HIDING_BLOCKS)
        barrier = np.where(pipelined | ~looped, 0.0, target.barrier_latency / hidden)
        compute = self._compute_seconds(self.during, at_once, most, terms.during)
        barriers = waves * mesh.iterations * barrier
        compute = compute + barriers
        reading = waves * mesh.iterations * self._reading_seconds()
        compute = np.maximum(compute, reading)
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
        after = self._compute_seconds(self.after, at_once, most, terms.after) + exchanged
        combined: Arrays = {
            "resident": resident,
            "waves": waves,
            "pipelined": pipelined,
            "memory": memory,
            "compute": compute,
            "barriers": barriers,
            "reading": reading,
            "waiting": waiting,
            "apart": apart,
            "first": first,
            "last": last,
            "exchanged": exchanged,
            "started": started,
            "after": after,
        }
        terms.note(terms.combined, combined)
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
        first, repeated = self.dram / target.dram_bandwidth, again / target.l2_bandwidth
        together = first + repeated
        flight, latency = self._in_flight(at_once), self._latency(at_once)
        answered = flight / latency
        rate = np.minimum(target.dram_bandwidth_per_sm, answered)
        asked_later = np.maximum(most * self.l2 / blocks - flight, 0.0)
        alone = latency - IDLE_LATENCY + asked_later / rate
        self.terms.note(self.terms.copies, {DRAM: first, L2: repeated, PER_MULTIPROCESSOR: alone})
        seconds = np.maximum(together, alone)
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
        together, repeated = self.dram / target.tma_bandwidth, AGAIN * again
        self.terms.note(
            self.terms.tensor_copies, {DRAM: together, L2: repeated, PER_MULTIPROCESSOR: alone}
        )
        return np.maximum(together + repeated, alone)

    def _with_iterations(self, memory: Array, waves: Array) -> Array:
        """What the bytes take, and the producer's iterations."""
        looped = waves * self.tiling.mesh.iterations
        iterations = looped * (COPY_ITERATION + COPY_BOX * self.resources.boxes)
        self.terms.note(self.terms.tensor_copies, {ISSUE: iterations})
        return (memory**TOGETHER + iterations**TOGETHER) ** (1 / TOGETHER)

    def _compute_seconds(self, work: Work, at_once: Array, most: Array, units: Arrays) -> Array:
        """Seconds of arithmetic of the multiprocessor with the most blocks, and of its `units`."""
        target = self.tiling.target
        busy = self._busy(at_once)
        share = most * target.sm_count
        enough = GROUPS_BUSY if target.has_wgmma else WARPS_BUSY
        matrix = work.matrix / (target.mma_throughput * np.minimum(1.0, enough * busy))
        scalar = work.scalar / (target.fp32_throughput * busy)
        shared = work.shared / target.shared_memory_bandwidth
        self.terms.note(units, {MMA: matrix, SCALAR: scalar, SHARED: shared, BLOCKS_IN_TURN: share})
        return share * np.maximum(matrix, np.maximum(scalar, shared))

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
