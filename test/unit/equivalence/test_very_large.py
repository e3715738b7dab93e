"""Programs of 10^9 elements: neither labels nor inputs of all of them are kept."""

from __future__ import annotations

import tracemalloc

import pytest

from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence import EquivalenceReport, Verdict, check_equivalence

MEGABYTES = 300
"""What a comparison may take; each element once in f16 would be 2000."""

ONE_OPERATOR = """func.func @f(%x: tensor<{0}xf16>) -> tensor<{0}xf16> {{
  %y = kernel.{1} : (tensor<{0}xf16>) -> tensor<{0}xf16>
  func.return %y : tensor<{0}xf16>
}}
"""

BLOCKS = """func.func @f(%x: tensor<67108864xf32>) -> tensor<67108864xf32> {{
  %y = kernel.graph_defined ins(%x) grid [4096] {{
  ^bb0(%a: tensor<67108864xf32>):
    %b = threadblock.load %a grid_map [0]
      : (tensor<67108864xf32>) -> !threadblock.tile<16384xf32>
    %c = threadblock.{0} %b : (!threadblock.tile<16384xf32>) -> !threadblock.tile<16384x{1}>
    %d = threadblock.{2} %c : (!threadblock.tile<16384x{1}>) -> !threadblock.tile<16384xf32>
    threadblock.store %d grid_map [0] : !threadblock.tile<16384xf32>
  }} : (tensor<67108864xf32>) -> tensor<67108864xf32>
  func.return %y : tensor<67108864xf32>
}}
"""


def compared(reference: str, candidate: str) -> EquivalenceReport:
    left, right = (functions(parse_program(text, "test"))[0] for text in (reference, candidate))
    tracemalloc.start()
    try:
        report = check_equivalence(left, right)
        assert tracemalloc.get_traced_memory()[1] < MEGABYTES * 10**6
    finally:
        tracemalloc.stop()
    return report


@pytest.mark.parametrize(
    ("shape", "operator", "measured"),
    [
        ("1000000000", "silu %x", True),
        ("8x4096x32000", "exp %x", True),
        ("1000x1000000", "softmax %x {dim = 1 : i64}", True),
        # Each element needs all others.
        ("1000000000", "softmax %x {dim = 0 : i64}", False),
    ],
)
def test_programs_alone(shape: str, operator: str, measured: bool) -> None:
    text = ONE_OPERATOR.format(shape, operator)
    report = compared(text, text)
    assert report.verdict is Verdict.EQUAL
    assert bool(report.losses) == measured


FROM_NO_ARGUMENT = {
    "broadcast": """func.func @f(%x: tensor<1xf32>) -> tensor<100000000xf32> {
  %y = kernel.broadcast %x : (tensor<1xf32>) -> tensor<100000000xf32>
  func.return %y : tensor<100000000xf32>
}""",
    "slopes": """func.func @f(%s: tensor<32x1x1xf32>) -> tensor<32x2048x2048xf32> {
  %i = kernel.iota {dim = 1 : i64} : tensor<32x2048x2048xf32>
  %j = kernel.iota {dim = 2 : i64} : tensor<32x2048x2048xf32>
  %d = kernel.sub %i, %j : (tensor<32x2048x2048xf32>, tensor<32x2048x2048xf32>)
    -> tensor<32x2048x2048xf32>
  %y = kernel.mul %d, %s : (tensor<32x2048x2048xf32>, tensor<32x1x1xf32>)
    -> tensor<32x2048x2048xf32>
  func.return %y : tensor<32x2048x2048xf32>
}""",
    "constant": """func.func @f() -> tensor<8192x8192xf16> {
  %y = kernel.constant {value = 2.0 : f32} : tensor<8192x8192xf16>
  func.return %y : tensor<8192x8192xf16>
}""",
}
"""Programs whose large dimensions no argument has: no part of an argument is a part of them."""


@pytest.mark.parametrize("name", FROM_NO_ARGUMENT)
def test_dimensions_of_no_argument(name: str) -> None:
    report = compared(FROM_NO_ARGUMENT[name], FROM_NO_ARGUMENT[name])
    assert report.verdict is Verdict.EQUAL
    assert not report.losses


def test_a_constant_beside_an_argument() -> None:
    """It is one number: errors are measured where the argument is large."""
    program = ONE_OPERATOR.format("1000000000", "exp %x").replace(
        "func.return %y",
        """%c = kernel.constant {value = 2.0 : f32} : tensor<1000000000xf16>
  %z = kernel.add %y, %c : (tensor<1000000000xf16>, tensor<1000000000xf16>)
    -> tensor<1000000000xf16>
  func.return %z""",
    )
    report = compared(program, program)
    assert report.verdict is Verdict.EQUAL
    assert report.losses


def test_the_gate_looks_at_adjacent_elements() -> None:
    reference = ONE_OPERATOR.format("67108864", "exp %x").replace("xf16", "xf32")
    right = compared(reference, BLOCKS.format("exp", "f32", "cast"))
    assert right.verdict is Verdict.EQUAL
    rounded = compared(reference, BLOCKS.format("cast", "f16", "exp"))
    assert rounded.verdict is Verdict.INACCURATE
