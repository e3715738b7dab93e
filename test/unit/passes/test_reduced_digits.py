"""Reductions over parts of rows: by threads of one warp, in registers, and right for all sizes."""

import numpy as np
import pytest
from lowered_kernels import assert_close, draw, lower
from xdsl.dialects import func, gpu

from mirage_mlir.dialects import nvvm
from mirage_mlir.driver.source import alone, functions, parse_program
from mirage_mlir.interpreters import run_function
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.superoptimize import candidates


def tensor(*shape: int) -> str:
    """The type of a tensor of f32."""
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


def distances(points: int, others: int, coordinates: int) -> str:
    """The squared distances of each of the points to each of the others, as `%d`."""
    one, pairs = tensor(points, 1, coordinates), tensor(points, others, coordinates)
    return f"""
  %0 = kernel.reshape %x : ({tensor(points, coordinates)}) -> {one}
  %1 = kernel.sub %0, %y : ({one}, {tensor(others, coordinates)}) -> {pairs}
  %2 = kernel.mul %1, %1 : ({pairs}, {pairs}) -> {pairs}
  %3 = kernel.reduce_sum %2 {{dims = array<i64: 2>}} : ({pairs}) -> {tensor(points, others, 1)}
  %d = kernel.reshape %3 : ({tensor(points, others, 1)}) -> {tensor(points, others)}"""


def nearest(points: int, others: int, coordinates: int) -> str:
    """A softmax over the others of the distances to them."""
    given = f"%x: {tensor(points, coordinates)}, %y: {tensor(others, coordinates)}"
    table = tensor(points, others)
    return f"""
func.func @f({given}) -> {table} {{{distances(points, others, coordinates)}
  %4 = kernel.neg %d : ({table}) -> {table}
  %5 = kernel.softmax %4 {{dim = 1 : i64}} : ({table}) -> {table}
  func.return %5 : {table}
}}"""


def log_density(points: int, others: int, coordinates: int) -> str:
    """The logarithm of the sum of exponentials over the others, one number for each point."""
    given = f"%x: {tensor(points, coordinates)}, %y: {tensor(others, coordinates)}"
    table, column = tensor(points, others), tensor(points, 1)
    return f"""
func.func @f({given}) -> {column} {{{distances(points, others, coordinates)}
  %4 = kernel.neg %d : ({table}) -> {table}
  %5 = kernel.reduce_max %4 {{dims = array<i64: 1>}} : ({table}) -> {column}
  %6 = kernel.sub %4, %5 : ({table}, {column}) -> {table}
  %7 = kernel.exp %6 : ({table}) -> {table}
  %8 = kernel.reduce_sum %7 {{dims = array<i64: 1>}} : ({table}) -> {column}
  %9 = kernel.log %8 : ({column}) -> {column}
  %10 = kernel.add %5, %9 : ({column}, {column}) -> {column}
  func.return %10 : {column}
}}"""


def summed_between(batch: int, terms: int, columns: int) -> str:
    """A sum over the middle dimension, and each term's part of it."""
    whole, sums = tensor(batch, terms, columns), tensor(batch, 1, columns)
    return f"""
func.func @f(%x: {whole}) -> {whole} {{
  %0 = kernel.exp %x : ({whole}) -> {whole}
  %1 = kernel.reduce_sum %0 {{dims = array<i64: 1>}} : ({whole}) -> {sums}
  %2 = kernel.div %0, %1 : ({whole}, {sums}) -> {whole}
  func.return %2 : {whole}
}}"""


PROGRAMS = {
    "softmax": nearest(300, 20, 12),
    "softmax of few": nearest(37, 5, 3),
    "softmax of a power of two": nearest(256, 16, 8),
    "density": log_density(500, 32, 16),
    "density of a prime": log_density(131, 7, 5),
    "density of many": log_density(64, 100, 7),
    "between": summed_between(24, 6, 40),
    "between odd": summed_between(17, 9, 33),
}


def function_in(text: str) -> func.FuncOp:
    """The only function of a program."""
    (function,) = functions(parse_program(text, "pairs"))
    return function


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_the_program(name: str) -> None:
    function = function_in(PROGRAMS[name])
    inputs = draw(function)
    (wanted,) = run_function(function, inputs)
    wanted = np.asarray(wanted, np.float64)
    for number, candidate in enumerate(candidates(function)):
        kernels = lower(alone(candidate.function))
        (result,) = run_kernels(kernels, inputs)
        assert_close(np.asarray(result), wanted, 1e-5 * float(np.linalg.norm(wanted)))
        if number == 2:
            break


def first(text: str) -> func.FuncOp:
    """The first candidate."""
    return next(iter(candidates(function_in(text)))).function


def barriers(kernels: gpu.ModuleOp) -> int:
    """How often all threads of a block wait for each other."""
    return sum(isinstance(op, nvvm.BarrierOp) for op in kernels.walk())


@pytest.mark.parametrize("name", ["softmax", "softmax of a power of two", "density"])
def test_threads_of_one_warp_reduce(name: str) -> None:
    """Distances, maxima and sums are in registers: no thread waits for another warp."""
    module = alone(first(PROGRAMS[name]))
    assert barriers(lower(module)) <= 1


def in_a_loop(points: int) -> str:
    """Distances in two blocks, of so many points each, by their sums over 96 others."""
    tile = f"!threadblock.tile<{points}x96x2xf32>"
    sums, total = f"!threadblock.tile<{points}x96x1xf32>", f"!threadblock.tile<{points}x1x1xf32>"
    given, other = f"tensor<{2 * points}x1x8xf32>", "tensor<96x8xf32>"
    result = f"tensor<{2 * points}x96x1xf32>"
    one, two = f"!threadblock.tile<{points}x1x2xf32>", "!threadblock.tile<96x2xf32>"
    return f"""
func.func @f(%x: {given}, %y: {other}) -> {result} {{
  %1 = kernel.graph_defined ins(%x, %y) grid [2] loop [4] {{
  ^bb0(%2: {given}, %3: {other}):
    %4 = threadblock.load %2 grid_map [0] loop_map [2] : ({given}) -> {one}
    %5 = threadblock.load %3 grid_map [_] loop_map [1] : ({other}) -> {two}
    %6 = threadblock.sub %4, %5 : ({one}, {two}) -> {tile}
    %7 = threadblock.square %6 : ({tile}) -> {tile}
    %8 = threadblock.accumulate %7 : ({tile}) -> {tile}
    %9 = threadblock.reduce_sum %8 {{dims = array<i64: 2>}} : ({tile}) -> {sums}
    %10 = threadblock.reduce_sum %9 {{dims = array<i64: 1>}} : ({sums}) -> {total}
    %11 = threadblock.div %9, %10 : ({sums}, {total}) -> {sums}
    threadblock.store %11 grid_map [0] : {sums}
  }} : ({given}, {other}) -> {result}
  func.return %1 : {result}
}}"""


def divisions(kernels: gpu.ModuleOp) -> int:
    """How many divisions of whole numbers there are."""
    return sum(op.name in ("arith.divui", "arith.remui") for op in kernels.walk())


@pytest.mark.parametrize("points", [59, 2])
def test_blocks_of_pairs(points: int) -> None:
    """
    Threads find no pair by a division for it; of two points no warp has all 96 pairs, whose sum is
    computed by itself.
    """
    function = function_in(in_a_loop(points))
    inputs = draw(function)
    (wanted,) = run_function(function, inputs)
    kernels = lower(alone(function))
    assert divisions(kernels) < 12
    (result,) = run_kernels(kernels, inputs)
    assert_close(np.asarray(result), np.asarray(wanted, np.float64), 1e-5)
