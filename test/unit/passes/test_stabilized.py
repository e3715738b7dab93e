"""Found graphs with maxima and row shifts against what they are to compute, as written in IR."""

import re
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pytest
from sampling import sampled
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.interpreters.domain import ElementType
from mirage_mlir.interpreters.float_domain import round_to
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.passes.frontend.from_ir import read_piece
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.pieces import planned
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan, returned, to_compute
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.multi_kernel.kernels import in_one_kernel
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import search
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200

ATTENTION = """
func.func @f(%q: Q, %k: K, %v: V) -> Q {
  %s = kernel.matmul %q, %k : (Q, K) -> S
  %t = kernel.scale %s {factor = 0.25 : f32} : (S) -> S
  %p = kernel.softmax %t {dim = 2 : i64} : (S) -> S
  %o = kernel.matmul %p, %v : (S, V) -> Q
  func.return %o : Q
}
"""

PLAIN = """
func.func @f(%q: Q, %k: K, %v: V) -> Q {
  %s = kernel.matmul %q, %k : (Q, K) -> S
  %e = kernel.exp %s : (S) -> S
  %n = kernel.reduce_sum %e {dims = array<i64: 2>} : (S) -> R
  %p = kernel.div %e, %n : (S, R) -> S
  %o = kernel.matmul %p, %v : (S, V) -> Q
  func.return %o : Q
}
"""

MASKED = """
func.func @f(%q: Q, %k: K, %b: S, %v: V) -> Q {
  %s = kernel.matmul %q, %k : (Q, K) -> S
  %t = kernel.add %s, %b : (S, S) -> S
  %p = kernel.softmax %t {dim = 2 : i64} : (S) -> S
  %o = kernel.matmul %p, %v : (S, V) -> Q
  func.return %o : Q
}
"""

DIFFERENCE = """
func.func @f(%q: Q, %k: K, %a: Q, %c: K, %v: V) -> Q {
  %s = kernel.matmul %q, %k : (Q, K) -> S
  %t = kernel.matmul %a, %c : (Q, K) -> S
  %p = kernel.softmax %s {dim = 2 : i64} : (S) -> S
  %r = kernel.softmax %t {dim = 2 : i64} : (S) -> S
  %d = kernel.sub %p, %r : (S, S) -> S
  %o = kernel.matmul %d, %v : (S, V) -> Q
  func.return %o : Q
}
"""

TWO_PARTS = """
func.func @f(%q: Q, %k: K, %v: V, %a: A, %b: B) -> Q {
  %s = kernel.matmul %q, %k : (Q, K) -> S
  %t = kernel.matmul %q, %a : (Q, A) -> R
  %u = kernel.concat %s, %t {dim = 2 : i64} : (S, R) -> T
  %w = kernel.concat %v, %b {dim = 1 : i64} : (V, B) -> W
  %p = kernel.softmax %u {dim = 2 : i64} : (T) -> T
  %o = kernel.matmul %p, %w : (T, W) -> Q
  func.return %o : Q
}
"""

LAYER_NORM = """
func.func @f(%x: X, %w: W) -> Y {
  %n = kernel.layer_norm %x {eps = 1.0e-05 : f32} : (X) -> X
  %o = kernel.matmul %n, %w : (X, W) -> Y
  func.return %o : Y
}
"""

WEIGHTED_LAYER_NORM = """
func.func @f(%x: X, %g: G, %b: G, %w: W) -> Y {
  %n = kernel.layer_norm %x, %g, %b {eps = 1.0e-05 : f32} : (X, G, G) -> X
  %o = kernel.matmul %n, %w : (X, W) -> Y
  func.return %o : Y
}
"""


def attention(keys: int) -> Mapping[str, str]:
    """The types of attention of two heads."""
    sizes = {"Q": "2x48x32", "K": f"2x32x{keys}", "V": f"2x{keys}x32", "S": f"2x48x{keys}"}
    sizes |= {"R": "2x48x1", "A": "2x32x1", "B": "2x1x32"}
    sizes |= {"T": f"2x48x{keys + 1}", "W": f"2x{keys + 1}x32"}
    return {name: f"tensor<{size}xf16>" for name, size in sizes.items()}


def norm(kind: str) -> Mapping[str, str]:
    """The types of a norm with a matmul."""
    sizes = {"X": "16x1024", "G": "1024", "W": "1024x512", "Y": "16x512"}
    return {name: f"tensor<{size}x{kind}>" for name, size in sizes.items()}


def function_of(text: str, types: Mapping[str, str]) -> FuncOp:
    """The function of a text in which types are letters."""
    text = re.sub(r"\b[A-Z]\b", lambda found: types[found[0]], text)
    return functions(parse_program(text, "program.mlir"))[0]


def written(
    function: FuncOp, kept: Callable[[BlockGraph], bool]
) -> Iterator[tuple[BlockGraph, FuncOp]]:
    """The graphs found for all of `function` in one kernel, and functions that launch them."""
    function = function.clone()
    normalise(function)
    wanted = to_compute(returned(function))
    operators = {op for op in function.body.block.ops if to_compute(op.results)}
    piece = read_piece(operators, wanted)
    graphs = search(piece.program, H200, Limits(), SearchReport())
    for graph in (graph for graph in graphs if kept(graph)):
        plan = planned(piece, in_one_kernel(piece.program, graph), H200)
        yield graph, FunctionWriter(Plan(function, (plan,))).write()


