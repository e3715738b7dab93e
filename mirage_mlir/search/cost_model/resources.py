"""
What the lowering will make of a graph: threads, warps, buffers, registers.

The passes assign-layouts and schedule-threadblock decide; this is how they do, for all
combinations of tile sizes at once and close enough to tell which of them fit and which are fast.
"""

from collections.abc import Iterator

import numpy as np

from mirage_mlir.decisions.occupancy import resident_blocks
from mirage_mlir.decisions.registers import (
    MAX_REGISTERS,
    PRODUCER_WARPS,
    producer_warps,
    registers_side_by_side,
)
from mirage_mlir.decisions.schedule import (
    FOLLOWER_BYTES,
    copy_stages,
    may_double_buffer,
    pipeline_stages,
    side_by_side,
)
from mirage_mlir.decisions.threads import (
    MATRIX_THREADS,
    chain_threads,
    elementwise_threads,
    matrix_threads,
)
from mirage_mlir.decisions.wgmma import GROUP_COUNTS, GROUP_THREADS
from mirage_mlir.layouts.layout import MMA_ROWS, WARP_THREADS
from mirage_mlir.search.cost_model.chains import Chain, find_chains, shared, source_of
from mirage_mlir.search.cost_model.groups import (
    chain_rows,
    group_chain,
    group_product,
    operand_tile,
)
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import REDUCTIONS, LiveValues, Mask
from mirage_mlir.search.cost_model.tile_bytes import (
    blocked_spans,
    boxed_tile,
    padded_bytes,
    padded_tile,
)
from mirage_mlir.search.cost_model.tiling import Tiling, item_bytes, round_up
from mirage_mlir.search.cost_model.warps import LINE_PADDING, Warps, chosen, warps_product
from mirage_mlir.search.program.positions import present
from mirage_mlir.search.program.program import Input, Kind
from mirage_mlir.search.saturation.extract import Derivation
from mirage_mlir.search.saturation.hypergraph import Edge

MAX_LIVE_PER_THREAD = 96
"""Elements in f32 that a thread keeps; of its 255 registers others hold addresses and copies."""

MAX_LIVE_BESIDE_PRODUCER = 136
"""The same where warpgroups multiply and a producer copies, which leaves others 240 registers: all
sums that a warpgroup may have in a thread, and a few elements more."""

OTHER_REGISTERS, OTHERS_BESIDE_PRODUCTS = 20, 48
"""Registers of a thread for addresses, and for the fragments of tensor cores where there are."""

MAX_BESIDE_PRODUCTS = 112
"""Registers of a thread for sums and for tiles that are read behind the loop, all at once."""

COPIES_OF_LIVE = 1.5
"""Registers for each element that is kept where rows are reduced: what is read ahead, as well."""

F32_BYTES = 4
"""Of an element that is computed, until an operation asks for another type."""

OTHER_BYTES = 2048
"""Scalars of rows, and what is lost where tiles start at multiples of 1024 bytes."""

REDUCTION_WAITS = 3
"""What a reduction over a block waits, in barriers: lanes, warps, and the way through shared
memory one after the other."""


