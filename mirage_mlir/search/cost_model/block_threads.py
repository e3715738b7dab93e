"""
Models the threads of a block, and how its warps share each matmul.

The pass `select-mma` decides by the same functions (`mirage_mlir/decisions`).
"""

from collections.abc import Iterator

import numpy as np

from mirage_mlir.decisions.copies import walks_rows
from mirage_mlir.decisions.threads import (
    COMPUTED_BYTES,
    MATRIX_THREADS,
    chain_threads,
    elementwise_threads,
    matrix_threads,
)
from mirage_mlir.decisions.wgmma import GROUP_COUNTS, GROUP_THREADS
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.search.cost_model.chains import Chain, find_chains, shared
from mirage_mlir.search.cost_model.element_work import element_work
from mirage_mlir.search.cost_model.groups import (
    chain_rows,
    group_chain,
    group_matmul,
    operand_tile,
)
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import ACCUMULATIONS, LiveValues, Mask
from mirage_mlir.search.cost_model.tile_bytes import contiguous
from mirage_mlir.search.cost_model.tiling import Tiling, item_bytes
from mirage_mlir.search.cost_model.warps import Warps, chosen, warps_matmul
from mirage_mlir.search.program.positions import present
from mirage_mlir.search.program.program import Input, Kind
from mirage_mlir.search.saturation.extract import Derivation
from mirage_mlir.search.saturation.hypergraph import Edge


