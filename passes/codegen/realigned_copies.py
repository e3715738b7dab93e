"""
Copies of tiles whose rows start at no multiples of 16 bytes, in pieces of 16 bytes nevertheless.

A piece of the tile lies in two aligned pieces of its tensor (a window). A thread loads these, and
shifts the window's eight words into the four that it stores.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.common import byte_width
from mirage_mlir.layouts.layout import ceil_div
from mirage_mlir.passes.analysis.access_widths import WIDEST_ACCESS
from mirage_mlir.passes.analysis.buffers import shared_layout
from mirage_mlir.passes.analysis.copy_shapes import copy_shape
from mirage_mlir.passes.codegen.addresses import place_of, shared_offset
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.copies import TileCopy
from mirage_mlir.passes.codegen.emitter import WORD_BYTES as WORD
from mirage_mlir.passes.codegen.emitter import Condition, Index
from mirage_mlir.passes.codegen.tile_origins import origin_of

PIECE_WORDS = WIDEST_ACCESS // WORD


@dataclass(frozen=True)
class AlignedWindow:
    """
    A piece of a tile on its way.

    Args:
        indices: of its first element in the tile.
        row, column: the same, in the tile seen as a matrix.
        place: of its first element in the tensor, in elements.
    """

    indices: list[Index]
    row: Index
    column: Index
    place: Index


@dataclass
class RealignedCopy(TileCopy):
    """
    The copy of one tile, in two steps between which threads may do other things.

    Args:
        origin: the index of the tile's first element along each dim of its tensor.
    """

    origin: list[Index] = field(default_factory=list[Index])

    @classmethod
    def of(
        cls, ctx: KernelContext, op: threadblock.LoadOp, iterations: list[Index], slot: Index
    ) -> "RealignedCopy":
        """The copy of the tile of the given iteration into buffer `slot`."""
        target = ctx.shared_pointer(op.result, slot)
        root = ctx.pointers[ctx.view(op).root]
        extents, origin = ctx.load_extents(op, iterations), origin_of(ctx, op, iterations)
        return cls(ctx, op, copy_shape(op), root, target, extents, origin)

    @property
    def own(self) -> list[Index]:
        """The numbers of this thread's pieces; the last may be past the tile's end."""
        count = ceil_div(self.total, self.ctx.threads)
        return [self.ctx.emit.add(self.ctx.thread, n * self.ctx.threads) for n in range(count)]

    @property
    def size(self) -> int:
        """Elements of the tensor's memory."""
        return prod(kernel.shape_of(self.ctx.view(self.op).root))

    @property
    def whole(self) -> int:
        """Those in whole pieces of 16 bytes: only such pieces are loaded."""
        return self.size - self.size % self.shape.piece

    def move(self, numbers: Sequence[Index], whole: bool) -> None:
        """Copy some pieces: all loads, then all stores."""
        self.put(numbers, self.fetch(numbers), whole)

    def windows(self, numbers: Sequence[Index]) -> list[AlignedWindow]:
        """Those of some of this thread's pieces, which follow each other `threads` apart."""
        emit, shape, view = self.ctx.emit, self.shape, self.ctx.view(self.op)
        start = place_of(self.ctx, self.op, self.origin)
        found: list[AlignedWindow] = []
        for line, at in self.lines_of(numbers):
            row, column = (line, at) if shape.columns else (at, line)
            sides = threadblock.shape_of(self.op.result)
            indices = [*self.ctx.unravel(row, sides[:-1]), column]
            place = start
            for index, stride in zip(indices, view.strides, strict=True):
                place = emit.add(place, emit.mul(index, stride))
            found.append(AlignedWindow(indices, row, column, place))
        return found

    def lines_of(self, numbers: Sequence[Index]) -> list[tuple[Index, Index]]:
        """The line and the first element in it of each piece."""
        emit, pieces, threads = self.ctx.emit, self.shape.pieces, self.ctx.threads
        step, rest = divmod(threads, pieces)
        if rest:
            # Each piece needs a division of its own.
            step, first = 0, list(numbers)
        else:
            first = [numbers[0]] * len(numbers)
        return [
            (
                emit.add(emit.div(number, pieces), n * step),
                emit.mul(emit.rem(number, pieces), self.shape.piece),
            )
            for n, number in enumerate(first)
        ]

    def fetch(self, numbers: Sequence[Index], exists: Condition = True) -> list[SSAValue]:
        """
        Load the windows of some pieces; eight words for each.

        What lies outside of the tensor's whole pieces is not read: the last of these is instead,
        or the first where the tile does not exist.
        """
        emit, piece = self.ctx.emit, self.shape.piece
        last = emit.pick(exists, self.whole - piece, 0)
        words: list[SSAValue] = []
        for window in self.windows(numbers):
            start = emit.sub(window.place, emit.bits(window.place, piece - 1))
            for ahead in (0, piece):
                place = emit.least(emit.add(start, ahead), last)
                words += emit.load(emit.pointer(self.source, place, self.element), i32, PIECE_WORDS)
        return words

    def put(self, numbers: Sequence[Index], words: Sequence[SSAValue], whole: bool) -> None:
        """
        Shift windows into place and store the pieces, with zeros past the tensor's edge.

        Unless `whole`, the last piece may be past the tile's end.
        """
        emit, windows = self.ctx.emit, self.windows(numbers)
        pieces = [
            self.shifted(words[n * 2 * PIECE_WORDS :][: 2 * PIECE_WORDS], window.place)
            for n, window in enumerate(windows)
        ]
        inside = self.is_inside()
        for plain in (True, False):
            with emit.when(inside if plain else emit.negate(inside)):
                for n, (number, window, piece) in enumerate(
                    zip(numbers, windows, pieces, strict=True)
                ):
                    last = not whole and n == len(windows) - 1
                    with emit.when(emit.less(number, self.total) if last else True):
                        self.store(window, piece, plain)

    def is_inside(self) -> Condition:
        """Whether all elements of the tile exist, and were loaded."""
        emit, view = self.ctx.emit, self.ctx.view(self.op)
        sides = threadblock.shape_of(self.op.result)
        inside: list[Condition] = [
            emit.negate(emit.less(extent.limit, side))
            for extent, side in zip(self.extents, sides, strict=True)
            if extent
        ]
        if self.whole != self.size:
            end: Index = view.offset + 1
            for index, side, stride in zip(self.origin, sides, view.strides, strict=True):
                end = emit.add(end, emit.mul(emit.add(index, side - 1), stride))
            inside.append(emit.negate(emit.less(self.whole, end)))
        return emit.all(inside)

    def shifted(self, words: Sequence[SSAValue], place: Index) -> list[SSAValue]:
        """The four words that start at `place` in the tensor, from the eight of their window."""
        emit, item = self.ctx.emit, byte_width(self.element)
        for step in (2, 1):
            aligned = emit.equal(emit.bits(place, step * WORD // item), 0)
            words = [
                emit.select(aligned, here, there)
                for here, there in zip(words, words[step:], strict=False)
            ]
        if item >= WORD:
            return list(words)
        bits = emit.mul(emit.bits(place, WORD // item - 1), 8 * item)
        amount = emit.result(arith.ExtUIOp(emit.i32(bits), i64))
        return [self.joined(low, high, amount) for low, high in pairwise(words)]

    def joined(self, low: SSAValue, high: SSAValue, amount: SSAValue) -> SSAValue:
        """32 bits of two words, `amount` bits behind the lowest."""
        emit = self.ctx.emit
        wide = [emit.result(arith.ExtUIOp(word, i64)) for word in (low, high)]
        upper = emit.result(arith.ShLIOp(wide[1], emit.i64(8 * WORD)))
        both = emit.result(arith.OrIOp(wide[0], upper))
        return emit.result(arith.TruncIOp(emit.result(arith.ShRUIOp(both, amount)), i32))

    def store(self, window: AlignedWindow, words: Sequence[SSAValue], plain: bool) -> None:
        """Store one piece; unless `plain`, with zeros for the elements that do not exist."""
        emit, op = self.ctx.emit, self.op
        item = byte_width(self.element)
        to = shared_offset(self.ctx, shared_layout(op.result), item, window.row, window.column)
        target = emit.pointer(self.target, to, self.element)
        if plain:
            emit.store(target, words)
            return
        valid = self.valid_elements(window)
        emit.store(target, [self.masked(word, n, valid) for n, word in enumerate(words)])
        self.add_rest(window, target, valid)

    def valid_elements(self, window: AlignedWindow) -> Index:
        """How many elements of a piece exist, at most all; none or a negative number if not any."""
        emit = self.ctx.emit
        run = len(window.indices) - (1 if self.shape.columns else 2)
        valid: Index = self.shape.piece
        for dim, (index, extent) in enumerate(zip(window.indices, self.extents, strict=True)):
            if extent is None:
                continue
            if dim == run:
                valid = emit.least(valid, emit.sub(extent.limit, index))
            else:
                valid = emit.pick(emit.less(index, extent.limit), valid, 0)
        return valid

    def masked(self, word: SSAValue, number: int, valid: Index) -> SSAValue:
        """Word `number` of a piece, with zeros behind its `valid` elements."""
        emit, item = self.ctx.emit, byte_width(self.element)
        in_word = WORD // item
        zero = emit.i32(0)
        kept = word
        for count in reversed(range(in_word)):
            exists = emit.less(number * in_word + count, valid)
            part = zero if not count else emit.i32(emit.bits(word, (1 << 8 * item * count) - 1))
            kept = emit.select(exists, kept, part)
        return kept

    def add_rest(self, window: AlignedWindow, target: SSAValue, valid: Index) -> None:
        """
        Copy the elements behind the tensor's last whole piece, as far as a piece has them.

        A load of 16 bytes would reach past the tensor's end.
        """
        emit = self.ctx.emit
        if self.whole == self.size:
            return
        before = emit.sub(self.whole, window.place)

        def element(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            at = emit.add(before, number)
            with emit.when(emit.both(emit.less(-1, at), emit.less(at, valid))):
                place = emit.add(number, self.whole)
                loaded = emit.load(emit.pointer(self.source, place, self.element), self.element, 1)
                emit.store(emit.pointer(target, at, self.element), loaded)
            return []

        with emit.when(emit.less(self.whole, emit.add(window.place, self.shape.piece))):
            emit.loop(self.size - self.whole, [], element)
