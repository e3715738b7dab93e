"""Inferred shapes against those that numpy gives its results."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.shapes import shapes
from mirage_mlir.shapes.shapes import ShapeError

sizes = st.integers(1, 4)
any_shape = st.lists(sizes, max_size=4).map(tuple)


@st.composite
def shape_and_dims(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int]]:
    """A shape and some of its dimensions, at least one."""
    shape = draw(st.lists(sizes, min_size=1, max_size=4).map(tuple))
    dims = draw(st.lists(st.sampled_from(range(len(shape))), min_size=1, unique=True))
    return shape, dims


@given(any_shape, any_shape)
def test_broadcast(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> None:
    try:
        expected = np.broadcast_shapes(lhs, rhs)
    except ValueError:
        with pytest.raises(ShapeError, match="cannot broadcast"):
            shapes.broadcast(lhs, rhs)
    else:
        assert shapes.broadcast(lhs, rhs) == expected


@given(any_shape, any_shape)
def test_broadcast_to(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    try:
        np.broadcast_to(np.zeros(shape), target)
    except ValueError:
        with pytest.raises(ShapeError, match="cannot broadcast"):
            shapes.broadcast_to(shape, target)
    else:
        assert shapes.broadcast_to(shape, target) == target


@given(any_shape, any_shape)
def test_matmul(lhs: tuple[int, ...], rhs: tuple[int, ...]) -> None:
    if min(len(lhs), len(rhs)) < 2:
        # numpy takes a vector as a row or column; a tile has the rank of its tensor.
        with pytest.raises(ShapeError, match="multiplies matrices"):
            shapes.matmul(lhs, rhs)
        return
    try:
        expected = np.matmul(np.zeros(lhs), np.zeros(rhs)).shape
    except ValueError:
        with pytest.raises(ShapeError, match=r"contracts|cannot broadcast"):
            shapes.matmul(lhs, rhs)
    else:
        assert shapes.matmul(lhs, rhs) == expected


@given(shape_and_dims())
def test_reduce(case: tuple[tuple[int, ...], list[int]]) -> None:
    shape, dims = case
    expected = np.zeros(shape).sum(axis=tuple(dims), keepdims=True).shape
    assert shapes.reduce(shape, dims) == expected


@given(any_shape, st.randoms(use_true_random=False))
def test_transpose(shape: tuple[int, ...], random: Random) -> None:
    permutation = list(range(len(shape)))
    random.shuffle(permutation)
    assert shapes.transpose(shape, permutation) == np.zeros(shape).transpose(permutation).shape


@given(any_shape, any_shape)
def test_reshape(shape: tuple[int, ...], target: tuple[int, ...]) -> None:
    try:
        np.zeros(shape).reshape(target)
    except ValueError:
        with pytest.raises(ShapeError, match="cannot reshape"):
            shapes.reshape(shape, target)
    else:
        assert shapes.reshape(shape, target) == target


@given(shape_and_dims(), st.integers(1, 3))
def test_repeat(case: tuple[tuple[int, ...], list[int]], times: int) -> None:
    shape, (dim, *_) = case
    assert shapes.repeat(shape, dim, times) == np.zeros(shape).repeat(times, axis=dim).shape


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(0, 7), st.integers(1, 3)), max_size=3))
def test_slice(dims: list[tuple[int, int, int]]) -> None:
    """A slice of numpy with as many elements as there are is inferred; one more is refused."""
    shape = [size for size, _, _ in dims]
    offsets = [min(offset, size - 1) for size, offset, _ in dims]
    strides = [stride for _, _, stride in dims]
    whole = tuple(slice(o, None, s) for o, s in zip(offsets, strides, strict=True))
    taken = np.zeros(shape)[whole].shape
    assert shapes.slice_(shape, offsets, taken, strides) == taken
    for dim in range(len(shape)):
        more = [size + (d == dim) for d, size in enumerate(taken)]
        with pytest.raises(ShapeError, match=f"takes elements .* of dim {dim}"):
            shapes.slice_(shape, offsets, more, strides)


@given(st.lists(st.lists(sizes, min_size=2, max_size=2).map(tuple), min_size=1, max_size=3))
def test_concat(operands: list[tuple[int, ...]]) -> None:
    for dim in range(2):
        try:
            expected = np.concatenate([np.zeros(shape) for shape in operands], axis=dim).shape
        except ValueError:
            with pytest.raises(ShapeError, match=f"along dim {dim} tensors that differ in dim"):
                shapes.concat(operands, dim)
        else:
            assert shapes.concat(operands, dim) == expected


@pytest.mark.parametrize(
    ("shape", "dims", "message"),
    [((2, 3), [], "reduces no dim"), ((2, 3), [2], "no dim 2"), ((2, 3), [1, 1], "dim 1 twice")],
)
def test_reduce_rejects(shape: Sequence[int], dims: Sequence[int], message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        shapes.reduce(shape, dims)


@pytest.mark.parametrize("permutation", [(0,), (0, 0), (0, 2), (1, 0, 2)])
def test_transpose_rejects(permutation: Sequence[int]) -> None:
    with pytest.raises(ShapeError, match="permutes dims"):
        shapes.transpose((2, 3), permutation)


def test_normalize() -> None:
    assert shapes.normalize((4, 8), [(8,), (8,)]) == (4, 8)
    with pytest.raises(ShapeError, match="must have shape 8 like dim 1 of the input, not 1x8"):
        shapes.normalize((4, 8), [(1, 8)])
    with pytest.raises(ShapeError, match="rank is 0"):
        shapes.normalize((), [])


@pytest.mark.parametrize(("shape", "text"), [((16, 4096), "16x4096"), ((7,), "7"), ((), "scalar")])
def test_format(shape: Sequence[int], text: str) -> None:
    assert shapes.format_shape(shape) == text


def test_static() -> None:
    shapes.check_static((1, 2), "operand 0")
    with pytest.raises(ShapeError, match="operand 1 has dim 1 of unknown size"):
        shapes.check_static((1, -(1 << 63)), "operand 1")
    with pytest.raises(ShapeError, match="result 0 has dim 0 of size 0"):
        shapes.check_static((0, 2), "result 0")
