"""Which inputs are masks: what is added to scores, and what selects -inf in their place."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue, Use

from mirage_mlir.interpreters.operators import is_lowest, mnemonic, number, text
from mirage_mlir.operators.structured import Effect, with_effect

MOVED = with_effect(Effect.MOVES) | {"cast"}
"""Operators whose results are elements of their operands."""


def is_mask(argument: SSAValue) -> bool:
    """Whether an argument is only added, and the sums are only scaled before a softmax."""
    return bool(argument.uses) and all(
        mnemonic(use.operation) == "add" and _leads_to_softmax(use.operation)
        for use in argument.uses
    )


def _leads_to_softmax(op: Operation) -> bool:
    users = [use.operation for result in op.results for use in result.uses]
    return bool(users) and all(
        mnemonic(user) in ("softmax", "reduce_max", "sub", "exp")
        or (mnemonic(user) in ("add", "scale") and _leads_to_softmax(user))
        for user in users
        if not isinstance(user, ReturnOp)
    )


def selects_lowest(op: Operation) -> bool:
    """Whether an operator is a selection with -inf on one side."""
    return mnemonic(op) == "select" and any(map(_is_lowest, op.operands[1:]))


def _is_lowest(value: SSAValue) -> bool:
    op = value.owner
    if not isinstance(op, Operation):
        return False
    if mnemonic(op) == "broadcast":
        return _is_lowest(op.operands[0])
    return mnemonic(op) == "constant" and is_lowest(op)


def two_sides(argument: SSAValue) -> tuple[float, float] | None:
    """
    Two numbers that the program tells apart: it compares the argument with one, or selects by it.

    None if it does neither.
    """
    return next((found for use in _uses(argument) if (found := _told_apart(use))), None)


def _uses(value: SSAValue) -> Iterator[Use]:
    """Where elements of a value are read."""
    for use in value.uses:
        if mnemonic(use.operation) in MOVED:
            yield from _uses(use.operation.results[0])
        else:
            yield use


def _told_apart(use: Use) -> tuple[float, float] | None:
    op = use.operation
    if mnemonic(op) == "select" and use.index == 0:
        return 0.0, 1.0
    if mnemonic(op) != "compare":
        return None
    other = op.operands[1 - use.index].owner
    if not isinstance(other, Operation) or mnemonic(other) != "constant" or is_lowest(other):
        return None
    limit = float(number(other, "value"))
    above = {"eq": 1, "ne": 1, "le": 1, "gt": 1, "lt": -1, "ge": -1}[text(op, "predicate")]
    return limit, limit + (above if use.index == 0 else -above)