CASES = {
    "in iterations": (ATTENTION, attention(1536)),
    "whole rows": (ATTENTION, attention(96)),
    "ragged": (ATTENTION, attention(1543)),
    "without a maximum": (PLAIN, attention(1536)),
    "with a mask": (MASKED, attention(1536)),
    "keys in two parts": (TWO_PARTS, attention(1536)),
    "two softmaxes": (DIFFERENCE, attention(1536)),
}


@pytest.mark.parametrize("name", sampled(list(CASES), 7))
def test_attention(name: str) -> None:
    """Equal over fields, and accurate on scores of up to 1e4."""
    function = function_of(*CASES[name])
    structures: set[str] = set()
    for graph, candidate in written(function, lambda graph: True):
        # Some tile sizes of each structure are enough.
        if str(graph) in structures:
            continue
        structures.add(str(graph))
        report = check_equivalence(function, candidate, tests=1)
        assert report.verdict is Verdict.EQUAL, f"{graph}: {report}"
        assert any("exp up to 1e4" in loss.inputs for loss in report.losses)
    assert any("loop(l) split-K" in one for one in structures) == (name != "whole rows")


def test_exps_stay_in_range() -> None:
    """Scores of some hundreds, of which exp is infinite in f32."""
    function = function_of(PLAIN, attention(1536))
    random = np.random.default_rng(0)
    shapes = ((2, 48, 32), (2, 32, 1536), (2, 1536, 32))
    q, k, v = (random.standard_normal(shape).astype(np.float16) for shape in shapes)
    q *= 20
    scores = q.astype(np.float64) @ k.astype(np.float64)
    assert scores.max() > 300
    powers = np.exp(scores - scores.max(axis=2, keepdims=True))
    wanted = powers / powers.sum(axis=2, keepdims=True) @ v.astype(np.float64)
    _, candidate = next(written(function, lambda graph: bool(graph.trip_counts)))
    (got,) = run_function(candidate, [q, k, v], rounding=True)
    assert np.linalg.norm(got - wanted) < 2e-3 * np.linalg.norm(wanted)


def test_keys_that_are_masked() -> None:
    """A tile may have no key that a query sees: its maximum is minus infinity."""
    function = function_of(MASKED, attention(1536))
    random = np.random.default_rng(0)
    shapes = ((2, 48, 32), (2, 32, 1536), (2, 1536, 32))
    q, k, v = (random.standard_normal(shape).astype(np.float16) for shape in shapes)
    mask = np.where(np.arange(1536) < 3, 0, -np.inf) * np.ones((2, 48, 1))
    (wanted,) = run_function(function, [q, k, mask, v], rounding=False)
    assert np.isfinite(wanted).all()
    _, candidate = next(written(function, lambda graph: graph.configuration.loop == ("l",)))
    (got,) = run_function(candidate, [q, k, mask.astype(np.float16), v], rounding=True)
    assert np.linalg.norm(got - wanted) < 2e-3 * np.linalg.norm(wanted)


def test_rows_of_the_least_number() -> None:
    """
    Masks are often the least number of their type; a row of it alone has all weights equal.

    Found by an attack: the guard of the maximum was above bf16's least number, and gave 0/0.
    """
    types = {letter: kind.replace("f16", "bf16") for letter, kind in attention(1536).items()}
    function = function_of(MASKED, types)
    random = np.random.default_rng(0)
    shapes = ((2, 48, 32), (2, 32, 1536), (2, 1536, 32))
    q, k, v = (np.sign(random.standard_normal(shape)).astype(np.float32) for shape in shapes)
    mask = np.zeros((2, 48, 1536), np.float32)
    mask[:, ::7] = -(2 - 2.0**-7) * 2.0**127
    _, candidate = next(written(function, lambda graph: graph.configuration.loop == ("l",)))
    (got,) = run_function(candidate, [q, k, mask, v], rounding=True)
    wanted = np.broadcast_to(v.mean(axis=1)[:, None], got[:, ::7].shape)
    assert np.linalg.norm(got[:, ::7] - wanted) < 1e-2 * np.linalg.norm(wanted)
    assert np.isfinite(got).all()


NORMS: dict[ElementType, tuple[str, float, float]] = {
    "f16": (LAYER_NORM, 1000.0, 1e-3),
    "bf16": (WEIGHTED_LAYER_NORM, 32.0, 8e-3),
}
"""With a weight the tensor core multiplies X * G before the norm is known, which f16 may not hold.
Then how far X is from zero, and the error that is allowed."""


@pytest.mark.parametrize("kind", NORMS)
def test_layer_norm_in_one_pass(kind: ElementType) -> None:
    """
    X is read once, in iterations; the result is good where its mean is many times its deviation.
    """
    text, distance, allowed = NORMS[kind]
    function = function_of(text, norm(kind))
    graph, candidate = next(written(function, lambda graph: graph.configuration.loop == ("j",)))
    assert [op.first for op in graph.operations if op.first] == ["j"]
    report = check_equivalence(function, candidate, tests=1)
    assert report.verdict is Verdict.EQUAL, str(report)
    random = np.random.default_rng(0)
    shapes = [(16, 1024), *[(1024,)] * text.count("%b: G") * 2, (1024, 512)]
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
    inputs[0] += distance
    inputs[-1] /= 32
    inputs = [round_to(each, kind) for each in inputs]
    (wanted,) = run_function(function, inputs, rounding=False)
    (got,) = run_function(candidate, inputs, rounding=True)
    assert np.linalg.norm(got - wanted) < allowed * np.linalg.norm(wanted)
