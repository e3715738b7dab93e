"""Sums of parts of a row that adjoin, inside of functions: against counting what is summed."""

import random
import re
from collections import Counter
from itertools import product

import pytest
from oracle.elements import COMPARISONS
from symbolic_indices import evaluated
from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.equivalence.symbolic import prove
from mirage_mlir.equivalence.symbolic.guards import Guard, guard
from mirage_mlir.equivalence.symbolic.indices import (
    Variable,
    floor_div,
    number,
    of,
    plus,
    scaled,
)
from mirage_mlir.passes.patterns.decompose import take_apart_unsearched

COUNT, ROW = 3, 4
"""Rows, and elements of each: `x` has COUNT x ROW of them."""

FULL = f"tensor<{COUNT}x{ROW}x{COUNT}x{ROW}xf32>"
"""Each pair of an element of the result, by its row and place, and one of `x`, by the same."""

INDICES = {
    "K": (1, 0, 0, 0),
    "J": (0, 1, 0, 0),
    "I": (ROW, 1, 0, 0),
    "k": (0, 0, 1, 0),
    "j": (0, 0, 0, 1),
    "i": (0, 0, ROW, 1),
}
"""Row, place, and element, of the result and of what is summed, in terms of the four dimensions."""

Condition = tuple[str, str, str, int]
"""An index, a predicate, another index, and what is added to that."""

Terms = tuple[tuple[Condition, ...], ...]
"""The conditions of each of several sums."""

PREDICATES = ("le", "lt", "eq", "ge")

PREFIX: Terms = ((("i", "le", "I", 0),),)
IN_ROWS: Terms = ((("k", "eq", "K", 0), ("j", "le", "J", 0)), (("k", "lt", "K", 0),))


def counted(terms: Terms) -> Counter[tuple[int, ...]]:
    """How often each element of the result counts each of `x`."""
    found: Counter[tuple[int, ...]] = Counter()
    for place in product(range(COUNT), range(ROW), range(COUNT), range(ROW)):

        def at(name: str, place: tuple[int, ...] = place) -> int:
            return sum(a * b for a, b in zip(INDICES[name], place, strict=True))

        for conditions in terms:
            found[place] += all(COMPARISONS[p](at(a), at(b) + c) for a, p, b, c in conditions)
    return +found


