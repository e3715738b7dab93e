"""The normal forms that prove functions equal: what they prove is true, and enough is proved."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from float64_judge import differs
from graph_mutants import mutants
from random_functions import FunctionMaker
from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters.forms import first_stranger, prove

Parse = Callable[[str], list[FuncOp]]

UGRAPHS = sorted((Path(__file__).parents[2] / "ugraphs").glob("*.mlir"))


@pytest.mark.parametrize("path", UGRAPHS, ids=lambda path: path.stem)
def test_hand_written_graphs(parse: Parse, path: Path) -> None:
    reference, graph, *_ = parse(path.read_text())
    proof = prove(reference, graph)
    assert proof.proved, proof.reason
    assert prove(graph, reference).proved


@pytest.mark.parametrize("seed", range(40))
def test_random_functions(seed: int) -> None:
    """Each is itself; a mutant that is proved equal is equal."""
    function = FunctionMaker(seed).make(operators=4)
    proof = prove(function, function.clone())
    assert proof.proved, proof.reason
    found = list(mutants(function, every=5))
    for mutant in found:
        if prove(function, mutant.function).proved:
            assert not differs(function, mutant.function, seed), mutant.description


def test_mutants_of_graphs(parse: Parse) -> None:
    """A graph that is proved equal is equal."""
    proved = 0
    for path in UGRAPHS:
        reference, graph, *_ = parse(path.read_text())
        for mutant in mutants(graph, every=9):
            if prove(reference, mutant.function).proved:
                proved += 1
                assert not differs(reference, mutant.function, seed=3), mutant.description
    assert proved > 0


def in_full(text: str) -> str:
    """`T4x8` is a tile of 4x8 f32, `F4x8` such a tensor."""
    text = re.sub(r"\bT([0-9x]+)", r"!threadblock.tile<\1xf32>", text)
    return re.sub(r"\bF([0-9x]+)", r"tensor<\1xf32>", text)


RAGGED = """
func.func @f(%x: F4x10, %y: F4x1) -> F4x1 {
  %d = kernel.sub %x, %y : (F4x10, F4x1) -> F4x10
  %s = kernel.reduce_sum %d {dims = array<i64: 1>} : (F4x10) -> F4x1
  func.return %s : F4x1
}
func.func @g(%x: F4x10, %y: F4x1) -> F4x1 {
  %s = kernel.reduce_sum %x {dims = array<i64: 1>} : (F4x10) -> F4x1
  %t = kernel.scale %y {factor = COUNT : f32} : (F4x1) -> F4x1
  %r = kernel.sub %s, %t : (F4x1, F4x1) -> F4x1
  func.return %r : F4x1
}
func.func @h(%x: F4x10, %y: F4x1) -> F4x1 {
  %r = kernel.graph_defined ins(%x, %y) grid [3] loop [2] {
  ^bb0(%a: F4x10, %b: F4x1):
    %xt = threadblock.load %a grid_map [1] loop_map [1] : (F4x10) -> T4x3
    %yt = threadblock.load %b grid_map [_] loop_map [_] : (F4x1) -> T4x1
    %d = threadblock.sub %xt, %yt : (T4x3, T4x1) -> T4x3
    %s = threadblock.reduce_sum %d {dims = array<i64: 1>} : (T4x3) -> T4x1
    %t = threadblock.accumulate %s across [0] : (T4x1) -> T4x1
    threadblock.store %t grid_map [_] : T4x1
  } : (F4x10, F4x1) -> F4x1
  func.return %r : F4x1
}
"""


def test_ragged_tiles_count_their_elements(parse: Parse) -> None:
    """Of 3 blocks with 2 tiles of 3 elements, 10 elements are there: 3, 3, 3, 1 and none twice."""
    for count, equal in (("10.0", True), ("18.0", False), ("12.0", False)):
        functions = parse(in_full(RAGGED).replace("COUNT", count))
        assert prove(functions[0], functions[2]).proved
        assert prove(functions[0], functions[1]).proved == equal
        assert prove(functions[1], functions[2]).proved == equal


PARTIAL = """
func.func @f(%x: F4x64) -> F4x1 {
  %s = kernel.reduce_sum %x {dims = array<i64: 1>} : (F4x64) -> F4x1
  %r = kernel.square %s : (F4x1) -> F4x1
  func.return %r : F4x1
}
func.func @g(%x: F4x64) -> F4x1 {
  %r = kernel.graph_defined ins(%x) grid [1] loop [4] {
  ^bb0(%a: F4x64):
    %xt = threadblock.load %a grid_map [_] loop_map [1] : (F4x64) -> T4x16
    %s = threadblock.reduce_sum %xt {dims = array<i64: 1>} : (T4x16) -> T4x1
    %q = threadblock.square %s : (T4x1) -> T4x1
    %t = threadblock.accumulate %q : (T4x1) -> T4x1
    threadblock.store %t grid_map [_] : T4x1
  } : (F4x64) -> F4x1
  func.return %r : F4x1
}
"""


def test_a_square_of_a_sum_is_no_sum_of_squares(parse: Parse) -> None:
    """Products of partial sums stay apart, and the square is the operator to blame."""
    reference, candidate = parse(in_full(PARTIAL))
    assert not prove(reference, candidate).proved
    assert first_stranger(reference, candidate).startswith("'threadblock.square' (%q)")