class BlockThreads(LiveValues):
    """Computes the threads of a block, its chains of matmuls, and the warps of each matmul."""

    def __init__(self, tiling: Tiling, derivation: Derivation) -> None:
        super().__init__(tiling, derivation)
        self.walks = self._walks_rows()
        """Where the loop reads and writes whole rows."""
        self.chains = self._chains()
        self.threads = self._threads()
        """That compute."""
        self.matmuls = {
            value: self._warps(value, edge)
            for value, edge in self.edges.items()
            if edge.kind is Kind.MATMUL
        }
        for chain in self.chains:
            self._chain(chain)

    def _chains(self) -> list[Chain]:
        return find_chains(self.tiling, self.edges)

    def _sides(self, edge: Edge) -> tuple[Array, Array, Array]:
        """The rows, columns and depth of a matmul; the first operand has the rows."""
        assert edge.axis is not None
        rows, columns = (
            self.tiling.extent([a for a in self.tiling.axes(operand) if a != edge.axis])
            for operand in edge.operands
        )
        return rows, columns, self.tiling.mesh.tiles[edge.axis]

    def _threads(self) -> Array:
        matmuls = [edge for edge in self.edges.values() if edge.kind is Kind.MATMUL]
        if not matmuls:
            tiles = [self.tiling.axes(value) for value in self.edges]
            # A result may be stretched when it is stored.
            tiles += [present(output.axes) for output in self.tiling.program.computed]
            mesh = self.tiling.mesh
            return elementwise_threads(
                np.maximum.reduce(list(map(self.tiling.extent, tiles))),
                mesh.blocks,
                mesh.iterations > 1,
                self.walks,
                self._waiting_bytes(),
                self._loaded_item(),
                self.tiling.target,
            )
        halves = self.tiling.program.operand_type != "f32"
        sides = [self._sides(edge)[:2] for edge in matmuls]
        threads = matrix_threads(sides, grouped=self.tiling.target.has_wgmma and halves)
        if sum(1 + len(chain.others) for chain in self.chains) < len(matmuls):
            return threads
        chained = self._chain_threads()
        return np.where(chained > 0, chained, threads)

    def _inputs(self) -> Iterator[tuple[int, Input]]:
        for value, edge in self.edges.items():
            stored = self.in_shared(value) or value in self.moved
            if edge.kind is Kind.INPUT and stored:
                yield value, self.tiling.program.inputs[edge.source]

    def _loads(self) -> list[tuple[int, Input]]:
        """The tiles that the loop loads."""
        return [(v, t) for v, t in self._inputs() if self.tiling.in_loop(v)]

    def _walks_rows(self) -> Mask:
        whole = [
            contiguous(self.tiling, t).run == self.tiling.volume(v) * item_bytes(t.element_type)
            for v, t in self._loads()
        ]
        stores = any(self.tiling.in_loop(goal) for goal in self.derivation.goals)
        return walks_rows(
            np.logical_and.reduce([self.tiling.one > 0, *whole], axis=0),
            stores=stores,
            multiplies=any(edge.kind is Kind.MATMUL for edge in self.edges.values()),
        )

    def _waiting_bytes(self) -> Array:
        """
        The bytes that a block keeps while it waits for sums of rows that lie over a cluster.

        They are those of its largest loaded tile, or of all that it computes for the sums and needs
        behind them, in f32. 0 with a loop, and where not each block stores a part of the rows.
        """
        tiling = self.tiling
        if tiling.mesh.trip_counts:
            return tiling.zero
        stored = {axis for output in tiling.program.computed for axis in present(output.axes)}
        whole = [axis for axis in stored if axis not in tiling.mesh.counts]
        cut = [tiling.mesh.tiles[axis] < tiling.program.sizes[axis] for axis in whole]
        apart = np.logical_or.reduce([tiling.one < 0, *cut], axis=0)
        loaded, computed = tiling.zero, tiling.zero
        before, repeated = self._leading_to_sums(), set[int]()
        for value, edge in reversed(self.edges.items()):
            if edge.kind is Kind.INPUT:
                tensor = tiling.program.inputs[edge.source]
                item = 0 if tensor.indices is not None else item_bytes(tensor.element_type)
                loaded = np.maximum(loaded, item * tiling.volume(value))
            elif edge.kind in ACCUMULATIONS or value not in before:
                continue
            elif (before - repeated).issuperset(self.uses[value]):
                continue
            elif element_work(tiling.algebra, edge) == 1.0:
                # It is computed again.
                repeated.add(value)
            else:
                computed = computed + COMPUTED_BYTES * tiling.volume(value)
        return np.where((tiling.mesh.shares > 1) & apart, np.maximum(loaded, computed), 0.0)

    def _leading_to_sums(self) -> set[int]:
        """The values that are summed over the loop or over blocks, and all that leads to them."""
        pending = [v for v, edge in self.edges.items() if edge.kind in ACCUMULATIONS]
        found: set[int] = set()
        while pending:
            value = pending.pop()
            if value not in found:
                found.add(value)
                pending += self.edges[value].operands
        return found

    def _loaded_item(self) -> int:
        """Bytes of an element that is loaded, the largest."""
        inputs = self.tiling.program.inputs
        loaded = [inputs[e.source] for e in self.edges.values() if e.kind is Kind.INPUT]
        sizes = (item_bytes(each.element_type) for each in loaded if each.indices is None)
        return max(sizes, default=1)

    def _chain_threads(self) -> Array:
        """The number of threads if all matmuls are in chains; 0 where no number fits."""
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
        """Sets the warps of the matmuls of a chain, where the chain fits in registers."""
        ways = [shared(self.tiling, self.edges, chain, self.threads / WARP_THREADS)]
        if self.tiling.target.has_wgmma:
            groups = self.threads / GROUP_THREADS
            ways.append(group_chain(self.tiling, self.edges, chain, groups))
        for together in ways:
            for value, warps in together.warps.items():
                alone = self.matmuls[value]
                self.matmuls[value] = chosen(together.fits, warps, alone)
        fits = ways[0].fits | ways[-1].fits
        self.kept |= dict.fromkeys(chain.operands, fits)

    def _warps(self, value: int, edge: Edge) -> Warps:
        """Calls `_alone` once for all graphs that have the same matmul."""
        sides = tuple(self.tiling.axes(operand) for operand in edge.operands)
        operands = [self.edges[operand] for operand in edge.operands]
        inputs = tuple((operand.kind, operand.source) for operand in operands)
        threads = self.threads.tobytes()
        key = ("warps", sides, inputs, edge.axis, self.is_summed(value), threads)
        return self.tiling.once(key, lambda: self._alone(value, edge))

    def _alone(self, value: int, edge: Edge) -> Warps:
        """How warps, or warpgroups, share a matmul that is in no chain."""
        warps = warps_matmul(self._sides(edge), self.threads, summed=self.is_summed(value))
        if not self.tiling.target.has_wgmma or self.tiling.program.operand_type == "f32":
            return warps
        assert edge.axis is not None
        left, right = (operand_tile(self.tiling, self.edges, o, edge.axis) for o in edge.operands)
        summed = self.is_summed(value)
        grouped = group_matmul(self._sides(edge), (left, right), self.threads, summed=summed)
        return chosen(grouped.fits, grouped.warps, warps)
