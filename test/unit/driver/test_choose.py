"""Which of the offered graphs is taken, and why the others are not."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.driver import choose
from mirage_mlir.driver.choose import Choice, Chooser, Offer
from mirage_mlir.driver.compile import CompiledFunction, Seconds, compile_function
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.progress import Progress
from mirage_mlir.search.multi_kernel.explanation import Explanation, KernelExplanation, Tiles
from mirage_mlir.search.report import SearchReport

REFERENCE = """
func.func @f(%x: tensor<8x1024xf32>) -> tensor<8x1024xf32> {
  %y = kernel.scale %x {factor = 2.0 : f32} : (tensor<8x1024xf32>) -> tensor<8x1024xf32>
  func.return %y : tensor<8x1024xf32>
}
"""


def scale(factor: float, rows: int) -> str:
    """A graph that multiplies by `factor`, `rows` rows in a block."""
    tile = f"!threadblock.tile<{rows}x1024xf32>"
    return f"""
func.func @f(%x: tensor<8x1024xf32>) -> tensor<8x1024xf32> {{
  %y = kernel.graph_defined ins(%x) grid [{8 // rows}] {{
  ^bb0(%a: tensor<8x1024xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<8x1024xf32>) -> {tile}
    %d = threadblock.scale %t {{factor = {factor} : f32}} : ({tile}) -> {tile}
    threadblock.store %d grid_map [0] : {tile}
  }} : (tensor<8x1024xf32>) -> tensor<8x1024xf32>
  func.return %y : tensor<8x1024xf32>
}}
"""


def chain(kernels: int) -> str:
    """The factor 2 in so many kernels, the first of which has it."""
    graphs = [
        f"""
  %v{n + 1} = kernel.graph_defined ins(%v{n}) grid [8] {{
  ^bb0(%a: tensor<8x1024xf32>):
    %t = threadblock.load %a grid_map [0] : (tensor<8x1024xf32>) -> !threadblock.tile<1x1024xf32>
    %d = threadblock.scale %t {{factor = {1.0 if n else 2.0} : f32}}
        : (!threadblock.tile<1x1024xf32>) -> !threadblock.tile<1x1024xf32>
    threadblock.store %d grid_map [0] : !threadblock.tile<1x1024xf32>
  }} : (tensor<8x1024xf32>) -> tensor<8x1024xf32>"""
        for n in range(kernels)
    ]
    return f"""
func.func @f(%v0: tensor<8x1024xf32>) -> tensor<8x1024xf32> {{{"".join(graphs)}
  func.return %v{kernels} : tensor<8x1024xf32>
}}
"""


def taking(seconds: float) -> KernelExplanation:
    """What the model says of a kernel that takes so long."""
    nothing = Tiles((), (), {}, 1, False)
    return KernelExplanation(
        (), nothing, seconds, {}, {}, "", 0, 0, 0, 1, 0, 1, 1, "", "", 0, 0, 0, 0, 0
    )


UNCOMPILABLE = REFERENCE
"""An operator outside a graph, which the lowering does not take."""

WRONG = scale(3.0, 1)

RIGHT = [scale(2.0, rows) for rows in (1, 2, 4)]


def function_of(text: str) -> func.FuncOp:
    """The one function of a program."""
    return functions(parse_program(text, "f.mlir"))[0]


class Source:
    """Offers in a row, the last with each operator alone; counts those that were asked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.asked = 0

    def __iter__(self) -> Iterator[Offer]:
        for number, text in enumerate(self.texts):
            self.asked += 1
            report = SearchReport("f", structure=f"offer {number}")
            yield Offer(function_of(text), number == len(self.texts) - 1, report)


def chooser_of(source: Source, most: int = 4) -> Chooser:
    """A chooser among the offers of `source`."""
    return Chooser(function_of(REFERENCE), iter(source), most, Seconds(), Progress())


def taken(choice: Choice) -> str:
    """Which offer was taken."""
    return choice.offer.search.structure


