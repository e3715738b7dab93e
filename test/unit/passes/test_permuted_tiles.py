"""Tiles of permuted tensors: read and written in runs, in whichever order the tensor has them."""

from collections import Counter

import numpy as np
import pytest
from lowered_kernels import Array, assert_close, draw, lower
from xdsl.dialects import func, gpu, llvm
from xdsl.dialects.builtin import VectorType

from mirage_mlir.driver.source import alone, functions, parse_program
from mirage_mlir.interpreters import run_function
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.superoptimize import candidates

DEVICE = "!llvm.ptr<1>"


def tensor(*shape: int, kind: str) -> str:
    """The type of a tensor."""
    return f"tensor<{'x'.join(map(str, shape))}x{kind}>"


def transposed(result: str, value: str, order: tuple[int, ...], shape: tuple[int, ...]) -> str:
    """A transpose of a tensor of f16."""
    after = tensor(*(shape[dim] for dim in order), kind="f16")
    dims = ", ".join(map(str, order))
    before = tensor(*shape, kind="f16")
    return (
        f"%{result} = kernel.transpose %{value} {{permutation = array<i64: {dims}>}} "
        f": ({before}) -> {after}"
    )


def added(shape: tuple[int, ...], order: tuple[int, ...]) -> str:
    """A permuted tensor, and another one that lies in rows."""
    rows = tensor(*(shape[dim] for dim in order), kind="f16")
    return f"""
func.func @f(%x: {tensor(*shape, kind="f16")}, %y: {rows}) -> {rows} {{
  {transposed("0", "x", order, shape)}
  %1 = kernel.silu %0 : ({rows}) -> {rows}
  %2 = kernel.add %1, %y : ({rows}, {rows}) -> {rows}
  func.return %2 : {rows}
}}"""


def softmax_of(shape: tuple[int, ...], order: tuple[int, ...]) -> str:
    """A softmax over the last dim of a permuted tensor."""
    rows = tensor(*(shape[dim] for dim in order), kind="f16")
    return f"""
func.func @f(%x: {tensor(*shape, kind="f16")}) -> {rows} {{
  {transposed("0", "x", order, shape)}
  %1 = kernel.softmax %0 {{dim = {len(shape) - 1} : i64}} : ({rows}) -> {rows}
  func.return %1 : {rows}
}}"""


def norm_over_channels(batch: int, channels: int, pixels: int) -> str:
    """LayerNorm over the channels of images, which lie outside of the pixels."""
    image = tensor(batch, channels, pixels, kind="f16")
    rows, gain = tensor(batch, pixels, channels, kind="f16"), tensor(channels, kind="f16")
    return f"""
func.func @f(%x: {image}, %g: {gain}, %h: {gain}) -> {image} {{
  {transposed("0", "x", (0, 2, 1), (batch, channels, pixels))}
  %1 = kernel.layer_norm %0, %g, %h {{eps = 1.0e-06 : f32}} : ({rows}, {gain}, {gain}) -> {rows}
  {transposed("2", "1", (0, 2, 1), (batch, pixels, channels))}
  func.return %2 : {image}
}}"""


PROGRAMS = {
    "columns": added((64, 48), (1, 0)),
    "batches of columns": added((3, 64, 40), (0, 2, 1)),
    "rows outermost": added((8, 32, 64), (2, 0, 1)),
    "reversed": added((32, 4, 64), (2, 1, 0)),
    "pixels shuffled": added((4, 2, 2, 4, 32), (0, 3, 1, 4, 2)),
    "ragged": added((33, 50), (1, 0)),
    "softmax": softmax_of((2, 4, 64, 32), (0, 3, 1, 2)),
    "softmax of five dims": softmax_of((2, 2, 16, 3, 32), (0, 1, 4, 2, 3)),
    "norm": norm_over_channels(2, 48, 64),
    "ragged norm": norm_over_channels(2, 40, 50),
}


def function_in(text: str) -> func.FuncOp:
    """The only function of a program."""
    (function,) = functions(parse_program(text, "permuted"))
    return function


def lowered(function: func.FuncOp, most: int) -> list[gpu.ModuleOp]:
    """The kernels of the first candidates."""
    found: list[gpu.ModuleOp] = []
    for candidate in candidates(function):
        found.append(lower(alone(candidate.function)))
        if len(found) == most:
            break
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_the_program(name: str) -> None:
    function = function_in(PROGRAMS[name])
    inputs: list[Array] = draw(function)
    (wanted,) = run_function(function, inputs)
    wanted = np.asarray(wanted, np.float64)
    for kernels in lowered(function, 3):
        (result,) = run_kernels(kernels, inputs)
        assert_close(np.asarray(result), wanted, 2e-3 * float(np.linalg.norm(wanted)))


def accesses(kernels: gpu.ModuleOp) -> Counter[tuple[str, int]]:
    """How often threads read and write runs of so many elements of device memory."""
    found: Counter[tuple[str, int]] = Counter()
    for op in kernels.walk():
        if isinstance(op, llvm.LoadOp) and str(op.ptr.type) == DEVICE:
            found["read", width_of(op.dereferenced_value.type)] += 1
        if isinstance(op, llvm.StoreOp) and str(op.ptr.type) == DEVICE:
            found["write", width_of(op.value.type)] += 1
    return found


def width_of(kind: object) -> int:
    """Elements of a type."""
    return kind.get_shape()[0] if isinstance(kind, VectorType) else 1


@pytest.mark.parametrize(
    "text",
    [
        added((16, 256, 3136), (0, 2, 1)),
        added((64, 512, 512), (2, 0, 1)),
        added((64, 128, 512), (2, 1, 0)),
        norm_over_channels(16, 192, 3136),
        softmax_of((64, 128, 64, 32), (0, 3, 1, 2)),
    ],
)
def test_no_single_elements(text: str) -> None:
    """A thread has a block of neighbours, runs of which both tensors have."""
    (kernels,) = lowered(function_in(text), 1)
    asked = accesses(kernels)
    assert asked["write", 1] == 0
    # One for LayerNorm's first value of each row, which is read beside the row.
    assert asked["read", 1] <= 1
