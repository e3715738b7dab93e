"""Models the time of copies: device memory, L2, and the bytes in flight of a multiprocessor."""

import numpy as np

from mirage_mlir.decisions.schedule import MAX_SIDE_BY_SIDE
from mirage_mlir.search.cost_model.fitted import (
    AGAIN,
    APART_RATE,
    COPY_BOX,
    COPY_ITERATION,
    COPY_LINE,
    CROWDED,
    EARLY_BYTES,
    EARLY_START,
    EMPTY_HELPS,
    FROM_L2,
    IDLE_LATENCY,
    MOST_WALKING,
    NEITHER,
    NEXT_BLOCK,
    PIPELINE_LAUNCH,
    SCATTERED,
    SCATTERED_AGAIN,
    SECTOR,
    TOGETHER,
    UNEVEN,
)
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import Mask
from mirage_mlir.search.cost_model.resources import Resources
from mirage_mlir.search.cost_model.terms import (
    DRAM,
    ISSUE,
    L2,
    PER_MULTIPROCESSOR,
    Terms,
)
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.cost_model.work import WorkCount
from mirage_mlir.search.saturation.extract import Derivation


class CopyTime(WorkCount):
    """Computes the seconds of copies of one derivation, for all combinations of tile sizes."""

    def __init__(
        self, tiling: Tiling, derivation: Derivation, resources: Resources | None = None
    ) -> None:
        super().__init__(tiling, derivation, resources or Resources(tiling, derivation))
        self.terms = Terms()
        """What the time is made of, once all of it was computed."""

    def _memory_seconds(self, at_once: Array, most: Array) -> Array:
        """
        The seconds of copies: the first read of a byte comes from device memory, others from L2.

        By Little's law the bytes in flight bound the rate of a multiprocessor: it receives what it
        asked for one latency ago.
        """
        target, blocks = self.tiling.target, self.tiling.mesh.blocks
        again = np.maximum(self.l2 - self.dram, 0.0)
        crowded = self.resources.walks & (self.resources.share > MOST_WALKING)
        first = self.dram * np.where(crowded, CROWDED, 1.0) / target.dram_bandwidth
        repeated = again / target.l2_bandwidth
        together = first + repeated
        flight, latency = self._in_flight(at_once), self._latency(at_once)
        answered = flight / latency
        rate = np.minimum(target.dram_bandwidth_per_sm, answered)
        asked_later = np.maximum(most * self.l2 / blocks - flight, 0.0)
        alone = latency - IDLE_LATENCY + asked_later / rate
        if (at_once == 1).any():
            alone = np.where(at_once == 1, np.maximum(alone, self._one_block(most, again)), alone)
        self.terms.note(self.terms.copies, {DRAM: first, L2: repeated, PER_MULTIPROCESSOR: alone})
        seconds = np.maximum(together, alone)
        if not self.resources.pipelined.any():
            return seconds
        return np.where(
            self.resources.pipelined, self._pipeline_seconds(at_once, most, answered), seconds
        )

    def _one_block(self, most: Array, again: Array) -> Array:
        """
        The seconds that a block which is alone on a multiprocessor waits for all that it reads.

        However much a multiprocessor asks for at once, one latency's worth of it is on the way
        (Little's law), half as long where it is in L2. Several blocks of one start apart, and ask
        apart.
        """
        target, blocks = self.tiling.target, self.tiling.mesh.blocks
        held = target.dram_bandwidth_per_sm * target.dram_latency
        asked = most * (np.minimum(self.dram, self.l2) + again / FROM_L2) / blocks
        active = np.minimum(blocks, target.sm_count)
        queued = active * np.minimum(asked, held) / target.dram_bandwidth
        latency = np.minimum(target.dram_latency, IDLE_LATENCY + queued)
        return asked / held * latency - IDLE_LATENCY

    def _pipeline_seconds(self, at_once: Array, most: Array, answered: Array) -> Array:
        """The seconds of copies by producer warps, which start them ahead of time."""
        target = self.tiling.target
        each = most / self.tiling.mesh.blocks
        rate = np.minimum(target.tma_bandwidth_per_sm, answered)
        l2_rate = np.minimum(target.tma_l2_bandwidth_per_sm, answered)
        first = np.minimum(self.dram, self.l2)
        alone = np.maximum(each * first / rate, each * self.l2 / l2_rate)
        lines = most * self.tiling.mesh.iterations * self.resources.box_lines
        alone = np.maximum(alone, lines * COPY_LINE)
        again = (self.l2 - first) / (target.tma_l2_bandwidth_per_sm * target.sm_count)
        together, repeated = self.dram / target.tma_bandwidth, AGAIN * again
        staggered = self._is_staggered()
        together = np.where(staggered, self._scattered(at_once) * together, together)
        repeated = np.where(staggered, SCATTERED_AGAIN * again, repeated)
        in_clusters = (self.tiling.mesh.shares > 1) & self._clustered()
        repeated = repeated + np.where(in_clusters, self.apart / APART_RATE, 0.0)
        self.terms.note(
            self.terms.tensor_copies, {DRAM: together, L2: repeated, PER_MULTIPROCESSOR: alone}
        )
        from_memory = (together**NEITHER + (each * first / rate) ** NEITHER) ** (1 / NEITHER)
        return np.maximum(from_memory + repeated, alone)

    def _clustered(self) -> Mask:
        """Where the blocks that share a loop fit in a cluster."""
        return self.tiling.mesh.shares <= self.tiling.target.cluster_max

    def _scattered(self, at_once: Array) -> Array:
        """How much longer device memory takes where each block reads along lines of its own."""
        blocks, places = self.tiling.mesh.blocks, at_once * self.tiling.target.sm_count
        empty = 1 - blocks / (places * np.ceil(blocks / places))
        few = np.where(at_once < MAX_SIDE_BY_SIDE, SCATTERED / at_once, 0.0)
        alone = SCATTERED * np.maximum(0.0, 1 - EMPTY_HELPS * empty)
        return 1 + np.where(at_once > 1, few + UNEVEN * empty, alone)

    def _with_iterations(self, memory: Array, waves: Array) -> Array:
        """The seconds of copies together with those that a producer takes to issue them."""
        looped = waves * self.tiling.mesh.iterations
        iterations = looped * (COPY_ITERATION + COPY_BOX * self.resources.boxes)
        self.terms.note(self.terms.tensor_copies, {ISSUE: iterations})
        return (memory**TOGETHER + iterations**TOGETHER) ** (1 / TOGETHER)

    def _latency(self, at_once: Array) -> Array:
        """
        The seconds from a request to its answer, which queues behind the first requests of all
        blocks.
        """
        target = self.tiling.target
        active = np.minimum(self.tiling.mesh.blocks, target.sm_count)
        queued = active * self._in_flight(at_once) / target.dram_bandwidth
        return np.minimum(target.dram_latency, IDLE_LATENCY + queued)

    def _in_flight(self, at_once: Array) -> Array:
        """The bytes that a multiprocessor has requested and not yet received."""
        # `cp.async` keeps a buffer free for what is read; a producer fills it when it is.
        free = np.where(self.resources.pipelined, 0.0, 1.0)
        ahead = np.maximum(self.resources.stages - free, 1)
        shifted = self.resources.realigned_bytes
        # One iteration's in registers; where threads wait for it, nothing half of the time.
        waited = np.where(self.resources.fetched > 0, shifted, shifted / 2)
        looped = (self.resources.staged - shifted) * ahead + waited
        return at_once * np.maximum(looped + self.asked_at_once, SECTOR)

    def _start_seconds(self) -> Array:
        """The seconds from the end of the previous grid until the first tile has arrived."""
        target = self.tiling.target
        answer = np.full_like(self.l2, IDLE_LATENCY)
        if target.has_tma:
            early = self.l2 <= EARLY_BYTES * self.tiling.mesh.blocks
            answer = np.where(early, IDLE_LATENCY - EARLY_START, answer)
        # A warp that does nothing else asks while the previous grid ends.
        return target.launch_latency + np.where(self.resources.pipelined, -PIPELINE_LAUNCH, answer)

    def _next_starts(self, most: Array) -> Array:
        """The seconds that further blocks of a multiprocessor take to start, so far as seen."""
        return np.where(self._is_staggered(), (most - 1) * NEXT_BLOCK, 0.0)