def test_the_first_that_is_right() -> None:
    source = Source(RIGHT)
    choice = chooser_of(source).choose("sm_90a")
    assert taken(choice) == "offer 0"
    assert choice.rejected == ()
    assert source.asked == 1


def test_what_is_wrong_or_cannot_be_compiled_is_passed_over() -> None:
    choice = chooser_of(Source([UNCOMPILABLE, WRONG, RIGHT[1]])).choose("sm_80")
    assert taken(choice) == "offer 2"
    first, second = choice.rejected
    assert "f.mlir:3:8: error: 'kernel.scale' op" in first
    assert second.startswith("verification: not equal")


TRANSPOSED = """
func.func @f(%x: tensor<8x32xf32>) -> tensor<32x8xf32> {
  %s = kernel.scale %x {factor = 2.0 : f32} : (tensor<8x32xf32>) -> tensor<8x32xf32>
  %y = kernel.transpose %s {permutation = array<i64: 1, 0>} : (tensor<8x32xf32>) -> tensor<32x8xf32>
  func.return %y : tensor<32x8xf32>
}
"""


def transposed(*, first: bool) -> str:
    """A graph of `TRANSPOSED`, whose kernel sees columns as rows, or stores rows as they are."""
    shape = "32x8" if first else "8x32"
    view = "{permutation = array<i64: 1, 0>} : (tensor<8x32xf32>) -> tensor<32x8xf32>"
    source, result = ("%z", "%s") if first else ("%x", "%z")
    before = f"%z = kernel.transpose %x {view}" if first else ""
    after = "" if first else f"%z = kernel.transpose %s {view}"
    return f"""
func.func @f(%x: tensor<8x32xf32>) -> tensor<32x8xf32> {{
  {before}
  %s = kernel.graph_defined ins({source}) grid [1] {{
  ^bb0(%a: tensor<{shape}xf32>):
    %t = threadblock.load %a grid_map [_] : (tensor<{shape}xf32>) -> !threadblock.tile<{shape}xf32>
    %d = threadblock.scale %t {{factor = 2.0 : f32}}
        : (!threadblock.tile<{shape}xf32>) -> !threadblock.tile<{shape}xf32>
    threadblock.store %d grid_map [_] : !threadblock.tile<{shape}xf32>
  }} : (tensor<{shape}xf32>) -> tensor<{shape}xf32>
  {after}
  func.return {result} : tensor<32x8xf32>
}}
"""


def test_results_lie_as_those_of_another_chip() -> None:
    """One artifact has code for both, and says once how results lie."""
    before, after = (transposed(first=first) for first in (True, False))
    first = _chosen([after], "sm_90a", None)
    assert taken(_chosen([before, after], "sm_80", None)) == "offer 0"
    second = _chosen([before, after], "sm_80", first)
    assert taken(second) == "offer 1"
    assert second.rejected == ("results lie otherwise than those of the code for other chips",)
    with pytest.raises(DiagnosticException, match="cannot be compiled for sm_80"):
        _chosen([before], "sm_80", first)


def _chosen(texts: Sequence[str], chip: str, beside: Choice | None) -> Choice:
    chooser = chooser_of(Source(texts))
    chooser.reference = function_of(TRANSPOSED)
    chooser.outputs = None if beside is None else beside.compiled.outputs
    return chooser.choose(chip)


def test_verified_once_for_all_chips() -> None:
    source = Source(RIGHT)
    chooser = chooser_of(source)
    first, second = chooser.choose("sm_90a"), chooser.choose("sm_80")
    assert first.proof is second.proof
    assert (first.compiled.code.target, second.compiled.code.target) == ("sm_90a", "sm_80")
    assert source.asked == 1


def test_only_so_many_and_the_last() -> None:
    source = Source([WRONG, scale(3.0, 2), RIGHT[0], RIGHT[1]])
    choice = chooser_of(source, most=2).choose("sm_80")
    assert choice.offer.alone
    assert len(choice.rejected) == 2


