"""Tensors whose dimensions repeat compute what the tensors of all their elements compute."""

from collections.abc import Callable
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mirage_mlir.interpreters import axes as axes_module
from mirage_mlir.interpreters import views
from mirage_mlir.interpreters.axes import Axis, distinct, make_axis, refine, special, uniform
from mirage_mlir.interpreters.field_domain import FieldDomain, Pairs
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain

Operation = Callable[[TensorDomain[Pairs], Tensor[Pairs]], Tensor[Pairs] | None]


@st.composite
def axes(draw: st.DrawFn, size: int) -> Axis:
    labels = draw(st.lists(st.integers(0, min(size - 1, 3)), min_size=size, max_size=size))
    return draw(st.sampled_from([make_axis(np.array(labels)).axis, distinct(size), uniform(size)]))


@st.composite
def shapes(draw: st.DrawFn, *sizes: int) -> tuple[Axis, ...]:
    return tuple(draw(axes(size)) for size in sizes)


class Laboratory:
    """Random tensors over one random interpretation of the fields."""

    def __init__(self, seed: int = 0):
        self.field = FieldDomain(2, [seed])
        self.domain = TensorDomain(self.field)

    def tensor(self, shape: tuple[Axis, ...]) -> Tensor[Pairs]:
        return Tensor(self.field.random([axis.classes for axis in shape]), shape)

    def expanded(self, x: Tensor[Pairs]) -> Tensor[Pairs]:
        return self.domain.literal(self.domain.expanded(x))

    def assert_equal(self, x: Tensor[Pairs] | None, y: Tensor[Pairs] | None) -> None:
        assert x is not None
        assert y is not None
        assert x.shape == y.shape
        assert self.field.shape(x.array)[1:] == tuple(axis.classes for axis in x.axes)
        left, right = self.domain.expanded(x), self.domain.expanded(y)
        assert (left.p == right.p).all()
        assert left.q is not None
        assert right.q is not None
        assert (left.q == right.q).all()

    def check(self, operation: Operation, shape: tuple[Axis, ...]) -> None:
        x = self.tensor(shape)
        expected = operation(self.domain, self.expanded(x))
        self.assert_equal(operation(self.domain, x), expected)


def test_axes_are_interned() -> None:
    assert special(6, [0, 5]) is special(6, [5, 0, 9])
    assert special(3, [0, 1]) is distinct(3)
    assert distinct(1) is uniform(1)
    assert special(8, [0]).counts.tolist() == [1, 7]
    assert refine(uniform(5), distinct(5)).axis is distinct(5)


@given(shapes(6, 4))
def test_reductions(shape: tuple[Axis, ...]) -> None:
    laboratory = Laboratory()
    for dims in ([0], [1], [0, 1]):
        laboratory.check(lambda d, x, dims=dims: d.total(x, dims), shape)
        laboratory.check(lambda d, x, dims=dims: d.mean(x, dims), shape)
        laboratory.check(lambda d, x, dims=dims: d.largest(x, dims), shape)


@given(st.tuples(shapes(2, 5), shapes(2, 5), shapes(1, 5), shapes(5)))
def test_broadcasting(operands: tuple[tuple[Axis, ...], ...]) -> None:
    laboratory = Laboratory()
    first, *others = map(laboratory.tensor, operands)
    for other in others:
        result = laboratory.domain.add(first, other)
        expected = laboratory.domain.add(laboratory.expanded(first), laboratory.expanded(other))
        laboratory.assert_equal(result, expected)
        laboratory.assert_equal(laboratory.domain.add(other, first), expected)


@given(st.tuples(shapes(3, 6), shapes(6, 2), shapes(4, 1, 6, 2)))
def test_matmul(operands: tuple[tuple[Axis, ...], ...]) -> None:
    laboratory = Laboratory()
    left, *others = map(laboratory.tensor, operands)
    for right in others:
        expected = laboratory.domain.matmul(laboratory.expanded(left), laboratory.expanded(right))
        laboratory.assert_equal(laboratory.domain.matmul(left, right), expected)


@given(shapes(4, 6), st.data())
def test_parts(shape: tuple[Axis, ...], data: st.DataObject) -> None:
    start, stop = data.draw(st.integers(0, 5)), data.draw(st.integers(0, 8))
    stride = data.draw(st.integers(1, 3))
    Laboratory().check(lambda d, x: d.part(x, 1, start, max(start, stop), stride), shape)


