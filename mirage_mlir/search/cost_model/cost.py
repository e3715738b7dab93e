"""
Models the time of a graph, for all combinations of tile sizes at once.

The model of a kernel adds up what it moves through device memory, L2 and shared memory, what it
computes (both are counted in `work.py`), and what a block waits for in each iteration of its loop.
Only the order of candidates matters. Constants are those of the target's row and of `fitted.py`.
Combinations that do not fit the GPU cost infinitely much.
"""

from typing import NamedTuple

import numpy as np

from mirage_mlir.decisions.persistence import holds_several
from mirage_mlir.decisions.rasterization import MAX_BLOCKS, MAX_BLOCKS_BEHIND
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.search.cost_model.block_graph import Modelled
from mirage_mlir.search.cost_model.bounded_loops import left_of_loops
from mirage_mlir.search.cost_model.fitted import (
    ALL_APART,
    APART,
    BESIDE,
    BLOCK_INTERVAL,
    BLOCK_START,
    ENOUGH_AHEAD,
    FOUR_APART,
    FULL_REGISTERS,
    HELD_BUFFERS,
    HIDING_BLOCKS,
    LAST_ITERATION,
    LOOP_STEP,
    PIPELINE_APART,
    PIPELINE_WAITS,
    SINGLE_WARPS,
    THREE_APART,
    TWO_APART,
)
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import Mask
from mirage_mlir.search.cost_model.resources import operand_waits, reduction_waits
from mirage_mlir.search.cost_model.sums_across_blocks import SumsAcrossBlocks
from mirage_mlir.search.cost_model.terms import (
    Arrays,
    ModelledResources,
)
from mirage_mlir.search.cost_model.tile_bytes import powers_of_two_at_least


class Working(NamedTuple):
    """The seconds of work, and of what is in them."""

    seconds: Array
    barriers: Array
    reading: Array


