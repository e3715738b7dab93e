"""Concats of parts that lie in other tensors, lowered: each tile is read as it lies."""

from collections.abc import Sequence

import pytest
from interpreted_launches import superoptimized
from lowered_kernels import check

CASES: dict[str, tuple[Sequence[int], Sequence[Sequence[int]], Sequence[Sequence[int]], int]] = {
    # Of a tensor: the offsets of parts, their sizes, the dimension, with steps of two on others.
    "columns of an image": ((2, 12, 10, 24), ((0, 0, 0, 0), (0, 1, 1, 0)), ((2, 6, 5, 24),) * 2, 3),
    "a roll": ((3, 7, 100), ((0, 2, 0), (0, 0, 0)), ((3, 5, 100), (3, 2, 100)), 1),
    "short lines": ((2, 90, 6, 9), ((0, 0, 0, 1), (0, 0, 2, 1)), ((2, 90, 1, 8), (2, 90, 2, 8)), 2),
    "four groups": ((4, 6, 6, 6, 5), ((0,) * 5, (1, 1, 1, 0, 1)), ((2, 3, 3, 3, 2),) * 2, 3),
}


@pytest.mark.parametrize("target", ["H200", "A100"])
@pytest.mark.parametrize("name", CASES)
def test_values(name: str, target: str) -> None:
    whole, offsets, sizes, dim = CASES[name]
    parts: list[str] = []
    for number, (start, size) in enumerate(zip(offsets, sizes, strict=True)):
        pairs = zip(whole, size, strict=True)
        steps = [2 if 2 * b <= a and not name.endswith(("roll", "lines")) else 1 for a, b in pairs]
        attributes = (
            f"offsets = array<i64: {numbers(start)}>, sizes = array<i64: {numbers(size)}>, "
            f"strides = array<i64: {numbers(steps)}>"
        )
        types = f"({typed(whole)}) -> {typed(size)}"
        parts.append(f"  %{number} = kernel.slice %x {{{attributes}}} : {types}")
    result = [*sizes[0]]
    result[dim] = sum(size[dim] for size in sizes)
    text = "\n".join(
        [
            f"func.func @f(%x: {typed(whole)}) -> {typed(result)} {{",
            *parts,
            f"  %y = kernel.concat %0, %1 {{dim = {dim} : i64}} : "
            f"({', '.join(map(typed, sizes))}) -> {typed(result)}",
            f"  func.return %y : {typed(result)}",
            "}",
        ]
    )
    check(superoptimized(text, target), target=target)


def typed(shape: Sequence[int]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf16>"


def numbers(values: Sequence[int]) -> str:
    return ", ".join(map(str, values))
