"""
Models the shared memory of a block: the buffers of the loop, computed tiles, partial sums.

The number of buffers, and who fills them, is decided by the functions that the passes call, too
(`mirage_mlir/decisions`). The layouts of tiles are chosen only once a graph is written; the model
takes the largest that they may become.
"""

from collections.abc import Callable, Container

import numpy as np

from mirage_mlir.decisions.copies import (
    are_close,
    are_fetched,
    fetched_words,
    is_realigned,
    is_windowed,
    loop_stages,
)
from mirage_mlir.decisions.exchange import (
    LINE_PADDING,
    delivered_bytes,
    delivered_room,
    delivers,
    part_bytes,
)
from mirage_mlir.decisions.registers import (
    producer_warps,
    share_by_registers,
)
from mirage_mlir.decisions.schedule import (
    may_double_buffer,
    pipeline_stages,
    side_by_side,
)
from mirage_mlir.decisions.wgmma import GROUP_THREADS
from mirage_mlir.layouts.layout import MMA_DEPTH, MMA_ROWS, WARP_THREADS
from mirage_mlir.search.cost_model.block_threads import BlockThreads
from mirage_mlir.search.cost_model.chains import source_of
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import ACCUMULATIONS, REDUCTIONS, Mask
from mirage_mlir.search.cost_model.tile_bytes import (
    RUN,
    VECTOR,
    BlockedTile,
    Boxed,
    blocked_tile,
    boxed_tile,
    contiguous,
    padded_bytes,
    padded_tile,
)
from mirage_mlir.search.cost_model.tiling import Tiling, item_bytes, round_up
from mirage_mlir.search.program.positions import present
from mirage_mlir.search.program.program import Input, Kind
from mirage_mlir.search.saturation.extract import Derivation
from mirage_mlir.search.saturation.hypergraph import Edge, Stage

F32_BYTES = 4
"""Of an element that is computed, until an operation asks for another type."""

OTHER_BYTES = 2048
"""Scalars of rows, and what is lost where tiles start at multiples of 1024 bytes."""


