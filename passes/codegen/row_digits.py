"""
Emits the indices of leading dimensions that a row number stands for.

Where a layout keeps the digits of the row number (see `mirage_mlir/layouts/digits.py`) they are
sums of bits of the thread index. Else they take divisions, by numbers that are no powers of two.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import SSAValue

from mirage_mlir.layouts.digits import Digit, keeps
from mirage_mlir.layouts.layout import RegisterLayout
from mirage_mlir.passes.codegen.emitter import Emitter, Index


@dataclass(frozen=True)
class RowPlace:
    """
    A row of a thread's part of a tile.

    Args:
        layout: of the tile.
        offset: of the slot, in rows.
        bounded: whether the last row that exists stands for those behind it.
    """

    layout: RegisterLayout
    offset: int
    bounded: bool = False


@dataclass
class RowDigits:
    """
    The rows that were emitted so far, and their digits.

    Args:
        bits: the sum of given steps of the thread index's set bits.
        places: what is known of a row number.
    """

    emit: Emitter
    bits: Callable[[list[int]], Index]
    places: dict[SSAValue, RowPlace] = field(default_factory=dict[SSAValue, RowPlace])

    def note(self, row: Index, layout: RegisterLayout, offset: int) -> None:
        """Note that `row` is that of a slot with a certain offset."""
        if isinstance(row, SSAValue):
            self.places[row] = RowPlace(layout, offset)

    def at_most(self, row: Index, rows: int, run: int) -> Index:
        """`row`, or the last of which a `run` exists, of so many `rows`."""
        place = self.places.get(row) if isinstance(row, SSAValue) else None
        row = self.emit.least(row, rows - run)
        if place is not None and isinstance(row, SSAValue) and run == 1:
            self.places[row] = RowPlace(place.layout, place.offset, bounded=True)
        return row

    def unravel(self, row: Index, leading: tuple[int, ...]) -> list[Index]:
        """The indices of the leading dims that a row number stands for."""
        place = self.places.get(row) if isinstance(row, SSAValue) else None
        digits = digits_of(leading)
        if place is not None and is_worth(place.layout, digits):
            return self._kept(place, digits)
        indices: list[Index] = []
        for digit in reversed(digits):
            if digit.size == 1:
                indices.append(0)
            elif digit == outermost(digits):
                indices.append(row)
            else:
                indices.append(self.emit.rem(row, digit.size))
                row = self.emit.div(row, digit.size)
        return indices[::-1]

    def _kept(self, place: RowPlace, digits: list[Digit]) -> list[Index]:
        """The digits of a row, each of which is the sum of its own steps."""
        indices: list[Index] = []
        rows = [row for row, _ in place.layout.threads]
        for digit in digits:
            if digit == outermost(digits):
                steps = [row // digit.step for row in rows]
                index = self.emit.add(self.bits(steps), place.offset // digit.step)
                indices.append(self.emit.least(index, digit.size - 1) if place.bounded else index)
            else:
                steps = [digit.value(row) for row in rows]
                indices.append(self.emit.add(self.bits(steps), digit.value(place.offset)))
        return indices


def digits_of(leading: tuple[int, ...]) -> list[Digit]:
    """The digits of a row number, outermost first."""
    return [Digit(prod(leading[dim + 1 :]), size) for dim, size in enumerate(leading)]


def outermost(digits: list[Digit]) -> Digit:
    """The first digit that has several values."""
    return next((digit for digit in digits if digit.size > 1), digits[0])


def is_worth(layout: RegisterLayout, digits: list[Digit]) -> bool:
    """Whether division by some digit's size takes long, and `layout` keeps all digits."""
    inner = [d for d in digits if d.size > 1 and d != outermost(digits)]
    odd = any(digit.size & (digit.size - 1) for digit in inner)
    return odd and all(keeps(layout, digit) for digit in inner)
