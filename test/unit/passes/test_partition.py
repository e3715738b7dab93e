"""How functions are cut: what is searched for it, and what the bounds are worth."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

import pytest
from sampling import sampled

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence.parts import PartVerifier
from mirage_mlir.passes.frontend.from_ir import Piece, read_piece
from mirage_mlir.passes.frontend.normalise import normalise
from mirage_mlir.passes.frontend.piece_extraction import NumberedFunction, PieceCut, partition
from mirage_mlir.passes.frontend.pieces import PieceSearch
from mirage_mlir.passes.frontend.plan import returned, to_compute
from mirage_mlir.passes.superoptimize import candidates
from mirage_mlir.search.cost_model.bounds import least_in_one_kernel
from mirage_mlir.search.multi_kernel.partition_state import OperatorGroup
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import search
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200

WORKLOADS = Path(__file__).parents[2] / "workloads"

BOUNDED = (
    "add_rmsnorm_linear",
    "attention",
    "gated_mlp",
    "gqa",
    "layernorm_linear",
    "linear_bias_gelu",
    "lora",
    "mqa",
    "ntrans",
    "rmsnorm",
    "rmsnorm_linear_ragged",
    "softmax",
)


@dataclass
class Counted:
    """The modelled time of pieces, and for how many different programs it was asked."""

    search: PieceSearch = field(default_factory=lambda: PieceSearch(H200, Limits(), SearchReport()))
    programs: set[object] = field(default_factory=set[object])

    def seconds(self, piece: Piece, most: float = inf) -> float:
        self.programs.add(piece.program.key())
        return self.search.seconds(piece, most)


@pytest.mark.parametrize("name", sampled(list(BOUNDED), 2))
def test_no_kernel_is_faster_than_its_bound(name: str) -> None:
    text = (WORKLOADS / f"{name}.mlir").read_text(encoding="utf-8")
    function = functions(parse_program(text, name))[0]
    normalise(function)
    wanted = to_compute(returned(function))
    operators = [op for op in function.body.block.ops if to_compute(op.results)]
    program = read_piece(operators, wanted).program
    graphs = search(program, H200, Limits(coarse=True), SearchReport())
    assert least_in_one_kernel(program, H200) <= min((g.seconds for g in graphs), default=inf)


@pytest.mark.parametrize("name", ["linear", "lora", "mlp"])
def test_no_part_is_faster_than_its_bounds(name: str) -> None:
    """Of one that reads large weights, which tensor copies bring faster than threads would."""
    text = (WORKLOADS / f"{name}.mlir").read_text(encoding="utf-8")
    function = functions(parse_program(text, name))[0]
    normalise(function)
    numbered = NumberedFunction(function, H200, PieceSearch(H200, Limits(), SearchReport()).seconds)
    for number, operator in enumerate(numbered.operators):
        part = OperatorGroup((number,), (number,))
        seconds = numbered.seconds(part)
        assert operator.fixed or seconds < inf
        assert numbered.least(part) <= numbered.bound(part) <= seconds


def layers(count: int) -> str:
    """Layers of a norm, an MLP of two products, and a residual connection."""
    x, w, v = "tensor<8x4096xf16>", "tensor<4096x8192xf16>", "tensor<8192x4096xf16>"
    hidden = "tensor<8x8192xf16>"
    arguments = [f"%x: {x}"]
    lines: list[str] = []
    last = "%x"
    for n in range(count):
        arguments += [f"%w{n}: {w} {{kernel.constant}}", f"%v{n}: {v} {{kernel.constant}}"]
        lines += [
            f"%n{n} = kernel.rms_norm {last} {{eps = 1.0e-05 : f32}} : ({x}) -> {x}",
            f"%g{n} = kernel.matmul %n{n}, %w{n} : ({x}, {w}) -> {hidden}",
            f"%r{n} = kernel.relu %g{n} : ({hidden}) -> {hidden}",
            f"%d{n} = kernel.matmul %r{n}, %v{n} : ({hidden}, {v}) -> {x}",
            f"%x{n} = kernel.add {last}, %d{n} : ({x}, {x}) -> {x}",
        ]
        last = f"%x{n}"
    body = "\n".join(lines)
    return f"func.func @f({', '.join(arguments)}) -> {x} {{\n{body}\nfunc.return {last} : {x}\n}}"


def cut(text: str, costs: Counted) -> list[PieceCut]:
    function = functions(parse_program(text, "layers.mlir"))[0]
    normalise(function)
    return partition(function, H200, costs.seconds)


def names(cuts: Sequence[PieceCut]) -> list[list[str | None]]:
    return [[op.results[0].name_hint for op in one.operators] for one in cuts]


def test_more_layers_take_no_more_searches() -> None:
    costs = Counted()
    one = cut(layers(1), costs)
    assert names(one) == [["n0", "g0", "r0"], ["d0", "x0"]]
    two = cut(layers(2), costs)
    searched = len(costs.programs)
    four = cut(layers(4), costs)
    assert len(costs.programs) == searched
    assert names(two)[:2] == names(one)
    assert names(four)[:4] == names(two)
    assert len(four) == 8


def test_the_best_so_far_when_time_is_over() -> None:
    function = functions(parse_program(layers(2), "layers.mlir"))[0]
    costs = Counted()
    asked = iter(range(6))
    cuts = partition(function, H200, costs.seconds, expired=lambda: next(asked, None) is None)
    made = [result for one in cuts for result in one.results]
    assert to_compute(returned(function))[0] in made
    assert 4 < len(cuts) < 10


def test_what_is_known_is_used_when_time_is_over() -> None:
    """The search of pieces may have no time left: kernels are known from cutting the program."""
    costs = Counted()
    for one in cut(layers(1), costs):
        piece = read_piece(one.operators, one.results)
        (best, *_) = costs.search.rough(piece)
        assert best.results == one.results
        assert best.seconds == pytest.approx(costs.seconds(piece))


def test_a_large_program_becomes_a_kernel_for_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mirage_mlir.passes.frontend.optimizer.MAX_OPERATORS", 8)
    monkeypatch.setattr("mirage_mlir.equivalence.parts.MOST_AT_ONCE", 1)
    function = functions(parse_program(layers(2), "layers.mlir"))[0]
    with collect_remarks():
        best = next(candidates(function))
    made = [[result.name_hint for result in one.results] for one in best.plan.kernels]
    assert made == [["r0"], ["x0"], ["r1"], ["x1"]]
    assert not best.alone
    report = PartVerifier(function).compare(best.function, list(best.attribute().pairs))
    assert "part by part, 4 of them, 2 different" in report.headline


def test_a_long_chain_of_elementwise_operators() -> None:
    """It is one piece, and no other one is asked for."""
    kind = "tensor<8x48xf32>"
    lines = [f"%y0 = kernel.exp %x : ({kind}) -> {kind}"]
    for n in range(1, 17):
        lines += [
            f"%t{n} = kernel.tanh %y{n - 1} : ({kind}) -> {kind}",
            f"%s{n} = kernel.sigmoid %y{n - 1} : ({kind}) -> {kind}",
            f"%y{n} = kernel.sub %t{n}, %s{n} : ({kind}, {kind}) -> {kind}",
        ]
    body = "\n".join([*lines, f"func.return %y16 : {kind}"])
    text = f"func.func @f(%x: {kind}) -> {kind} {{\n{body}\n}}"
    function = functions(parse_program(text, "f.mlir"))[0]
    normalise(function)
    counted = Counted()
    assert len(partition(function, H200, counted.seconds)) == 1
    assert not counted.programs
