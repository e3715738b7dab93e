"""Every operator of the kernel dialect against numpy in f64."""

from __future__ import annotations

from collections.abc import Callable
from math import erf, pi, sqrt

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters import NotInterpretable, run_function

Array = NDArray[np.float64]
Parse = Callable[[str], list[FuncOp]]

Function = Callable[[Array], Array]


def draw(seed: int, *shape: int) -> Array:
    """Numbers that f32 holds exactly."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(np.float64)


X = draw(1, 4, 6)
ROW = draw(2, 6)
POSITIVE = np.abs(X)


def run_one(parse: Parse, op: str, shapes: str, result: str, *inputs: Array) -> Array:
    """The result of one operator on arguments %0, %1, ..."""
    types = [f"tensor<{shape}xf32>" for shape in shapes.split()]
    arguments = ", ".join(f"%{i}: {type_}" for i, type_ in enumerate(types))
    result = f"tensor<{result}xf32>"
    (function,) = parse(
        f"func.func @f({arguments}) -> {result} {{\n"
        f"%r = kernel.{op} : ({', '.join(types)}) -> {result}\n"
        f"func.return %r : {result}\n}}"
    )
    (array,) = run_function(function, inputs, rounding=False)
    return array


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def errors(x: Array) -> Array:
    return np.array([erf(value) for value in x.flat]).reshape(x.shape)


def normalized(x: Array, eps: float) -> Array:
    return x / np.sqrt(np.mean(x**2, axis=-1, keepdims=True) + eps)


UNARY: list[tuple[str, Function]] = [
    ("exp", np.exp),
    ("square", np.square),
    ("sigmoid", sigmoid),
    ("silu", lambda x: x * sigmoid(x)),
    ("gelu", lambda x: x / 2 * (1 + errors(x / sqrt(2)))),
    (
        'gelu {approximate = "tanh"}',
        lambda x: x / 2 * (1 + np.tanh(sqrt(2 / pi) * (x + 0.044715 * x**3))),
    ),
    ("relu", lambda x: np.maximum(x, 0)),
    ("tanh", np.tanh),
    ("clamp {min = -5.0e-01 : f32, max = 2.5e-01 : f32}", lambda x: np.clip(x, -0.5, 0.25)),
    ("pow {exponent = 3.0 : f32}", lambda x: x**3),
    ("scale {factor = 1.0e-01 : f32}", lambda x: x / 10),
    ("softmax {dim = 0 : i64}", lambda x: np.exp(x) / np.exp(x).sum(0)),
    ("softmax {dim = 1 : i64}", lambda x: np.exp(x) / np.exp(x).sum(1, keepdims=True)),
    ("rms_norm {eps = 1.0e-02 : f32}", lambda x: normalized(x, 0.01)),
    (
        "layer_norm {eps = 1.0e-02 : f32}",
        lambda x: normalized(x - x.mean(1, keepdims=True), 0.01),
    ),
    ("cast", lambda x: x),
]


@pytest.mark.parametrize(("op", "expected"), UNARY)
def test_unary(parse: Parse, op: str, expected: Function) -> None:
    name, _, properties = op.partition(" ")
    result = run_one(parse, f"{name} %0 {properties}", "4x6", "4x6", X)
    assert np.allclose(result, expected(X), rtol=1e-12, atol=1e-13)


UNARY_OF_POSITIVE: list[tuple[str, Function]] = [
    ("log", np.log),
    ("sqrt", np.sqrt),
    ("rsqrt", lambda x: 1 / np.sqrt(x)),
    ("pow {exponent = -1.5 : f32}", lambda x: x**-1.5),
]


@pytest.mark.parametrize(("op", "expected"), UNARY_OF_POSITIVE)
def test_unary_of_positive(parse: Parse, op: str, expected: Function) -> None:
    name, _, properties = op.partition(" ")
    result = run_one(parse, f"{name} %0 {properties}", "4x6", "4x6", POSITIVE)
    assert np.allclose(result, expected(POSITIVE), rtol=1e-12)


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("div", np.divide),
        ("max", np.maximum),
    ],
)
def test_binary(parse: Parse, op: str, expected: Callable[[Array, Array], Array]) -> None:
    column = X[:, :1]
    for shape, other in (("4x6", X[::-1]), ("6", ROW), ("4x1", column)):
        result = run_one(parse, f"{op} %0, %1", f"4x6 {shape}", "4x6", X, other)
        assert np.allclose(result, expected(X, other), rtol=1e-13)


@pytest.mark.parametrize(
    ("op", "expected"),
    [("reduce_sum", np.sum), ("reduce_max", np.max), ("reduce_mean", np.mean)],
)
def test_reductions(parse: Parse, op: str, expected: Callable[..., Array]) -> None:
    for dims, result in (((0,), "1x6"), ((1,), "4x1"), ((0, 1), "1x1")):
        text = f"{op} %0 {{dims = array<i64: {', '.join(map(str, dims))}>}}"
        found = run_one(parse, text, "4x6", result, X)
        assert np.allclose(found, expected(X, axis=dims, keepdims=True), rtol=1e-13)


def test_matmul_broadcasts_leading_dimensions(parse: Parse) -> None:
    left, right = draw(3, 2, 1, 3, 5), draw(4, 4, 5, 2)
    result = run_one(parse, "matmul %0, %1", "2x1x3x5 4x5x2", "2x4x3x2", left, right)
    assert np.allclose(result, left @ right, rtol=1e-12, atol=1e-13)


def test_norms_with_parameters(parse: Parse) -> None:
    eps = "{eps = 1.0e-02 : f32}"
    result = run_one(parse, f"rms_norm %0, %1 {eps}", "4x6 6", "4x6", X, ROW)
    assert np.allclose(result, normalized(X, 0.01) * ROW, rtol=1e-12)
    result = run_one(parse, f"layer_norm %0, %1, %2 {eps}", "4x6 6 6", "4x6", X, ROW, ROW[::-1])
    centred = X - X.mean(1, keepdims=True)
    assert np.allclose(result, normalized(centred, 0.01) * ROW + ROW[::-1], rtol=1e-12, atol=1e-12)


VIEWS: list[tuple[str, str, Function]] = [
    ("transpose %0 {permutation = array<i64: 1, 0>}", "6x4", np.transpose),
    ("reshape %0", "2x12", lambda x: x.reshape(2, 12)),
    ("broadcast %0", "3x4x6", lambda x: np.broadcast_to(x, (3, 4, 6))),
    ("repeat %0 {dim = 1 : i64, times = 2 : i64}", "4x12", lambda x: np.tile(x, (1, 2))),
    (
        "repeat_interleave %0 {dim = 0 : i64, times = 3 : i64}",
        "12x6",
        lambda x: np.repeat(x, 3, axis=0),
    ),
    (
        "slice %0 {offsets = array<i64: 1, 0>, sizes = array<i64: 2, 3>, "
        "strides = array<i64: 1, 2>}",
        "2x3",
        lambda x: x[1:3, 0:6:2],
    ),
]


@pytest.mark.parametrize(("op", "result", "expected"), VIEWS)
def test_views(parse: Parse, op: str, result: str, expected: Callable[[Array], Array]) -> None:
    found = run_one(parse, op, "4x6", result, X)
    assert (found == expected(X)).all()


def test_concat_and_constant(parse: Parse) -> None:
    found = run_one(parse, "concat %0, %1 {dim = 0 : i64}", "4x6 1x6", "5x6", X, ROW[None])
    assert (found == np.concatenate([X, ROW[None]])).all()
    (function,) = parse(
        "func.func @f() -> tensor<2x3xf32> {\n"
        "%c = kernel.constant {value = 2.5 : f32} : tensor<2x3xf32>\n"
        "func.return %c : tensor<2x3xf32>\n}"
    )
    assert run_function(function, [])[0].tolist() == [[2.5] * 3] * 2


def test_rounding_follows_element_types(parse: Parse) -> None:
    """f32 inside an operator, the element type of each result, no f16 for a mean of squares."""
    (function,) = parse("""