@given(shapes(3, 4, 2))
def test_views(shape: tuple[Axis, ...]) -> None:
    laboratory = Laboratory()
    laboratory.check(lambda d, x: views.transpose(d, x, [2, 0, 1]), shape)
    laboratory.check(lambda d, x: views.repeat(d, x, 1, 3), shape)
    laboratory.check(lambda d, x: views.repeat_interleave(d, x, 1, 3), shape)
    laboratory.check(lambda d, x: views.broadcast(d, d.total(x, [0]), (5, 3, 4, 2)), shape)


@given(st.tuples(shapes(3, 4), shapes(2, 4), shapes(3, 1)))
def test_concatenation(operands: tuple[tuple[Axis, ...], ...]) -> None:
    laboratory = Laboratory()
    first, below, beside = map(laboratory.tensor, operands)
    for parts, dim in (([first, below, first], 0), ([first, beside], 1)):
        expected = views.concatenate(laboratory.domain, list(map(laboratory.expanded, parts)), dim)
        laboratory.assert_equal(views.concatenate(laboratory.domain, parts, dim), expected)


def test_elements_of_views_are_numpys() -> None:
    """The literal case, against numpy itself."""
    laboratory = Laboratory()
    domain, x = laboratory.domain, laboratory.tensor((distinct(4), distinct(6)))
    p = x.array.p
    for result, expected in (
        (views.transpose(domain, x, [1, 0]), np.swapaxes(p, 1, 2)),
        (views.repeat(domain, x, 1, 2), np.tile(p, (1, 1, 2))),
        (views.repeat_interleave(domain, x, 1, 2), np.repeat(p, 2, axis=2)),
        (views.reshape(domain, x, (2, 2, 3, 2)), p.reshape(-1, 2, 2, 3, 2)),
        (domain.part(x, 1, 1, 6, 2), p[:, :, 1:6:2]),
    ):
        assert (domain.expanded(result).p == expected).all()


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ((24,), (4, 6)),
        ((4, 6), (24,)),
        ((2, 6, 2), (4, 3, 2)),
        ((2, 6, 2), (1, 2, 3, 2, 2, 1)),
        ((6, 1, 4), (3, 8)),
        ((1, 1), (1,)),
        ((5, 1), (5,)),
        ((5,), (1, 5, 1)),
    ],
)
@given(st.data())
def test_reshape(source: tuple[int, ...], target: tuple[int, ...], data: st.DataObject) -> None:
    assert prod(source) == prod(target)
    shape = data.draw(shapes(*source))
    Laboratory().check(lambda d, x: views.reshape(d, x, target), shape)


def test_nothing_has_a_sum_but_no_maximum() -> None:
    laboratory = Laboratory()
    nothing = laboratory.domain.part(laboratory.tensor((distinct(3), distinct(4))), 1, 4, 8)
    assert nothing.shape == (3, 0)
    assert not laboratory.domain.total(nothing, [1]).array.p.any()
    assert laboratory.domain.largest(nothing, [1]) is None


def test_a_repeating_tensor_is_small() -> None:
    """What multiplicities are for: a sum over 4096 is one over three classes."""
    laboratory = Laboratory()
    x = laboratory.tensor((uniform(16), special(4096, [0, 4095])))
    y = laboratory.tensor((special(4096, [0, 4095]), special(6144, [0])))
    product = laboratory.domain.matmul(x, y)
    assert product.shape == (16, 6144)
    assert product.array.p.shape == (2, 1, 2)


def test_axes_of_many_indices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels that are not sorted make the axis that sorting makes."""
    random = np.random.default_rng(0)
    for labels in (random.integers(0, 9, 1000) * 3, np.arange(1000) // 100, np.full(700, 5)):
        sorted_, taken = make_axis(labels)
        with monkeypatch.context() as patch:
            patch.setattr(axes_module, "MANY", 64)
            counted, also_taken = make_axis(labels)
        assert counted is not sorted_
        np.testing.assert_array_equal(counted.labels, sorted_.labels)
        np.testing.assert_array_equal(counted.first, sorted_.first)
        np.testing.assert_array_equal(counted.counts, sorted_.counts)
        np.testing.assert_array_equal(also_taken, taken)
