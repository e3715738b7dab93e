"""Copies of tiles from device memory to shared memory, asynchronous where alignment allows."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Attribute, SSAValue

from mirage_mlir.decisions.copies import NARROWEST_COPY
from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import nvvm, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.passes.analysis.access_widths import WIDEST_ACCESS
from mirage_mlir.passes.analysis.buffers import shared_layout
from mirage_mlir.passes.analysis.copy_shapes import CopyShape, copy_shape
from mirage_mlir.passes.codegen.addresses import shared_offset
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Condition, Index
from mirage_mlir.passes.codegen.extent import Extents

MAX_COPIES, MAX_MOVES = 16, 8
"""Unrolled copies of a thread, asynchronous or through registers. The latter keep a register or two
for each piece until it is stored, and eight loads in flight hide most of the latency."""


@dataclass(frozen=True)
class Piece:
    """
    The piece of a tile that a thread copies at once.

    Args:
        source: its address in device memory; the tile's address if the piece does not exist.
        target: its address in shared memory.
        exists: whether it lies inside the tensor.
    """

    source: SSAValue
    target: SSAValue
    exists: Condition


@dataclass
class TileCopy:
    """
    The copy of one tile by all threads of a block, piece by piece.

    Args:
        source, target: the tile's address in device memory and in shared memory.
        extents: which of its elements are valid.
    """

    ctx: KernelContext
    op: threadblock.LoadOp
    shape: CopyShape
    source: SSAValue
    target: SSAValue
    extents: Extents

    @property
    def element(self) -> Attribute:
        """The type of the tile's elements."""
        return threadblock.tile_type(self.op.result).element_type

    @property
    def width(self) -> int:
        """Bytes of a piece."""
        return self.shape.piece * byte_width(self.element)

    @property
    def total(self) -> int:
        """Pieces of the tile."""
        return self.shape.lines * self.shape.pieces

    def run(self) -> None:
        """Copy all pieces; many pieces are copied in a loop."""
        emit, threads = self.ctx.emit, self.ctx.threads
        asynchronous = self.op.is_async_copy
        if asynchronous and self.width < NARROWEST_COPY:
            fail(self.op, f"is copied by cp.async in pieces of {self.width} bytes: 4 is the least")
        together = MAX_COPIES if asynchronous else MAX_MOVES
        copy = self.start if asynchronous else self.move
        iterations = self.total // threads // together
        if iterations > 1:

            def iteration(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
                first = emit.add(emit.mul(number, together * threads), self.ctx.thread)
                copy([emit.add(first, i * threads) for i in range(together)], True)
                return []

            emit.loop(iterations, [], iteration)
        starts = range(
            iterations * together * threads if iterations > 1 else 0, self.total, threads
        )
        numbers = [emit.add(self.ctx.thread, start) for start in starts]
        whole = self.total % threads == 0
        for first in range(0, len(numbers), together):
            last = first + together >= len(numbers)
            copy(numbers[first : first + together], whole or not last)

    def piece(self, number: Index) -> Piece:
        """Piece `number` of the tile, line by line, or in the order in memory."""
        emit, op = self.ctx.emit, self.op
        row, column, indices = self.place(number)
        exists = emit.all(
            [
                emit.less(index, extent.limit)
                for index, extent in zip(indices, self.extents, strict=True)
                if extent
            ]
        )
        offset: Index = 0
        for index, stride in zip(indices, self.ctx.view(op).strides, strict=True):
            offset = emit.add(offset, emit.mul(index, stride))
        source = emit.pointer(self.source, emit.pick(exists, offset, 0), self.element)
        item = byte_width(self.element)
        to = shared_offset(self.ctx, shared_layout(op.result), item, row, column)
        return Piece(source, emit.pointer(self.target, to, self.element), exists)

    def place(self, number: Index) -> tuple[Index, Index, list[Index]]:
        """Row and column of a piece in the tile, and its indices."""
        emit, shape, tile = self.ctx.emit, self.shape, threadblock.shape_of(self.op.result)
        if shape.order:
            slowest_first = shape.order[::-1]
            found = self.ctx.unravel(number, tuple(tile[dim] for dim in slowest_first))
            indices: list[Index] = [0] * len(tile)
            for dim, index in zip(slowest_first, found, strict=True):
                indices[dim] = index
            return self.ctx.row_of(indices, tile), indices[-1], indices
        line = emit.div(number, shape.pieces)
        start = emit.mul(emit.rem(number, shape.pieces), shape.piece)
        row, column = (line, start) if shape.columns else (start, line)
        return row, column, [*self.ctx.unravel(row, tile[:-1]), column]

    def start(self, numbers: Sequence[Index], whole: bool) -> None:
        """Start the copies of some pieces; unless `whole`, the last may be past the tile's end."""
        emit, width = self.ctx.emit, self.width
        for place, number in enumerate(numbers):
            last = place == len(numbers) - 1 and not whole
            with emit.when(emit.less(number, self.total) if last else True):
                piece = self.piece(number)
                size = None
                if piece.exists is not True:
                    size = emit.i32(emit.pick(piece.exists, width, 0))
                cache = "cg" if width == WIDEST_ACCESS else "ca"
                emit.insert(
                    nvvm.CpAsyncSharedGlobalOp(piece.target, piece.source, width, cache, size)
                )

    def move(self, numbers: Sequence[Index], whole: bool) -> None:
        """
        Copy some pieces through registers: all loads, then all stores.

        Unless `whole`, the last piece may be past the tile's end.
        """
        emit = self.ctx.emit
        zeros = [emit.zero(self.element)] * self.shape.piece
        moved: list[tuple[Condition, Piece, list[SSAValue]]] = []
        for place, number in enumerate(numbers):
            last = place == len(numbers) - 1 and not whole
            inside = emit.less(number, self.total) if last else True
            piece = self.piece(emit.least(number, self.total - 1) if last else number)
            values = zeros
            if not any(extent.empty for extent in self.extents if extent):
                # A piece that does not exist reads the tile's first element instead.
                loaded = emit.load(piece.source, self.element, self.shape.piece)
                values = [
                    emit.select(piece.exists, v, z) for v, z in zip(loaded, zeros, strict=True)
                ]
            moved.append((inside, piece, values))
        for inside, piece, values in moved:
            with emit.when(inside):
                emit.store(piece.target, values)
        if any(extent.empty for extent in self.extents if extent):
            for inside, piece, _ in moved:
                with emit.when(emit.both(inside, piece.exists)):
                    loaded = emit.load(piece.source, self.element, self.shape.piece)
                    emit.store(piece.target, loaded)


def copy_to_shared(
    ctx: KernelContext, op: threadblock.LoadOp, iterations: list[Index], slot: Index
) -> None:
    """
    Copy a tile of the given iteration into buffer `slot`, with zeros past the tensor's edge.

    Copies by `cp.async` are started, not awaited.
    """
    ctx.emit.location = op.location
    source, target = ctx.tile_pointer(op, iterations), ctx.shared_pointer(op.result, slot)
    TileCopy(ctx, op, copy_shape(op), source, target, ctx.load_extents(op, iterations)).run()
