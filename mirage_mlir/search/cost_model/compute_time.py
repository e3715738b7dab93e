"""Models the time that arithmetic takes, on threads and on tensor cores, and what it waits for."""

import numpy as np

from mirage_mlir.decisions.wgmma import GROUP_THREADS, WGMMA_ROWS
from mirage_mlir.search.cost_model.copy_time import CopyTime
from mirage_mlir.search.cost_model.fitted import (
    BEHIND_BUSY,
    BEHIND_RATE,
    BUSY_IN_LOOPS,
    BUSY_THREADS,
    CHAIN_ITERATION,
    CHAIN_LOOP,
    CHAIN_START,
    ENOUGH_BUSY,
    GROUPS_BUSY,
    MATMULS_BUSY,
    MEETING_ITERATION,
    READING_ITERATION,
    THRICE_STEP,
    TURN_ITERATION,
    UNCHAINED_ELEMENT,
    UNCHAINED_ITERATION,
    WARPS_BUSY,
)
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import Mask
from mirage_mlir.search.cost_model.terms import (
    BLOCKS_IN_TURN,
    MMA,
    SCALAR,
    SHARED,
    Arrays,
)
from mirage_mlir.search.cost_model.work import Work
from mirage_mlir.search.program.program import Kind


class ComputeTime(CopyTime):
    """Computes the seconds of arithmetic of one derivation, for all combinations of tile sizes."""

    def _compute_seconds(
        self, work: Work, at_once: Array, most: Array, units: Arrays, behind: Mask | bool = False
    ) -> Array:
        """
        The seconds of arithmetic on the multiprocessor with the most blocks; notes those of each
        unit.
        """
        target = self.tiling.target
        busy = self._busy(at_once, behind)
        share = most * target.sm_count
        in_groups = target.has_wgmma and self.tiling.program.matrix_type != "f32"
        enough = GROUPS_BUSY if in_groups else WARPS_BUSY
        matrix = work.matrix / (target.mma_throughput * np.minimum(1.0, enough * busy))
        scalar = work.scalar / (target.fp32_throughput * busy)
        shared = work.shared / target.shared_memory_bandwidth
        self.terms.note(units, {MMA: matrix, SCALAR: scalar, SHARED: shared, BLOCKS_IN_TURN: share})
        # What needs results of matmuls waits for them; single warps do one after the other.
        single = self.resources.pipelined & ~self.resources.grouped & bool(self.resources.chains)
        apart = np.where(single, scalar, work.behind / (target.fp32_throughput * busy))
        # Nor do warps that compute operands of matmuls and then multiply: other blocks do.
        apart = np.maximum(apart, np.where(self._computes_operands(), scalar / at_once, 0.0))
        return share * np.maximum(np.maximum(matrix, shared) + apart, scalar)

    def _computes_operands(self) -> Mask:
        """Whether warps leave operands of the loop's matmuls in shared memory for each other."""
        # The others are fitted with what their operands take: split numbers, and attention.
        if self.tiling.program.matrix_type == "f32" or len(self.resources.matmuls) > 1:
            return self.tiling.zero > 0
        stored = [
            stored > 0
            for operand, stored in self.resources.materialised()
            if self.tiling.in_loop(operand)
        ]
        return np.logical_or.reduce([self.tiling.zero > 0, *stored]) & ~self.resources.grouped

    def _busy(self, at_once: Array, behind: Mask | bool) -> Array:
        """
        The share of a multiprocessor's arithmetic throughput that its resident threads reach;
        `behind` loops no matmuls run beside them.
        """
        threads = at_once * self.resources.threads
        busy = np.minimum(1.0, threads / BUSY_THREADS)
        if not self.resources.matmuls:
            copied = self.tiling.target.has_tma
            summing = (self.tiling.mesh.iterations > 1) & ~self.resources.walks & copied
            return np.where(summing, np.minimum(1.0, threads / BUSY_IN_LOOPS), busy)
        # Each thread has many independent elements.
        beside = MATMULS_BUSY * np.sqrt(np.minimum(1.0, busy / ENOUGH_BUSY))
        alone = BEHIND_RATE * np.minimum(1.0, threads / BEHIND_BUSY)
        return np.where(self.resources.grouped, np.where(behind, alone, beside), busy)

    def _reading_seconds(self) -> Array | float:
        """
        The least seconds of an iteration in which threads read a tile that warpgroups multiply.
        """
        resources, iteration = self.resources, self.tiling.zero
        for value, edge in resources.edges.items():
            users = [resources.edges[user] for user in resources.uses[value]]
            matmuls = [user for user in users if user.kind is Kind.MATMUL]
            if edge.kind is Kind.INPUT and 0 < len(matmuls) < len(users):
                rows = self.tiling.extent(
                    [axis for axis in self.tiling.axes(value) if axis != matmuls[0].axis]
                )
                waits = resources.grouped & self.tiling.in_loop(value) & (rows % WGMMA_ROWS == 0)
                iteration = np.where(waits, READING_ITERATION, iteration)
        return iteration

    def _meets(self) -> Mask:
        """
        Whether warpgroups that take turns meet in each iteration, to read a tile together.
        """
        resources = self.resources
        return resources.grouped & (resources.threads > GROUP_THREADS) & bool(resources.chains)

    def _meeting_seconds(self) -> Array | float:
        """
        The seconds of a loop in which warpgroups meet for what threads compute of its tiles:
        numbers of rows or columns, which lie in shared memory.
        """
        tiling, edges = self.tiling, self.resources.edges
        of_tiles, of_matmuls = set[int](), set[int]()
        for value, edge in edges.items():
            loaded = edge.kind is Kind.INPUT and tiling.program.inputs[edge.source].indices is None
            if edge.kind is Kind.MATMUL or not of_matmuls.isdisjoint(edge.operands):
                of_matmuls.add(value)
            elif tiling.in_loop(value) and (loaded or not of_tiles.isdisjoint(edge.operands)):
                of_tiles.add(value)
        made = [value for value in of_tiles if edges[value].kind is not Kind.INPUT]
        lines = [value for value in made if self._is_line(value)]
        if not lines or not self.resources.shifted:
            return 0.0
        return np.where(self._meets(), MEETING_ITERATION * tiling.mesh.iterations, 0.0)

    def _is_line(self, value: int) -> bool:
        """Whether a tile has one dimension that is longer than one element in some tiling."""
        long = [axis for axis in self.tiling.axes(value) if np.any(self.tiling.extent([axis]) > 1)]
        return len(long) <= 1

    def _turn_seconds(self) -> Array | float:
        """
        The seconds that matmuls wait for each other where nothing shifts what is between them.
        """
        if self.resources.shifted or not self.resources.chains:
            return 0.0
        return TURN_ITERATION * self.tiling.mesh.iterations

    def _split_seconds(self) -> float:
        """The seconds that an iteration adds where matmuls split numbers of f32."""
        splits = self.resources.matmuls and self.tiling.program.matrix_type == "f32"
        return THRICE_STEP if splits else 0.0

    def _chain_seconds(self) -> Array | float:
        """The seconds that matmuls wait for each other where an online softmax is between them."""
        if not self.resources.shifted or not self.resources.matmuls:
            return 0.0
        iterations = np.maximum.reduce(
            [self.tiling.iterations(value) for value in self.resources.shifted]
        )
        looped = np.where(iterations > 1, CHAIN_LOOP, 0.0)
        row_tiles: Array = self.tiling.one
        for warps in self.resources.matmuls.values():
            row_tiles = np.maximum(row_tiles, warps.row_tiles)
        return CHAIN_START + looped + CHAIN_ITERATION * iterations * row_tiles

    def _unchained_seconds(self) -> Array:
        """
        The seconds that a block waits where matmuls of its loop take each other's results from
        shared memory.
        """
        waits = self.tiling.zero
        for operand, stored in self.resources.materialised():
            if operand in self.resources.kept and self.tiling.in_loop(operand):
                each = UNCHAINED_ITERATION + UNCHAINED_ELEMENT * self.tiling.volume(operand)
                waits = waits + stored * each * self.tiling.iterations(operand)
        return waits
