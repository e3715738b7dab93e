"""Plans of several kernels written as functions, against what they are to compute."""

from collections.abc import Iterator
from itertools import islice

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.effort import Effort
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.passes.frontend.from_ir import Piece, read_piece
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.optimizer import SLOWER
from mirage_mlir.passes.frontend.pieces import PieceSearch, planned
from mirage_mlir.passes.frontend.plan import FunctionWriter, Plan, returned, to_compute
from mirage_mlir.passes.superoptimize import candidates
from mirage_mlir.search.multi_kernel.kernels import KernelPlan, in_one_kernel, joined
from mirage_mlir.search.multi_kernel.split import splits
from mirage_mlir.search.program.program import Program
from mirage_mlir.search.program.program_cuts import cuts
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import search
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200
from mirage_mlir.verification import verify

NORM_LINEAR = """
func.func @f(%x: tensor<5x96xf16>, %w: tensor<96x40xf16>) -> tensor<5x40xf16> {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<5x96xf16>) -> tensor<5x96xf16>
  %o = kernel.matmul %y, %w : (tensor<5x96xf16>, tensor<96x40xf16>) -> tensor<5x40xf16>
  func.return %o : tensor<5x40xf16>
}
"""

ATTENTION = """
func.func @f(%q: tensor<2x5x16xf16>, %k: tensor<2x16x100xf16>, %v: tensor<2x100x16xf16>)
    -> tensor<2x5x16xf16> {
  %s = kernel.matmul %q, %k : (tensor<2x5x16xf16>, tensor<2x16x100xf16>) -> tensor<2x5x100xf16>
  %p = kernel.softmax %s {dim = 2 : i64} : (tensor<2x5x100xf16>) -> tensor<2x5x100xf16>
  %o = kernel.matmul %p, %v : (tensor<2x5x100xf16>, tensor<2x100x16xf16>) -> tensor<2x5x16xf16>
  func.return %o : tensor<2x5x16xf16>
}
"""

LARGE = """
func.func @f(%x: tensor<2048x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<2048x4096xf16> {
  %y = kernel.softmax %x {dim = 1 : i64} : (tensor<2048x4096xf16>) -> tensor<2048x4096xf16>
  %o = kernel.matmul %y, %w
      : (tensor<2048x4096xf16>, tensor<4096x4096xf16>) -> tensor<2048x4096xf16>
  func.return %o : tensor<2048x4096xf16>
}
"""

TWO_RESULTS = """
func.func @f(%x: tensor<5x32xf16>, %r: tensor<5x32xf16>, %w: tensor<32x24xf16>)
    -> (tensor<5x32xf16>, tensor<5x24xf16>) {
  %h = kernel.add %x, %r : (tensor<5x32xf16>, tensor<5x32xf16>) -> tensor<5x32xf16>
  %y = kernel.rms_norm %h {eps = 1.0e-05 : f32} : (tensor<5x32xf16>) -> tensor<5x32xf16>
  %o = kernel.matmul %y, %w : (tensor<5x32xf16>, tensor<32x24xf16>) -> tensor<5x24xf16>
  func.return %h, %o : tensor<5x32xf16>, tensor<5x24xf16>
}
"""


def function(text: str) -> FuncOp:
    (read,) = functions(parse_program(text, "piece.mlir"))
    return read


def piece_of(normal: FuncOp) -> Piece:
    wanted = to_compute(returned(normal))
    return read_piece([op for op in normal.body.block.ops if op.results], wanted)


def one(program: Program) -> KernelPlan | None:
    graphs = search(program, H200, Limits(coarse=True), SearchReport())
    return in_one_kernel(program, graphs[0]) if graphs else None


def of_cuts(program: Program) -> Iterator[KernelPlan]:
    """A plan for each way to cut a program in two kernels."""
    for cut in cuts(program):
        first, second = one(cut.first.program), one(cut.second.program)
        if first is not None and second is not None:
            yield joined(cut, first, second)