class BlockBuffers(BlockThreads):
    """
    Computes the shared memory of a block, and the number of pipeline stages, for one derivation.
    """

    def __init__(self, tiling: Tiling, derivation: Derivation) -> None:
        super().__init__(tiling, derivation)
        self.pipelined = self._pipelined()
        """Where tensor copies, which warps of their own start, fetch the tiles of the loop."""
        self.producers = self._producers()
        """Those warps."""
        self.share = self._share()
        """Blocks for which each multiprocessor keeps room."""
        self.fetched = self._fetched_words()
        """Registers of a thread for tiles of the next iteration, which are shifted into place."""
        self.realigned_bytes = self._realigned_bytes()
        """Bytes of an iteration that threads shift into place."""
        self.boxes = self._of_boxes(lambda boxed: boxed.boxes)
        """Copies that they start in each iteration."""
        self.box_lines = self._of_boxes(lambda boxed: boxed.lines)
        """Lines of the boxes of these copies."""
        self.staged = self._staged_bytes()
        """One buffer of each tile that the loop loads."""
        self.held = self._held_bytes() + self._made_bytes(self._kept_stages())
        """The loop-invariant tiles."""
        self.made = self._made_bytes((Stage.LOOP,))
        """What the loop computes."""
        self.delivered = self._delivered_bytes()
        """Parts of sums that the blocks of a cluster deliver to each other."""
        self.stages = self._stages()
        self._alternate()
        self.shared = self._shared_bytes()
        """Of the whole block."""

    def _pipelined(self) -> Mask:
        loads = self._loads() if self.tiling.target.has_tma else []
        if not loads:
            return np.zeros_like(self.tiling.one, np.bool_)
        boxed = [boxed_tile(self.tiling, v, t) for v, t in loads]
        multiplies = bool(self.matmuls)
        fits = [each.fits & ~are_close(each.apart, multiplies=multiplies) for each in boxed]
        return np.logical_and.reduce(fits, axis=0) & ~self.walks

    def _sums(self) -> list[Array | float]:
        return [warps.sums for warps in self.matmuls.values()]

    def _producers(self) -> Array:
        warps = producer_warps(self.threads, self._sums(), self._deferred_words())
        return np.where(self.pipelined, warps, 0.0)

    def _deferred_words(self) -> Array | float:
        """Registers of a thread for a left operand whose matmul may start an iteration later."""
        if len(self.matmuls) != 2 or not self.chains:
            return 0.0
        (chain,) = self.chains
        first, second = (self.matmuls[value] for value in (chain.first, *chain.others))
        several = np.asarray(first.grouped) & second.grouped & (self.threads > GROUP_THREADS)
        # Each warpgroup has rows of its own: there are no parts of sums.
        defers = several & (second.exchange == 0) & (self.tiling.mesh.iterations > 1)
        return np.where(defers, np.asarray(first.sums) / 2, 0.0)

    def _share(self) -> Array:
        mesh = self.tiling.mesh
        share = side_by_side(mesh.blocks, mesh.shares, self.tiling.target)
        fitting = share_by_registers(self.threads, self.producers, self._sums(), share)
        return np.where(self.pipelined, fitting, share)

    def _of_boxes(self, number: Callable[[Boxed], Array]) -> Array:
        loads = self._loads() if self.pipelined.any() else []
        numbers = (number(boxed_tile(self.tiling, value, tensor)) for value, tensor in loads)
        return sum(numbers, start=self.tiling.zero)

    def windowed(self, value: int, tensor: Input) -> Mask:
        """Whether threads copy the aligned pieces in which a tile lies, if they copy it."""
        _, vector, line = contiguous(self.tiling, tensor)
        multiplied = any(self.edges[user].kind is Kind.MATMUL for user in self.uses[value])
        tile = self.tiling.volume(value) * item_bytes(tensor.element_type)
        return is_windowed(tile, line, vector) & (not multiplied)

    def realigned(self, value: int, tensor: Input) -> Mask:
        """Whether threads shift what they copy of a tensor, if they copy it."""
        run, vector, _ = contiguous(self.tiling, tensor)
        return is_realigned(run, vector) & ~self.windowed(value, tensor)

    def _fetched_words(self) -> Array:
        """0 also where they are too many: then threads wait for what they load."""
        total = self.tiling.zero
        for value, tensor in self._loads():
            size = self.tiling.volume(value) * item_bytes(tensor.element_type)
            total = total + self.realigned(value, tensor) * fetched_words(size, self.threads)
        if not np.any(total):
            return total
        looped = ~self.pipelined & (self.tiling.mesh.iterations > 1)
        return np.where(looped & are_fetched(total, self._kept() / self.threads), total, 0.0)

    def _kept(self) -> Array:
        """The elements that the loop adds up, or that its matmuls compute."""
        total = self.tiling.zero
        for value, edge in self.edges.items():
            summed = edge.kind in ACCUMULATIONS
            if summed and self.edges[edge.operands[0]].kind is Kind.MATMUL:
                continue
            if summed or edge.kind is Kind.MATMUL:
                total = total + self.tiling.volume(value)
        return total

    def _realigned_bytes(self) -> Array:
        total = self.tiling.zero
        for value, tensor in self._loads():
            total = total + self.realigned(value, tensor) * self._padded_tile(value, tensor)
        return np.where(self.pipelined, 0.0, total)

    def _all_fetched(self) -> Mask:
        every = [self.realigned(value, tensor) for value, tensor in self._loads()]
        return np.logical_and.reduce(np.broadcast_arrays(self.fetched > 0, *every), axis=0)

    def _staged_bytes(self) -> Array:
        """The bytes of one buffer of each tile that the loop loads."""
        loads = self._loads()
        padded = sum((self._padded_tile(v, t) for v, t in loads), start=self.tiling.zero)
        if not self.pipelined.any():
            return padded
        boxed = sum((boxed_tile(self.tiling, v, t).bytes for v, t in loads), start=self.tiling.zero)
        return np.where(self.pipelined, boxed, padded)

    def _stages(self) -> Array:
        """
        The number of buffers of each tile that the loop loads, as `software-pipeline` chooses it.
        """
        share = np.where(self.walks, self.share, 1.0)
        few = loop_stages(self.staged, self.tiling.mesh.iterations, self._all_fetched(), share)
        if not self.pipelined.any():
            return few
        other = self.held + self.made + delivered_room(self.delivered)
        iterations, target = self.tiling.mesh.iterations, self.tiling.target
        # Where sums are open a kernel follows that adds up their parts.
        followed = bool(self.tiling.program.open_sums)
        many = pipeline_stages(
            self.staged, other, iterations, self.share, target, followed=followed
        )
        return np.where(self.pipelined, many, few)

    def _alternate(self) -> None:
        """Double-buffers what the loop computes, where enough stages are left for what it loads."""
        if not self.pipelined.any() or not self.made.any():
            return
        once, stages, self.made = self.made, self.stages, 2 * self.made
        self.stages = self._stages()
        room = self.staged * self.stages + self.held + self.made + OTHER_BYTES
        enough = may_double_buffer(stages, self.stages, room, self.tiling.target) & self.pipelined
        self.made = np.where(enough, self.made, once)
        self.stages = np.where(enough, self.stages, stages)

    def _held_bytes(self) -> Array:
        """
        The bytes of loop-invariant loaded tiles, which stay in shared memory through the loop.
        """
        held = self.tiling.zero
        for value, tensor in self._inputs():
            if not self.tiling.in_loop(value):
                held = held + self._padded_tile(value, tensor)
        return held

    def _padded_tile(self, value: int, tensor: Input) -> Array:
        users = (self.edges[user] for user in self.uses[value])
        summed = next((user.axis for user in users if user.kind is Kind.MATMUL), None)
        return padded_tile(self.tiling, value, tensor, summed)

    def _kept_stages(self) -> tuple[Stage, ...]:
        """The stages whose tiles stay in shared memory through the loop."""
        return (Stage.INVARIANT,) if self.tiling.mesh.trip_counts else ()

    def _made_bytes(self, stages: Container[Stage]) -> Array:
        """The bytes of tiles that are computed in `stages`: MMA operands and transposed tiles."""
        made, item = self.tiling.zero, item_bytes(self.tiling.program.operand_type)
        for operand, stored in self.materialised():
            if self.tiling.stage(operand) not in stages:
                continue
            rows, columns = self._lines(operand)
            # Either of the axes may come last.
            made = made + stored * np.maximum(
                padded_bytes(rows, columns, item), padded_bytes(columns, rows, item)
            )
        for value in sorted(self.moved):
            computed = self.edges[value].kind is not Kind.INPUT
            if computed and self.tiling.stage(value) in stages:
                made = made + self._written_bytes(value)
        return made

    def _written_bytes(self, value: int) -> Array:
        """
        The bytes of a computed tile: padded lines, rounded up to whole accesses of all threads.
        """
        layout = self._blocked_tile(value)
        return layout.rows * (F32_BYTES * layout.columns + LINE_PADDING)

    def _blocked_tile(self, value: int) -> BlockedTile:
        columns = self.tiling.extent(present(self.positions.axes[value][-1:]))
        edge, run = self.edges[value], RUN
        if edge.kind is Kind.INPUT:
            run = VECTOR // item_bytes(self.tiling.program.inputs[edge.source].element_type)
        rows = self.tiling.volume(value) / columns
        if source_of(self.tiling, self.edges, value) is not None:
            # The registers of a matmul are whole fragments.
            rows = round_up(rows, MMA_ROWS)
        return blocked_tile(rows, columns, self.threads, run)

    def _shared_bytes(self) -> Array:
        """The bytes of a block: what follows the loop reuses the loop's buffers."""
        during = self.staged * self.stages + self.made + delivered_room(self.delivered)
        during = during + self._cleared_bytes()
        later = {Stage.INVARIANT, Stage.POST} - {*self._kept_stages()}
        after = self._exchanged(self.held) + self._made_bytes(later)
        reduced = np.maximum(self._reduced_bytes(), OTHER_BYTES)
        return self.held + np.maximum(during, after) + reduced

    def _cleared_bytes(self) -> Array:
        """
        The bytes of operands that are computed behind the loop, where MMAs read past them: that
        padding is cleared in front of it.
        """
        cleared, item = self.tiling.zero, item_bytes(self.tiling.program.operand_type)
        for operand, stored in self.materialised():
            users = (self.edges[user] for user in self.uses[operand])
            summed = next((user.axis for user in users if user.kind is Kind.MATMUL), None)
            if self.tiling.stage(operand) is not Stage.POST or summed is None:
                continue
            padded = self.tiling.extent([summed]) % MMA_DEPTH != 0
            rows, columns = self._lines(operand)
            cleared = cleared + stored * padded * padded_bytes(rows, columns, item)
        return cleared

    def _reduced_bytes(self) -> Array:
        """
        The bytes of partial results that warps exchange when they reduce the same rows or columns.
        """
        total = one_by_one = self.tiling.zero
        for value, edge in self.edges.items():
            if edge.kind in REDUCTIONS:
                total = total + F32_BYTES * self._partial_results(value, edge)
                one_by_one = np.maximum(one_by_one, F32_BYTES * self._computed_alone(edge))
        return total + one_by_one

    def _computed_alone(self, edge: Edge) -> Array:
        """The elements of which each sum over a part of the rows may be computed by itself."""
        (operand,) = edge.operands
        *rows, columns = self.positions.axes[operand]
        others = [axis for axis in present(tuple(rows)) if axis != edge.axis]
        if edge.axis == columns or not others:
            return self.tiling.zero
        return np.where(self.tiling.extent(others) > 1, self.tiling.volume(operand), 0.0)

    def _partial_results(self, value: int, edge: Edge) -> Array:
        """
        The elements of partial results of one reduction; 0 where a single warp reduces each row or
        column, but for blocks that add up theirs.
        """
        (operand,) = edge.operands
        axes = self.positions.axes[operand]
        layout = self._blocked_tile(operand)
        if edge.axis == axes[-1]:
            copies, left = layout.across / WARP_THREADS, layout.rows
        else:
            copies = layout.down * layout.across / np.maximum(layout.across, WARP_THREADS)
            left = layout.columns
        shares = self.tiling.mesh.shares if self.tiling.stage(value) is Stage.POST else 1
        return np.where((copies > 1) | (np.asarray(shares) > 1), np.maximum(copies, 1) * left, 0.0)

    def _exchanged(self, held: Array) -> Array:
        exchange = [warps.exchange + warps.padding for warps in self.matmuls.values()]
        alone = sum(exchange, start=self.tiling.zero)
        if not any(self.tiling.in_loop(value) for value in self.matmuls):
            # The tiles that are multiplied give way.
            alone = np.maximum(alone - held, 0.0)
        shares = self.tiling.mesh.shares
        clustered = (shares > 1) & (shares <= self.tiling.target.cluster_max)
        return np.where(clustered, np.maximum(alone, self.handed_over()), alone)

    def handed_over(self) -> Array:
        """
        The bytes of partial sums that a block keeps for the other blocks of its cluster to read.
        """
        total = self.tiling.zero
        for value in self._kept_sums():
            matmul = self.matmuls.get(self.edges[value].operands[0])
            parts = self.tiling.zero if matmul is None else matmul.exchange
            total = total + np.maximum(parts, part_bytes(*self._lines(value), 1))
        return total

    def _lines(self, value: int) -> tuple[Array, Array]:
        """The rows and columns of the tile of a value."""
        axes = self.tiling.axes(value)
        columns = self.tiling.mesh.tiles[axes[-1]] if axes else self.tiling.one
        return self.tiling.volume(value) / columns, columns

    def _delivered_bytes(self) -> Array:
        """
        The bytes of the parts that the blocks of a cluster deliver to each other.

        Parts that are relative to a maximum of their block are weighed by who reads them.
        """
        total, shares = self.tiling.zero, self.tiling.mesh.shares
        if self.shifted:
            return total
        looped = self.tiling.mesh.iterations > 1
        clustered = (shares > 1) & (shares <= self.tiling.target.cluster_max) & looped
        for value in self._kept_sums():
            rows, columns = self._lines(value)
            parts = delivered_bytes(rows, columns, shares)
            total = total + np.where(clustered & (columns > 1), parts, 0.0)
        return np.where(delivers(total, self.staged), total, 0.0)

    def part_bytes(self) -> Array:
        """The bytes of partial sums that a block writes to the split-K workspace."""
        parts = (4 * self.tiling.volume(value) for value in self._kept_sums())
        return sum(parts, start=self.tiling.zero)
