"""
Models the resources that the lowering will give a kernel: registers, shared memory, resident
blocks.

The model is close enough to tell which combinations of tile sizes fit, and which are fast.
"""

import numpy as np

from mirage_mlir.decisions.occupancy import resident_blocks
from mirage_mlir.decisions.registers import (
    MAX_REGISTERS,
    registers_at_launch,
    registers_side_by_side,
)
from mirage_mlir.decisions.wgmma import FEWER_SUMS, MAX_SUMS
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import REDUCTIONS, Mask
from mirage_mlir.search.cost_model.thread_rows import ThreadRows
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.cost_model.warps import DEPTH
from mirage_mlir.search.cost_model.written_tiles import fit_each_other
from mirage_mlir.search.program.positions import present
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.saturation.extract import Derivation

MAX_LIVE_PER_THREAD = 128
"""Elements in f32 that a thread keeps; of its 255 registers others hold addresses and copies."""

MAX_LIVE_BESIDE_MATMULS = 96
"""The same where there are matmuls, whose operands need registers as well."""


def most_live(program: Program) -> int:
    """Elements that a thread of a kernel of `program` keeps, at most."""
    return MAX_LIVE_BESIDE_MATMULS if program.multiplies else MAX_LIVE_PER_THREAD


FEW_MORE = 8
"""Elements beside the sums of matmuls."""

MAX_LIVE_BESIDE_PRODUCER = MAX_SUMS + FEW_MORE
"""The same where warpgroups compute one matmul and producers copy, which leaves others up to 232
registers: all sums that a warpgroup may have in a thread, and a few elements more."""

MAX_LIVE_OF_SEVERAL = FEWER_SUMS + FEW_MORE
"""The same with several matmuls, whose operands and results need registers as well."""

MAX_LIVE_WALKING = 136
"""The same in a loop that reads and writes whole rows, whose blocks have few threads: of 255
registers each. The gradient of RMSNorm keeps 128 elements of rows of 4,096 and 8,192."""

OTHER_REGISTERS, OTHERS_BESIDE_MATMULS, OTHERS_BESIDE_TILES = 12, 48, 28
"""Registers of a thread for addresses, and for the fragments of tensor cores where there are. Of 30
kernels of rows ptxas uses 1 to 14 less than with 12 of the first. The last is for what is read
behind the loop: 64 sums and as many elements of a gate in f16 take 124, so that one block of 288
threads has a multiprocessor."""

MAX_BESIDE_MATMULS, MAX_BESIDE_GROUPS = 112, 136
"""Registers of a thread for sums and for tiles that are read behind the loop, all at once; of
warpgroups beside producers, which leave them more: 64 sums of a tile of 128 by 128 and as many
elements of a residual. Tiles of 72 rows took 35 us on an H200 for 512 rows of a matmul with a
residual, 4,096 columns and depths, where the matmul alone takes 27."""

MOST_OF_MATMUL = 256
"""Elements of a matmul's result that a thread computes in one iteration, kept or not: each is
written out in the code. That is twice as many as it can keep; for 5,000 ptxas takes minutes."""

COPIES_OF_LIVE = 1.5
"""Registers for each element that is kept where rows are reduced: what is read ahead, as well."""

READ_AHEAD, MOST_AHEAD = 0.25, 4
"""How many more registers ptxas takes for each step of a tile's depth behind the first where
matmuls split numbers of f32, and up to how many: it reads their operands ahead. Of 112 kernels of
nine programs that were timed on an H200 those with tiles 48 deep take 1.7 to 2 times as many as
with 16. The first of each took 1.06 of the fastest with this, 1.15 without (1.14 and 1.5 at most,
but for 1.27 in both of a matmul of 16,384 rows)."""

REDUCTION_WAITS = 3
"""What a reduction over a block waits, in barriers: lanes, warps, and the way through shared
memory one after the other."""


