"""The oracle on cases that one can compute by hand; its two evaluators agree."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import oracle
import pytest
from numpy_reference import Array
from oracle import run_dense, run_naive
from oracle.elements import simplest
from program_pairs import TINY, NoPair, valid_pair, wrong_pair
from random_functions import FunctionMaker
from sampling import sampled
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import functions, parse_program

Run = Callable[[FuncOp, Sequence[Array]], list[Array]]

SUPPORT = Path(__file__).parents[2] / "support"

RUNS = pytest.mark.parametrize("run", [run_naive, run_dense], ids=["naive", "dense"])


def parsed(text: str) -> FuncOp:
    """The one function of a text."""
    return functions(parse_program(text, "test"))[0]


def graph(inputs: Sequence[str], outputs: Sequence[str], shape: str, body: str) -> FuncOp:
    """A function of one uGraph: its types, its grid and loop, its operations."""
    arguments = [f"%x{i}: tensor<{kind}>" for i, kind in enumerate(inputs)]
    block = [f"%{chr(97 + i)}: tensor<{kind}>" for i, kind in enumerate(inputs)]
    taken = ", ".join(f"tensor<{kind}>" for kind in inputs)
    given = ", ".join(f"tensor<{kind}>" for kind in outputs)
    names = ", ".join(f"%y{i}" for i in range(len(outputs)))
    operands = ", ".join(f"%x{i}" for i in range(len(inputs)))
    return parsed(
        f"""func.func @f({", ".join(arguments)}) -> ({given}) {{
          {names} = kernel.graph_defined ins({operands}) {shape} {{
          ^bb0({", ".join(block)}):
            {body}
          }} : ({taken}) -> ({given})
          func.return {names} : {given}
        }}"""
    )


def load(result: str, source: str, maps: str, kind: str, tile: str) -> str:
    """A load in one line."""
    return f"%{result} = threadblock.load %{source} {maps} : (tensor<{kind}>) -> {tiled(tile)}"


def tiled(kind: str) -> str:
    """A type of tiles."""
    return f"!threadblock.tile<{kind}>"


def step(result: str, name: str, operands: str, kinds: Sequence[str], tile: str) -> str:
    """An operation on tiles in one line; `operands` may end in attributes."""
    taken = ", ".join(map(tiled, kinds))
    return f"%{result} = threadblock.{name} {operands} : ({taken}) -> {tiled(tile)}"


def store(value: str, maps: str, tile: str) -> str:
    """A store in one line."""
    return f"threadblock.store %{value} grid_map {maps} : {tiled(tile)}"


# By hand


def ragged_sum(across: str) -> str:
    """Two blocks with two iterations of two elements, for seven elements."""
    return "\n".join(
        [
            load("t", "a", "grid_map [0] loop_map [0]", "7x1xf32", "2x1xf32"),
            step("e", "exp", "%t", ["2x1xf32"], "2x1xf32"),
            step("s", "reduce_sum", "%e {dims = array<i64: 0>}", ["2x1xf32"], "1x1xf32"),
            step("r", "accumulate", f"%s {across}", ["1x1xf32"], "1x1xf32"),
        ]
    )


@RUNS
def test_ragged_tiles(run: Run) -> None:
    """Nothing is added for elements that are not there, not even exp(0)."""
    x = np.log(np.arange(1.0, 8.0)).reshape(7, 1)
    body = ragged_sum("") + "\n" + store("r", "[0]", "1x1xf32")
    (parts,) = run(graph(["7x1xf32"], ["2x1xf32"], "grid [2] loop [2]", body), [x])
    assert parts == pytest.approx(np.array([[1.0 + 2 + 3 + 4], [5 + 6 + 7]]))


@RUNS
def test_blocks_take_turns(run: Run) -> None:
    """Cyclic: block 0 has elements 0, 1, 4 and 5 of seven, block 1 the others, in any loops."""
    x = np.log(np.arange(1.0, 8.0)).reshape(7, 1)
    stored = [store("e", "[0] loop_map [0]", "2x1xf32"), store("r", "[0]", "1x1xf32")]
    body = "\n".join([ragged_sum(""), *stored])
    outputs = ["7x1xf32", "2x1xf32"]
    function = graph(["7x1xf32"], outputs, "grid [2] loop [2] cyclic", body)
    elements, parts = run(function, [x])
    assert elements == pytest.approx(np.exp(x))
    assert parts == pytest.approx(np.array([[1.0 + 2 + 5 + 6], [3 + 4 + 7]]))


@RUNS
def test_across(run: Run) -> None:
    x = np.log(np.arange(1.0, 8.0)).reshape(7, 1)
    body = ragged_sum("across [0]") + "\n" + store("r", "[_]", "1x1xf32")
    (total,) = run(graph(["7x1xf32"], ["1x1xf32"], "grid [2] loop [2]", body), [x])
    assert total == pytest.approx(np.array([[28.0]]))


@RUNS
def test_two_loops_count_as_one(run: Run) -> None:
    """The outer one is slower: iteration (i, j) of 2 x 3 has element 3 i + j."""
    body = "\n".join(
        [
            load("t", "a", "grid_map [_] loop_map [0, 0]", "6x1xf32", "1x1xf32"),
            load("u", "b", "grid_map [_] loop_map [0, 1]", "2x3xf32", "1x1xf32"),
            step("m", "mul", "%t, %u", ["1x1xf32", "1x1xf32"], "1x1xf32"),
            step("s", "accumulate", "%m", ["1x1xf32"], "1x1xf32"),
            store("s", "[_]", "1x1xf32"),
        ]
    )
    function = graph(["6x1xf32", "2x3xf32"], ["1x1xf32"], "grid [1] loop [2, 3]", body)
    x, y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([[1.0, 10, 100], [1000, 1e4, 1e5]])
    (result,) = run(function, [x.reshape(6, 1), y])
    assert result == pytest.approx(np.array([[654321.0]]))


@RUNS
def test_store_map(run: Run) -> None:
    """Blocks of a transposed tile go where the map says."""
    body = "\n".join(
        [
            load("t", "a", "grid_map [0, 1]", "4x6xf32", "2x2xf32"),
            step("s", "transpose", "%t {permutation = array<i64: 1, 0>}", ["2x2xf32"], "2x2xf32"),
            store("s", "[1, 0]", "2x2xf32"),
        ]
    )
    x = np.arange(24.0).reshape(4, 6)
    (result,) = run(graph(["4x6xf32"], ["6x4xf32"], "grid [2, 3]", body), [x])
    assert np.array_equal(result, x.T)


@RUNS
def test_rescaled_sum(run: Run) -> None:
    """1 exp(0 - ln 4) + 1 exp(ln 4 - ln 4), and nothing for the empty third tile."""
    body = "\n".join(
        [
            load("t", "a", "grid_map [_] loop_map [1]", "1x2xf32", "1x1xf32"),
            step("m", "reduce_max", "%t {dims = array<i64: 1>}", ["1x1xf32"], "1x1xf32"),
            step("d", "sub", "%t, %m", ["1x1xf32", "1x1xf32"], "1x1xf32"),
            step("e", "exp", "%d", ["1x1xf32"], "1x1xf32"),
            step("l", "reduce_sum", "%e {dims = array<i64: 1>}", ["1x1xf32"], "1x1xf32"),
            step("s", "accumulate", "%l rescale %m", ["1x1xf32", "1x1xf32"], "1x1xf32"),
            step("x", "accumulate", '%m {kind = "max"}', ["1x1xf32"], "1x1xf32"),
            store("s", "[_]", "1x1xf32"),
            store("x", "[_]", "1x1xf32"),
        ]
    )
    function = graph(["1x2xf32"], ["1x1xf32", "1x1xf32"], "grid [1] loop [3]", body)
    total, largest = run(function, [np.array([[0.0, np.log(4)]])])
    assert total == pytest.approx(np.array([[1.25]]))
    assert largest == pytest.approx(np.array([[np.log(4)]]))


@RUNS
def test_maximum_of_negative_numbers(run: Run) -> None:
    """Five blocks of two rows for seven: the fourth is ragged, the last one empty."""
    body = "\n".join(
        [
            load("t", "a", "grid_map [0] loop_map [1]", "7x8xf32", "2x5xf32"),
            step("m", "reduce_max", "%t {dims = array<i64: 1>}", ["2x5xf32"], "2x1xf32"),
            step("s", "accumulate", '%m {kind = "max"}', ["2x1xf32"], "2x1xf32"),
            store("s", "[0]", "2x1xf32"),
        ]
    )
    x = -np.arange(1.0, 57.0).reshape(7, 8)
    (result,) = run(graph(["7x8xf32"], ["7x1xf32"], "grid [5] loop [2]", body), [x])
    assert np.array_equal(result, x[:, :1])


@RUNS
def test_partial_sums_and_concat(run: Run) -> None:
    """Tiles side by side, with a new leading dimension for the blocks that share the depth."""
    body = "\n".join(
        [
            load("t", "a", "grid_map [1]", "2x4xf32", "2x2xf32"),
            load("u", "b", "grid_map [0]", "4x3xf32", "2x3xf32"),
            step("m", "matmul", "%t, %u", ["2x2xf32", "2x3xf32"], "2x3xf32"),
            step("c", "concat", "%m, %m {dim = 1 : i64}", ["2x3xf32", "2x3xf32"], "2x6xf32"),
            step("p", "broadcast", "%c", ["2x6xf32"], "1x2x6xf32"),
            store("p", "[0]", "1x2x6xf32"),
        ]
    )
    function = graph(["2x4xf32", "4x3xf32"], ["2x2x6xf32"], "grid [2]", body)
    x, y = np.arange(8.0).reshape(2, 4), np.arange(12.0).reshape(4, 3)
    (parts,) = run(function, [x, y])
    assert np.array_equal(parts[..., :3], parts[..., 3:])
    assert np.array_equal(parts[..., :3].sum(axis=0), x @ y)
    assert np.array_equal(parts[0, :, :3], x[:, :2] @ y[:2])


@RUNS
def test_thread_graph(run: Run) -> None:
    """The function of scalars in the body, the operands broadcast."""
    body = "\n".join(
        [
            load("t", "a", "grid_map [0]", "5x3xf32", "2x3xf32"),
            load("u", "b", "grid_map [_]", "1x3xf16", "1x3xf16"),
            "%r = thread.graph ins(%t, %u) {",
            "^bb0(%p: f32, %q: f16):",
            "  %w = arith.extf %q : f16 to f32",
            "  %h = arith.constant 0.5 : f32",
            "  %k = arith.mulf %w, %h : f32",
            "  %s = arith.subf %p, %k : f32",
            "  %v = math.tanh %s : f32",
            "  thread.store %v : f32",
            f"}} : ({tiled('2x3xf32')}, {tiled('1x3xf16')}) -> {tiled('2x3xf32')}",
            store("r", "[0]", "2x3xf32"),
        ]
    )
    function = graph(["5x3xf32", "1x3xf16"], ["5x3xf32"], "grid [3]", body)
    x, y = np.arange(15.0).reshape(5, 3) / 7, np.array([[1.0, 2, 3]])
    (result,) = run(function, [x, y])
    assert result == pytest.approx(np.tanh(x - y / 2))


# The two evaluators agree


def agree(function: FuncOp, seed: int) -> None:
    """Both give the same, but for rounding."""
    inputs = oracle.draw(function, seed)
    for fast, slow in zip(run_dense(function, inputs), run_naive(function, inputs), strict=True):
        assert oracle.distance(fast, slow) < 1e-11


@pytest.mark.parametrize("seed", range(25))
def test_random_functions(seed: int) -> None:
    agree(FunctionMaker(seed).make(), seed)


@pytest.mark.parametrize("number", range(40))
def test_small_valid_pairs(number: int) -> None:
    """Naively evaluated, both functions are the same."""
    pair = valid_pair(number, TINY)
    agree(pair.candidate, number)
    inputs = oracle.draw(pair.reference, number)
    wanted = run_naive(pair.reference, inputs)
    for value, right in zip(run_naive(pair.candidate, inputs), wanted, strict=True):
        assert oracle.distance(value, right) < 1e-11


@pytest.mark.parametrize("number", sampled(range(0, 80, 2), 3))
def test_small_wrong_pairs(number: int) -> None:
    """Naively evaluated, the functions differ."""
    try:
        pair = wrong_pair(number, TINY)
    except NoPair:
        pytest.skip("nothing so small")
    agree(pair.candidate, number)
    assert oracle.differ(pair.reference, pair.candidate, seed=1)


# Judging


def test_distance() -> None:
    one = np.array([3.0, 4.0])
    assert oracle.distance(one, one) == 0
    assert oracle.distance(np.array([3.0, 4.5]), one) == pytest.approx(0.1)
    assert oracle.distance(np.array([3.0, np.nan]), one) == np.inf
    assert oracle.distance(np.array([3.0, np.inf]), np.array([3.0, np.inf])) == 0
    assert oracle.distance(np.array([3.0, 4.0]), np.array([3.0, np.inf])) == np.inf
    assert oracle.distance(np.zeros(2), np.zeros(2)) == 0


@pytest.mark.parametrize(
    ("value", "wanted"), [(0.01, 0.01), (1 / 3, 1 / 3), (1e-5, 1e-5), (2.0, 2.0), (-0.3, -0.3)]
)
def test_scalars(value: float, wanted: float) -> None:
    """An f32 stands for the simplest number that it is the nearest f32 of."""
    assert simplest(float(np.float32(value))) == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize("path", sorted(SUPPORT.glob("oracle/*.py")), ids=lambda path: path.stem)
def test_shares_nothing(path: Path) -> None:
    """The oracle imports nothing of the project."""
    modules: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            modules.append(node.module or "")
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
    assert not [module for module in modules if module.startswith("mirage_mlir")]
