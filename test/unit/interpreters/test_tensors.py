"""Tensors of which some indices are computed have the elements that whole tensors have there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from mirage_mlir.interpreters import views
from mirage_mlir.interpreters.dims import Dim, NotClosed, dim_of, dims_of, join, part, regroup
from mirage_mlir.interpreters.domain import AnyArray
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.tensors import PANEL, DrawnTensor, Tensor, TensorDomain, drawn, made

DOMAIN = TensorDomain(FloatDomain(rounding=False))

Operation = Callable[[Sequence[Tensor[Floats]]], Tensor[Floats]]

Shape = tuple[int, ...]


@st.composite
def dims(draw: st.DrawFn, size: int) -> Dim:
    """All indices or some of them."""
    some = draw(st.lists(st.sampled_from(range(size)), min_size=1, unique=True).map(sorted))
    return draw(st.sampled_from([Dim(size), dim_of(size, np.array(some))]))


def shapes(*sizes: int) -> st.SearchStrategy[tuple[Dim, ...]]:
    return st.tuples(*map(dims, sizes))


class Numbers:
    """A source of whole numbers, each of which says where it is."""

    def __init__(self, shape: Shape):
        self.array = np.random.default_rng(0).permutation(prod(shape)).reshape(shape) - 3.0

    def at(self, places: Sequence[AnyArray]) -> Floats:
        """See `Source`."""
        found: Floats = self.array[tuple(place.astype(np.intp) for place in places)]
        return found[None]


def tensors(shape: tuple[Dim, ...]) -> list[Tensor[Floats]]:
    """The same elements, kept and drawn."""
    source = Numbers(tuple(dim.size for dim in shape))
    tensor = drawn(source, shape)
    return [made(tensor), tensor]


def whole(shape: tuple[Dim, ...]) -> Tensor[Floats]:
    sizes = tuple(dim.size for dim in shape)
    return DOMAIN.literal(Numbers(sizes).array[None])


def values(x: Tensor[Floats]) -> NDArray[np.float64]:
    return DOMAIN.expanded(x)[0].astype(np.float64)


def check(operation: Operation, *operands: tuple[Dim, ...]) -> None:
    """What is computed of some indices is what is computed of all, at those that remain."""
    expected = operation([whole(each) for each in operands])
    assert all(dim.kept is None for dim in expected.dims)
    for number in range(2):
        result = operation([tensors(each)[number] for each in operands])
        assert result.shape == expected.shape
        places = np.ix_(*(dim.indices for dim in result.dims))
        np.testing.assert_array_equal(values(result), values(expected)[places])


def needs_all(operation: Operation, *operands: tuple[Dim, ...], dim: tuple[int, int]) -> None:
    """The same, or an error if not all indices of a dimension of an operand are there."""
    if operands[dim[0]][dim[1]].kept is None:
        check(operation, *operands)
        return
    with pytest.raises(NotClosed, match="needs all"):
        operation([tensors(each)[0] for each in operands])


def test_dimensions() -> None:
    some = dim_of(6, np.array([0, 5]))
    assert some is not dim_of(6, np.array([0, 5]))
    assert some == dim_of(6, np.array([0, 5]))
    assert hash(some) == hash(dim_of(6, np.array([0, 5])))
    assert some != dim_of(6, np.array([0, 4]))
    assert dim_of(3, np.arange(3)) == Dim(3)
    assert some.count == 2
    assert join((some, Dim(2))).indices.tolist() == [0, 5, 6, 7]
    assert part(some, 1, 9, 2)[0].indices.tolist() == [2]
    assert part(Dim(6), 4, 9) == (Dim(2), slice(4, 6, 1))


@given(shapes(6, 4))
def test_reductions(shape: tuple[Dim, ...]) -> None:
    for dim in (0, 1):
        for operation in (DOMAIN.total, DOMAIN.mean):
            needs_all(lambda x, f=operation, d=dim: f(x[0], [d]), shape, dim=(0, dim))

        def largest(x: Sequence[Tensor[Floats]], dim: int = dim) -> Tensor[Floats]:
            found = DOMAIN.largest(x[0], [dim])
            assert found is not None
            return found

        needs_all(largest, shape, dim=(0, dim))


@given(shapes(6, 4))
def test_sparse_sums_are_over_what_is_there(shape: tuple[Dim, ...]) -> None:
    sparse = TensorDomain(FloatDomain(rounding=False), sparse=True)
    x = tensors(shape)[0]
    for dim in (0, 1):
        assert np.array_equal(values(sparse.total(x, [dim])), values(x).sum(dim, keepdims=True))


@given(shapes(2, 5), st.one_of(shapes(2, 5), shapes(1, 5), shapes(5), shapes(2, 1)))
def test_broadcasting(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> None:
    check(lambda x: DOMAIN.add(*x), left, right)
    check(lambda x: DOMAIN.subtract(*x), right, left)


SIDES = st.one_of(shapes(2, 5), shapes(1, 5), shapes(2, 1), shapes(5))


@given(SIDES, SIDES, SIDES)
def test_selections(one: tuple[Dim, ...], two: tuple[Dim, ...], three: tuple[Dim, ...]) -> None:
    check(lambda x: DOMAIN.select(*x), one, two, three)


@pytest.mark.parametrize("broadcast", [0, 1, 2])
def test_a_selection_has_the_size_of_what_is_broadcast(broadcast: int) -> None:
    """One element is stored for all, and the others have size 1."""
    operands = [whole((Dim(1), Dim(1))) for _ in range(3)]
    operands[broadcast] = views.broadcast(DOMAIN, operands[broadcast], (2, 4))
    assert DOMAIN.select(*operands).shape == (2, 4)


@given(shapes(3, 6), st.one_of(shapes(6, 2), shapes(4, 1, 6, 2)))
def test_matmul(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> None:
    if left[-1].kept is None:
        needs_all(lambda x: DOMAIN.matmul(*x), left, right, dim=(1, len(right) - 2))
    else:
        needs_all(lambda x: DOMAIN.matmul(*x), left, right, dim=(0, 1))


@given(shapes(4, 6), st.integers(0, 5), st.integers(0, 8), st.integers(1, 3))
def test_parts(shape: tuple[Dim, ...], start: int, stop: int, stride: int) -> None:
    check(lambda x: DOMAIN.part(x[0], 1, start, max(start, stop), stride), shape)


@given(shapes(3, 4, 2))
def test_views(shape: tuple[Dim, ...]) -> None:
    check(lambda x: views.transpose(DOMAIN, x[0], [2, 0, 1]), shape)
    check(lambda x: views.repeat(DOMAIN, x[0], 1, 3), shape)
    check(lambda x: views.repeat_interleave(DOMAIN, x[0], 1, 3), shape)
    check(lambda x: views.broadcast(DOMAIN, x[0], (5, 3, 4, 2)), shape)


@given(shapes(3, 4), shapes(2, 4), shapes(3, 1))
def test_concatenation(
    first: tuple[Dim, ...], below: tuple[Dim, ...], beside: tuple[Dim, ...]
) -> None:
    check(lambda x: views.concatenate(DOMAIN, [x[0], x[1], x[0]], 0), first, below)
    check(lambda x: views.concatenate(DOMAIN, x, 1), first, beside)


def test_elements_of_views_are_numpys() -> None:
    x = tensors(dims_of((4, 6)))[0]
    p = values(x)
    for result, expected in (
        (views.transpose(DOMAIN, x, [1, 0]), p.T),
        (views.repeat(DOMAIN, x, 1, 2), np.tile(p, (1, 2))),
        (views.repeat_interleave(DOMAIN, x, 1, 2), np.repeat(p, 2, axis=1)),
        (views.reshape(DOMAIN, x, (2, 2, 3, 2)), p.reshape(2, 2, 3, 2)),
        (DOMAIN.part(x, 1, 1, 6, 2), p[:, 1:6:2]),
    ):
        np.testing.assert_array_equal(values(result), expected)


RESHAPES: list[tuple[Shape, Shape]] = [
    ((24,), (4, 6)),
    ((4, 6), (24,)),
    ((2, 6, 2), (4, 3, 2)),
    ((2, 6, 2), (1, 2, 3, 2, 2, 1)),
    ((6, 1, 4), (3, 8)),
    ((1, 1), (1,)),
    ((5, 1), (5,)),
    ((5,), (1, 5, 1)),
]


@given(st.sampled_from(RESHAPES), st.data())
def test_reshape(shapes_of: tuple[Shape, Shape], data: st.DataObject) -> None:
    """What is there is right; only what is no block of the new shape is an error."""
    source, target = shapes_of
    shape = data.draw(shapes(*source))
    try:
        check(lambda x: views.reshape(DOMAIN, x[0], target), shape)
    except NotClosed:
        flat = np.ravel_multi_index(np.ix_(*(dim.indices for dim in shape)), source).reshape(-1)
        found = [len(np.unique(each)) for each in np.unravel_index(flat, target)]
        assert prod(found) > len(flat)


def test_a_reshape_needs_a_block() -> None:
    with pytest.raises(NotClosed, match="a reshape to 2x3 needs other indices"):
        regroup((dim_of(6, np.array([0, 5])),), (2, 3))
    assert regroup((dim_of(6, np.array([2, 5])),), (2, 3)) == (Dim(2), dim_of(3, np.array([2])))


def test_nothing_has_a_sum_but_no_maximum() -> None:
    nothing = DOMAIN.part(tensors(dims_of((3, 4)))[0], 1, 4, 8)
    assert nothing.shape == (3, 0)
    assert not DOMAIN.total(nothing, [1]).array.any()
    assert DOMAIN.largest(nothing, [1]) is None


@pytest.mark.parametrize("right", [False, True])
def test_large_operands_are_made_in_panels(right: bool) -> None:
    """A product with an argument that is not kept is that with all of its elements."""
    size = PANEL // 512
    shape = dims_of((512, size + 100)) if right else dims_of((size + 100, 512))
    large = drawn(Numbers(tuple(dim.size for dim in shape)), shape)
    other = tensors(dims_of((2, 512) if right else (512, 2)))[0]
    assert isinstance(large, DrawnTensor)
    assert large.elements > PANEL
    x, y = (other, large) if right else (large, other)
    expected = values(x) @ values(y)
    np.testing.assert_array_equal(values(DOMAIN.matmul(x, y)), expected)