def test_a_last_offer_that_differs_is_not_taken() -> None:
    said = "cannot be compiled for sm_80: verification: not equal"
    with pytest.raises(DiagnosticException, match=said) as caught:
        chooser_of(Source([WRONG])).choose("sm_80")
    assert "not equal" in "".join(caught.value.__notes__)


def spilling(monkeypatch: pytest.MonkeyPatch, *spilled: int) -> None:
    """Let the compiler say that one graph after the other spills so many bytes."""
    left = list(spilled)

    def compiled(module: ModuleOp, name: str, target: str, *, pack: bool) -> CompiledFunction:
        result = compile_function(module, name, target, pack=pack)
        return replace(result, assembled=replace(result.assembled, spill_bytes=left.pop(0)))

    monkeypatch.setattr(choose, "compile_function", compiled)


def test_spilled_registers_are_avoided(monkeypatch: pytest.MonkeyPatch) -> None:
    spilling(monkeypatch, 96, 8, 0)
    choice = chooser_of(Source(RIGHT)).choose("sm_80")
    assert taken(choice) == "offer 2"
    assert choice.rejected == (
        "for sm_80 it spills 96 bytes of registers",
        "for sm_80 it spills 8 bytes of registers",
    )


def test_the_least_spilled_where_all_spill(monkeypatch: pytest.MonkeyPatch) -> None:
    spilling(monkeypatch, 96, 8, 40)
    choice = chooser_of(Source(RIGHT)).choose("sm_80")
    assert taken(choice) == "offer 1"


def test_the_same_graph_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    spilling(monkeypatch, 96, 8)
    choice = chooser_of(Source([RIGHT[0], RIGHT[1], RIGHT[0]])).choose("sm_80")
    assert taken(choice) == "offer 1"
    assert choice.rejected == ("for sm_80 it spills 96 bytes of registers",)


@pytest.mark.parametrize(("modelled", "number"), [((1.0, 1.5, 9.0), 1), ((1.0, 1.5, 2.0), 2)])
def test_each_operator_alone_may_take_far_longer(
    monkeypatch: pytest.MonkeyPatch, modelled: tuple[float, ...], number: int
) -> None:
    """Each offer but the last spills."""
    spilling(monkeypatch, 96, 8, 0)
    offers = list(Source(RIGHT))
    for offer, seconds in zip(offers, modelled, strict=True):
        offer.search.modelled = seconds
    chooser = Chooser(function_of(REFERENCE), iter(offers), 4, Seconds(), Progress())
    assert chooser.choose("sm_80").offer is offers[number]


@pytest.mark.parametrize(("slowed", "number"), [((0,), 0), ((0, 1), 1)])
def test_only_kernels_that_spill_may_take_longer(
    monkeypatch: pytest.MonkeyPatch, slowed: tuple[int, ...], number: int
) -> None:
    """Of two kernels one, which takes 1 of 10 us, or both; each operator alone takes 15."""
    chained = chain(2)
    log = "".join(
        f"Compiling entry function 'f_kernel_{n}'\n"
        f"{8 * (n in slowed)} bytes spill stores, 0 bytes spill loads\n"
        for n in range(2)
    )
    left = [8, 0]

    def compiled(module: ModuleOp, name: str, target: str, *, pack: bool) -> CompiledFunction:
        result = compile_function(module, name, target, pack=pack)
        spilled = left.pop(0)
        text = log if spilled else ""
        return replace(result, assembled=replace(result.assembled, spill_bytes=spilled, log=text))

    monkeypatch.setattr(choose, "compile_function", compiled)
    offers = list(Source([chained, scale(2.0, 1)]))
    offers[0].search.modelled, offers[1].search.modelled = 10e-6, 15e-6
    offers[0].search.explanation = Explanation((taking(1e-6), taking(9e-6)), 10e-6, ())
    chooser = Chooser(function_of(REFERENCE), iter(offers), 4, Seconds(), Progress())
    assert chooser.choose("sm_80").offer is offers[number]
