"""
Finds operators that may be undefined although random tests cannot see it.

Tests treat sigmoid, tanh, log, roots and maxima as random functions. A divisor that is zero by a
law of these, such as tanh(x) + tanh(-x), is a random number in tests, so that the quotient is
defined there. Tests alone therefore suffice only where divisors are positive by their signs, or are
computed by arithmetic alone, and where roots and logarithms are taken of values that cannot be
negative. Normal forms have rules of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.interpreters.operators import is_lowest, mnemonic, number
from mirage_mlir.operators.structured import Effect, with_effect

UNKNOWN, NONNEGATIVE, POSITIVE = 0, 1, 2

KEPT = frozenset("accumulate cast div load min mul rsqrt sqrt".split()) | with_effect(
    Effect.ADDS, Effect.SELECTS, Effect.MOVES
)
"""Operators whose results have the sign that all operands have."""

WHATEVER = {
    **dict.fromkeys(("exp", "sigmoid", "softmax"), POSITIVE),
    **dict.fromkeys(("compare", "iota"), NONNEGATIVE),
}
"""Operators whose results have a sign whatever their operands are."""

ARITHMETIC = frozenset("add accumulate cast div load mul scale square sub".split()) | with_effect(
    Effect.ADDS, Effect.MOVES, Effect.MAKES
)
"""Operators that tests compute as they are."""


NUMBERS = frozenset(["compare", "div", "exp", "matmul", "softmax"]) | with_effect(Effect.ADDS)
"""Operators that make numbers of -inf, or are refused where they would not (`_multiplies`)."""


class KnownSign(NamedTuple):
    """What is known about the sign of a value."""

    sign: int = UNKNOWN
    arithmetic: bool = True
    """Whether tests compute it as it is, without random functions."""
    lowest: bool = False
    """Whether elements may be -inf."""


def undefined_operation(function: FuncOp) -> str | None:
    """An operator that may be undefined unseen, with the reason; None if there is none."""
    return _walked(function).found


def selected_operation(function: FuncOp) -> str | None:
    """
    An operator whose undefined elements a selection by data may leave out; None if there is none.

    Where a divisor is zero as data says, tests have a random number for that, which may cancel.
    """
    return _walked(function).selected


def partial_values(function: FuncOp) -> set[SSAValue]:
    """The values of a function some of whose elements may be undefined, or -inf."""
    return _walked(function).partial


def _walked(function: FuncOp) -> _Walk:
    walk = _Walk()
    for argument in function.body.block.args:
        walk.known[argument] = KnownSign()
    walk.follow(function.body.block)
    return walk


class _Walk:
    """Computes what is known about the signs of all values."""

    def __init__(self) -> None:
        self.known: dict[SSAValue, KnownSign] = {}
        self.found: str | None = None
        self.partial: set[SSAValue] = set()
        self.selected: str | None = None
        self._quotients: dict[SSAValue, str] = {}
        """What is computed from quotients of divisors that may be zero, and by which operator."""

    def follow(self, block: Block) -> list[KnownSign]:
        """Computes the signs of a block's values; returns that of the stored value."""
        stored: list[KnownSign] = []
        for op in block.ops:
            operands = [self.known[operand] for operand in op.operands]
            before, self.found = self.found, None
            if isinstance(op, kernel.GraphDefinedOp):
                self.known.update(zip(op.body.block.args, operands, strict=True))
                self.known.update(zip(op.results, self.follow(op.body.block), strict=True))
            elif mnemonic(op) == "store":
                stored += operands
            else:
                self._check(op, operands)
                made = KnownSign(
                    _sign(op, operands), _is_arithmetic(op, operands), _may_be_lowest(op, operands)
                )
                self.known.update((result, made) for result in op.results)
            self._follow_quotients(op, operands)
            partial = self.found is not None or not self.partial.isdisjoint(op.operands)
            self.partial.update(v for v in op.results if partial or self.known[v].lowest)
            self.found = self.found or before
        return stored

    def _follow_quotients(self, op: Operation, operands: Sequence[KnownSign]) -> None:
        name = mnemonic(op)
        known = [self._quotients[value] for value in op.operands if value in self._quotients]
        inverts = name in ("rsqrt", "pow", "softmax") and operands[0].sign != POSITIVE
        if _may_divide_by_zero(op, operands) or (inverts and not operands[0].arithmetic):
            known.append(op.name)
        if known:
            self._quotients.update((result, known[0]) for result in op.results)
            if name == "select" and self.selected is None:
                self.selected = known[0]

    def _check(self, op: Operation, operands: Sequence[KnownSign]) -> None:
        name = mnemonic(op)
        if op.regions:
            self.found = f"{op.name} has scalar code"
        elif _may_divide_by_zero(op, operands):
            self.found = f"{op.name} divides by what may be zero"
        elif name == "softmax" and operands[0].lowest:
            self.found = f"{op.name} is taken of what may all be -inf"
        elif _subtracts_lowest(op, operands):
            self.found = f"{op.name} subtracts what may be -inf"
        elif _multiplies(op) and any(operand.lowest for operand in operands):
            self.found = f"{op.name} multiplies or adds up what may be -inf"
        elif name in ("rsqrt", "log") and operands[0].sign != POSITIVE:
            self.found = f"{op.name} is taken of what may not be positive"
        elif name == "pow" and number(op, "exponent") < 0 and operands[0].sign != POSITIVE:
            self.found = f"{op.name} is taken of what may be zero"
        elif name in ("sqrt", "pow", "log1p") and operands[0].sign == UNKNOWN:
            self.found = f"{op.name} is taken of what may be negative"


