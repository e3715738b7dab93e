"""Quotients before steps: no product with an inverse is in their place where x is a multiple."""

from collections.abc import Sequence
from itertools import islice

import numpy as np
import pytest
from lowered_kernels import Array, lower
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import alone, functions, parse_program
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.superoptimize import candidates

ROWS, COLUMNS = 16, 82
"""41 times the f32 next to 1/41 is below 1."""

LOOKED_AT = 5
"""Candidates of a program; of means the second one is wrong."""

RANDOM = np.random.default_rng(0)

DIVISORS = RANDOM.integers(1, 50, COLUMNS).astype(np.float32)
DIVISORS[7] = 41

QUOTIENTS = RANDOM.integers(0, 50, (ROWS, COLUMNS)).astype(np.float32)

X = "tensor<16x82xf32>"


def function(arguments: str, body: str, result: str = X) -> FuncOp:
    """A function whose result is `%r`."""
    for name, kind in (("X", X), ("R", "tensor<82xf32>"), ("C", "tensor<16x1xf32>")):
        body = body.replace(f"<{name}>", kind)
        arguments = arguments.replace(f"<{name}>", kind)
    text = f"""
func.func @f({arguments}) -> {result} {{
  {body}
  func.return %r : {result}
}}"""
    (found,) = functions(parse_program(text, "quotients"))
    return found


def accepted(program: FuncOp) -> list[FuncOp]:
    """The candidates that are verified."""
    found = [candidate.function for candidate in islice(candidates(program), LOOKED_AT)]
    return [each for each in found if check_equivalence(program, each).verdict is Verdict.EQUAL]


def check(program: FuncOp, inputs: Sequence[Array], *wanted: Array) -> None:
    """Some candidates are verified, and those compute what is wanted, to the last digit."""
    verified = accepted(program)
    assert verified
    for candidate in verified:
        made = run_kernels(lower(alone(candidate)), [*inputs])
        for found, right in zip(made, wanted, strict=True):
            assert np.array_equal(found, right)


def test_by_a_row() -> None:
    program = function(
        "%x: <X>, %y: <R>",
        """%q = kernel.div %x, %y : (<X>, <R>) -> <X>
  %r = kernel.floor %q : (<X>) -> <X>""",
    )
    check(program, [QUOTIENTS * DIVISORS, DIVISORS], QUOTIENTS)


def test_what_is_left_over() -> None:
    """`x mod y`, as programs have it that know no such operator."""
    program = function(
        "%x: <X>, %y: <R>",
        """%q = kernel.div %x, %y : (<X>, <R>) -> <X>
  %f = kernel.floor %q : (<X>) -> <X>
  %m = kernel.mul %f, %y : (<X>, <R>) -> <X>
  %r = kernel.sub %x, %m : (<X>, <X>) -> <X>""",
    )
    x = RANDOM.integers(0, 2000, (ROWS, COLUMNS)).astype(np.float32)
    check(program, [x, DIVISORS], np.mod(x, DIVISORS))


def test_compared() -> None:
    program = function(
        "%x: <X>, %y: <R>, %c: <X>",
        """%q = kernel.div %x, %y : (<X>, <R>) -> <X>
  %h = kernel.compare %q, %c {predicate = "ge"} : (<X>, <X>) -> <X>
  %r = kernel.select %h, %x, %c : (<X>, <X>, <X>) -> <X>""",
    )
    x = QUOTIENTS * DIVISORS
    check(program, [x, DIVISORS, QUOTIENTS], x)


def test_by_a_root() -> None:
    program = function(
        "%x: <X>, %y: <C>",
        """%s = kernel.sqrt %y : (<C>) -> <C>
  %q = kernel.div %x, %s : (<X>, <C>) -> <X>
  %r = kernel.floor %q : (<X>) -> <X>""",
    )
    roots = np.arange(33, 33 + ROWS, dtype=np.float32)[:, None]
    check(program, [QUOTIENTS * roots, roots * roots], QUOTIENTS)


def test_by_a_sum() -> None:
    program = function(
        "%x: <X>, %y: <X>",
        """%s = kernel.reduce_sum %y {dims = array<i64: 1>} : (<X>) -> <C>
  %q = kernel.div %x, %s : (<X>, <C>) -> <X>
  %r = kernel.floor %q : (<X>) -> <X>""",
    )
    y = np.zeros((ROWS, COLUMNS), np.float32)
    y[:, :41] = 1
    check(program, [QUOTIENTS * 41, y], QUOTIENTS)


