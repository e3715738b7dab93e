"""
Row numbers of tiles with several leading dimensions, digit by digit.

A tile of 32 by 20 by 12 elements is a matrix of 640 rows; the row number has a digit for each
leading dimension, in a mixed radix. A layout keeps a digit where no sum of its steps carries into
or out of it. Threads then know the digit without a division, and reduce over it among themselves.
"""

from collections.abc import Iterable, Sequence
from math import prod
from typing import NamedTuple

from mirage_mlir.layouts.layout import (
    WARP_THREADS,
    Position,
    RegisterLayout,
    as_matrix,
    ceil_div,
    largest_power_of_two_divisor,
    power_of_two_at_least,
)


class Digit(NamedTuple):
    """
    Neighbouring leading dimensions of a tile, as a digit of its row number.

    Args:
        step: rows from one value of the digit to the next.
        size: how many values it has.
    """

    step: int
    size: int

    def value(self, row: int) -> int:
        """The digit of a row number."""
        return row // self.step % self.size

    def without(self, row: int) -> int:
        """The row number in a tile that lacks the digit."""
        return row // (self.step * self.size) * self.step + row % self.step


def loops_of(layout: RegisterLayout, digit: Digit) -> list[tuple[int, int, int]]:
    """
    The loops over a thread's registers, those that go on from the digit, or into it, in two.

    A loop of 4 steps of 8 rows is one of 2 of 16 rows, and inside of it one of 2 of 8, where the
    digit ends after 16.
    """
    loops: list[tuple[int, int, int]] = []
    for count, row, column in layout.slots:
        for end in (digit.step * digit.size, digit.step):
            inner = end // row if row and end % row == 0 else count
            if 1 < inner < count and count % inner == 0:
                loops.append((count // inner, end, column * inner))
                count = inner
        loops.append((count, row, column))
    return loops


def keeps(layout: RegisterLayout, digit: Digit) -> bool:
    """Whether no sum of steps of `layout` carries into the digit or out of it."""
    whole = digit.step * digit.size
    below, inside = 0, 0
    farthest = [(row, row) for row, _ in layout.threads]
    farthest += [(row, row * (count - 1)) for count, row, _ in loops_of(layout, digit)]
    for step, most in farthest:
        if step % whole == 0:
            continue
        if step % digit.step == 0:
            inside += most
        elif step < digit.step:
            below += most
        else:
            return False
    return below < digit.step and inside < whole


def without(layout: RegisterLayout, digit: Digit) -> RegisterLayout | None:
    """
    The layout of a value that is the same along a digit of the rows of `layout`; None where that
    does not keep the digit.
    """
    if layout.parts or not keeps(layout, digit):
        return None
    threads = tuple((digit.without(row), column) for row, column in layout.threads)
    slots = tuple(
        (count, digit.without(row), column)
        for count, row, column in loops_of(layout, digit)
        if not digit.value(row)
    )
    return RegisterLayout(threads, slots)


def thread_bits(layout: RegisterLayout, digit: Digit) -> list[int]:
    """The bits of the thread index along which threads differ in the digit."""
    return [bit for bit, (row, _) in enumerate(layout.threads) if digit.value(row)]


def digit_over(shape: Sequence[int], dims: Iterable[int]) -> Digit | None:
    """The digit that some dimensions form; None where others lie between, or columns are there."""
    inside = {*dims}
    leading = [dim for dim in range(len(shape) - 1) if shape[dim] > 1]
    some = [place for place, dim in enumerate(leading) if dim in inside]
    if len(some) != len(inside) or not some or some[-1] - some[0] >= len(some):
        return None
    last = leading[some[-1]]
    return Digit(prod(shape[last + 1 : -1]), prod(shape[dim] for dim in inside))


def stretched_digit(shape: Sequence[int], to: Sequence[int]) -> Digit | None:
    """
    The digit of the row number along which alone a tile of `shape` broadcasts to the shape `to`.
    """
    if len(shape) > len(to):
        # The additional leading dimensions have size 1.
        shape = shape[len(shape) - len(to) :]
    padded = (1,) * (len(to) - len(shape)) + tuple(shape)
    return digit_over(to, (dim for dim, size in enumerate(to) if padded[dim] != size))


def stretched_slots(
    own: Sequence[int], held: RegisterLayout, layout: RegisterLayout, shape: Sequence[int]
) -> list[int] | None:
    """
    The slot of `held`, of a tile of shape `own`, for each slot of `layout`, of the tile broadcast
    along a digit to `shape`; None where another thread has it.
    """
    digit = stretched_digit(own, shape)
    kept = None if digit is None else without(layout, digit)
    if digit is None or kept is None or held.parts or kept.threads != held.threads:
        return None
    places = {place: slot for slot, place in enumerate(held.offsets)}
    wanted = [(digit.without(row), column) for row, column in layout.offsets]
    return [places[each] for each in wanted] if all(w in places for w in wanted) else None


def along_others(
    shape: tuple[int, ...],
    threads: int,
    digit: Digit,
    widest: int,
    *,
    most_across: int = WARP_THREADS,
    most_inside: int = WARP_THREADS,
) -> RegisterLayout:
    """
    A layout that keeps a digit: threads lie along the rows above it first, then along those below,
    the columns, and the digit itself, as far as lanes of one warp do.

    Args:
        shape: of the tile, in elements.
        threads: of the block; those that are left repeat what others have.
        digit: of its row number.
        widest: run of columns, in elements.
        most_across: threads along the columns, a power of two.
        most_inside: threads along the digit, a power of two.
    """
    rows, columns = as_matrix(shape)
    vector = largest_power_of_two_divisor(columns, widest)
    groups, above = ceil_div(columns, vector), rows // (digit.step * digit.size)
    left = 1 << (threads.bit_length() - 1)
    high = min(left, power_of_two_at_least(above))
    low = largest_power_of_two_divisor(digit.step, left // high)
    across = min(left // (high * low), power_of_two_at_least(groups), most_across)
    lanes = min(left // (high * low * across), WARP_THREADS // across, most_inside)
    inside = largest_power_of_two_divisor(digit.size, lanes)
    bits: list[Position] = []
    bits += [(0, vector << k) for k in range(across.bit_length() - 1)]
    bits += [(digit.step << k, 0) for k in range(inside.bit_length() - 1)]
    bits += [(1 << k, 0) for k in range(low.bit_length() - 1)]
    bits += [(digit.step * digit.size << k, 0) for k in range(high.bit_length() - 1)]
    bits += [(0, 0)] * ((threads - 1).bit_length() - len(bits))
    return RegisterLayout(
        tuple(bits),
        (
            (ceil_div(above, high), high * digit.step * digit.size, 0),
            (digit.step // low, low, 0),
            (ceil_div(groups, across), 0, across * vector),
            (digit.size // inside, inside * digit.step, 0),
            (vector, 0, 1),
        ),
    )


def blocks_of_rows(
    shape: tuple[int, ...], threads: int, inner: int, widest: int, *, below: int
) -> RegisterLayout:
    """
    A layout in which each thread has blocks of rows: some of every `inner` ones, in several such.

    Of tiles that lack the rows inside, or those above, it reads one for several of its rows.

    Args:
        shape: of the tile, in elements.
        threads: of the block; those that are left repeat what others have.
        inner: rows that make up a digit of the row number, and divide the rows.
        widest: run of columns, in elements.
        below: threads along those rows, a power of two; as many as divide them.
    """
    rows, columns = as_matrix(shape)
    vector = largest_power_of_two_divisor(columns, widest)
    groups, above = ceil_div(columns, vector), rows // inner
    left = 1 << (threads.bit_length() - 1)
    across = min(left, power_of_two_at_least(groups))
    low = largest_power_of_two_divisor(inner, min(below, left // across))
    high = min(left // (across * low), power_of_two_at_least(above))
    bits: list[Position] = [(0, vector << k) for k in range(across.bit_length() - 1)]
    bits += [(1 << k, 0) for k in range(low.bit_length() - 1)]
    bits += [(inner << k, 0) for k in range(high.bit_length() - 1)]
    bits += [(0, 0)] * ((threads - 1).bit_length() - len(bits))
    return RegisterLayout(
        tuple(bits),
        (
            (ceil_div(above, high), high * inner, 0),
            (inner // low, low, 0),
            (ceil_div(groups, across), 0, across * vector),
            (vector, 0, 1),
        ),
    )