def of_splits(program: Program) -> Iterator[KernelPlan]:
    """A plan for each number of parts of each way to split sums."""
    for split in splits(program, H200):
        first = split.first.program
        (axis,) = first.open_sums
        for graph in search(first, H200, Limits(coarse=True), SearchReport()):
            cut = split.cut(graph.counts[axis])
            if (second := one(cut.second.program)) is not None:
                yield joined(cut, in_one_kernel(first, graph), second)


def check(before: FuncOp, normal: FuncOp, piece: Piece, plan: KernelPlan) -> FuncOp:
    """The function of a plan, which is valid and computes the same as `before`."""
    written = FunctionWriter(Plan(normal, (planned(piece, plan, H200),))).write()
    verify(ModuleOp([written.clone()]))
    proof = check_equivalence(before, written)
    assert proof.verdict is Verdict.EQUAL, f"{plan}: {proof}"
    graphs = [op for op in written.body.block.ops if isinstance(op, kernel.GraphDefinedOp)]
    assert len(graphs) == len(plan.kernels)
    return written


@pytest.mark.parametrize("text", [NORM_LINEAR, ATTENTION, TWO_RESULTS])
def test_cuts(text: str) -> None:
    before = function(text)
    normal = before.clone()
    normalise(normal)
    piece = piece_of(normal)
    plans = list(of_cuts(piece.program))
    assert len(plans) >= 2
    for plan in plans[:8]:
        check(before, normal, piece, plan)


@pytest.mark.parametrize("text", [NORM_LINEAR, ATTENTION])
def test_splits(text: str) -> None:
    """Parts of sums are f32 and lie behind each other in a leading dimension."""
    before = function(text)
    normal = before.clone()
    normalise(normal)
    piece = piece_of(normal)
    plans = list(islice(of_splits(piece.program), 6))
    assert plans
    for plan in plans:
        first = plan.kernels[0]
        (axis,) = first.program.open_sums
        written = check(before, normal, piece, plan)
        graph = next(op for op in written.body.block.ops if isinstance(op, kernel.GraphDefinedOp))
        for result in graph.outputs:
            assert kernel.shape_of(result)[0] == first.graph.counts[axis]
            assert str(kernel.tensor_type(result).element_type) == "f32"


def test_three_kernels() -> None:
    """The second of two kernels in two of its own."""
    before = function(ATTENTION)
    normal = before.clone()
    normalise(normal)
    piece = piece_of(normal)
    checked = 0
    for cut in cuts(piece.program):
        first = one(cut.first.program)
        second = next(of_cuts(cut.second.program), None)
        if first is not None and second is not None and checked < 4:
            check(before, normal, piece, joined(cut, first, second))
            checked += 1
    assert checked


def test_never_slower_than_operators_alone() -> None:
    for text in (NORM_LINEAR, ATTENTION, TWO_RESULTS):
        found = list(candidates(function(text)))
        (place,) = (place for place, one in enumerate(found) if one.alone)
        times = [one.plan.seconds for one in found]
        assert times == sorted(times)
        assert max(times) <= SLOWER * times[place]


@pytest.mark.usefixtures("first_look")
def test_slower_ones_are_for_timing() -> None:
    """The arithmetic of many rows is best done once: each operator alone is the first."""
    first, *others = candidates(function(LARGE), effort=Effort(max_kernels=2))
    assert first.alone
    times = [one.plan.seconds for one in others]
    assert first.plan.seconds < max(times) <= SLOWER * first.plan.seconds


def test_coarse_seconds() -> None:
    """Of a piece as one kernel; asked again, nothing is searched."""
    normal = function(NORM_LINEAR)
    report = SearchReport()
    pieces = PieceSearch(H200, Limits(), report)
    seconds = pieces.seconds(piece_of(normal))
    searched = report.configurations
    assert 0 < seconds < 1e-4
    assert searched
    assert pieces.seconds(piece_of(normal)) == seconds
    assert report.configurations == searched


def test_results_keep_their_places() -> None:
    """Two results of two kernels are returned in the order of the program."""
    found = next(one for one in candidates(function(TWO_RESULTS)) if not one.alone)
    last = found.function.body.block.last_op
    assert isinstance(last, ReturnOp)
    assert [kernel.shape_of(value) for value in last.operands] == [(5, 32), (5, 24)]