def test_quantized() -> None:
    """The largest of a row is 127, and the scale is a result, too."""
    program = function(
        "%x: <X>",
        """%a = kernel.abs %x : (<X>) -> <X>
  %m = kernel.reduce_max %a {dims = array<i64: 1>} : (<X>) -> <C>
  %k = kernel.constant {value = 127.0 : f32} : <C>
  %s = kernel.div %m, %k : (<C>, <C>) -> <C>
  %q = kernel.div %x, %s : (<X>, <C>) -> <X>
  %r = kernel.floor %q : (<X>) -> <X>""",
    )
    steps = RANDOM.integers(-126, 127, (ROWS, COLUMNS)).astype(np.float32)
    steps[:, 0] = 127
    scales = np.arange(1, ROWS + 1, dtype=np.float32)[:, None]
    check(program, [steps * scales], steps)


def test_of_indices() -> None:
    """`i mod (j + 1)`."""
    program = function(
        "%x: <X>",
        """%i = kernel.iota {dim = 1 : i64} : <X>
  %j = kernel.iota {dim = 0 : i64} : <X>
  %k = kernel.constant {value = 41.0 : f32} : <X>
  %y = kernel.add %j, %k : (<X>, <X>) -> <X>
  %q = kernel.div %i, %y : (<X>, <X>) -> <X>
  %f = kernel.floor %q : (<X>) -> <X>
  %r = kernel.add %x, %f : (<X>, <X>) -> <X>""",
    )
    divisors = np.arange(41, 41 + ROWS)[:, None]
    wanted = np.arange(COLUMNS)[None, :] // divisors
    check(program, [np.zeros((ROWS, COLUMNS), np.float32)], wanted.astype(np.float32))


@pytest.mark.parametrize("width", [41, 82])
def test_mean(width: int) -> None:
    """Rows of one number: no candidate that divides before it sums is verified."""
    kind, row = f"tensor<16x{width}xf32>", "tensor<16x1xf32>"
    program = function(
        f"%x: {kind}",
        f"""%m = kernel.reduce_mean %x {{dims = array<i64: 1>}} : ({kind}) -> {row}
  %r = kernel.floor %m : ({row}) -> {row}""",
        row,
    )
    numbers = np.arange(1, ROWS + 1, dtype=np.float32)[:, None]
    check(program, [np.repeat(numbers, width, 1)], numbers)


def test_of_large_numbers() -> None:
    """127 times these is rounded: a program that divides by `largest / 127` does not multiply."""
    program = function(
        "%x: <X>, %m: <C>",
        """%k = kernel.constant {value = 127.0 : f32} : <C>
  %s = kernel.div %m, %k : (<C>, <C>) -> <C>
  %q = kernel.div %x, %s : (<X>, <C>) -> <X>
  %r = kernel.floor %q : (<X>) -> <X>""",
    )
    x = np.full((ROWS, COLUMNS), 132135, np.float32)
    largest = np.full((ROWS, 1), 1118743, np.float32)
    check(program, [x, largest], np.full_like(x, 15))


FAKE_QUANTIZED = """%a = kernel.abs %x : (<X>) -> <X>
  %m = kernel.reduce_max %a {dims = array<i64: 1>} : (<X>) -> <C>
  %k = kernel.constant {value = 127.0 : f32} : <C>
"""

BY_A_SCALE = """%s = kernel.div %m, %k : (<C>, <C>) -> <C>
  %q = kernel.div %x, %s : (<X>, <C>) -> <X>
  %r = kernel.round %q : (<X>) -> <X>"""

BY_AN_INVERSE = """%s = kernel.div %k, %m : (<C>, <C>) -> <C>
  %q = kernel.mul %x, %s : (<X>, <C>) -> <X>
  %r = kernel.round %q : (<X>) -> <X>"""

MIXED = """%c = kernel.constant {value = 0.9 : f32} : <C>
  %o = kernel.constant {value = 1.0 : f32} : <C>
  %l = kernel.sub %o, %c : (<C>, <C>) -> <C>
  %q = kernel.mul %x, %l : (<X>, <C>) -> <X>
  %r = kernel.round %q : (<X>) -> <X>"""


@pytest.mark.parametrize("body", [BY_A_SCALE, BY_AN_INVERSE, MIXED])
def test_one_is_verified(body: str) -> None:
    assert accepted(function("%x: <X>", FAKE_QUANTIZED + body))