def _may_divide_by_zero(op: Operation, operands: Sequence[KnownSign]) -> bool:
    """Whether a divisor may be zero where tests have a random number."""
    if mnemonic(op) != "div":
        return False
    return operands[1].sign != POSITIVE and not operands[1].arithmetic


def _subtracts_lowest(op: Operation, operands: Sequence[KnownSign]) -> bool:
    """Whether what may be -inf is subtracted, of which tests have a random number."""
    if isinstance(op, threadblock.AccumulateOp):
        # By the exponential of each maximum less the last one.
        return op.rescale is not None and operands[1].lowest
    return mnemonic(op) == "sub" and operands[1].lowest


def _multiplies(op: Operation) -> bool:
    """Whether an operator makes something else of -inf than -inf, or nothing."""
    name = mnemonic(op)
    if name == "scale":
        return number(op, "factor") <= 0
    return name in ("mul", "div", "square", "pow") or name in with_effect(Effect.ADDS)


def _is_arithmetic(op: Operation, operands: Sequence[KnownSign]) -> bool:
    """Whether a value is computed by arithmetic alone, which tests see through."""
    if isinstance(op, threadblock.AccumulateOp) and (op.rescale or op.kind.data == "max"):
        return False
    return mnemonic(op) in ARITHMETIC and all(operand.arithmetic for operand in operands)


def _may_be_lowest(op: Operation, operands: Sequence[KnownSign]) -> bool:
    """Whether elements of a result may be -inf."""
    match mnemonic(op):
        case "constant":
            return is_lowest(op)
        case "max":
            return all(operand.lowest for operand in operands)
        case "select":
            return any(operand.lowest for operand in operands[1:])
        case name:
            return name not in NUMBERS and any(operand.lowest for operand in operands)


def _sign(op: Operation, operands: Sequence[KnownSign]) -> int:
    """The sign of a result."""
    name, signs = mnemonic(op), [operand.sign for operand in operands]
    if isinstance(op, threadblock.AccumulateOp):
        # Factors exp(...) are positive.
        return signs[0]
    if name == "mul" and op.operands[0] == op.operands[1]:
        return max(NONNEGATIVE, signs[0])
    if name in WHATEVER:
        # exp of -inf is 0.
        return NONNEGATIVE if operands and operands[0].lowest else WHATEVER[name]
    if name in KEPT or name == "select":
        return min(signs[1:] if name == "select" else signs)
    match name:
        case "constant":
            return UNKNOWN if is_lowest(op) else _sign_of(number(op, "value"))
        case "scale":
            return min(_sign_of(number(op, "factor")), signs[0])
        case "square" | "relu" | "abs":
            return max(NONNEGATIVE, signs[0])
        case "add":
            return max(signs) if min(signs) else UNKNOWN
        case "max":
            return max(signs)
        case _:
            return UNKNOWN


def _sign_of(value: Fraction) -> int:
    if value < 0:
        return UNKNOWN
    return POSITIVE if value else NONNEGATIVE