class Resources(ThreadRows):
    """Computes the resources of one derivation; arrays have an entry for each combination."""

    def __init__(self, tiling: Tiling, derivation: Derivation) -> None:
        super().__init__(tiling, derivation)
        self.grouped = self._grouped()
        """Where warpgroups compute all matmuls beside producer warps."""
        self.registers = tiling.zero
        """Of a thread that computes; `resident` estimates it."""

    def fits(self) -> Mask:
        """Where a block fits: its registers and its shared memory suffice."""
        shared = self.shared <= self.tiling.target.shared_memory_per_block
        most = most_live(self.tiling.program)
        if self.tiling.target.has_wgmma and self.matmuls:
            alone = len(self.matmuls) == 1
            beside = MAX_LIVE_BESIDE_PRODUCER if alone else MAX_LIVE_OF_SEVERAL
            most = np.where(self.grouped, beside, most)
        most = np.where(self.walks, MAX_LIVE_WALKING, most)
        kept = self.live + self.folded <= most * self.threads
        able = self._askable() & self._reducible() & self._short()
        return shared & kept & able & self._are_few() & self._writable()

    @property
    def crowded(self) -> Mask:
        """Where threads keep so much that they have little room for what they load."""
        return self.live > MAX_LIVE_BESIDE_MATMULS * self.threads

    def multiplies_in_groups(self, index: int) -> bool:
        """For one combination whether there are matmuls, and all of them are `wgmma`."""
        every = [np.broadcast_to(w.grouped, self.threads.shape) for w in self.matmuls.values()]
        return bool(every) and all(bool(grouped[index]) for grouped in every)

    def _writable(self) -> Mask:
        """
        Whether the tiles fit each other: without a matmul, all can be seen in one order of axes.
        """
        misfits = self.positions.misfits if self.matmuls else ()
        return fit_each_other(self.tiling, misfits)

    def _short(self) -> Mask:
        """Whether threads have few elements of each matmul: the emitted code is fully unrolled."""
        sides = [self._sides(self.edges[value]) for value in self.matmuls]
        longest = [rows * columns for rows, columns, _ in sides]
        short = [elements <= MOST_OF_MATMUL * self.threads for elements in longest]
        return np.logical_and.reduce(np.broadcast_arrays(self.tiling.zero == 0, *short), axis=0)

    def resident(self) -> Array:
        """The blocks that are resident on one multiprocessor; sets the `registers` of a thread."""
        target = self.tiling.target
        if self.matmuls:
            registers = self.live + (self.fetched + OTHERS_BESIDE_MATMULS) * self.threads
            # Behind the loop its operands are gone, and tiles come that are read there.
            later = self.live + self.asked + OTHERS_BESIDE_TILES * self.threads
            registers = np.where(self.asked > 0, np.maximum(registers, later), registers)
            if self.tiling.program.matrix_type == "f32":
                # Each step has sums of its own, and where warps share the depth each has all.
                held = sum(warps.held for warps in self.matmuls.values())
                registers = np.maximum(registers, registers - self.live + 2 * held * self.threads)
                registers = np.minimum(registers * self._read_ahead(), MAX_REGISTERS * self.threads)
        else:
            registers = np.maximum(COPIES_OF_LIVE * self.live + self.folded, self.asked)
            registers = registers + (self.fetched + OTHER_REGISTERS) * self.threads
        self.registers = np.ceil(registers / self.threads)
        limit = self._most_registers()
        self.registers = np.where(limit > 0, np.minimum(limit, self.registers), self.registers)
        return np.clip(self._resident(), 1, target.blocks_per_sm)

    def _read_ahead(self) -> Array:
        """How many times as many registers ptxas takes, which reads operands of steps ahead."""
        steps: Array = self.tiling.one
        for value in self.matmuls:
            _, _, depth = self._sides(self.edges[value])
            steps = np.maximum(steps, np.ceil(depth / DEPTH))
        return 1 + READ_AHEAD * (np.minimum(steps, MOST_AHEAD) - 1)

    def _resident(self) -> Array:
        threads = self.threads + self.producers * WARP_THREADS
        registers = registers_at_launch(self.threads, self.producers, self.registers)
        return resident_blocks(self.tiling.target, threads, registers, self.shared)

    def _most_registers(self) -> Array:
        """The register limit for ptxas where pipelined blocks share a multiprocessor; else 0."""
        limit = registers_side_by_side(self.threads, self.producers, self._sums(), self.share)
        return np.where(self.pipelined, limit, 0.0)

    def _grouped(self) -> Mask:
        every = [warps.grouped for warps in self.matmuls.values()]
        return np.logical_and.reduce(np.broadcast_arrays(self.pipelined, *every), axis=0)

    def _askable(self) -> Mask:
        """
        Where the registers suffice for all that threads keep, and for all that they load in place.
        """
        if self.matmuls:
            # Elements of 16 bits are turned into f32 beside the sums.
            most = np.where(self._grouped(), MAX_BESIDE_GROUPS, MAX_BESIDE_MATMULS)
            room = most * self.threads
            return (self.asked == 0) | (self.live + 2 * self.asked <= room)
        room = self.tiling.target.registers_per_sm - OTHER_REGISTERS * self.threads
        most = (MAX_REGISTERS - OTHER_REGISTERS) * self.threads
        # What spills in a loop does so in each iteration.
        looped = self.tiling.mesh.iterations > 1
        kept = np.where(looped, COPIES_OF_LIVE * self.live + self.folded, 0.0)
        return np.maximum(kept, self.asked) <= np.minimum(room, most)

    def _reducible(self) -> Mask:
        """
        Whether every reduction is along the last dimension or all those before it.

        A tile is seen as a matrix; of the dimensions that make its rows all are reduced or none.
        One of a single index may be anywhere.
        """
        fits = np.ones_like(self.tiling.mesh.blocks, dtype=bool)
        for operand, reduced in self._reductions():
            axes = present(self.positions.axes[operand])
            if reduced in axes and axes[-1] != reduced:
                rows = [axis for axis in axes[:-1] if axis != reduced]
                fits &= (self.tiling.extent(rows) == 1) | (self.tiling.extent([reduced]) == 1)
        return fits


def reduction_waits(resources: Resources) -> Array:
    """The number of barriers at which one block waits for reductions."""
    total = resources.tiling.zero
    for value, edge in resources.edges.items():
        if edge.kind in REDUCTIONS:
            total = total + REDUCTION_WAITS * resources.tiling.iterations(value)
    for value in resources.shifted:
        # Where a chain keeps the exp in registers each warp has a maximum of its own.
        kept = resources.kept.get(value, np.bool_(False))
        total = total + np.where(kept, 0, REDUCTION_WAITS) * resources.tiling.iterations(value)
    return total


def operand_waits(resources: Resources) -> Array:
    """
    The number of barriers of one block between threads that compute MMA operands and the MMAs.
    """
    total = resources.tiling.zero
    for operand, stored in resources.materialised():
        total = total + stored * resources.tiling.iterations(operand)
    return total
