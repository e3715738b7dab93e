"""Pairs that normal forms must not prove: float64 tells them apart."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
from oracle import differ
from program_pairs import TINY, NoPair, valid_pair, wrong_pair
from sampling import sampled
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.symbolic import prove

Parse = Callable[[str], list[FuncOp]]

SLICE = (
    r"kernel.slice \1 "
    r"{offsets = array<i64: \2>, sizes = array<i64: \3>, strides = array<i64: \4>}"
)


def in_full(text: str) -> str:
    """`F4x8` is an f32 tensor of 4x8, `SLICE %x 1 8 2` every second of 8 elements from 1 on."""
    text = re.sub(r"SLICE (%\w+) (\d+) (\d+) (\d+)", SLICE, text)
    return re.sub(r"\bF([0-9x]+)", r"tensor<\1xf32>", text)


DIVIDED = """
func.func @f(%x: F8, %y: F8x8) -> F8x8 {
  func.return %y : F8x8
}
func.func @g(%x: F8, %y: F8x8) -> F8x8 {
  %a = kernel.reshape %x : (F8) -> F8x1
  %b = kernel.reshape %x : (F8) -> F1x8
  DIVISOR
  %m = kernel.mul %y, %d : (F8x8, F8x8) -> F8x8
  %r = kernel.div %m, %d : (F8x8, F8x8) -> F8x8
  func.return %r : F8x8
}
"""

DIFFERENCE = "= kernel.sub %a, %b : (F8x1, F1x8) -> F8x8"

DIVISORS = {
    "zero on the diagonal": f"%d {DIFFERENCE}",
    "zero on the diagonal, in a function": f"%s {DIFFERENCE} %d = kernel.tanh %s : (F8x8) -> F8x8",
    "odd functions that cancel": """
        %n = kernel.scale %b {factor = -1.0 : f32} : (F1x8) -> F1x8
        %s = kernel.tanh %a : (F8x1) -> F8x1
        %t = kernel.tanh %n : (F1x8) -> F1x8
        %d = kernel.add %s, %t : (F8x1, F1x8) -> F8x8""",
    "a logarithm of a quotient": """
        %q = kernel.div %a, %b : (F8x1, F1x8) -> F8x8
        %s = kernel.square %q : (F8x8) -> F8x8
        %d = kernel.log %s : (F8x8) -> F8x8""",
    "x + |x|": """
        %s = kernel.square %y : (F8x8) -> F8x8
        %t = kernel.sqrt %s : (F8x8) -> F8x8
        %d = kernel.add %t, %y : (F8x8, F8x8) -> F8x8""",
    "half of all numbers": "%d = kernel.relu %y : (F8x8) -> F8x8",
}

HARMLESS = {
    "an input": "%d = kernel.mul %a, %b : (F8x1, F1x8) -> F8x8",
    "a positive sum": """
        %s = kernel.square %y : (F8x8) -> F8x8
        %t = kernel.exp %a : (F8x1) -> F8x1
        %d = kernel.add %s, %t : (F8x8, F8x1) -> F8x8""",
    "a sum that is zero by chance alone": "%d = kernel.add %a, %b : (F8x1, F1x8) -> F8x8",
}

ROOTS = {
    "of what is sliced away": """
        func.func @f(%x: F8) -> (F4, F4) {
          %s = kernel.sqrt %x : (F8) -> F8
          %a = SLICE %s 0 4 1 : (F8) -> F4
          %b = SLICE %x 4 4 1 : (F8) -> F4
          func.return %a, %b : F4, F4
        }
        func.func @g(%x: F8) -> (F4, F4) {
          %s = kernel.sqrt %x : (F8) -> F8
          %a = SLICE %s 0 4 1 : (F8) -> F4
          %b = SLICE %s 4 4 1 : (F8) -> F4
          %c = kernel.mul %b, %b : (F4, F4) -> F4
          func.return %a, %c : F4, F4
        }""",
    "of elements between those of the program": """
        func.func @f(%x: F17) -> (F9, F8) {
          %a = SLICE %x 0 9 2 : (F17) -> F9
          %b = SLICE %x 1 8 2 : (F17) -> F8
          %s = kernel.sqrt %a : (F9) -> F9
          %t = kernel.scale %s {factor = 2.0 : f32} : (F9) -> F9
          func.return %t, %b : F9, F8
        }
        func.func @g(%x: F17) -> (F9, F8) {
          %a = SLICE %x 0 9 2 : (F17) -> F9
          %b = SLICE %x 1 8 2 : (F17) -> F8
          %s = kernel.sqrt %a : (F9) -> F9
          %t = kernel.add %s, %s : (F9, F9) -> F9
          %c = kernel.sqrt %b : (F8) -> F8
          %d = kernel.mul %c, %c : (F8, F8) -> F8
          func.return %t, %d : F9, F8
        }""",
    "of what the candidate joined to others": """
        func.func @f(%x: F8, %z: F4) -> (F8, F4) {
          %a = SLICE %x 0 4 1 : (F8) -> F4
          %b = SLICE %x 4 4 1 : (F8) -> F4
          %s = kernel.sqrt %a : (F4) -> F4
          %t = kernel.scale %s {factor = 2.0 : f32} : (F4) -> F4
          %c = kernel.concat %t, %z {dim = 0 : i64} : (F4, F4) -> F8
          func.return %c, %b : F8, F4
        }
        func.func @g(%x: F8, %z: F4) -> (F8, F4) {
          %a = SLICE %x 0 4 1 : (F8) -> F4
          %b = SLICE %x 4 4 1 : (F8) -> F4
          %s = kernel.sqrt %a : (F4) -> F4
          %t = kernel.add %s, %s : (F4, F4) -> F4
          %c = kernel.concat %t, %z {dim = 0 : i64} : (F4, F4) -> F8
          %d = kernel.sqrt %b : (F4) -> F4
          %e = kernel.mul %d, %d : (F4, F4) -> F4
          func.return %c, %e : F8, F4
        }""",
}


@pytest.mark.parametrize("divisor", DIVISORS.values(), ids=DIVISORS)
def test_a_divisor_that_is_zero_somewhere(parse: Parse, divisor: str) -> None:
    """`y d / d` is y only where d is not zero, and the program does not divide by d."""
    reference, candidate = parse(in_full(DIVIDED.replace("DIVISOR", divisor)))
    with np.errstate(all="ignore"):
        assert differ(reference, candidate, seed=1)
    assert not prove(reference, candidate).proved


@pytest.mark.parametrize("divisor", HARMLESS.values(), ids=HARMLESS)
def test_a_divisor_that_is_zero_by_chance_alone(parse: Parse, divisor: str) -> None:
    proof = prove(*parse(in_full(DIVIDED.replace("DIVISOR", divisor))))
    assert proof.proved, proof.reason


@pytest.mark.parametrize("text", ROOTS.values(), ids=ROOTS)
def test_roots_that_the_program_does_not_take(parse: Parse, text: str) -> None:
    reference, candidate = parse(in_full(text))
    with np.errstate(all="ignore"):
        assert differ(reference, candidate, seed=1)
    assert not prove(reference, candidate).proved


VARIANCE = """
func.func @f(%x: F8x6) -> F8x1 {
  %s = kernel.square %x : (F8x6) -> F8x6
  %a = kernel.reduce_mean %s {dims = array<i64: 1>} : (F8x6) -> F8x1
  %m = kernel.reduce_mean %x {dims = array<i64: 1>} : (F8x6) -> F8x1
  %t = kernel.square %m : (F8x1) -> F8x1
  %b = kernel.scale %t {factor = TIMES : f32} : (F8x1) -> F8x1
  %r = kernel.sub %a, %b : (F8x1, F8x1) -> F8x1
  func.return %r : F8x1
}
func.func @g(%x: F8x6) -> F8x1 {
  %s = kernel.square %x : (F8x6) -> F8x6
  %a = kernel.reduce_mean %s {dims = array<i64: 1>} : (F8x6) -> F8x1
  %m = kernel.reduce_mean %x {dims = array<i64: 1>} : (F8x6) -> F8x1
  %t = kernel.square %m : (F8x1) -> F8x1
  %b = kernel.scale %t {factor = TIMES : f32} : (F8x1) -> F8x1
  %v = kernel.sub %a, %b : (F8x1, F8x1) -> F8x1
  %q = kernel.sqrt %v : (F8x1) -> F8x1
  %r = kernel.mul %q, %q : (F8x1, F8x1) -> F8x1
  func.return %r : F8x1
}
"""


@pytest.mark.parametrize(("times", "equal"), [("1.0", True), ("0.5", True), ("1.25", False)])
def test_roots_of_variances(parse: Parse, times: str, *, equal: bool) -> None:
    """The mean of squares is at least the square of the mean, and perhaps no more."""
    assert prove(*parse(in_full(VARIANCE.replace("TIMES", times)))).proved == equal


@pytest.mark.parametrize("number", sampled(range(0, 1000, 29), 3))
def test_wrong_index_maps(number: int) -> None:
    """One index map is not what it should be."""
    try:
        pair = wrong_pair(number, TINY)
    except NoPair:
        pytest.skip("there is no place for this change")
    assert not prove(pair.reference, pair.candidate).proved, pair.description


def test_right_index_maps() -> None:
    """Most of what is right is proved, so that the test above says something."""
    pairs = [valid_pair(number, TINY) for number in range(100, 130)]
    proved = [prove(pair.reference, pair.candidate).proved for pair in pairs]
    assert proved.count(True) >= len(pairs) - 2