class CostModel(SumsAcrossBlocks):
    """Computes the modelled time of one derivation, for all combinations of tile sizes."""

    def seconds(self, *, explained: bool = False) -> Array:
        """
        The modelled time of every combination; infinite for those that do not fit.

        The terms are kept only where they are `explained`: their arrays would fill the cache.
        """
        self.terms.kept = explained
        self.count()
        fits = self.resources.fits() & self._launchable()
        return np.where(fits, self._combined(), np.inf)

    def modelled(self, index: int, seconds: float) -> Modelled:
        """The prediction for one combination; `seconds` must have been computed for all."""
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
                iteration_bytes=int(resources.staged[index]),
                producer_warps=int(resources.producers[index]),
                warpgroups=resources.multiplies_in_groups(index),
                splits=int(mesh.shares[index]),
                dram_bytes=float(self.dram[index]),
                l2_bytes=float(self.l2[index]),
            ),
        )

    def _launchable(self) -> Mask:
        """Whether CUDA can launch the grid: at most one axis is longer than y and z allow."""
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
        memory = self._memory_seconds(at_once, most) * self._few_in_flight(most, resident)
        if pipelined.any():
            memory = np.where(pipelined, self._with_iterations(memory, waves), memory)
        left = left_of_loops(self.tiling, self._multiprocessors() * resident, waves)
        memory = memory * left
        hidden = np.minimum(at_once, HIDING_BLOCKS)
        work = self._working(at_once, most, waves, hidden)
        compute = work.seconds * left
        waiting = self._waiting_seconds(waves, hidden) * left
        # A loop overlaps its copies with its work; without one only other blocks do.
        compute = compute + np.where(looped, 0.0, waiting)
        hides = self._copies_ahead(at_once) & (compute >= memory)
        apart = np.where(hides, 0.0, self._apart(at_once, most, waves))
        # Producers start all copies at once, and the first matmul waits for a whole tile.
        filled = waves * self.resources.staged / (target.tma_bandwidth_per_sm or np.inf)
        filled_compute = compute + np.where(pipelined, filled, 0.0)
        main = self._together(memory, filled_compute)
        overlapped = main + apart * np.minimum(memory, compute)
        overlapped = np.maximum(overlapped, most * BLOCK_INTERVAL)
        # The first tile comes before any work, and the last iteration's work after all tiles.
        first = waves * self.resources.staged / target.dram_bandwidth_per_sm
        last = np.where(looped, compute / mesh.iterations, 0.0)
        overlapped = overlapped + np.where(pipelined, LAST_ITERATION * last, first + last)
        exchanged = np.where(mesh.shares > 1, self._exchange_seconds(waves), 0.0)
        started = self._started(most, waves)
        persistent = self._is_persistent(most, resident)
        behind = (persistent | (waves == 1)) & self._multiplies_in_loop()
        after = self._compute_seconds(self.after, at_once, most, terms.after, behind)
        # Behind the loop of one tile the copies of the next go on.
        beside = self._together(memory, filled_compute + after) - main
        after = np.where(persistent, beside, after) + exchanged
        combined: Arrays = {
            "resident": resident,
            "waves": waves,
            "left": left,
            "pipelined": pipelined,
            "memory": memory,
            "compute": compute,
            "main": main,
            "barriers": work.barriers,
            "reading": work.reading,
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

    def _waiting_seconds(self, waves: Array, hidden: Array) -> Array:
        """The seconds in which blocks wait, for each other or for results."""
        brief = self.resources.pipelined | self.resources.walks
        reduced = reduction_waits(self.resources) * np.where(brief, PIPELINE_WAITS, 1.0)
        barriers = reduced + operand_waits(self.resources)
        waiting = barriers * self.tiling.target.barrier_latency
        waiting = waiting + self._turn_seconds() + self._meeting_seconds()
        chained = self._chain_seconds() + self._unchained_seconds()
        return waves * (waiting / hidden + chained)

    def _few_in_flight(self, most: Array, resident: Array) -> Array:
        """
        How much longer copies take: blocks are single warps, and more than find room, or threads
        keep nearly as much as they can.
        """
        single = (self.resources.threads <= WARP_THREADS) & (most > resident)
        unlooped = self.tiling.mesh.iterations <= 1
        slower = np.where(single & unlooped, SINGLE_WARPS, 1.0)
        alone = not self.resources.matmuls
        return np.where(self.resources.crowded & unlooped & alone, FULL_REGISTERS, slower)

    def _working(self, at_once: Array, most: Array, waves: Array, hidden: Array) -> Working:
        """The seconds of work before the loop and in it, or where there is none."""
        iterations = waves * self.tiling.mesh.iterations
        latency = self.tiling.target.barrier_latency / hidden
        each = np.where(self.resources.pipelined, self._split_seconds(), latency)
        barriers = np.where(self.tiling.mesh.iterations > 1, iterations * each, 0.0)
        seconds = self._compute_seconds(self.during, at_once, most, self.terms.during) + barriers
        reading = iterations * self._reading_seconds()
        seconds = np.where(self._meets(), seconds + reading, np.maximum(seconds, reading))
        return Working(np.maximum(seconds, self._steps(waves)), barriers, reading)

    def _started(self, most: Array, waves: Array) -> Array:
        """The seconds in which blocks start."""
        started = self._start_seconds() + waves * BLOCK_START
        return started + np.where(self.resources.pipelined, self._next_starts(most), 0.0)

    def _steps(self, waves: Array) -> Array:
        """The least seconds of a loop whose copies a warp of its own starts."""
        looped = self.resources.pipelined & (self.tiling.mesh.iterations > 1)
        return np.where(looped, waves * self.tiling.mesh.iterations * LOOP_STEP, 0.0)

    def _together(self, memory: Array, compute: Array) -> Array:
        """
        The seconds of copies and work that overlap: where both are near, neither is as fast as
        alone in a loop whose copies a warp of its own starts.
        """
        longest = np.maximum(memory, compute)
        if not self.resources.pipelined.any():
            return longest
        nearer = (memory**BESIDE + compute**BESIDE) ** (1 / BESIDE)
        return np.where(
            self.resources.pipelined & (self.tiling.mesh.iterations > 1), nearer, longest
        )

    def _is_persistent(self, most: Array, resident: Array) -> Mask:
        """Where blocks compute several tiles, and copy for the next one while they store one."""
        several = holds_several(self.resources.shared, self.tiling.target)
        grouped = self.resources.pipelined & self.resources.grouped & self._multiplies_in_loop()
        return grouped & ~several & (most > resident)

    def _multiplies_in_loop(self) -> bool:
        """Whether all matmuls are in the loop, and none needs another's result."""
        matmuls = self.resources.matmuls
        return not self.resources.chains and all(self.tiling.in_loop(each) for each in matmuls)

    def _apart(self, at_once: Array, most: Array, waves: Array) -> Array:
        """
        The share of the shorter of copying and computing that is not overlapped with the longer.
        """
        pipelined, looped = self.resources.pipelined, self.tiling.mesh.iterations > 1
        # Blocks that start together wait together. Of rows that are no power of two some threads
        # have none: loads stand behind branches, which are waited for one by one. RMSNorm of rows
        # of 2,048 took 76 us with 6 at a time, 72 with 3, and 64 with 1, 2, 4 and 8.
        uneven = ~looped & self._uneven_rows()
        # What clusters wait for is counted apart.
        alone = (at_once == 1) & (self.tiling.mesh.shares == 1)
        rounds = np.where(alone | uneven, 1.0, waves)
        return np.where(
            pipelined,
            np.where(looped, self._apart_in_loop(at_once), PIPELINE_APART / rounds),
            np.where(looped, np.where(self.resources.walks, 0.0, APART), ALL_APART / rounds),
        )

    def _uneven_rows(self) -> Mask:
        """Where the number of rows is no power of two, so that some threads have fewer rows."""
        uneven = np.zeros_like(self.tiling.one, dtype=bool)
        if self.resources.matmuls:
            return uneven
        outputs = self.tiling.program.computed
        for output, goal in zip(outputs, self.derivation.goals, strict=True):
            last = [axis for axis in output.axes if axis is not None][-1:]
            rows = self.tiling.volume(goal) / self.tiling.extent(last)
            uneven |= powers_of_two_at_least(rows) != rows
        return uneven

    def _apart_in_loop(self, at_once: Array) -> Array:
        """
        The same share in a loop with producers: a buffer is refilled when its matmul has ended.

        Blocks of one multiprocessor fill theirs while others compute.
        """
        stages, iterations = at_once * self.resources.stages, self.tiling.mesh.iterations
        if self.resources.chains:
            # These wait for their matmuls anyway, and most of them for their bytes.
            return np.where(iterations > 2, 0.0, PIPELINE_APART * (stages <= 2))
        two = np.where(iterations > 2, TWO_APART, PIPELINE_APART)
        few = np.where(stages <= 3, THREE_APART, np.where(stages <= 4, FOUR_APART, 0.0))
        return np.where(stages <= 2, two, few)

    def _copies_ahead(self, at_once: Array) -> Mask:
        """Where enough copies are ahead of the matmuls of a multiprocessor's only block."""
        alone = self.resources.grouped & (at_once == 1) & (self.tiling.mesh.iterations > 1)
        ahead = self.resources.stages - HELD_BUFFERS
        return alone & (ahead > 1) & (ahead * self.resources.staged >= ENOUGH_AHEAD)