class Resources(LiveValues):
    """What one derivation needs; arrays have an entry for each combination of tile sizes."""

    def __init__(self, tiling: Tiling, derivation: Derivation) -> None:
        super().__init__(tiling, derivation)
        self.chains = self._chains()
        self.threads = self._threads()
        self.products = {
            value: self._warps(value, edge)
            for value, edge in self.edges.items()
            if edge.kind is Kind.MATMUL
        }
        for chain in self.chains:
            self._chain(chain)
        self.pipelined = self._pipelined()
        """Where tensor copies, which warps of their own start, fetch the tiles of the loop."""
        self.producers = self._producers()
        """Those warps."""
        self.share = self._share()
        """Blocks for which each multiprocessor keeps room."""
        self.grouped = self._grouped()
        """Where warpgroups compute all products beside that warp."""
        self.boxes = self._boxes()
        """Copies that it starts in each iteration."""
        self.staged = self._staged_bytes()
        self.held, self.made = self._held_bytes(), self._made_bytes()
        self.stages = self._stages()
        self._alternate()
        self.shared = self._shared_bytes()
        self.registers = tiling.zero
        """Of a thread that computes; `resident` estimates it."""

    def fits(self) -> Mask:
        """Which combinations a block has the registers and the shared memory for."""
        shared = self.shared <= self.tiling.target.shared_memory_per_block
        most = MAX_LIVE_PER_THREAD
        if self.tiling.target.has_wgmma and self.products:
            most = np.where(self.grouped, MAX_LIVE_BESIDE_PRODUCER, most)
        kept = self.live <= most * self.threads
        return shared & kept & self._askable() & self._reducible()

    def resident(self) -> Array:
        """Blocks that run on one multiprocessor at a time; notes the `registers` of a thread."""
        target = self.tiling.target
        if self.products:
            registers = self.live + OTHERS_BESIDE_PRODUCTS * self.threads
        else:
            registers = np.maximum(COPIES_OF_LIVE * self.live, self.asked)
            registers = registers + OTHER_REGISTERS * self.threads
        self.registers = np.ceil(registers / self.threads)
        limit = self._most_registers()
        self.registers = np.where(limit > 0, np.minimum(limit, self.registers), self.registers)
        return np.clip(self._resident(), 1, target.blocks_per_sm)

    def _resident(self) -> Array:
        threads = self.threads + self.producers * WARP_THREADS
        return resident_blocks(self.tiling.target, threads, self.registers, self.shared)

    def _most_registers(self) -> Array:
        """What ptxas is told of pipelined blocks that share a multiprocessor; else 0."""
        limit = registers_side_by_side(self.threads, self.producers, self._sums(), self.share)
        return np.where(self.pipelined, limit, 0.0)

    def _sums(self) -> list[Array | float]:
        return [warps.sums for warps in self.products.values()]

    def _producers(self) -> Array:
        return np.where(self.pipelined, producer_warps(self.threads, self._sums()), 0.0)

    def _share(self) -> Array:
        mesh = self.tiling.mesh
        share = side_by_side(mesh.blocks, mesh.shares, self.tiling.target)
        # Where producers give registers away one block takes all of them.
        return np.where(self.producers > PRODUCER_WARPS, 1.0, share)

    # Limits

    def _grouped(self) -> Mask:
        every = [warps.grouped for warps in self.products.values()]
        return np.logical_and.reduce(np.broadcast_arrays(self.pipelined, *every), axis=0)

    def _askable(self) -> Mask:
        """Whether threads have registers for all that they ask for."""
        if self.products:
            # Elements of 16 bits are turned into f32 beside the sums.
            room = MAX_BESIDE_PRODUCTS * self.threads
            return (self.asked == 0) | (self.live + 2 * self.asked <= room)
        room = self.tiling.target.registers_per_sm - OTHER_REGISTERS * self.threads
        most = (MAX_REGISTERS - OTHER_REGISTERS) * self.threads
        return self.asked <= np.minimum(room, most)

    def _reducible(self) -> Mask:
        """
        Whether every reduction is along the last dimension or all those before it.

        A tile is seen as a matrix; of the dimensions that make its rows all are reduced or none.
        """
        fits = np.ones_like(self.tiling.mesh.blocks, dtype=bool)
        order = list(self.tiling.program.sizes)
        for operand, reduced in self._reductions():
            axes = sorted(self.tiling.axes(operand), key=order.index)
            if axes[-1] != reduced:
                rows = [axis for axis in axes[:-1] if axis != reduced]
                fits &= self.tiling.extent(rows) == 1
        return fits

    # Threads and warps

    def _chains(self) -> list[Chain]:
        return find_chains(self.tiling, self.edges)

    def _sides(self, edge: Edge) -> tuple[Array, Array, Array]:
        """Rows, columns and depth of a product; the first operand has the rows."""
        assert edge.axis is not None
        rows, columns = (
            self.tiling.extent([a for a in self.tiling.axes(operand) if a != edge.axis])
            for operand in edge.operands
        )
        return rows, columns, self.tiling.mesh.tiles[edge.axis]

    def _threads(self) -> Array:
        products = [edge for edge in self.edges.values() if edge.kind is Kind.MATMUL]
        if not products:
            largest = np.maximum.reduce([self.tiling.volume(value) for value in self.edges])
            return elementwise_threads(largest)
        threads = matrix_threads([self._sides(edge)[:2] for edge in products])
        if sum(1 + len(chain.others) for chain in self.chains) < len(products):
            return threads
        chained = self._chain_threads()
        return np.where(chained > 0, chained, threads)

    def _chain_threads(self) -> Array:
        """Threads where all products are in chains; 0 where they cannot be."""
        tiling, edges = self.tiling, self.edges

        def fit(groups: int) -> Mask:
            count = tiling.one * groups
            ways = [group_chain(tiling, edges, chain, count).fits for chain in self.chains]
            return np.logical_and.reduce(ways)

        warps = tiling.one * (MATRIX_THREADS // WARP_THREADS)
        return chain_threads(
            np.maximum.reduce([chain_rows(tiling, edges, chain) for chain in self.chains]),
            tiling.mesh.blocks,
            [fit(count) for count in (GROUP_COUNTS if tiling.target.has_wgmma else ())],
            np.logical_and.reduce(
                [shared(tiling, edges, chain, warps).fits for chain in self.chains]
            ),
            tiling.target,
        )

    def _chain(self, chain: Chain) -> None:
        """Note what the products of a chain share where they are one."""
        ways = [shared(self.tiling, self.edges, chain, self.threads / WARP_THREADS)]
        if self.tiling.target.has_wgmma:
            groups = self.threads / GROUP_THREADS
            ways.append(group_chain(self.tiling, self.edges, chain, groups))
        for together in ways:
            for value, warps in together.warps.items():
                alone = self.products[value]
                self.products[value] = chosen(together.fits, warps, alone)
        fits = ways[0].fits | ways[-1].fits
        self.kept |= dict.fromkeys(chain.operands, fits)

    def _warps(self, value: int, edge: Edge) -> Warps:
        """As `_alone`, which is asked once for all graphs that have a product."""
        sides = tuple(self.tiling.axes(operand) for operand in edge.operands)
        operands = [self.edges[operand] for operand in edge.operands]
        inputs = tuple((operand.kind, operand.source) for operand in operands)
        threads = self.threads.tobytes()
        key = ("warps", sides, inputs, edge.axis, self.is_summed(value), threads)
        return self.tiling.once(key, lambda: self._alone(value, edge))

    def _alone(self, value: int, edge: Edge) -> Warps:
        """A product that is in no chain."""
        warps = warps_product(self._sides(edge), self.threads, summed=self.is_summed(value))
        if not self.tiling.target.has_wgmma or self.tiling.program.operand_type == "f32":
            return warps
        assert edge.axis is not None
        left, right = (operand_tile(self.tiling, self.edges, o, edge.axis) for o in edge.operands)
        summed = self.is_summed(value)
        grouped = group_product(self._sides(edge), (left, right), self.threads, summed=summed)
        return chosen(grouped.fits, grouped.warps, warps)

    # Shared memory

    def _inputs(self) -> Iterator[tuple[int, Input]]:
        for value, edge in self.edges.items():
            stored = self.in_shared(value) or value in self.transposed
            if edge.kind is Kind.INPUT and stored:
                yield value, self.tiling.program.inputs[edge.source]

    def _loads(self) -> list[tuple[int, Input]]:
        """The tiles that the loop loads."""
        return [(v, t) for v, t in self._inputs() if self.tiling.in_loop(v)]

    def _pipelined(self) -> Mask:
        loads = self._loads() if self.tiling.target.has_tma else []
        if not loads:
            return np.zeros_like(self.tiling.one, np.bool_)
        return np.logical_and.reduce([boxed_tile(self.tiling, v, t).fits for v, t in loads], axis=0)

    def _boxes(self) -> Array:
        loads = self._loads() if self.pipelined.any() else []
        return sum((boxed_tile(self.tiling, v, t).boxes for v, t in loads), start=self.tiling.zero)

    def _staged_bytes(self) -> Array:
        """One buffer of each tile that the loop loads."""
        loads = self._loads()
        padded = sum((self._padded_tile(v, t) for v, t in loads), start=self.tiling.zero)
        if not self.pipelined.any():
            return padded
        boxed = sum((boxed_tile(self.tiling, v, t).bytes for v, t in loads), start=self.tiling.zero)
        return np.where(self.pipelined, boxed, padded)

    def _stages(self) -> Array:
        """Buffers of each tile of the loop, as `schedule-threadblock` chooses them."""
        few = copy_stages(self.staged, self.tiling.mesh.iterations)
        if not self.pipelined.any():
            return few
        other = self.held + self.made
        if self.tiling.program.open_sums:
            # A kernel follows that adds up their parts.
            other = other + FOLLOWER_BYTES
        iterations, target = self.tiling.mesh.iterations, self.tiling.target
        many = pipeline_stages(self.staged, other, iterations, self.share, target)
        return np.where(self.pipelined, many, few)

    def _alternate(self) -> None:
        """Two buffers of what the loop computes, where these leave enough for what it loads."""
        if not self.pipelined.any() or not self.made.any():
            return
        once, stages, self.made = self.made, self.stages, 2 * self.made
        self.stages = self._stages()
        room = self.staged * self.stages + self.held + self.made + OTHER_BYTES
        enough = may_double_buffer(stages, self.stages, room, self.tiling.target) & self.pipelined
        self.made = np.where(enough, self.made, once)
        self.stages = np.where(enough, self.stages, stages)

    def _held_bytes(self) -> Array:
        """The loop-invariant tiles through the loop."""
        held = self.tiling.zero
        for value, tensor in self._inputs():
            if not self.tiling.in_loop(value):
                held = held + self._padded_tile(value, tensor)
        return held

    def _padded_tile(self, value: int, tensor: Input) -> Array:
        users = (self.edges[user] for user in self.uses[value])
        summed = next((user.axis for user in users if user.kind is Kind.MATMUL), None)
        return padded_tile(self.tiling, value, tensor, summed)

    def _made_bytes(self, *, looped: bool = True) -> Array:
        """Computed operands of tensor cores, those of the loop or the others."""
        made, item = self.tiling.zero, item_bytes(self.tiling.program.operand_type)
        for operand, stored in self.materialised():
            if self.tiling.in_loop(operand) != looped:
                continue
            axes = self.tiling.axes(operand)
            columns = self.tiling.mesh.tiles[axes[-1]] if axes else self.tiling.one
            rows = self.tiling.volume(operand) / columns
            # Either of the axes may come last.
            made = made + stored * np.maximum(
                padded_bytes(rows, columns, item), padded_bytes(columns, rows, item)
            )
        for value in sorted(self.transposed):
            if self.edges[value].kind is not Kind.INPUT and self.tiling.in_loop(value) == looped:
                made = made + self._written_bytes(value)
        return made

    def _written_bytes(self, value: int) -> Array:
        """A computed tile in shared memory, in whole accesses of all threads, lines padded."""
        axes = self.positions.axes[value]
        columns = self.tiling.extent(present(axes[-1:]))
        rows = self.tiling.volume(value) / columns
        if source_of(self.tiling, self.edges, value) is not None:
            # The registers of a product are whole fragments.
            rows = round_up(rows, MMA_ROWS)
        rows, columns = blocked_spans(rows, columns, self.threads)
        return rows * (F32_BYTES * columns + LINE_PADDING)

    def _shared_bytes(self) -> Array:
        """What a block needs: the loop's buffers give way to what follows the loop."""
        during = self.staged * self.stages + self.made
        after = self._exchanged(self.held) + self._made_bytes(looped=False)
        return self.held + np.maximum(during, after) + OTHER_BYTES

    def _exchanged(self, held: Array) -> Array:
        exchange = [warps.exchange for warps in self.products.values()]
        alone = sum(exchange, start=self.tiling.zero)
        if not any(self.tiling.in_loop(value) for value in self.products):
            # The tiles that are multiplied give way.
            alone = np.maximum(alone - held, 0.0)
        shares = self.tiling.mesh.shares
        clustered = (shares > 1) & (shares <= self.tiling.target.cluster_max)
        return np.where(clustered, np.maximum(alone, self.handed_over()), alone)

    def handed_over(self) -> Array:
        """Bytes of sums that a block holds ready for the blocks that share its loop."""
        total = self.tiling.zero
        for value in self._kept_sums():
            product = self.products.get(self.edges[value].operands[0])
            parts = self.tiling.zero if product is None else product.exchange
            axes, volume = self.tiling.axes(value), self.tiling.volume(value)
            columns = self.tiling.mesh.tiles[axes[-1]] if axes else self.tiling.one
            total = total + np.maximum(parts, 4 * volume + LINE_PADDING * volume / columns)
        return total

    def part_bytes(self) -> Array:
        """Bytes of sums that a block leaves in device memory for the last that shares its loop."""
        parts = (4 * self.tiling.volume(value) for value in self._kept_sums())
        return sum(parts, start=self.tiling.zero)


def reduction_waits(resources: Resources) -> Array:
    """What the reductions of one block wait, in barriers."""
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
    """Barriers before tensor cores read what threads computed, of one block."""
    total = resources.tiling.zero
    for operand, stored in resources.materialised():
        total = total + stored * resources.tiling.iterations(operand)
    return total