class Text:
    """Operators in the text of a program."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, text: str) -> str:
        """The name of what one more operator makes."""
        self.lines.append(f"  %{len(self.lines)} = {text}")
        return f"%{len(self.lines) - 1}"

    def index(self, name: str, more: int) -> str:
        """An index plus a number, for each pair."""
        sum_ = self.add(f"kernel.constant {{value = {more:.1f} : f32}} : {FULL}")
        for dim, times in enumerate(INDICES[name]):
            if times:
                one = self.add(f"kernel.iota {{dim = {dim} : i64}} : {FULL}")
                many = self.add(
                    f"kernel.scale {one} {{factor = {times:.1f} : f32}} : ({FULL}) -> {FULL}"
                )
                sum_ = self.add(f"kernel.add {sum_}, {many} : ({FULL}, {FULL}) -> {FULL}")
        return sum_

    def total(self, conditions: tuple[Condition, ...]) -> str:
        """The sum of the elements of `x` for which conditions hold."""
        zero = self.add(f"kernel.constant {{value = 0.0 : f32}} : {FULL}")
        ones = f"tensor<1x1x{COUNT}x{ROW}xf32>"
        seen = self.add(f"kernel.reshape %x : (tensor<{COUNT * ROW}xf32>) -> {ones}")
        seen = self.add(f"kernel.add {seen}, {zero} : ({ones}, {FULL}) -> {FULL}")
        for a, predicate, b, more in conditions:
            left, right = self.index(a, 0), self.index(b, more)
            mask = self.add(
                f'kernel.compare {left}, {right} {{predicate = "{predicate}"}}'
                f" : ({FULL}, {FULL}) -> {FULL}"
            )
            seen = self.add(
                f"kernel.select {mask}, {seen}, {zero} : ({FULL}, {FULL}, {FULL}) -> {FULL}"
            )
        result = f"tensor<{COUNT}x{ROW}x1x1xf32>"
        return self.add(
            f"kernel.reduce_sum {seen} {{dims = array<i64: 2, 3>}} : ({FULL}) -> {result}"
        )


def program(terms: Terms) -> FuncOp:
    """`exp` of sums."""
    text, result = Text(), f"tensor<{COUNT}x{ROW}x1x1xf32>"
    first, *others = [text.total(conditions) for conditions in terms]
    for other in others:
        first = text.add(f"kernel.add {first}, {other} : ({result}, {result}) -> {result}")
    last = text.add(f"kernel.exp {first} : ({result}) -> {result}")
    head = f"func.func @f(%x: tensor<{COUNT * ROW}xf32>) -> {result} {{"
    tail = f"  func.return {last} : {result}\n}}"
    (found,) = functions(parse_program("\n".join([head, *text.lines, tail]), "f.mlir"))
    return found


@pytest.mark.parametrize(
    ("terms", "equal"),
    [
        (IN_ROWS, True),
        (IN_ROWS[::-1], True),
        ((IN_ROWS[0], (("k", "le", "K", -1),)), True),
        # An element too many or too few, of this row or of those before.
        ((IN_ROWS[0], (("k", "le", "K", 0),)), False),
        ((IN_ROWS[0], (("k", "lt", "K", -1),)), False),
        ((IN_ROWS[0], (("k", "le", "K", -2),)), False),
        (((("k", "eq", "K", 0), ("j", "lt", "J", 0)), IN_ROWS[1]), False),
        (((("k", "eq", "K", 0), ("j", "ge", "J", 0)), IN_ROWS[1]), False),
        # Another row's elements.
        (((("k", "eq", "K", -1), ("j", "le", "J", 0)), IN_ROWS[1]), False),
        (((("j", "le", "J", 0),), IN_ROWS[1]), False),
    ],
)
def test_prefix_sums_in_rows(terms: Terms, *, equal: bool) -> None:
    assert (counted(terms) == counted(PREFIX)) == equal
    assert prove(program(PREFIX), program(terms)).proved == equal


def test_random_parts() -> None:
    """What is proved of random parts counts the same elements."""
    draw, proved, wrong = random.Random(0), 0, 0
    for _ in range(60):
        terms = tuple(
            tuple(
                (
                    draw.choice("kji"),
                    draw.choice(PREDICATES),
                    draw.choice("KJI"),
                    draw.choice([0, 0, 0, 1, -1]),
                )
                for _ in range(draw.choice([1, 2]))
            )
            for _ in range(draw.choice([1, 2]))
        )
        other = draw.choice([PREFIX, IN_ROWS, terms[::-1], terms[:1], IN_ROWS[:1] + terms[:1]])
        equal = counted(terms) == counted(other)
        found = prove(program(other), program(terms)).proved
        assert equal or not found
        proved, wrong = proved + found, wrong + (not equal)
    assert proved > 5
    assert wrong > 20


DIFFERENCES = """
func.func @f(%x: T6) -> T6x6x1 {
  %c = kernel.cumsum %x {dim = 0 : i64} : (T6) -> T6
  %i = kernel.reshape %c : (T6) -> T6x1x1
  %j = kernel.reshape %c : (T6) -> T1x6x1
  %d = kernel.sub %i, %j : (T6x1x1, T1x6x1) -> T6x6x1
  %r = kernel.exp %d : (T6x6x1) -> T6x6x1
  func.return %r : T6x6x1
}
func.func @g(%x: T6) -> T6x6x1 {
  %0 = kernel.constant {value = 0.0 : f32} : T1x1x1
  %y = kernel.reshape %x : (T6) -> T1x1x6
  %i = kernel.iota {dim = 0 : i64} : T6x1x1
  %j = kernel.iota {dim = 1 : i64} : T1x6x1
  %k = kernel.iota {dim = 2 : i64} : T1x1x6
  %m = kernel.compare %k, %i {predicate = "FIRST"} : (T1x1x6, T6x1x1) -> T6x1x6
  %n = kernel.compare %k, %j {predicate = "SECOND"} : (T1x1x6, T1x6x1) -> T1x6x6
  %a = kernel.select %m, %y, %0 : (T6x1x6, T1x1x6, T1x1x1) -> T6x1x6
  %b = kernel.select %n, %y, %0 : (T1x6x6, T1x1x6, T1x1x1) -> T1x6x6
  %d = kernel.sub %a, %b : (T6x1x6, T1x6x6) -> T6x6x6
  %s = kernel.reduce_sum %d {dims = array<i64: 2>} : (T6x6x6) -> T6x6x1
  %r = kernel.exp %s : (T6x6x1) -> T6x6x1
  func.return %r : T6x6x1
}
"""


@pytest.mark.parametrize(
    ("first", "second", "equal"),
    [("le", "le", True), ("le", "lt", False), ("lt", "le", False), ("ge", "ge", False)],
)
def test_differences_of_prefix_sums(first: str, second: str, *, equal: bool) -> None:
    """Elements from i to below j count once, those from j to below i are subtracted."""
    text = DIFFERENCES.replace("FIRST", first).replace("SECOND", second)
    text = re.sub(r"\bT([0-9x]+)", r"tensor<\1xf32>", text)
    reference, candidate = functions(parse_program(text, "f.mlir"))
    assert prove(reference, candidate).proved == equal


FLATTENED = """
func.func @f(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %a = kernel.reshape %x : (tensor<8x8xf32>) -> tensor<64xf32>
  %b = kernel.cumsum %a {dim = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %c = kernel.reshape %b : (tensor<64xf32>) -> tensor<8x8xf32>
  %r = kernel.exp %c : (tensor<8x8xf32>) -> tensor<8x8xf32>
  func.return %r : tensor<8x8xf32>
}
"""


def test_a_matrix_as_one_row() -> None:
    """A place in it is before another one if its row is, or its column in the same row."""
    (reference,) = functions(parse_program(FLATTENED, "f.mlir"))
    candidate = reference.clone()
    take_apart_unsearched(candidate)
    assert prove(reference, candidate).proved
    for op in candidate.body.block.ops:
        if isinstance(op, kernel.CompareOp):
            op.properties["predicate"] = StringAttr("lt")
    assert not prove(reference, candidate).proved


def test_conditions_on_floors() -> None:
    """`floor(t / 8) < a` is a condition on t and a without a floor."""
    draw, without = random.Random(1), 0
    for _ in range(2000):
        a = Variable(1000, draw.choice([2, 3, 5, 8]))
        b = Variable(1001, draw.choice([1, 4, 7, 16]))
        inside = plus(scaled(of(b), draw.choice([1, 2, 3])), number(draw.randint(-4, 4)))
        floor = floor_div(inside, draw.choice([2, 3, 4, 8]))
        index = plus(scaled(of(a), draw.choice([-3, -1, 0, 1, 2])), floor, draw.choice([-1, 1]))
        low, high = sorted([draw.randint(-8, 8), draw.randint(-8, 8)])
        found = guard(index, low, high)
        for x, y in product(range(a.size), range(b.size)):
            numbers = {a: x, b: y}
            holds = (
                found.low <= evaluated(found.value, numbers) < found.high
                if isinstance(found, Guard)
                else found
            )
            assert holds == (low <= evaluated(index, numbers) < high)
        without += isinstance(found, Guard) and not found.value.floors
    assert without > 100
