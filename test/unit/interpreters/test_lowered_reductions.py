"""Lowered sums, maxima and norms."""

from collections.abc import Sequence

import lowering_cases as cases
import lowering_tiles as tiles
import pytest
from lowered_kernels import check
from lowering_cases import Linear
from sampling import sampled


@pytest.mark.parametrize("depth", [32, 1024])
def test_sums_of_f32_have_no_bias(depth: int) -> None:
    """A tensor core that summed a thousand matmuls would be off by ten times what is allowed."""
    check(cases.rmsnorm_linear(Linear(2, 1024, 8, 2, depth, 8, "f32")))


@pytest.mark.parametrize("sizes", [(4, 64, 4), (5, 33, 2), (3, 1000, 1), (40, 3, 40)])
@pytest.mark.parametrize("kind", ["f16", "f32"])
def test_softmax(sizes: tuple[int, int, int], kind: str) -> None:
    check(tiles.softmax(*sizes, kind))


@pytest.mark.parametrize("sizes", [(4, 64, 1), (5, 33, 2), (40, 12, 16)])
@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_layer_norm(sizes: tuple[int, int, int], kind: str) -> None:
    check(tiles.layer_norm(*sizes, kind))


@pytest.mark.parametrize("kind", ["sum", "max"])
@pytest.mark.parametrize(
    ("shape", "dims", "cut"),
    sampled(
        [
            ((16, 64), [0], -1),
            ((16, 64), [1], 0),
            ((5, 33), [0, 1], -1),
            ((130, 24), [0], 1),
            ((100, 1), [0], -1),
            ((7,), [0], -1),
            ((4, 5, 7), [0], 1),
            ((4, 5, 7), [1], -1),
            ((4, 5, 7), [0, 1], 2),
            ((4, 5, 7), [0, 2], -1),
            ((4, 5, 7), [2], 0),
            ((2, 3, 4, 6), [1], -1),
            ((2, 3, 4, 6), [0, 2], 3),
            ((2, 3, 4, 6), [1, 3], -1),
            ((47, 5, 3), [0], -1),
            ((33, 21, 8), [0, 2], 1),
            ((70, 4, 1), [0], -1),
        ],
        2,
    ),
)
def test_reduction(shape: Sequence[int], dims: Sequence[int], cut: int, kind: str) -> None:
    check(tiles.reduction(shape, dims, kind, "f16", cut))


@pytest.mark.parametrize("kinds", [("sum", "sum"), ("sum", "max"), ("max", "sum"), ("max", "max")])
@pytest.mark.parametrize(
    ("shape", "step", "cut", "dims"),
    sampled(
        [
            ((5, 33), 8, 1, [1]),
            ((5, 33), 8, 1, [0, 1]),
            ((33, 5), 8, 0, [0]),
            ((16, 64), 16, 0, [1]),
            ((3, 4, 10), 4, 2, [1]),
        ],
        2,
    ),
)
def test_accumulated_reduction(
    shape: Sequence[int], step: int, cut: int, dims: Sequence[int], kinds: tuple[str, str]
) -> None:
    check(tiles.looped_reduction(shape, step, cut, dims, kinds))
