"""Building graphs: the operators that they become, locations, and arguments that do not fit."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import FileLineColLoc, TensorType
from xdsl.ir import SSAValue
from xdsl.printer import Printer

import mirage_mlir as mi

Build = Callable[[mi.KernelGraph, mi.Tensor], mi.Tensor]

AnyBuild = Callable[[Any, Any], object]
"""Builds what a type checker would not let pass."""


def input_of(*dims: int, dtype: object = mi.float16) -> tuple[mi.KernelGraph, mi.Tensor]:
    """A graph with one input."""
    graph = mi.new_kernel_graph()
    return graph, graph.new_input(dims=dims, dtype=dtype)


def text(graph: mi.KernelGraph) -> str:
    """The graph as MLIR."""
    stream = StringIO()
    Printer(stream=stream).print_op(graph.to_module())
    return stream.getvalue()


def test_program_of_the_readme() -> None:
    graph = mi.new_kernel_graph("rmsnorm_linear")
    x = graph.new_input(dims=(16, 4096), dtype=mi.float16, name="x")
    w = graph.new_input(dims=(4096, 6144), dtype=mi.float16, constant=True, name="w")
    graph.mark_output(graph.matmul(graph.rms_norm(x, normalized_shape=(4096,)), w))
    assert text(graph).splitlines() == [
        "builtin.module {",
        "  func.func @rmsnorm_linear(%x: tensor<16x4096xf16>, "
        "%w: tensor<4096x6144xf16> {kernel.constant}) -> tensor<16x6144xf16> {",
        "    %0 = kernel.rms_norm %x {eps = 1.000000e-05 : f32} : "
        "(tensor<16x4096xf16>) -> tensor<16x4096xf16>",
        "    %1 = kernel.matmul %0, %w : "
        "(tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>",
        "    func.return %1 : tensor<16x6144xf16>",
        "  }",
        "}",
    ]


ELEMENTWISE: dict[str, Build] = {
    "add": lambda g, x: g.add(x, x),
    "sub": lambda g, x: x - x,
    "mul": lambda g, x: x * x,
    "div": lambda g, x: x / x,
    "max": lambda g, x: g.max(x, x),
    "exp": lambda g, x: g.exp(x),
    "log": lambda g, x: g.log(x),
    "square": lambda g, x: g.square(x),
    "sqrt": lambda g, x: g.sqrt(x),
    "rsqrt": lambda g, x: g.rsqrt(x),
    "sigmoid": lambda g, x: g.sigmoid(x),
    "silu": lambda g, x: g.silu(x),
    "gelu": lambda g, x: g.gelu(x, approximate="tanh"),
    "relu": lambda g, x: g.relu(x),
    "tanh": lambda g, x: g.tanh(x),
    "clamp": lambda g, x: g.clamp(x, 0, 6),
    "pow": lambda g, x: g.pow(x, 3),
    "scale": lambda g, x: x * 0.5,
    "softmax": lambda g, x: g.softmax(x),
    "rms_norm": lambda g, x: g.rms_norm(x),
    "layer_norm": lambda g, x: g.layer_norm(x),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_operators_that_keep_the_shape(name: str) -> None:
    graph, x = input_of(4, 6)
    y = ELEMENTWISE[name](graph, x)
    assert (y.dims, y.dtype) == ((4, 6), mi.float16)
    graph.mark_output(y)
    assert f"kernel.{name} " in text(graph)


SHAPES: dict[str, tuple[Build, tuple[int, ...]]] = {
    "matmul": (lambda g, x: x @ g.transpose(x), (2, 4, 4)),
    "reduction": (lambda g, x: g.reduction(x, 2), (2, 4, 1)),
    "reduction of all": (lambda g, x: g.reduce_sum(x, (0, 1, 2)), (1, 1, 1)),
    "reduce_max": (lambda g, x: g.reduce_max(x, -2), (2, 1, 6)),
    "reduce_mean": (lambda g, x: g.reduce_mean(x, [0]), (1, 4, 6)),
    "softmax": (lambda g, x: g.softmax(x, dim=-2), (2, 4, 6)),
    "cumsum": (lambda g, x: g.cumsum(x, -2), (2, 4, 6)),
    "transpose": (lambda g, x: g.transpose(x, 2, 0, 1), (6, 2, 4)),
    "reshape": (lambda g, x: g.reshape(x, (8, -1)), (8, 6)),
    "broadcast": (lambda g, x: g.broadcast(g.reduction(x, 1), (3, 2, 5, 6)), (3, 2, 5, 6)),
    "repeat": (lambda g, x: g.repeat(x, 1, 3), (2, 12, 6)),
    "repeat_interleave": (lambda g, x: g.repeat_interleave(x, -1, 2), (2, 4, 12)),
    "slice": (lambda g, x: g.slice(x, (0, 1, 0), (2, 2, 3), (1, 2, 2)), (2, 2, 3)),
    "chunk": (lambda g, x: g.chunk(x, 3)[2], (2, 4, 2)),
    "concat": (lambda g, x: g.concat([x, x], -3), (4, 4, 6)),
    "numbers": (lambda g, x: 1 - 2 / (x + 1) + 0.5 * x, (2, 4, 6)),
    "constant": (lambda g, x: x + g.constant(1, (6,), mi.float16), (2, 4, 6)),
    "weight with leading ones": (
        lambda g, x: g.rms_norm(x, g.new_input(dims=(1, 6))),
        (2, 4, 6),
    ),
}


@pytest.mark.parametrize("name", SHAPES)
def test_operators_that_change_the_shape(name: str) -> None:
    build, wanted = SHAPES[name]
    graph, x = input_of(2, 4, 6)
    y = build(graph, x)
    assert y.dims == wanted
    graph.mark_output(y)
    graph.to_module().verify()


def test_cast_and_dtypes_of_other_libraries() -> None:
    graph, x = input_of(4, dtype=np.float16)
    assert graph.cast(x, "bfloat16").dtype is mi.bfloat16
    assert repr(graph.cast(x, mi.float32)) == "<Tensor 4xf32>"


def test_operators_know_the_line_that_made_them() -> None:
    _, x = input_of(4, 4)
    made = [x.graph.exp(x), x + x]
    line = test_operators_know_the_line_that_made_them.__code__.co_firstlineno + 2
    for tensor in made:
        location = location_of(tensor.value)
        assert location.filename.data == __file__
        assert location.line.data == line


def location_of(value: SSAValue) -> FileLineColLoc:
    location = getattr(value.owner, "location", None)
    assert isinstance(location, FileLineColLoc)
    return location


def test_a_graph_can_grow_after_it_was_read() -> None:
    graph, x = input_of(4, 4)
    graph.mark_output(x + x)
    before = text(graph)
    graph.mark_output(graph.exp(x))
    assert text(graph) != before
    results = graph.to_module().body.block.first_op
    assert results is not None
    assert text(graph).count("func.return") == 1
    assert "kernel.exp" in text(graph)


REJECTED: dict[str, tuple[AnyBuild, type[Exception], str]] = {
    "matmul": (lambda g, x: x @ x, ValueError, r"contracts lhs dim 1 \(size 6\)"),
    "add": (lambda g, x: x + g.new_input((5, 6)), ValueError, "cannot broadcast 4x6 with 5x6"),
    "types": (lambda g, x: x + g.new_input((4, 6), mi.float32), ValueError, "f32"),
    "reduction": (lambda g, x: g.reduction(x, 2), ValueError, "no dimension 2 in the shape"),
    "softmax": (lambda g, x: g.softmax(x, -3), ValueError, "no dimension -3"),
    "cumsum": (lambda g, x: g.cumsum(x, -3), ValueError, "no dimension -3"),
    "transpose": (lambda g, x: g.transpose(x, 0, 0), ValueError, r"\[0, 0\]"),
    "reshape": (lambda g, x: g.reshape(x, (5, 5)), ValueError, "24 elements"),
    "reshape -1": (lambda g, x: g.reshape(x, (5, -1)), ValueError, r"\(5, -1\)"),
    "reshape -2": (lambda g, x: g.reshape(x, (-2, 12)), ValueError, "dims are positive"),
    "normalized_shape": (
        lambda g, x: g.rms_norm(x, normalized_shape=(4,)),
        ValueError,
        r"normalized_shape is \(4,\); .* \(6,\) here",
    ),
    "weight": (lambda g, x: g.rms_norm(x, g.new_input((4,))), ValueError, "shape 6"),
    "bias": (
        lambda g, x: g.layer_norm(x, bias=g.new_input((6,))),
        ValueError,
        "bias only together with a weight",
    ),
    "chunk": (lambda g, x: g.chunk(x, 4)[0], ValueError, "of size 6 is no 4 equal parts"),
    "slice": (lambda g, x: g.slice(x, (0, 3), (4, 4)), ValueError, "elements 3 to 6 of dim 1"),
    "concat": (lambda g, x: g.concat([], 0), ValueError, "at least one tensor"),
    "clamp": (lambda g, x: g.clamp(x, 6, 0), ValueError, "6"),
    "gelu": (lambda g, x: g.gelu(x, "fast"), ValueError, "fast"),
    "infinite": (lambda g, x: x * float("inf"), ValueError, "factor is a finite number, not inf"),
    "no number": (lambda g, x: g.scale(x, np.ones(3)[:2].sum), TypeError, "factor is a number"),
    "eps": (lambda g, x: g.rms_norm(x, eps=True), TypeError, "eps is a number, not True"),
    "no tensor": (lambda g, x: g.exp(2.0), TypeError, "not float"),
    "two numbers": (lambda g, x: g.add(2.0, 3.0), TypeError, "not float"),
    "other graph": (lambda g, x: x + input_of(4, 6)[1], ValueError, "belongs to another graph"),
    "dims": (lambda g, x: g.new_input((4, 0)), ValueError, r"dims are positive, not \(4, 0\)"),
    "float dims": (lambda g, x: g.new_input((4.0, 2)), TypeError, "dims are integers, not 4.0"),
    "dtype": (lambda g, x: g.new_input((4,), "float64"), TypeError, "'float64' is not supported"),
    "name": (lambda g, x: g.new_input((4,), name="a b"), ValueError, "'a b'"),
    "number as name": (lambda g, x: g.new_input((4,), name=3), TypeError, "is a string, not 3"),
    "constant": (lambda g, x: g.new_input((4,), constant="yes"), TypeError, "True or False"),
    "no dims": (lambda g, x: g.new_input(4), TypeError, "dims are a sequence of integers, not 4"),
    "digits": (lambda g, x: g.new_input("44"), TypeError, "dims are a sequence of integers"),
    "size": (lambda g, x: g.new_input((10**18,)), ValueError, "1000000000000000000 elements"),
    "product": (lambda g, x: g.new_input((2**21, 2**21)), ValueError, "no GPU holds it"),
    "rank": (lambda g, x: g.new_input((1,) * 202), ValueError, "has rank 202, more than 16"),
    "no offsets": (lambda g, x: g.slice(x, 3, 4), TypeError, "offsets are a sequence"),
    "no chunks": (lambda g, x: g.chunk(x, 0), ValueError, "chunks is at least 1, not 0"),
    "half chunks": (lambda g, x: g.chunk(x, 2.5), TypeError, "chunks is an integer, not 2.5"),
    "times": (lambda g, x: g.repeat(x, 0, "2"), TypeError, "times is an integer, not '2'"),
    "one tensor": (lambda g, x: g.concat(x, 0), TypeError, "not one tensor"),
    "no dim": (lambda g, x: g.reduce_sum(x, None), TypeError, "integers, not None"),
    "dim as text": (lambda g, x: g.reduce_max(x, "01"), TypeError, "not '01'"),
    "two dims": (lambda g, x: g.softmax(x, (0, 1)), TypeError, r"not \(0, 1\)"),
    "softmax of a number": (lambda g, x: g.softmax(3), TypeError, "not int"),
    "approximate": (lambda g, x: g.gelu(x, None), TypeError, "approximate is a string, not None"),
    "precision": (lambda g, x: g.matmul(x, x, 32), TypeError, "precision is a string, not 32"),
    "negative eps": (lambda g, x: g.rms_norm(x, eps=-1), ValueError, "eps -1.0, which is below 0"),
    "large eps": (lambda g, x: g.rms_norm(x, eps=1e39), ValueError, "out of the range of f32"),
    "no float": (lambda g, x: x + 10**400, ValueError, "operand is a finite number"),
    "NaN": (lambda g, x: g.pow(x, float("nan")), ValueError, "exponent is a finite number"),
    "array": (lambda g, x: np.ones(3) * x, TypeError, "factor is a number"),
    "shape": (lambda g, x: g.rms_norm(x, normalized_shape=6), TypeError, "a sequence of integers"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_arguments_that_do_not_fit(name: str) -> None:
    build, error, message = REJECTED[name]
    graph, x = input_of(4, 6)
    with pytest.raises(error, match=message):
        build(graph, x)
    # What was rejected left nothing behind.
    graph.mark_output(x + x)
    graph.to_module().verify()


def test_no_output() -> None:
    graph: Any = input_of(4, 6)[0]
    with pytest.raises(ValueError, match="call mark_output before"):
        graph.to_module()
    with pytest.raises(TypeError, match="not list"):
        graph.mark_output([1])


def test_numbers_of_numpy() -> None:
    graph, x = input_of(4, 6)
    add: Any = graph.add
    graph.mark_output(add(x, np.float32(3)))
    assert "value = 3.000000e+00" in text(graph)


def test_name_of_the_graph() -> None:
    with pytest.raises(ValueError, match="'my graph'"):
        mi.new_kernel_graph("my graph")
    new_kernel_graph: Any = mi.new_kernel_graph
    with pytest.raises(TypeError, match="is a string, not 3"):
        new_kernel_graph(3)


def test_constant_inputs_keep_their_place() -> None:
    graph, _ = input_of(4, 4)
    w = graph.new_input(dims=(4, 4), constant=True)
    graph.mark_output(w + w)
    first = text(graph).splitlines()[1]
    assert "%input0: tensor<4x4xf16>, %input1: tensor<4x4xf16> {kernel.constant})" in first
    assert isinstance(w.value.type, TensorType)


def test_precision_of_a_product() -> None:
    graph = mi.new_kernel_graph()
    x, w = (graph.new_input((8, 8), dtype=mi.float32) for _ in range(2))
    graph.mark_output(graph.matmul(x, w, precision="tf32"))
    assert 'kernel.matmul %input0, %input1 {precision = "tf32"}' in str(graph.to_module())
    with pytest.raises(ValueError, match="tf32"):
        graph.matmul(x, w, precision="bf16")