func.func @f(%x: tensor<1x4xf16>, %y: tensor<1x4xbf16>) -> (tensor<1x4xf16>, tensor<1x4xbf16>) {
  %n = kernel.rms_norm %x {eps = 0.0 : f32} : (tensor<1x4xf16>) -> tensor<1x4xf16>
  %s = kernel.add %y, %y : (tensor<1x4xbf16>, tensor<1x4xbf16>) -> tensor<1x4xbf16>
  func.return %n, %s : tensor<1x4xf16>, tensor<1x4xbf16>
}""")
    large = np.array([[300, 400, 500, 600]], np.float16)
    third = np.full((1, 4), 1 / 3)
    norm, total = run_function(function, [large, third])
    assert norm.dtype == np.float16
    expected = normalized(large.astype(float), 0)
    assert np.allclose(norm, expected, rtol=2**-11)
    assert total.dtype == np.float32
    assert total[0, 0] == 2 * 0.333984375


def test_wrong_inputs(parse: Parse) -> None:
    (function,) = parse(
        "func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {\n"
        "func.return %x : tensor<2x3xf32>\n}"
    )
    with pytest.raises(ValueError, match="@f takes 1 inputs, got 2"):
        run_function(function, [X, X])
    with pytest.raises(ValueError, match=r"input 0 has shape \(4, 6\), expected \(2, 3\)"):
        run_function(function, [X])


def test_operation_without_meaning(parse: Parse) -> None:
    (function,) = parse(
        "func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {\n"
        "%y = arith.negf %x : tensor<2xf32>\n"
        "func.return %y : tensor<2xf32>\n}"
    )
    with pytest.raises(NotInterpretable, match=r"'arith\.negf' has no interpretation"):
        run_function(function, [ROW[:2]])
