"""Packed tensors, element by element, against what a kernel reads of them."""

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import pytest

from mirage_mlir.decisions.packing import Array, Packing

# A matrix whose columns are cut by the grid, and whose rows by the loop.
WEIGHTS = Packing(0, (12, 20), (20, 1), (4, 10), (3, 2), (1, 0), 1, 5)

CASES = {
    "panels": WEIGHTS,
    "whole lines": replace(WEIGHTS, panel=10),
    "other order": replace(WEIGHTS, order=(0, 1)),
    "ragged": replace(WEIGHTS, shape=(11, 17), strides=(20, 1)),
    "tiles past the end": replace(WEIGHTS, counts=(4, 3)),
    "fewer tiles than there are": replace(WEIGHTS, counts=(2, 1)),
    "a part of a tensor": replace(WEIGHTS, offset=7, shape=(10, 13)),
    "transposed": Packing(0, (20, 12), (1, 20), (10, 4), (2, 3), (0, 1), 0, 5),
    "three dims": Packing(3, (4, 6, 8), (60, 9, 1), (2, 3, 4), (2, 2, 2), (1, 0, 2), 2, 2),
    "run in the middle": Packing(0, (4, 6, 8), (48, 1, 6), (2, 6, 4), (2, 1, 2), (2, 1, 0), 1, 3),
    "one dim": Packing(2, (30,), (1,), (8,), (4,), (0,), 0, 4),
}


def expected(packing: Packing, memory: Array) -> Array:
    """The packed tensor by the words of `Packing`, an element at a time."""
    found = np.zeros(packing.elements, memory.dtype)
    for tile in product(*map(range, packing.counts)):
        start = packing.piece(tile) * prod(packing.tile)
        others = [dim for dim in range(len(tile)) if dim != packing.run_dim]
        for inner in product(*map(range, packing.tile)):
            line = 0
            for dim in others:
                line = line * packing.tile[dim] + inner[dim]
            lines = prod(packing.tile[dim] for dim in others)
            run, at = divmod(inner[packing.run_dim], packing.panel)
            place = start + (run * lines + line) * packing.panel + at
            index = [t * n + i for t, n, i in zip(tile, packing.tile, inner, strict=True)]
            if all(i < n for i, n in zip(index, packing.shape, strict=True)):
                steps = (i * step for i, step in zip(index, packing.strides, strict=True))
                found[place] = memory[packing.offset + sum(steps)]
    return found.reshape(-1, packing.panel)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("item", [2, 4])
def test_pack(name: str, item: int) -> None:
    packing = CASES[name]
    numbers = np.random.default_rng(0).integers(1, 1 << 16, packing.end)
    memory: Array = numbers.astype(np.dtype(f"u{item}"))
    packed = packing.pack(memory)
    assert packed.shape == (packing.lines, packing.panel)
    assert packed.dtype.itemsize == item
    assert packed.flags.c_contiguous
    np.testing.assert_array_equal(packed, expected(packing, memory))


def test_iterations_of_a_block_follow_each_other() -> None:
    assert [WEIGHTS.piece((iteration, 1)) for iteration in range(3)] == [3, 4, 5]


def test_where_it_ends() -> None:
    assert WEIGHTS.end == 12 * 20
    assert CASES["a part of a tensor"].end == 7 + 9 * 20 + 13


@pytest.mark.parametrize(
    "changes",
    [
        {"tile": (4,)},
        {"order": (0, 0)},
        {"run_dim": 2},
        {"panel": 4},
        {"panel": 0},
        {"counts": (0, 2)},
    ],
)
def test_packings_that_cannot_be(changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="a packing"):
        replace(WEIGHTS, **changes)
