"""The normal forms that prove functions equal: what they prove is true, and enough is proved."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from graph_mutants import mutants
from oracle import differ
from random_functions import FunctionMaker
from sampling import EVERYTHING
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.symbolic import first_divergence, prove

Parse = Callable[[str], list[FuncOp]]

UGRAPHS = sorted((Path(__file__).parents[2] / "ugraphs").glob("*.mlir"))

LONG = "attention_backward"


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
            assert not differ(function, mutant.function, seed), mutant.description


def test_mutants_of_graphs(parse: Parse) -> None:
    """A graph that is proved equal is equal."""
    proved = 0
    # One takes longer than all others together.
    for path in (path for path in UGRAPHS if EVERYTHING or path.stem != LONG):
        reference, graph, *_ = parse(path.read_text())
        for mutant in mutants(graph, every=23):
            if prove(reference, mutant.function).proved:
                proved += 1
                assert not differ(reference, mutant.function, seed=3), mutant.description
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
    assert first_divergence(reference, candidate).startswith("'threadblock.square' (%q)")


LARGEST = """
func.func @f(%x: F4x12) -> F4x1 {
  %r = kernel.reduce_max %x {dims = array<i64: 1>} : (F4x12) -> F4x1
  func.return %r : F4x1
}
func.func @g(%x: F4x12) -> F4x1 {
  %a = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 5>,
    strides = array<i64: 1, 1>} : (F4x12) -> F4x5
  %b = kernel.slice %x {offsets = array<i64: 0, 9>, sizes = array<i64: 4, 3>,
    strides = array<i64: 1, 1>} : (F4x12) -> F4x3
  %c = kernel.slice %x {offsets = array<i64: 0, FROM>, sizes = array<i64: 4, 4>,
    strides = array<i64: 1, STRIDE>} : (F4x12) -> F4x4
  %d = kernel.reduce_max %a {dims = array<i64: 1>} : (F4x5) -> F4x1
  %e = kernel.reduce_max %b {dims = array<i64: 1>} : (F4x3) -> F4x1
  %h = kernel.reduce_max %c {dims = array<i64: 1>} : (F4x4) -> F4x1
  %i = kernel.max %d, %e : (F4x1, F4x1) -> F4x1
  %r = kernel.max %i, %h : (F4x1, F4x1) -> F4x1
  func.return %r : F4x1
}
"""


@pytest.mark.parametrize(
    ("start", "stride", "equal"), [(5, 1, True), (6, 1, False), (4, 1, False), (0, 3, False)]
)
def test_maxima_in_parts(parse: Parse, start: int, stride: int, *, equal: bool) -> None:
    """Of 0 to 4, 9 to 11, and four others: all must be there."""
    text = LARGEST.replace("FROM", str(start)).replace("STRIDE", str(stride))
    assert prove(*parse(in_full(text))).proved == equal


FLAT = """
func.func @f(%x: F2x6x8, %w: F48x4) -> F2x4 {
  %y = kernel.reshape %x : (F2x6x8) -> F2x48
  %r = kernel.matmul %y, %w : (F2x48, F48x4) -> F2x4
  func.return %r : F2x4
}
func.func @g(%x: F2x6x8, %w: F48x4) -> F2x4 {
  %y = kernel.reshape %x : (F2x6x8) -> F2x48
  %r = kernel.graph_defined ins(%y, %w) grid [2] loop [COUNT] {
  ^bb0(%a: F2x48, %b: F48x4):
    %t = threadblock.load %a grid_map [_] loop_map [1] : (F2x48) -> T2x10
    %u = threadblock.load %b grid_map [1] loop_map [0] : (F48x4) -> T10x2
    %p = threadblock.matmul %t, %u : (T2x10, T10x2) -> T2x2
    %s = threadblock.accumulate %p : (T2x2) -> T2x2
    threadblock.store %s grid_map [1] : T2x2
  } : (F2x48, F48x4) -> F2x4
  func.return %r : F2x4
}
func.func @h(%x: F2x6x8, %w: F48x4) -> F2x4 {
  %z = kernel.transpose %x {permutation = array<i64: 0, 2, 1>} : (F2x6x8) -> F2x8x6
  %y = kernel.reshape %z : (F2x8x6) -> F2x48
  %r = kernel.matmul %y, %w : (F2x48, F48x4) -> F2x4
  func.return %r : F2x4
}
"""


def test_ragged_tiles_of_a_flattened_dimension(parse: Parse) -> None:
    """48 = 6 * 8 in tiles of 10, which neither 6 nor 8 fits into."""
    reference, graph, other = parse(in_full(FLAT).replace("COUNT", "5"))
    assert prove(reference, graph).proved
    assert prove(graph, reference).proved
    assert not prove(other, graph).proved


HALVES = """
func.func @f(%x: F4x8, %w: F8x12) -> F4x3x4 {
  %y = kernel.matmul %x, %w : (F4x8, F8x12) -> F4x12
  %h = kernel.reshape %y : (F4x12) -> F4x3x4
  %a = kernel.slice %h {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 4, 3, 2>,
    strides = array<i64: 1, 1, 1>} : (F4x3x4) -> F4x3x2
  %b = kernel.slice %h {offsets = array<i64: 0, 0, 2>, sizes = array<i64: 4, 3, 2>,
    strides = array<i64: 1, 1, 1>} : (F4x3x4) -> F4x3x2
  %c = kernel.scale %b {factor = -1.0 : f32} : (F4x3x2) -> F4x3x2
  %r = kernel.concat %c, %a {dim = 2 : i64} : (F4x3x2, F4x3x2) -> F4x3x4
  func.return %r : F4x3x4
}
func.func @g(%x: F4x8, %w: F8x12) -> F4x3x4 {
  %h = kernel.reshape %w : (F8x12) -> F8x3x4
  %a = kernel.slice %h {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 8, 3, 2>,
    strides = array<i64: 1, 1, 1>} : (F8x3x4) -> F8x3x2
  %b = kernel.slice %h {offsets = array<i64: 0, 0, 2>, sizes = array<i64: 8, 3, 2>,
    strides = array<i64: 1, 1, 1>} : (F8x3x4) -> F8x3x2
  %c = kernel.scale %b {factor = -1.0 : f32} : (F8x3x2) -> F8x3x2
  %d = kernel.concat LEFT, RIGHT {dim = 2 : i64} : (F8x3x2, F8x3x2) -> F8x3x4
  %e = kernel.reshape %d : (F8x3x4) -> F8x12
  %y = kernel.matmul %x, %e : (F4x8, F8x12) -> F4x12
  %r = kernel.reshape %y : (F4x12) -> F4x3x4
  func.return %r : F4x3x4
}
"""


@pytest.mark.parametrize(
    ("left", "right", "equal"), [("%c", "%a", True), ("%a", "%c", False), ("%b", "%a", False)]
)
def test_halves_of_heads(parse: Parse, left: str, right: str, *, equal: bool) -> None:
    """Halves of a dimension that a reshape made, put together anew, as rotary embeddings do."""
    text = HALVES.replace("LEFT", left).replace("RIGHT", right)
    assert prove(*parse(in_full(text))).proved == equal


MISFIT = """
func.func @f(%x: F6x8, %y: F7) -> F1 {
  %s = kernel.exp %x : (F6x8) -> F6x8
  %r = kernel.reshape %s : (F6x8) -> F4x12
  %p = kernel.slice %r {offsets = array<i64: 1, 5>, sizes = array<i64: 2, 7>,
    strides = array<i64: 1, 1>} : (F4x12) -> F2x7
  %q = kernel.reshape %p : (F2x7) -> F14
  %c = kernel.concat %q, %y {dim = 0 : i64} : (F14, F7) -> F21
  %t = kernel.scale %c {factor = 2.0 : f32} : (F21) -> F21
  %o = kernel.reduce_sum %t {dims = array<i64: 0>} : (F21) -> F1
  func.return %o : F1
}
func.func @g(%x: F6x8, %y: F7) -> F1 {
  %r = kernel.reshape %x : (F6x8) -> F4x12
  %p = kernel.slice %r {offsets = array<i64: 1, FROM>, sizes = array<i64: 2, 7>,
    strides = array<i64: 1, 1>} : (F4x12) -> F2x7
  %s = kernel.exp %p : (F2x7) -> F2x7
  %a = kernel.reduce_sum %s {dims = array<i64: 0, 1>} : (F2x7) -> F1x1
  %v = kernel.reshape %a : (F1x1) -> F1
  %w = kernel.reduce_sum %y {dims = array<i64: 0>} : (F7) -> F1
  %b = kernel.add %v, %w : (F1, F1) -> F1
  %o = kernel.scale %b {factor = 2.0 : f32} : (F1) -> F1
  func.return %o : F1
}
"""


@pytest.mark.parametrize(("start", "equal"), [(5, True), (4, False), (0, False)])
def test_reshapes_that_do_not_fit(parse: Parse, start: int, *, equal: bool) -> None:
    """48 = 6 * 8 = 4 * 12: no digits suit both; then parts are taken, and joined to others."""
    text = MISFIT.replace("FROM", str(start))
    assert prove(*parse(in_full(text))).proved == equal


RANGES = """
func.func @f(%x: F4x8, %w: F8x12, %c: F4) -> F4x3x1 {
  %y = kernel.matmul %x, %w : (F4x8, F8x12) -> F4x12
  %h = kernel.reshape %y : (F4x12) -> F4x3x4
  %m = kernel.mul %h, %c : (F4x3x4, F4) -> F4x3x4
  %r = kernel.reduce_sum %m {dims = array<i64: 2>} : (F4x3x4) -> F4x3x1
  func.return %r : F4x3x1
}
func.func @g(%x: F4x8, %w: F8x12, %c: F4) -> F4x3x1 {
  %h = kernel.reshape %w : (F8x12) -> F8x3x4
  %a = kernel.slice %h {offsets = array<i64: 0, 0, 0>, sizes = array<i64: 8, 3, 2>,
    strides = array<i64: 1, 1, 1>} : (F8x3x4) -> F8x3x2
  %b = kernel.slice %h {offsets = array<i64: 0, 0, FROM>, sizes = array<i64: 8, 3, 2>,
    strides = array<i64: 1, 1, 1>} : (F8x3x4) -> F8x3x2
  %p = kernel.slice %c {offsets = array<i64: 0>, sizes = array<i64: 2>,
    strides = array<i64: 1>} : (F4) -> F2
  %q = kernel.slice %c {offsets = array<i64: 2>, sizes = array<i64: 2>,
    strides = array<i64: 1>} : (F4) -> F2
  %d = kernel.mul %a, %p : (F8x3x2, F2) -> F8x3x2
  %e = kernel.mul %b, %q : (F8x3x2, F2) -> F8x3x2
  %i = kernel.reduce_sum %d {dims = array<i64: 2>} : (F8x3x2) -> F8x3x1
  %j = kernel.reduce_sum %e {dims = array<i64: 2>} : (F8x3x2) -> F8x3x1
  %k = kernel.add %i, %j : (F8x3x1, F8x3x1) -> F8x3x1
  %l = kernel.reshape %k : (F8x3x1) -> F8x3
  %m = kernel.matmul %x, %l : (F4x8, F8x3) -> F4x3
  %r = kernel.reshape %m : (F4x3) -> F4x3x1
  func.return %r : F4x3x1
}
func.func @h(%x: F4x8, %w: F8x12) -> F4x12 {
  %r = kernel.matmul %x, %w : (F4x8, F8x12) -> F4x12
  func.return %r : F4x12
}
func.func @i(%x: F4x8, %w: F8x12) -> F4x12 {
  %a = kernel.slice %x {offsets = array<i64: 0, 0>, sizes = array<i64: 4, 5>,
    strides = array<i64: 1, 1>} : (F4x8) -> F4x5
  %b = kernel.slice %w {offsets = array<i64: 0, 0>, sizes = array<i64: 5, 12>,
    strides = array<i64: 1, 1>} : (F8x12) -> F5x12
  %c = kernel.slice %x {offsets = array<i64: 0, START>, sizes = array<i64: 4, 3>,
    strides = array<i64: 1, 1>} : (F4x8) -> F4x3
  %d = kernel.slice %w {offsets = array<i64: START, 0>, sizes = array<i64: 3, 12>,
    strides = array<i64: 1, 1>} : (F8x12) -> F3x12
  %p = kernel.matmul %a, %b : (F4x5, F5x12) -> F4x12
  %q = kernel.matmul %c, %d : (F4x3, F3x12) -> F4x12
  %r = kernel.add %p, %q : (F4x12, F4x12) -> F4x12
  func.return %r : F4x12
}
"""


@pytest.mark.parametrize(("offset", "start", "equal"), [(2, 5, True), (1, 4, False), (0, 0, False)])
def test_sums_over_ranges(parse: Parse, offset: int, start: int, *, equal: bool) -> None:
    """A sum is those over parts of its index, of equal lengths within heads or of others."""
    text = RANGES.replace("FROM", str(offset)).replace("START", str(start))
    heads, halves, whole, parts = parse(in_full(text))
    assert prove(heads, halves).proved == equal
    assert prove(whole, parts).proved == equal


def test_a_large_program_is_itself(parse: Parse) -> None:
    """A decoder layer, whose forms are too large to compare, has one form for one operator."""
    text = (UGRAPHS[0].parents[1] / "workloads" / "llama3_decoder_layer.mlir").read_text()
    (layer,) = parse(text)
    assert prove(layer, layer.clone()).proved
