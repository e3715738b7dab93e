"""Block graphs over small tensors, and the checks of what they compute."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters import batches, run_function
from mirage_mlir.interpreters.dims import Dim, NotClosed, dim_of
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.tensors import Tensor

Array = NDArray[np.float64]
Parse = Callable[[str], list[FuncOp]]


def graph(
    parse: Parse,
    inputs: str,
    head: str,
    body: str,
    output: str,
) -> FuncOp:
    """
    A function of one graph over f32 tensors.

    In `body`, `16x64` stands for the f32 tile and `T16x64` for the f32 tensor of that shape.
    """

    def types(text: str) -> str:
        words = text.replace("(", "( ").replace(")", " )").replace(",", " ,").split(" ")
        return (
            " ".join(map(type_of, words)).replace("( ", "(").replace(" )", ")").replace(" ,", ",")
        )

    shapes = [f"tensor<{shape}xf32>" for shape in inputs.split()]
    result = f"tensor<{output}xf32>"
    outer = ", ".join(f"%{i}: {shape}" for i, shape in enumerate(shapes))
    inner = ", ".join(f"%a{i}: {shape}" for i, shape in enumerate(shapes))
    lines = "\n".join(types(line.strip()) for line in body.strip().splitlines())
    lines = lines.replace("= ", "= threadblock.").replace("threadblock.array", "array")
    for scalar in ("value", "factor", "kind", "dim", "permutation"):
        lines = lines.replace(f"{scalar} = threadblock.", f"{scalar} = ")
    lines = lines.replace("store ", "threadblock.store ")
    operands = ", ".join(f"%{i}" for i in range(len(shapes)))
    (function,) = parse(f"""
func.func @f({outer}) -> {result} {{
  %r = kernel.graph_defined ins({operands}) {head} {{
  ^bb0({inner}):
{lines}
  }} : ({", ".join(shapes)}) -> {result}
  func.return %r : {result}
}}""")
    return function


def type_of(word: str) -> str:
    shape = word.removeprefix("T")
    if not all(part.isdigit() for part in shape.split("x")) or "x" not in shape:
        return word
    return f"tensor<{shape}xf32>" if word != shape else f"!threadblock.tile<{shape}xf32>"


def draw(function: FuncOp, seed: int = 0) -> list[Array]:
    random = np.random.default_rng(seed)
    return [
        random.standard_normal(kernel.shape_of(argument)).astype(np.float32).astype(np.float64)
        for argument in function.body.block.args
    ]


def check(
    function: FuncOp, inputs: Sequence[Array], expected: Array, *, closed: bool = True
) -> None:
    """
    In f64 and with rounding against numpy; blocks alone, and some indices alone.

    `closed` says whether there are indices that can be computed alone.
    """
    (result,) = run_function(function, inputs, rounding=False)
    assert np.allclose(result, expected, rtol=1e-10, atol=1e-12)
    (rounded,) = run_function(function, inputs)
    assert np.allclose(rounded, expected, rtol=1e-4, atol=1e-5)
    check_one_by_one(function, inputs, result)
    assert (check_some_indices(function, inputs, result) > 0) is closed


def _each_alone(keys: Iterable[Hashable]) -> list[list[int]]:
    return [[number] for number, _ in enumerate(keys)]


def check_one_by_one(function: FuncOp, inputs: Sequence[Array], expected: Array) -> None:
    """Blocks and iterations that run at once compute what each of them does alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "_equal", _each_alone)
        (alone,) = run_function(function, inputs, rounding=False)
    assert np.allclose(alone, expected, rtol=1e-12, atol=1e-14)


def check_some_indices(function: FuncOp, inputs: Sequence[Array], expected: Array) -> int:
    """How often some indices of one dimension give what all of them give; or an error."""
    closed = 0
    for number, array in enumerate(inputs):
        for dim, size in enumerate(array.shape):
            for indices in ([0], [size - 1], [0, size // 2, size - 1]):
                kept = dim_of(size, np.unique(indices))
                try:
                    result = run_on(function, inputs, (number, dim), kept)
                except NotClosed:
                    continue
                closed += 1
                places = np.ix_(*(each.indices for each in result.dims))
                found = np.broadcast_to(result.array[0], [each.count for each in result.dims])
                assert np.allclose(found, expected[places], rtol=1e-12, atol=1e-14)
    return closed


def run_on(
    function: FuncOp, inputs: Sequence[Array], place: tuple[int, int], kept: Dim
) -> Tensor[Floats]:
    """What a function gives for some indices of one dimension of an argument."""
    interpreter = KernelInterpreter(FloatDomain(rounding=False))
    tensors = [interpreter.domain.literal(array[None]) for array in inputs]
    number, dim = place
    tensors[number] = interpreter.domain.take(tensors[number], dim, kept, kept.indices)
    (result,) = interpreter.run(function, tensors)
    return result
