"""Counts the bytes that a kernel moves and the operations that it computes."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from mirage_mlir.decisions.sinking import is_computed_behind
from mirage_mlir.decisions.staggering import is_staggered
from mirage_mlir.search.cost_model.chains import source_of
from mirage_mlir.search.cost_model.element_reads import ElementReads
from mirage_mlir.search.cost_model.element_work import element_work
from mirage_mlir.search.cost_model.fitted import (
    KEPT_IN_L2,
    LATER,
    LATER_RUN,
    LEAST_PIECE,
    LINE,
    LINE_SHARE,
    MOST_APART,
    MOST_HALVINGS,
    ODD_PIECE,
    OWN_RUN,
    PIECE_WORK,
    PIPELINE_READ_AGAIN,
    READ_AGAIN,
    SECTOR,
    SHIFTED_PIECE,
    STRETCHED,
    TF32_READ,
    TF32_WORK,
    THRICE_READ,
    THRICE_WORK,
)
from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.live_values import ACCUMULATIONS, REDUCTIONS, Mask
from mirage_mlir.search.cost_model.reduction_work import reduction_work
from mirage_mlir.search.cost_model.resources import Resources
from mirage_mlir.search.cost_model.stretched_rows import StretchedRows
from mirage_mlir.search.cost_model.tile_bytes import VECTOR, contiguous
from mirage_mlir.search.cost_model.tiling import Tiling, item_bytes
from mirage_mlir.search.cost_model.warps import DEPTH
from mirage_mlir.search.program.program import Axes, Input, Kind, Memory, Output
from mirage_mlir.search.saturation.extract import Derivation
from mirage_mlir.search.saturation.hypergraph import Edge, Stage


def _touched(run: Array, unit: int) -> Array:
    """The bytes of whole sectors that a run touches, on average over adjacent runs."""
    shared = np.gcd(np.ceil(run).astype(np.int64), unit) / unit
    return (run / unit + 1 - shared) * unit


def _waste(run: Array) -> Array:
    """The factor by which more than `run` bytes are moved for a run of `run` bytes."""
    sectors, lines = _touched(run, SECTOR), _touched(run, LINE)
    return ((1 - LINE_SHARE) * sectors + LINE_SHARE * lines) / run


@dataclass
class Work:
    """The work of one block: operations, and bytes of shared memory."""

    matrix: Array
    scalar: Array
    shared: Array
    behind: Array
    """Of the scalar operations those of a loop that need what warpgroups multiply in it."""


class WorkCount:
    """
    Counts what one derivation moves and computes on every combination of a tiling.

    Args:
        tiling: the combinations.
        derivation: which edges compute the outputs.
        resources: what a block needs for that.
    """

    def __init__(self, tiling: Tiling, derivation: Derivation, resources: Resources) -> None:
        self.tiling = tiling
        self.derivation = derivation
        self.resources = resources
        zero = tiling.zero
        self.dram, self.l2 = zero, zero
        """Bytes of the whole kernel."""
        self.during, self.after = Work(zero, zero, zero, zero), Work(zero, zero, zero, zero)
        """Before the loop and in it, or where there is none; and behind the loop."""
        self.asked_at_once = zero
        """Bytes that a block asks for before it waits, the loop's aside."""
        self.own_lines = zero
        """Bytes of an iteration that a block reads along lines that no other block reads."""
        self.apart = zero
        """Bytes of the whole kernel that blocks far from each other read again, in its loop."""
        self._parts: dict[Memory, Array] = {}
        """Bytes of parts of tensors that are read for the first time."""
        self.reads = ElementReads(self.resources)
        self.rows = StretchedRows(self.resources)

    def count(self) -> None:
        """Add up the work of all values."""
        for value, edge in self.resources.edges.items():
            self._add(value, edge)
        for memory, read in self._parts.items():
            # What one part brings to L2 another finds there.
            self.dram = self.dram + np.minimum(read, memory.bytes)
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

    def _work(self, value: int) -> Work:
        """
        The counter to which the work of `value` belongs: that of the loop, or of what follows.
        """
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
            self._add_matmul(value, edge)
        elif edge.kind in REDUCTIONS:
            operand = edge.operands[0]
            reduced = self.tiling.volume(operand) * self.tiling.iterations(value)
            work.scalar = work.scalar + reduced * reduction_work(self.resources, edge)
        elif edge.kind in ACCUMULATIONS:
            if self.resources.edges[edge.operands[0]].kind is not Kind.MATMUL:
                iterations = self.tiling.mesh.iterations
                self.during.scalar = self.during.scalar + self.tiling.volume(value) * iterations
        elif edge.kind is not Kind.CONSTANT:
            each = element_work(self.tiling.algebra, edge) + self.reads.work(edge)
            each = each + self.rows.work(value, edge)
            source = source_of(self.tiling, self.resources.edges, value)
            if source is not None:
                elements = elements * self._in_fragments(source)
            if self._is_behind(value):
                sunk = is_computed_behind(self.tiling.volume(value))
                self.after.scalar = self.after.scalar + np.where(sunk, elements * each, 0.0)
                each = np.where(sunk, 0.0, each)
            work.scalar = work.scalar + elements * each
            if source is not None and self.tiling.in_loop(value) and not self.resources.chains:
                # A loop that computes with a matmul's result before it adds that up.
                behind = np.where(self.resources.grouped, elements * each, 0.0)
                work.behind = work.behind + behind

    def _is_behind(self, value: int) -> bool:
        """Whether what is computed once for a loop is used behind it alone."""
        stage = self.tiling.graph.values[value].stage
        users = self.resources.uses[value]
        return (
            stage is Stage.INVARIANT
            and bool(self.tiling.mesh.trip_counts)
            and not any(self.tiling.in_loop(user) for user in users)
            and not any(self.resources.edges[user].kind is Kind.MATMUL for user in users)
        )

    def _in_fragments(self, source: int) -> Array:
        """
        How many elements warps compute for one of a matmul's result: they have whole fragments, and
        each as many as the busiest one.
        """
        edge, warps = self.resources.edges[source], self.resources.matmuls[source]
        assert edge.axis is not None
        depth = np.ceil(self.tiling.mesh.tiles[edge.axis] / DEPTH) * DEPTH
        exact = 2 * self.tiling.volume(source) * depth
        return np.where(warps.grouped, 1.0, warps.flops / exact)

    def _add_load(self, value: int, tensor: Input) -> None:
        if tensor.indices is not None:
            elements = self.tiling.volume(value) * self.tiling.iterations(value)
            work = self._work(value)
            work.scalar = work.scalar + elements * tensor.indices.work
            return
        tiling, target = self.tiling, self.tiling.target
        item = item_bytes(tensor.element_type)
        tile, iterations = tiling.volume(value) * item, tiling.iterations(value)
        run, vector, _ = contiguous(tiling, tensor)
        waste = self._stretching(value) * tiling.once(
            ("waste", tensor.node), lambda: self._wasted(tensor, run) * self._later(tensor, run)
        )
        traffic = tile * iterations * tiling.mesh.blocks
        whole = tiling.whole(tensor.axes) * item
        self._add_dram(tensor, whole, traffic, waste)
        if not self.resources.in_shared(value):
            # The blocks of a multiprocessor find a small tensor in L1 after the first.
            traffic = np.minimum(traffic, whole * target.sm_count)
        self.l2 = self.l2 + traffic * waste
        shifted = self.resources.realigned(value, tensor) & self.resources.in_shared(value)
        if self.resources.in_shared(value):
            vector = np.where(self.resources.windowed(value, tensor), float(VECTOR), vector)
        pieces = tile / vector * iterations
        if self.resources.in_shared(value):
            pieces = np.where(vector < LEAST_PIECE, ODD_PIECE * pieces, pieces)
            pieces = np.where(shifted, tile / VECTOR * SHIFTED_PIECE * iterations, pieces)
        elif self._is_single(tensor.axes):
            pieces = ODD_PIECE * tile / item * iterations
        if tiling.in_loop(value):
            # Tensor copies find their addresses themselves.
            pieces = np.where(self.resources.pipelined, 0.0, pieces)
        work = self._work(value)
        work.scalar = work.scalar + pieces * PIECE_WORK
        # Both pieces that a shifted one is a part of come through L1, which is the same memory.
        work.shared = work.shared + np.where(shifted, 3.0, 1.0) * tile * iterations
        if tiling.in_loop(value):
            again = np.clip(traffic / whole - 1, 0.0, MOST_APART)
            self.apart = self.apart + again * whole * waste
            self.own_lines = self.own_lines + np.where(self._walks_own_lines(tensor), tile, 0.0)
        else:
            self.asked_at_once = self.asked_at_once + tile
        if not self.resources.in_shared(value):
            self._add_reading_again(value, tile / vector)

    def _add_dram(self, tensor: Input, whole: float, traffic: Array, waste: Array) -> None:
        """Adds what device memory hands out of `traffic` bytes, of which `whole` are different."""
        missed: Array | float = 0.0
        if whole > KEPT_IN_L2 * self.tiling.target.l2_bytes:
            missed = np.where(self.resources.pipelined, PIPELINE_READ_AGAIN, READ_AGAIN)
        again = missed * np.maximum(traffic - whole, 0.0)
        if tensor.memory is None:
            self.dram = self.dram + (whole + again) * waste
        else:
            self.dram = self.dram + again * waste
            before = self._parts.get(tensor.memory, self.tiling.zero)
            self._parts[tensor.memory] = before + whole * waste

    def _wasted(self, tensor: Input, run: Array) -> Array:
        """The factor by which more bytes are moved: sectors around what is read."""
        (axis, stride), *_ = *tensor.by_stride(), ("", 1)
        if stride == 1:
            return _waste(run)
        # Neighbours that are apart may still be in one sector.
        extent = self.tiling.extent([axis])
        spread = np.minimum(stride * extent * item_bytes(tensor.element_type), extent * SECTOR)
        return np.minimum(_waste(run), _waste(spread) * spread / (extent * run))

    def _stretching(self, value: int) -> Array | float:
        """
        How much longer a tile takes that is accessed in place where a matmul's result is stretched
        over it: threads have its elements as they have those of the result.
        """
        matmuls = self.resources.matmuls
        if not matmuls or self.tiling.graph.values[value].stage is not Stage.POST:
            return 1.0
        largest = np.maximum.reduce([self.tiling.volume(each) for each in matmuls])
        return np.where(self.tiling.volume(value) > largest, STRETCHED, 1.0)

    def _is_single(self, axes: Axes) -> bool:
        """Whether threads access elements of a tensor with these axes one by one."""
        return not self.resources.matmuls and self.resources.positions.is_single(axes)

    def _later(self, tensor: Input, run: Array) -> Array:
        """The factor for lines that a block reads piece by piece, one in each iteration."""
        halvings = np.ceil(np.clip(np.log2(OWN_RUN / run), 0.0, MOST_HALVINGS))
        own = np.where(self._walks_own_lines(tensor), LATER**halvings, 1.0)
        return np.where(self._walks_lines(tensor) & (run < LATER_RUN), np.maximum(own, LATER), own)

    def _walks_lines(self, tensor: Input) -> Mask:
        """Whether a block's loop walks along the lines of a tensor."""
        trips = self.tiling.mesh.trip_counts
        walked = [axis for axis, stride in tensor.by_stride() if stride == 1 and axis in trips]
        return np.any([trips[axis] > 1 for axis in walked], axis=0) & (self.tiling.one > 0)

    def _walks_own_lines(self, tensor: Input) -> Mask:
        """The same where other blocks read other lines."""
        cut = [count > 1 for axis, count in self.tiling.mesh.counts.items() if axis in tensor.axes]
        return self._walks_lines(tensor) & np.any(cut, axis=0)

    def _is_staggered(self) -> Mask:
        """Whether blocks begin with different iterations, as `software-pipeline` lets them."""
        mesh = self.tiling.mesh
        several = [count > 1 for count in (*mesh.counts.values(), mesh.shares)]
        one_axis = np.sum(np.broadcast_arrays(*several), axis=0) == 1
        return one_axis & is_staggered(self.own_lines, self.resources.staged)

    def _add_reading_again(self, value: int, pieces: Array) -> None:
        """Adds the L1 reads of a tile that is not in shared memory and is used more than once."""
        again = len(self.resources.uses[value]) - 1
        work = self._work(value)
        work.scalar = work.scalar + pieces * max(0, again) * PIECE_WORK

    def _add_matmul(self, value: int, edge: Edge) -> None:
        iterations, warps = self.tiling.iterations(value), self.resources.matmuls[value]
        work = self._work(value)
        if self.tiling.program.matrix_type == "f32":
            # The same warps load, split and multiply, one after the other.
            each = THRICE_WORK * warps.flops + THRICE_READ * warps.read
            work.matrix = work.matrix + each * iterations
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
            waste = waste * self._stretching(goal)
            self.dram = self.dram + traffic * waste
            self.l2 = self.l2 + traffic * copies
            stored = self.tiling.volume(goal) * self.tiling.iterations(goal)
            pieces = stored * item / np.minimum(run, VECTOR)
            if self._is_single(output.axes):
                pieces = ODD_PIECE * stored
            work = self._work(goal)
            work.scalar = work.scalar + pieces * PIECE_WORK

    def _copies(self, output: Output) -> Array:
        """The number of blocks that store the same part of an output."""
        copies = self.tiling.one
        for axis, count in self.tiling.mesh.counts.items():
            if axis not in output.axes and axis not in output.partial:
                copies = copies * count
        return copies
