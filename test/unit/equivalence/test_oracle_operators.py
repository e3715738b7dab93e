"""The oracle's kernel operators, each against numpy; none is missing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import oracle
import pytest
from numpy_reference import (
    Array,
    gelu,
    gelu_tanh,
    layer_norm,
    rms_norm,
    sigmoid,
    silu,
    softmax,
)
from oracle import run_dense, run_naive
from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects.kernel import Kernel
from mirage_mlir.dialects.pipeline import SCHEDULE_OPS
from mirage_mlir.dialects.threadblock import Threadblock
from mirage_mlir.driver.source import functions, parse_program

Run = Callable[[FuncOp, Sequence[Array]], list[Array]]

AFTER_SEARCH = {op.name.partition(".")[2] for op in SCHEDULE_OPS} | {
    "convert_layout",
    "store_partial_sum",
}
"""Operations on tiles that compute nothing: lowering puts them in."""

OPERATORS: dict[str, tuple[str, str, Callable[[list[Array]], Array]]] = {
    "add": ("3x4 1x4 -> 3x4", "", lambda x: x[0] + x[1]),
    "sub": ("3x4 4 -> 3x4", "", lambda x: x[0] - x[1]),
    "mul": ("2x3x4 3x1 -> 2x3x4", "", lambda x: x[0] * x[1]),
    "div": ("3x1 1x4 -> 3x4", "", lambda x: x[0] / x[1]),
    "max": ("3x4 3x4 -> 3x4", "", lambda x: np.maximum(x[0], x[1])),
    "min": ("3x4 3x1 -> 3x4", "", lambda x: np.where(x[0] < x[1], x[0], x[1])),
    "neg": ("3x4 -> 3x4", "", lambda x: 0 - x[0]),
    "abs": ("3x4 -> 3x4", "", lambda x: x[0] * np.sign(x[0])),
    "erf": ("3x4 -> 3x4", "", lambda x: 2 * gelu(x[0] * np.sqrt(2)) / (x[0] * np.sqrt(2)) - 1),
    "expm1": ("3x4 -> 3x4", "", lambda x: 2 * np.sinh(x[0] / 2) * np.exp(x[0] / 2)),
    "log1p": ("3x4 -> 3x4", "", lambda x: 2 * np.arctanh(x[0] / (2 + x[0]))),
    "sin": ("3x4 -> 3x4", "", lambda x: np.imag(np.exp(1j * x[0]))),
    "cos": ("3x4 -> 3x4", "", lambda x: np.real(np.exp(1j * x[0]))),
    "floor": ("3x4 -> 3x4", "", lambda x: x[0] - np.mod(x[0], 1)),
    "ceil": ("3x4 -> 3x4", "", lambda x: x[0] + np.mod(-x[0], 1)),
    "round": ("3x4 -> 3x4", "", lambda x: x[0] + 0.5 - np.mod(x[0] + 0.5, 1)),
    "compare": (
        "3x4 3x1 -> 3x4",
        '{predicate = "le"}',
        lambda x: np.heaviside(x[1] - x[0], 1.0),
    ),
    "select": ("3x4 3x1 4 -> 3x4", "", lambda x: np.where(x[0], x[1], x[2])),
    "iota": ("-> 3x4", "{dim = 1 : i64}", lambda x: np.cumsum(np.ones((3, 4)), 1) - 1),
    "exp": ("3x4 -> 3x4", "", lambda x: np.exp(x[0])),
    "log": ("3x4 -> 3x4", "", lambda x: np.log(x[0])),
    "square": ("3x4 -> 3x4", "", lambda x: np.square(x[0])),
    "sqrt": ("3x4 -> 3x4", "", lambda x: np.sqrt(x[0])),
    "rsqrt": ("3x4 -> 3x4", "", lambda x: x[0] ** -0.5),
    "sigmoid": ("3x4 -> 3x4", "", lambda x: sigmoid(x[0])),
    "silu": ("3x4 -> 3x4", "", lambda x: silu(x[0])),
    "relu": ("3x4 -> 3x4", "", lambda x: x[0] * (x[0] > 0)),
    "tanh": ("3x4 -> 3x4", "", lambda x: np.tanh(x[0])),
    "gelu": ("3x4 -> 3x4", "", lambda x: gelu(x[0])),
    "gelu by tanh": ("3x4 -> 3x4", '{approximate = "tanh"}', lambda x: gelu_tanh(x[0])),
    "clamp": (
        "3x4 -> 3x4",
        "{min = -0.5 : f32, max = 0.25 : f32}",
        lambda x: np.clip(x[0], -0.5, 0.25),
    ),
    "softcap": ("3x4 -> 3x4", "{cap = 0.7 : f32}", lambda x: 0.7 * np.tanh(x[0] / 0.7)),
    "pow": ("3x4 -> 3x4", "{exponent = 3.0 : f32}", lambda x: x[0] * x[0] * x[0]),
    "scale": ("3x4 -> 3x4", "{factor = 0.1 : f32}", lambda x: x[0] / 10),
    "reduce_sum": ("3x4x5 -> 3x1x1", "{dims = array<i64: 1, 2>}", lambda x: _sum(x[0], 1, 2)),
    "reduce_mean": ("3x4 -> 1x4", "{dims = array<i64: 0>}", lambda x: _sum(x[0], 0) / 3),
    "reduce_max": ("3x4 -> 3x1", "{dims = array<i64: 1>}", lambda x: x[0].max(1, keepdims=True)),
    "matmul": ("3x4 4x5 -> 3x5", "", lambda x: np.matmul(x[0], x[1])),
    "matmul of batches": ("2x1x3x4 6x4x5 -> 2x6x3x5", "", lambda x: np.matmul(x[0], x[1])),
    "rms_norm": ("3x4 4 -> 3x4", "{eps = 0.01 : f32}", lambda x: rms_norm(x[0], x[1], 0.01)),
    "layer_norm": (
        "3x4 4 4 -> 3x4",
        "{eps = 0.01 : f32}",
        lambda x: layer_norm(x[0], x[1], x[2], 0.01),
    ),
    "softmax": ("3x4x2 -> 3x4x2", "{dim = 1 : i64}", lambda x: softmax(x[0], 1)),
    "cumsum": ("3x4x2 -> 3x4x2", "{dim = 1 : i64}", lambda x: np.cumsum(x[0], 1)),
    "transpose": (
        "3x4x5 -> 5x3x4",
        "{permutation = array<i64: 2, 0, 1>}",
        lambda x: np.einsum("abc->cab", x[0]),
    ),
    "reshape": ("3x4 -> 2x6", "", lambda x: x[0].reshape(2, 6)),
    "broadcast": ("3x1 -> 2x3x4", "", lambda x: np.broadcast_to(x[0], (2, 3, 4))),
    "repeat": ("2x3 -> 2x6", "{dim = 1 : i64, times = 2 : i64}", lambda x: np.tile(x[0], (1, 2))),
    "repeat_interleave": (
        "2x3 -> 2x6",
        "{dim = 1 : i64, times = 2 : i64}",
        lambda x: np.repeat(x[0], 2, 1),
    ),
    "slice": (
        "7x5 -> 3x2",
        "{offsets = array<i64: 1, 2>, sizes = array<i64: 3, 2>, strides = array<i64: 2, 1>}",
        lambda x: x[0][1:7:2, 2:4],
    ),
    "concat": ("2x3 2x4 -> 2x7", "{dim = 1 : i64}", lambda x: np.hstack([x[0], x[1]])),
    "cast": ("2x3 -> 2x3", "", lambda x: x[0]),
    "constant": ("-> 2x3", "{value = 0.3 : f32}", lambda x: np.full((2, 3), 0.3)),
}
"""By name: shapes of operands and result, attributes, and what numpy makes of it."""


def _sum(x: Array, *dims: int) -> Array:
    return x.sum(axis=dims, keepdims=True)


@pytest.mark.parametrize("run", [run_naive, run_dense], ids=["naive", "dense"])
@pytest.mark.parametrize("name", OPERATORS)
def test_kernel_operators(name: str, run: Run) -> None:
    shapes, attributes, wanted = OPERATORS[name]
    operands, _, result = shapes.partition("->")
    kinds = [f"tensor<{shape}xf32>" for shape in operands.split()]
    arguments = ", ".join(f"%{i}: {kind}" for i, kind in enumerate(kinds))
    names = ", ".join(f"%{i}" for i in range(len(kinds)))
    types = f"({', '.join(kinds)}) -> tensor<{result.strip()}xf32>"
    if not kinds:
        types = f"tensor<{result.strip()}xf32>"
    text = f"""func.func @f({arguments}) -> tensor<{result.strip()}xf32> {{
          %r = kernel.{name.split()[0]} {names} {attributes} : {types}
          func.return %r : tensor<{result.strip()}xf32>
        }}"""
    function = functions(parse_program(text, "test"))[0]
    inputs = oracle.draw(function, 0)
    if name in ("log", "log1p", "sqrt", "rsqrt"):
        inputs = [np.abs(x) + 0.1 for x in inputs]
    (found,) = run(function, inputs)
    assert found.shape == wanted(inputs).shape
    assert found == pytest.approx(wanted(inputs), rel=1e-12, abs=1e-14)


def test_no_operator_is_forgotten() -> None:
    names = {op.name.partition(".")[2] for op in Kernel.operations} - {"graph_defined"}
    assert names == {name.split()[0] for name in OPERATORS}
    tiles = {op.name.partition(".")[2] for op in Threadblock.operations} - AFTER_SEARCH
    assert tiles - names == {"load", "store", "accumulate"}
