"""Elements of results are judged by themselves, also where functions are compared in parts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.comparison_report import Verdict
from mirage_mlir.equivalence.definedness import partial_values
from mirage_mlir.equivalence.parts import PartVerifier, numbered_values
from mirage_mlir.equivalence.symbolic import prove, terms

Parse = Callable[[str], list[FuncOp]]

LAYERS = """
func.func @f(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %a = kernel.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %b = kernel.log %a : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = kernel.matmul %b, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %d = kernel.silu %c : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %e = kernel.matmul %d, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %g = kernel.silu %e : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %h = kernel.silu %g : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %h : tensor<4x8xf32>
}
"""

OWN_ROW = "kernel.reduce_sum %b {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4x1xf32>"

FIRST_ROW = (
    "kernel.slice %b {offsets = array<i64: 0, 0>, sizes = array<i64: 1, 8>, "
    "strides = array<i64: 1, 1>} : (tensor<4x8xf32>) -> tensor<1x8xf32>"
)

ALL_ROWS = "kernel.reduce_max %b {dims = array<i64: 0, 1>} : (tensor<4x8xf32>) -> tensor<1x1xf32>"

OTHERS = pytest.mark.parametrize(
    ("other", "equal"),
    [(OWN_ROW, True), (FIRST_ROW, False), (ALL_ROWS, False)],
    ids=["its own row", "the first row", "all rows"],
)


def plus_nothing(other: str) -> str:
    """The layers, with something added to their result that is subtracted from itself."""
    shape = other[other.rindex("tensor<") :]
    return LAYERS.replace(
        "  func.return %h",
        f"  %o = {other}\n  %z = kernel.sub %o, %o : ({shape}, {shape}) -> {shape}\n"
        f"  %r = kernel.add %h, %z : (tensor<4x8xf32>, {shape}) -> tensor<4x8xf32>\n"
        "  func.return %r",
    )


@OTHERS
def test_normal_forms(parse: Parse, other: str, *, equal: bool) -> None:
    (program,), (candidate,) = parse(LAYERS), parse(plus_nothing(other))
    proof = prove(program, candidate)
    assert proof.proved == equal
    assert equal or "only other elements of the reference need" in proof.reason
    # What needs less than the program is its function, too.
    assert prove(candidate, program).proved


@OTHERS
def test_normal_forms_in_parts(
    parse: Parse, monkeypatch: pytest.MonkeyPatch, other: str, *, equal: bool
) -> None:
    """%b is taken for an argument, elements of which may be undefined."""
    (program,), (candidate,) = parse(LAYERS), parse(plus_nothing(other))
    found: set[bool] = set()
    for most in range(100, 400, 20):
        monkeypatch.setattr(terms, "MOST_STEPS", most)
        found.add(prove(program, candidate).proved)
    assert (True in found) == equal


OWN_ELEMENT = "kernel.scale %g {factor = 2.0 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>"


@pytest.mark.parametrize(
    ("other", "equal"),
    [(OWN_ELEMENT, True), (FIRST_ROW, False), (FIRST_ROW.replace("%b", "%g"), False)],
    ids=["its own element", "the first row of %b", "the first row of %g"],
)
def test_parts(parse: Parse, other: str, *, equal: bool) -> None:
    """Kernels read elements of what earlier ones stored, which may be undefined."""
    (program,), (candidate,) = parse(LAYERS), parse(plus_nothing(other))
    count = len(numbered_values(program)) - 1
    pairs = [[(number, number)] for number in range(2, count)]
    report = PartVerifier(program).compare(candidate, pairs)
    assert any("part by part" in remark for remark in report.remarks) == equal
    assert report.verdict is (Verdict.EQUAL if equal else Verdict.UNDECIDED)


def test_values_that_may_be_undefined(parse: Parse) -> None:
    """What a logarithm is taken of, and what is before it, is defined."""
    (program,) = parse(LAYERS)
    partial = partial_values(program)
    names = [value.name_hint for value in numbered_values(program) if value in partial]
    assert names == ["b", "c", "d", "e", "g", "h"]
