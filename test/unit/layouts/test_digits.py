"""Digits of row numbers: what layouts keep of them, against all elements one by one."""

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.layouts.digits import (
    Digit,
    along_others,
    blocks_of_rows,
    digit_over,
    keeps,
    stretched_digit,
    stretched_slots,
    thread_bits,
    without,
)
from mirage_mlir.layouts.layout import RegisterLayout, blocked

SHAPES = st.tuples(*(st.sampled_from([1, 2, 3, 4, 6, 8, 20, 32]) for _ in range(3)))

THREADS = st.sampled_from([32, 64, 128, 256])


def elements(layout: RegisterLayout) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """The elements of each thread and slot."""
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for thread in range(layout.size):
        row, column = layout.position(thread)
        for slot, (down, across) in enumerate(layout.offsets):
            found.setdefault((row + down, column + across), []).append((thread, slot))
    return found


@given(SHAPES, st.integers(1, 5), THREADS, st.sampled_from([1, 4, 8]), st.sampled_from([1, 4, 32]))
def test_layouts_that_keep_a_digit(
    shape: tuple[int, ...], columns: int, threads: int, run: int, most: int
) -> None:
    """Every element has a thread, and no sum of steps leaves the digit."""
    tile = (*shape, 4 * columns)
    digit = Digit(shape[2], shape[1])
    layout = along_others(tile, threads, digit, run, most_inside=most)
    assert keeps(layout, digit)
    found = elements(layout)
    assert set(product(range(prod(shape)), range(4 * columns))) <= set(found)
    for thread in range(layout.size):
        row, _ = layout.position(thread)
        for down, _ in layout.offsets:
            assert digit.value(row + down) == digit.value(row) + digit.value(down)


@given(SHAPES, st.integers(1, 5), THREADS, st.sampled_from([1, 4, 32]), st.booleans())
def test_blocks_of_rows(
    shape: tuple[int, ...], columns: int, threads: int, below: int, together: bool
) -> None:
    """Every element has a thread, and a thread has the same rows inside of each that are above."""
    tile = (*shape, 4 * columns)
    inner = prod(shape[1:]) if together else shape[2]
    layout = blocks_of_rows(tile, threads, inner, 4, below=below)
    assert set(product(range(prod(shape)), range(4 * columns))) <= set(elements(layout))
    for thread in range(layout.size):
        row, _ = layout.position(thread)
        places = [divmod(row + down, inner) for down, _ in layout.offsets]
        above, inside = {place for place, _ in places}, {place for _, place in places}
        assert {*places} == {*product(above, inside)}


@given(SHAPES, st.integers(1, 5), THREADS)
def test_reduced_layouts(shape: tuple[int, ...], columns: int, threads: int) -> None:
    """A thread has the element of the result that its own elements are a part of."""
    digit = Digit(shape[2], shape[1])
    for layout in (
        along_others((*shape, columns), threads, digit, 4),
        blocked((*shape, columns), threads, 4),
    ):
        kept = without(layout, digit)
        if kept is None:
            assert not keeps(layout, digit)
            continue
        own = {
            (digit.without(row + down), column + across)
            for row, column in [layout.position(thread) for thread in range(layout.size)]
            for down, across in layout.offsets
        }
        assert own == set(elements(kept))
        differ = thread_bits(layout, digit)
        assert all(kept.threads[bit] == (0, layout.threads[bit][1]) for bit in differ)


def test_loops_over_registers_that_go_on_from_a_digit() -> None:
    """4 steps of 8 rows are 2 of the rows above and 2 of the digit, where it ends after 16."""
    layout = RegisterLayout(((1, 0), (2, 0), (4, 0)), ((4, 8, 0),))
    kept = without(layout, Digit(1, 16))
    assert kept == RegisterLayout(((0, 0), (0, 0), (0, 0)), ((2, 1, 0),))
    assert without(layout, Digit(1, 12)) is None


@pytest.mark.parametrize(
    ("shape", "dims", "digit"),
    [
        ((4, 20, 12), (1,), Digit(1, 20)),
        ((4, 20, 12), (0,), Digit(20, 4)),
        ((4, 3, 5, 12), (1, 2), Digit(1, 15)),
        ((4, 1, 5, 12), (2,), Digit(1, 5)),
        ((4, 3, 5, 12), (0, 2), None),
        ((4, 20, 12), (1, 2), None),
    ],
)
def test_dimensions_of_a_digit(
    shape: tuple[int, ...], dims: tuple[int, ...], digit: Digit | None
) -> None:
    assert digit_over(shape, dims) == digit
    stretched = tuple(1 if dim in dims else size for dim, size in enumerate(shape))
    assert stretched_digit(stretched, shape) == digit


def test_slots_of_what_is_stretched() -> None:
    """Each slot finds the element of the smaller tile at its own place."""
    shape, digit = (8, 20, 12), Digit(1, 20)
    layout = along_others(shape, 128, digit, 4)
    held = without(layout, digit)
    assert held is not None
    slots = stretched_slots((8, 1, 12), held, layout, shape)
    assert slots is not None
    wanted = np.array([(row // 20, column) for row, column in layout.offsets])
    assert (np.array(held.offsets)[slots] == wanted).all()
    assert stretched_slots((8, 1, 12), blocked((8, 12), 128), layout, shape) is None
