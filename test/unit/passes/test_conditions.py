"""Comparisons and selections inside of kernels that the search finds."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sampling import round_robin

import mirage_mlir as mi

ROWS, DEPTH, COLUMNS = 8, 32, 16

Build = Callable[[mi.KernelGraph, Any, Any], mi.Tensor]
Expected = Callable[[Any, Any], Any]


def where(condition: Any, lhs: Any, rhs: Any) -> Any:
    numpy: Any = np
    return numpy.where(condition, lhs, rhs)


PROGRAMS: dict[str, tuple[Build, Expected]] = {
    "leaky relu": (
        lambda g, h, m: g.select(g.compare(h, 0.0, "gt"), h, g.scale(h, 0.1)),
        lambda h, m: where(h > 0, h, 0.1 * h),
    ),
    "number on the left": (
        lambda g, h, m: g.select(g.compare(h, 0.5, "lt"), 2.0, h),
        lambda h, m: where(h < 0.5, 2.0, h),
    ),
    "two numbers": (
        lambda g, h, m: g.mul(h, g.select(m, 3.0, -1.0)),
        lambda h, m: h * where(m != 0, 3.0, -1.0),
    ),
    "compared with the mask": (
        lambda g, h, m: g.select(g.compare(h, m, "ge"), g.square(h), g.exp(m)),
        lambda h, m: where(h >= m, h * h, np.exp(m)),
    ),
    "a number compared": (
        lambda g, h, m: g.select(g.compare(m, 0.5, "le"), h, 0.0),
        lambda h, m: where(m <= 0.5, h, 0.0),
    ),
    "zero elsewhere": (
        lambda g, h, m: g.select(m, h, 0.0),
        lambda h, m: where(m != 0, h, 0.0),
    ),
}


def inputs() -> list[Any]:
    random = np.random.default_rng(0)
    mask = (random.random((ROWS, COLUMNS)) > 0.5).astype(np.float32)
    return [
        random.standard_normal((ROWS, DEPTH)).astype(np.float32),
        random.standard_normal((DEPTH, COLUMNS)).astype(np.float32) / np.float32(6),
        mask,
    ]


def searched(build: Build) -> Any:
    g = mi.KernelGraph()
    x = g.new_input((ROWS, DEPTH), mi.float32, name="x")
    w = g.new_input((DEPTH, COLUMNS), mi.float32, name="w")
    m = g.new_input((ROWS, COLUMNS), mi.float32, name="m")
    g.mark_output(build(g, g.matmul(x, w), m))
    return mi.superoptimize(g, compile_for=["sm_90a"])


@pytest.mark.parametrize("name", PROGRAMS)
def test_in_one_kernel(name: str) -> None:
    build, expected = PROGRAMS[name]
    kernel = searched(build)
    assert kernel.ugraph.count("kernel.graph_defined") == 1
    x, w, m = inputs()
    np.testing.assert_allclose(kernel(x, w, m), expected(x @ w, m), rtol=1e-5, atol=1e-5)


def test_indices_that_are_all_zero() -> None:
    """Both sides of the comparison are the number 0 for the search."""
    g = mi.KernelGraph()
    x = g.new_input((1, 1), mi.float32)
    mask = g.compare(g.iota((1, 1), 0, dtype=mi.float32), g.iota((1, 1), 1, dtype=mi.float32), "ge")
    g.mark_output(g.select(mask, x, g.square(x)))
    found = mi.superoptimize(g, compile_for=["sm_90a"])(np.full((1, 1), 3, np.float32))
    np.testing.assert_array_equal(found, 3)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_number_is_one_of_its_type(dtype: Any) -> None:
    """0.1 of f16 is another number than that of f32, in which kernels compare."""
    g = mi.KernelGraph()
    x = g.new_input((2, 8), dtype)
    g.mark_output(g.compare(g.neg(x), -0.1, "le"))
    found = mi.superoptimize(g, compile_for=["sm_90a"])(np.full((2, 8), 0.1, dtype))
    np.testing.assert_array_equal(found, 1)


def test_a_softmax_of_one_element() -> None:
    """Its exp is 1, which is a factor of everything any number of times."""
    g = mi.KernelGraph()
    x, w, m = (g.new_input(dims, mi.float16) for dims in ((12, 64), (64, 4), (1, 64)))
    total = g.reduce_sum(x, 0)
    g.mark_output(g.repeat(g.matmul(g.abs(total), w), 1, 2))
    g.mark_output(g.select(m, g.softmax(total, 0), -1.0))
    kernel = mi.superoptimize(g, compile_for=["sm_90a"])
    mask = np.arange(64, dtype=np.float16)[None] % 2
    _, found = kernel(np.ones((12, 64), np.float16), np.ones((64, 4), np.float16), mask)
    np.testing.assert_array_equal(found, 2 * mask - 1)


def test_what_is_not_chosen_has_no_effect() -> None:
    """Rows of NaN and infinity under a mask: 0 times them would be NaN."""
    build, _ = PROGRAMS["zero elsewhere"]
    x, w, m = inputs()
    x[2], x[5] = np.nan, np.inf
    m[2] = m[5] = 0
    found = searched(build)(x, w, m)
    np.testing.assert_array_equal(found[[2, 5]], 0)
    assert np.isfinite(found).all()


LOW = float("-inf")
QUERIES, KEYS, WIDTH = 16, 256, 32


def attention(mask: Callable[[mi.KernelGraph, Any, Any], Any], dims: tuple[int, int]) -> Any:
    """Attention of one head in one kernel; its keys are so many that iterations may share them."""
    g = mi.KernelGraph()
    q = g.new_input((QUERIES, WIDTH), mi.float16, name="q")
    k = g.new_input((WIDTH, KEYS), mi.float16, name="k")
    v = g.new_input((KEYS, WIDTH), mi.float16, name="v")
    m = g.new_input(dims, mi.float16, name="m")
    scores = mask(g, g.scale(g.matmul(q, k), WIDTH**-0.5), m)
    g.mark_output(g.matmul(g.softmax(scores, 1), v))
    return mi.superoptimize(g, compile_for=["sm_90a"], max_kernels=1)


MASKED: dict[str, Callable[[mi.KernelGraph, Any, Any], Any]] = {
    "selected": lambda g, s, m: g.select(g.compare(m, 0.0, "eq"), LOW, s),
    "kept": lambda g, s, m: g.select(m, s, LOW),
    "added": lambda g, s, m: g.add(s, g.select(m, 0.0, LOW)),
    "twice": lambda g, s, m: g.select(
        g.compare(m, 2.0, "gt"), LOW, g.select(g.compare(m, 0.5, "lt"), LOW, s)
    ),
    "capped": lambda g, s, m: g.select(m, g.scale(g.tanh(g.scale(s, 0.1)), 10.0), LOW),
}


@pytest.mark.parametrize(("name", "dims"), round_robin(list(MASKED), [(QUERIES, KEYS), (1, KEYS)]))
def test_infinity_that_data_selects(name: str, dims: tuple[int, int]) -> None:
    """Three quarters of the keys are masked, in front of the others and behind them."""
    random = np.random.default_rng(0)
    kernel = attention(MASKED[name], dims)
    assert kernel.ugraph.count("kernel.graph_defined") == 1
    q, k, v = (
        random.standard_normal(shape).astype(np.float16)
        for shape in ((QUERIES, WIDTH), (WIDTH, KEYS), (KEYS, WIDTH))
    )
    scores = (q.astype(np.float64) @ k.astype(np.float64)) * WIDTH**-0.5
    scores = np.tanh(scores / 10) * 10 if name == "capped" else scores
    for first in (0, KEYS - KEYS // 4):
        m = np.zeros(dims, np.float16)
        m[:, first : first + KEYS // 4] = random.random((dims[0], KEYS // 4)) > 0.2
        weights = np.exp(where(m != 0, scores, LOW))
        expected = weights / weights.sum(axis=1, keepdims=True) @ v.astype(np.float64)
        np.testing.assert_allclose(kernel(q, k, v, m), expected, rtol=1e-2, atol=2e-3)
