"""`x[...]` of a graph's tensor picks what numpy's basic indexing picks."""

from types import EllipsisType
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mirage_mlir as mi
from mirage_mlir.api.slicing import slicing

SHAPE = (3, 4, 5)

INDICES = st.one_of(
    st.integers(-5, 4),
    st.slices(5).filter(lambda each: each.step is None or each.step > 0),
    st.just(...),
    st.none(),
)


@given(st.lists(INDICES, max_size=5).map(tuple))
def test_numpy(key: tuple[int | slice | EllipsisType | None, ...]) -> None:
    x = np.arange(60).reshape(SHAPE)
    try:
        wanted = x[key]
    except IndexError:
        # An empty slice before that is another error.
        with pytest.raises((IndexError, ValueError)):
            slicing(SHAPE, key)
        return
    assume(wanted.size > 0)
    found = slicing(SHAPE, key)
    parts = [
        slice(start, start + (size - 1) * step + 1, step)
        for start, size, step in zip(found.offsets, found.sizes, found.strides, strict=True)
    ]
    assert np.array_equal(x[tuple(parts)].reshape(found.shape), wanted)


REJECTED: list[tuple[Any, type[Exception], str]] = [
    ((0, 0, 0, 0), IndexError, "4 indices for a tensor of rank 3"),
    ((..., ...), IndexError, "at most once"),
    (3, IndexError, "3 is out of range for dimension 0 of size 3"),
    ((slice(None), -5), IndexError, "-5 is out of range for dimension 1 of size 4"),
    (slice(None, None, -1), ValueError, "goes backwards along dimension 0"),
    (slice(2, 2), ValueError, "has no element of dimension 0 of size 3"),
    (slice("a"), TypeError, "is no slice of dimension 0"),
    (slice(0, 1, 0), ValueError, "step cannot be zero"),
    (1.0, TypeError, "not 1.0"),
    (True, TypeError, "not True"),
]


@pytest.mark.parametrize(("key", "error", "message"), REJECTED)
def test_what_is_no_index(key: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        slicing(SHAPE, key)


def test_comparisons() -> None:
    graph = mi.new_kernel_graph("f")
    x = graph.new_input(dims=(4, 6), dtype=mi.float32)
    masks = [x < 0.5, x <= 0.5, x > x.graph.abs(x) - 0.5, 0.5 <= x]
    graph.mark_output(graph.where(masks[0], abs(x), -1.0), *masks)
    value = np.array([[-1.0, 0.0, 0.25, 0.5, 0.75, 2.0]] * 4, np.float32)
    chosen, *found = graph.superoptimize()(value)
    wanted = [value < 0.5, value <= 0.5, value > abs(value) - 0.5, value >= 0.5]
    assert np.array_equal(chosen, np.where(wanted[0], abs(value), -1.0))
    assert all(np.array_equal(*pair) for pair in zip(found, wanted, strict=True))
    with pytest.raises(TypeError, match="has no truth value"):
        assert x < 1.0


def test_tensors() -> None:
    graph = mi.new_kernel_graph("f")
    x = graph.new_input(dims=(4, 6), dtype=mi.float32, name="x")
    assert repr(graph) == "<KernelGraph f: 0 operators, no output yet>"
    graph.mark_output(-x[1:3, ::2].T @ x[:2, None, 0] ** 2)
    assert x.shape == x.dims == (4, 6)
    assert [row.dims for row in x] == [(6,)] * 4
    assert "func.func @f(%x: tensor<4x6xf32>)" in repr(graph)
    value = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
    found = graph.superoptimize()(value)
    wanted = -value[1:3, ::2].T.astype(np.float64) @ value[:2, None, 0].astype(np.float64) ** 2
    assert np.allclose(found, wanted, rtol=1e-4, atol=1e-5)
