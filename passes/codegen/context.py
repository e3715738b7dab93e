"""State that the emission of one kernel shares: pointers, thread indices, registers of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i8, i64
from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.layout import ConvertLayoutOp, shared_buffer
from mirage_mlir.layouts.layout import (
    WARP_THREADS,
    Position,
    RegisterLayout,
)
from mirage_mlir.passes.analysis.buffers import (
    TileAccess,
    buffer_bytes,
    buffer_of,
    cuts,
    is_staged,
)
from mirage_mlir.passes.analysis.magnitudes import has_moderate_numbers
from mirage_mlir.passes.analysis.steps import before_steps
from mirage_mlir.passes.analysis.tensor_views import TensorView, stored_view, view_of
from mirage_mlir.passes.codegen.emitter import Condition, Emitter, Index
from mirage_mlir.passes.codegen.extent import Extent, Extents
from mirage_mlir.passes.codegen.loop_bounds import iterations_of_block
from mirage_mlir.passes.codegen.online_softmax import OnlineMaximum, StateKey
from mirage_mlir.passes.codegen.row_digits import RowDigits
from mirage_mlir.passes.codegen.stage_positions import StagePosition
from mirage_mlir.passes.codegen.tile_origins import origin_of, shifted_dims
from mirage_mlir.shapes.shapes import Shape


@dataclass(frozen=True)
class FetchedTile:
    """
    What a thread has loaded of a tile of a later iteration.

    Args:
        words: registers.
        ahead: how many iterations later; counted from the one that stores it.
    """

    words: Sequence[SSAValue]
    ahead: int


@dataclass
class KernelContext:
    """
    One kernel while it is emitted.

    Args:
        pointers: the device address of each tensor, by the value that owns the memory.
        thread: index of the thread in its block.
        blocks: index of the block along each axis of the grid.
        shared: start of the block's shared memory.
        stages: buffers of each tile that the loop loads.
        iterations: index of the present iteration of each loop.
        stage: which of the `stages` buffers the present iteration reads, and its phase.
        parity: whether the present iteration is an odd one, 0 or 1.
        tile: how many tiles of the grid the block has computed before the present one.
        before: iterations of all these together.
        paced: whether some of the first tiles are copied before the previous grid has ended,
            a few at a time, and the others once it has.
        ahead: in a stream, rows and columns from the start of a thread's part of a tile to the
            current piece.
        whole: in a stream, the layout of the whole tile.
        registers: the slots of each tile that lives in registers, in the order of its layout.
        fetched: tiles in device memory that were read ahead, by layout and shape.
        fetched_tiles: those of a later iteration that were loaded and not yet stored.
        resident_lhs: loop-invariant left fragments in registers, by matmul, then step and row.
        row_maxima: the row maxima by which sums are rescaled.
        partial_sums, counters: device memory for sums across blocks without clusters.
    """

    graph: kernel.GraphDefinedOp
    emit: Emitter
    pointers: dict[SSAValue, SSAValue]
    threads: int
    thread: SSAValue
    blocks: list[Index]
    shared: SSAValue
    stages: int
    iterations: list[Index] = field(default_factory=list[Index])
    stage: StagePosition = field(default_factory=lambda: StagePosition(1))
    parity: Index = 0
    tile: Index = 0
    before: Index = 0
    paced: bool = False
    ahead: tuple[Index, Index] = (0, 0)
    whole: RegisterLayout | None = None
    registers: dict[SSAValue, list[SSAValue]] = field(
        default_factory=dict[SSAValue, list[SSAValue]]
    )
    fetched: dict[tuple[SSAValue, RegisterLayout, tuple[int, ...]], list[SSAValue]] = field(
        default_factory=dict[tuple[SSAValue, RegisterLayout, tuple[int, ...]], list[SSAValue]]
    )
    fetched_tiles: dict[SSAValue, FetchedTile] = field(
        default_factory=dict[SSAValue, "FetchedTile"]
    )
    resident_lhs: dict[Operation, list[list[list[SSAValue]]]] = field(
        default_factory=dict[Operation, list[list[list[SSAValue]]]]
    )
    row_maxima: dict[StateKey, OnlineMaximum] = field(default_factory=dict[StateKey, OnlineMaximum])
    partial_sums: SSAValue | None = None
    counters: SSAValue | None = None

    def go_to_tile(self, number: Index, blocks: list[Index]) -> None:
        """Go on with tile `number` of a persistent block, which is at `blocks` of the grid."""
        self.tile, self.blocks = number, blocks
        self.before = self.emit.mul(number, prod(self.graph.loop_sizes))

    @property
    def first(self) -> Index:
        """The first iteration of its loop that the block runs."""
        return iterations_of_block(self.emit, self.graph, self.blocks)[0]

    @property
    def count(self) -> Index:
        """How many iterations the block runs; they are numbered from 0 on."""
        return iterations_of_block(self.emit, self.graph, self.blocks)[1]

    @cached_property
    def is_moderate(self) -> bool:
        """Whether numbers are as f16 has them, so that approximations below its error suffice."""
        return has_moderate_numbers(self.graph)

    @cached_property
    def exact(self) -> frozenset[Operation]:
        """The quotients and roots that are rounded once, since they lead to steps."""
        return before_steps(self.graph)

    @cached_property
    def row_digits(self) -> RowDigits:
        """What is known of row numbers."""
        return RowDigits(self.emit, self._sum_of_bits)

    @property
    def lane(self) -> Index:
        """Index of the thread in its warp."""
        return self.emit.bits(self.thread, WARP_THREADS - 1)

    @property
    def warp(self) -> Index:
        """Index of the warp in its block."""
        return self.emit.shift_right(self.thread, WARP_THREADS.bit_length() - 1)

    def position(self, layout: RegisterLayout) -> tuple[Index, Index]:
        """Row and column at which this thread's part of a tile starts."""

        def found() -> tuple[Index, Index]:
            rows = self._sum_of_bits([row for row, _ in layout.threads])
            return rows, self._sum_of_bits([column for _, column in layout.threads])

        return self.emit.once((self.thread, layout.threads), found)

    def _sum_of_bits(self, steps: list[int]) -> Index:
        """The sum of the steps of the thread index's set bits; doubling steps are one field."""
        total: Index = 0
        bit = 0
        while bit < len(steps):
            if not steps[bit]:
                bit += 1
                continue
            first = bit
            while bit + 1 < len(steps) and steps[bit + 1] == 2 * steps[bit]:
                bit += 1
            bit += 1
            part = self.emit.bits(self.emit.shift_right(self.thread, first), (1 << bit - first) - 1)
            total = self.emit.add(total, self.emit.mul(part, steps[first]))
        return total

    def bit_field(self, bits: list[int]) -> Index:
        """The number that the given bits of the thread index spell, lowest first."""
        total: Index = 0
        for place, bit in enumerate(bits):
            value = self.emit.bits(self.emit.shift_right(self.thread, bit), 1)
            total = self.emit.add(total, self.emit.mul(value, 1 << place))
        return total

    def is_first(self, bits: list[int]) -> Condition:
        """Whether the given bits of the thread index are all zero."""
        mask = sum(1 << bit for bit in bits)
        return True if not mask else self.emit.equal(self.emit.bits(self.thread, mask), 0)

    # --- which elements of a tile are in its tensor

    def load_extents(
        self,
        op: threadblock.LoadOp | threadblock.IotaOp,
        iterations: list[Index],
        *,
        first: bool = False,
    ) -> Extents:
        """Which elements of a loaded tile are valid; with `first`, in iteration 0 of each loop."""
        shape = threadblock.shape_of(op.result)
        sizes = self.whole_shape(op)
        origin = origin_of(self, op, [0] * len(iterations) if first else iterations)
        shifted = shifted_dims(self.graph, op)
        extents: list[Extent | None] = []
        for dim, size in enumerate(sizes):
            grid, loops = cuts(op, dim)
            blocks = self.graph.grid_sizes[grid] if grid is not None else 1
            count = prod(self.graph.loop_sizes[loop] for loop in loops)
            # The number of the last block's tile.
            last = blocks * count - 1
            if first:
                last = blocks - 1 if self.graph.is_cyclic else (blocks - 1) * count
            if (last + 1) * shape[dim] <= size or dim in shifted:
                extents.append(None)
            else:
                limit = self.emit.sub(size, origin[dim])
                empty = last * shape[dim] >= size
                extents.append(Extent(limit, bool(loops) and not first, empty))
        return tuple(extents)

    def extents(self, value: SSAValue, *, first: bool = False) -> Extents:
        """
        Which elements of a tile are valid; None along a dim where all are.

        With `first`, in iteration 0 of each loop, where a tile has the most valid elements.
        """
        op = value.owner
        match op:
            case threadblock.LoadOp() | threadblock.IotaOp():
                return self.load_extents(op, self.iterations, first=first)
            case threadblock.AccumulateOp():
                # An accumulator has the elements that are valid in any iteration.
                return self.extents(op.value, first=True)
            case threadblock.MatmulOp():
                rank = len(threadblock.shape_of(op.result))
                left, right = (
                    (None,) * (rank - len(found)) + tuple(found)
                    for found in (self.extents(side, first=first) for side in op.operands)
                )
                leading = (self._both(x, y) for x, y in zip(left[:-2], right[:-2], strict=True))
                return (*leading, left[-2], right[-1])
            case threadblock.ReduceSumOp() | threadblock.ReduceMaxOp():
                dims = op.dims.get_values()
                inner = self.extents(op.input, first=first)
                return tuple(None if dim in dims else e for dim, e in enumerate(inner))
            case threadblock.TransposeOp():
                inner = self.extents(op.input, first=first)
                return tuple(inner[dim] for dim in op.permutation.get_values())
            case ConvertLayoutOp():
                return self.extents(op.input, first=first)
            case threadblock.ConcatOp():
                return self._extents_of_concat(op, first)
            case thread.GraphOp():
                return self._extents_of_thread_graph(op, first)
            case _:
                return (None,) * len(threadblock.shape_of(value))

    def _extents_of_concat(self, op: threadblock.ConcatOp, first: bool) -> Extents:
        dim = op.dim.value.data
        parts = [self.extents(value, first=first) for value in op.operands]
        if any(part[dim] for part in parts):
            fail(op, f"joins tiles along dim {dim} whose last elements do not exist in every block")
        merged: list[Extent | None] = list(parts[0])
        for part in parts[1:]:
            merged = [self._both(a, b) for a, b in zip(merged, part, strict=True)]
        return tuple(merged)

    def _extents_of_thread_graph(self, op: thread.GraphOp, first: bool) -> Extents:
        shape = threadblock.shape_of(op.results[0])
        merged: list[Extent | None] = [None] * len(shape)
        for value in op.operands:
            sizes = threadblock.shape_of(value)
            skipped = len(shape) - len(sizes)
            for dim, extent in enumerate(self.extents(value, first=first)):
                if sizes[dim] == shape[skipped + dim]:
                    merged[skipped + dim] = self._both(merged[skipped + dim], extent)
        return tuple(merged)

    def _both(self, one: Extent | None, other: Extent | None) -> Extent | None:
        """The elements that are valid in both tiles."""
        if one is None or other is None or one == other:
            return one or other
        limit = self.emit.least(one.limit, other.limit)
        return Extent(limit, one.in_loop or other.in_loop, one.empty or other.empty)

    def exists(self, value: SSAValue) -> Condition:
        """Whether a value of this iteration depends on no maximum over an empty tile."""
        op, emit = value.owner, self.emit
        conditions: list[Condition] = []
        if isinstance(op, threadblock.ReduceMaxOp):
            extents = self.extents(op.input)
            dims = op.dims.get_values()
            found = [extents[dim] for dim in dims]
            conditions += [emit.less(0, each.limit) for each in found if each and each.empty]
        if isinstance(op, Operation) and not isinstance(
            op, threadblock.AccumulateOp | threadblock.LoadOp | threadblock.IotaOp
        ):
            conditions += [self.exists(operand) for operand in op.operands]
        return emit.all(conditions)

    # --- positions inside a tile

    def unravel(self, row: Index, leading: tuple[int, ...]) -> list[Index]:
        """The indices of the leading dims that a row number stands for."""
        return self.row_digits.unravel(row, leading)

    def indices(
        self, shape: tuple[int, ...], row: Index, column: Index, of: tuple[int, ...]
    ) -> list[Index]:
        """The indices in a tile of shape `of` that broadcast to (row, column) of `shape`."""
        full = [*self.unravel(row, shape[:-1]), column]
        aligned = full[len(shape) - len(of) :]
        return [0 if size == 1 else i for size, i in zip(of, aligned, strict=True)]

    def row_of(self, indices: list[Index], shape: tuple[int, ...]) -> Index:
        """The row number of a tile's element: its leading indices in row-major order."""
        row: Index = 0
        for index, size in zip(indices[:-1], shape[:-1], strict=True):
            row = self.emit.add(self.emit.mul(row, size), index)
        return row

    def inside(
        self, layout: RegisterLayout, shape: tuple[int, ...], extents: Extents, place: Position
    ) -> Condition:
        """Whether the element that this thread holds at slot offset `place` is valid."""
        emit = self.emit
        row, column = self.at(layout, place)
        rows, columns = prod(shape[:-1]), shape[-1]
        spans = self.spans(layout)
        conditions: list[Condition] = []
        if spans[0] > rows:
            conditions.append(emit.less(row, rows))
        if spans[1] > columns:
            conditions.append(emit.less(column, columns))
        if any(extents):
            indices = [*self.unravel(row, shape[:-1]), column]
            for index, extent in zip(indices, extents, strict=True):
                if extent and extent.first != 0:
                    conditions.append(emit.negate(emit.less(index, extent.first)))
                elif extent:
                    conditions.append(emit.less(index, extent.limit))
        return emit.all(conditions)

    def at(self, layout: RegisterLayout, place: Position) -> tuple[Index, Index]:
        """Row and column of the slot with offset `place`."""
        row, column = self.position(layout)
        row, column = self.emit.add(row, self.ahead[0]), self.emit.add(column, self.ahead[1])
        row, column = self.emit.add(row, place[0]), self.emit.add(column, place[1])
        if self.ahead == (0, 0):
            self.row_digits.note(row, layout, place[0])
        return row, column

    def spans(self, layout: RegisterLayout) -> tuple[int, int]:
        """Rows and columns that a layout addresses; in a stream, those of the whole tile."""
        return (self.whole or layout).spans()

    # --- memory

    def view(self, op: threadblock.LoadOp | threadblock.StoreOp) -> TensorView:
        """The tensor that a load reads, or a store writes."""
        return view_of(op.source) if isinstance(op, threadblock.LoadOp) else stored_view(op)

    def whole_shape(self, op: TileAccess) -> Shape:
        """The sizes of the tensor that an operation cuts into tiles."""
        return op.whole if isinstance(op, threadblock.IotaOp) else self.view(op).shape

    def tile_pointer(
        self, op: threadblock.LoadOp | threadblock.StoreOp, iterations: list[Index]
    ) -> SSAValue:
        """The device address of the first element of a tile."""
        view = self.view(op)
        emit = self.emit
        element = kernel.tensor_type(view.root).element_type
        pointer = emit.pointer(self.pointers[view.root], view.offset, element)
        for index, stride in zip(origin_of(self, op, iterations), view.strides, strict=True):
            if index == 0 or stride == 0:
                continue
            wide = emit.result(arith.ExtUIOp(emit.i32(index), i64))
            step = emit.result(arith.MuliOp(wide, emit.i64(stride)))
            pointer = emit.pointer(pointer, step, element)
        return pointer

    def shared_pointer(self, value: SSAValue, slot: Index | None = None) -> SSAValue:
        """The address of a tile in shared memory, in the buffer of the present iteration."""
        op = buffer_of(value)
        buffer = shared_buffer(op)
        if buffer.offset < 0:
            fail(op, "has no place in shared memory; run plan-memory first")
        at: Index = buffer.offset
        if is_staged(op):
            iteration = self.stage.slot if slot is None else slot
            at = self.emit.add(self.emit.mul(iteration, buffer_bytes(op)), at)
        elif buffer.double_buffered:
            at = self.emit.add(self.emit.mul(self.parity, buffer_bytes(op)), at)
        return self.emit.pointer(self.shared, at, i8)
