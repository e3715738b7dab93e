"""Gradient programs, against differences of the program's own results in float64."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from exact_runs import exact_run
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

import mirage_mlir as mi
from mirage_mlir.dialects import kernel
from mirage_mlir.passes.gradients.backward import backward

Array = NDArray[np.float64]
Build = Callable[[mi.KernelGraph], mi.Tensor | list[mi.Tensor]]

STEP = 1e-6
"""Differences of float64 are good to about its square, and to the roundoff over it."""


def inputs(graph: mi.KernelGraph, *shapes: tuple[int, ...]) -> list[mi.Tensor]:
    return [graph.new_input(dims=shape, dtype=mi.float32) for shape in shapes]


def unary(make: Callable[[mi.KernelGraph, mi.Tensor], mi.Tensor]) -> Build:
    """A program of one operator on one tensor."""
    return lambda graph: make(graph, *inputs(graph, (3, 4)))


def binary(make: Callable[[mi.KernelGraph, mi.Tensor, mi.Tensor], mi.Tensor]) -> Build:
    """A program of one operator on two tensors, which broadcast both ways."""
    return lambda graph: make(graph, *inputs(graph, (2, 1, 4), (3, 1)))


def products(graph: mi.KernelGraph) -> list[mi.Tensor]:
    """With all that broadcasts, and a value that is used twice."""
    x, w, v = inputs(graph, (2, 1, 3, 4), (4, 5), (3, 5, 4))
    y = x @ w
    return [y @ v, graph.square(y)]


def norms(graph: mi.KernelGraph) -> list[mi.Tensor]:
    x, w, b = inputs(graph, (2, 3, 4), (4,), (4,))
    return [graph.rms_norm(x, w), graph.layer_norm(x, w, b), graph.layer_norm(graph.rms_norm(x))]


def views(graph: mi.KernelGraph) -> mi.Tensor:
    (x,) = inputs(graph, (3, 7))
    parts = [x[:, 1:7:2], x[:, 2:5].T, x[2, ::3][None], graph.repeat(x[:, :3], 0, 2)]
    parts += [graph.repeat_interleave(x[:1, :3], 0, 2), graph.broadcast(x[:1, 4:], (2, 3))]
    return graph.exp(graph.concat(parts, 0))


def attention(graph: mi.KernelGraph) -> mi.Tensor:
    q, k, v = inputs(graph, (2, 3, 4), (2, 5, 4), (2, 5, 4))
    return graph.softmax(graph.scale(q @ k.T, 0.5)) @ v


PROGRAMS: dict[str, Build] = {
    "add": binary(lambda g, x, y: x + y),
    "sub": binary(lambda g, x, y: x - y),
    "mul": binary(lambda g, x, y: x * y),
    "div": binary(lambda g, x, y: x / y),
    **{
        name: unary(lambda g, x, name=name: getattr(g, name)(x))
        for name in "exp log log1p square sqrt rsqrt sigmoid silu tanh gelu".split()
    },
    **{
        name: unary(lambda g, x, name=name: getattr(g, name)(x - 1.0))
        for name in ("neg", "abs", "erf", "relu", "expm1", "sin", "cos")
    },
    **{
        name: unary(lambda g, x, name=name: x * getattr(g, name)(3.0 * x))
        for name in ("floor", "ceil", "round")
    },
    "max": binary(lambda g, x, y: g.max(x, y)),
    "min": binary(lambda g, x, y: g.min(x, y)),
    "clamp": unary(lambda g, x: g.clamp(x, 0.8, 1.2)),
    "compare": binary(lambda g, x, y: x * g.compare(x, y, "lt")),
    "select": binary(lambda g, x, y: g.select(g.compare(x, y, "ge"), g.exp(x), x + y)),
    "iota": unary(lambda g, x: x * g.iota((3, 4), 1, mi.float32)),
    "reduce_max": unary(lambda g, x: g.reduce_max(x, 1)),
    "gelu by tanh": unary(lambda g, x: g.gelu(x, approximate="tanh")),
    "softcap": unary(lambda g, x: g.softcap(x, 1.5)),
    "pow": unary(lambda g, x: x**3 + x**-1.5 + x**1 + x**0),
    "scale": unary(lambda g, x: -x + 3.0 * x),
    "cast": unary(lambda g, x: g.cast(g.cast(x, mi.float16), mi.float32)),
    "reduce_sum": unary(lambda g, x: g.reduce_sum(g.square(x), (0, 1))),
    "reduce_mean": unary(lambda g, x: g.reduce_mean(g.square(x), 0)),
    "cumsum": unary(lambda g, x: g.square(g.cumsum(x, 1))),
    "softmax": unary(lambda g, x: g.softmax(x, 0)),
    "constant": unary(lambda g, x: x * g.constant(2.0, (3, 1))),
    "returned": unary(lambda g, x: x),
    "products": products,
    "norms": norms,
    "views": views,
    "attention": attention,
}


def function_of(build: Build) -> FuncOp:
    graph = mi.new_kernel_graph("f")
    built = build(graph)
    graph.mark_output(*([built] if isinstance(built, mi.Tensor) else built))
    function = graph.to_module().body.block.first_op
    assert isinstance(function, FuncOp)
    return function


def dot(values: list[Any], weights: list[Array]) -> float:
    return float(sum((value * weight).sum() for value, weight in zip(values, weights, strict=True)))


@pytest.mark.parametrize("name", PROGRAMS)
def test_differences(name: str) -> None:
    """Along random directions: all inputs at once, and each alone."""
    function = function_of(PROGRAMS[name])
    rng = np.random.default_rng(3)
    count = len(function.body.block.args)
    shapes = [kernel.shape_of(argument) for argument in function.body.block.args]
    values = [rng.uniform(0.5, 1.5, shape) for shape in shapes]
    results = exact_run(function, values)
    weights = [rng.standard_normal(result.shape) for result in results]
    gradient = backward(function, range(count))
    gradient.verify()
    found = exact_run(gradient, [*values, *weights])
    for direction in [*range(count), None]:
        change = [
            rng.standard_normal(shape) * (direction in (None, number))
            for number, shape in enumerate(shapes)
        ]
        ends = [
            dot(exact_run(function, moved), weights)
            for moved in (
                [x + sign * STEP * d for x, d in zip(values, change, strict=True)]
                for sign in (1, -1)
            )
        ]
        wanted = (ends[0] - ends[1]) / (2 * STEP)
        assert np.isclose(dot(found, change), wanted, rtol=1e-6, atol=1e-7)


def test_every_operator_has_a_gradient() -> None:
    names = {op.name for build in PROGRAMS.values() for op in function_of(build).walk()}
    operators = {op.name for op in kernel.Kernel.operations} - {"kernel.graph_defined"}
    assert operators - names == set()


EDGES: dict[str, tuple[Build, list[float]]] = {
    "relu": (unary(lambda g, x: g.relu(x)), [0.0]),
    "abs": (unary(lambda g, x: g.abs(x)), [0.0]),
    "clamp": (unary(lambda g, x: g.clamp(x, 0.0, 1.0)), [1.0]),
    "max": (unary(lambda g, x: g.max(x, 0.0)), [0.5]),
    "min": (unary(lambda g, x: g.min(x, 0.0)), [0.5]),
    "reduce_max": (unary(lambda g, x: g.reduce_max(x, 1)), [0.25]),
}


@pytest.mark.parametrize("name", EDGES)
def test_edges(name: str) -> None:
    """Where all elements are 0 gradients are those of PyTorch 2.13."""
    build, wanted = EDGES[name]
    function = function_of(build)
    (result,) = exact_run(function, [np.zeros((3, 4))])
    (found,) = exact_run(backward(function, [0]), [np.zeros((3, 4)), np.ones(result.shape)])
    assert np.array_equal(found, np.full((3, 4), wanted))


def test_what_does_not_depend_on_an_input() -> None:
    """Only what leads from the inputs asked for to the results is in a gradient program."""

    def build(graph: mi.KernelGraph) -> list[mi.Tensor]:
        x, y = inputs(graph, (3, 4), (3, 4))
        return [graph.relu(y) * x, graph.exp(y)]

    gradient = backward(function_of(build), [0])
    x, y, g, unused = np.random.default_rng(0).standard_normal((4, 3, 4))
    (found,) = exact_run(gradient, [x, y, g, unused])
    assert np.allclose(found, np.maximum(y, 0) * g, rtol=1e-12)
    assert not any(op.name == "kernel.exp" for op in gradient.walk())


def test_gradients_in_python() -> None:
    graph = mi.new_kernel_graph("f")
    x = graph.new_input(dims=(4, 8), dtype=mi.float16, name="x")
    w = graph.new_input(dims=(8, 6), dtype=mi.float16, constant=True, name="w")
    graph.mark_output(graph.rms_norm(x) @ w)
    gradient = graph.backward(w)
    assert "func.func @f__backward(%x: " in repr(gradient)
    assert "%grad0: tensor<4x6xf16>) -> tensor<8x6xf16>" in repr(gradient)
    arrays = [np.random.default_rng(0).standard_normal(dims) for dims in ((4, 8), (8, 6), (4, 6))]
    x_, w_, g_ = (array.astype(np.float16) for array in arrays)
    found = gradient.superoptimize()(x_, w_, g_)
    exact = x_ / np.sqrt((x_.astype(np.float64) ** 2).mean(-1, keepdims=True) + 1e-5)
    wanted = exact.T @ g_.astype(np.float64)
    assert np.linalg.norm(found - wanted) < 1e-3 * np.linalg.norm(wanted)
    with pytest.raises(ValueError, match="is no input of the graph"):
        graph.backward(x + x)
