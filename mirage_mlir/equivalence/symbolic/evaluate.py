"""Computes the normal forms of a function's values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence.symbolic.blocks import BlockForms, Watch, live_operations
from mirage_mlir.equivalence.symbolic.operators import Operators
from mirage_mlir.equivalence.symbolic.symbolic import Symbolic
from mirage_mlir.equivalence.symbolic.terms import Undecided
from mirage_mlir.interpreters.operators import shape_of


def _nobody(op: Operation, value: Symbolic) -> None:
    """Nobody watches."""


Numbers = dict[Hashable, int]
"""Numbers of values by what makes them."""


def numbered(function: FuncOp, numbers: Numbers) -> list[int]:
    """Numbers of what a function returns: what the same operators make has the same number."""
    values: dict[SSAValue, int] = {}
    for number, argument in enumerate(function.body.block.args):
        values[argument] = numbers.setdefault(number, len(numbers))
    for op in function.body.block.ops:
        operands = tuple(values[operand] for operand in op.operands)
        if isinstance(op, ReturnOp):
            return list(operands)
        # Of a graph nothing is known but that it is itself.
        made: Hashable = op if op.regions else (op.name, *op.properties.items())
        for place, result in enumerate(op.results):
            key = made, result.type, operands, place
            values[result] = numbers.setdefault(key, len(numbers))
    return []


def _uses_all(op: Operation) -> bool:
    """Whether an operator's results need all elements of its operands."""
    return not isinstance(op, kernel.SliceOp | kernel.SelectOp | kernel.GraphDefinedOp)


def outputs(
    operators: Operators,
    function: FuncOp,
    wanted: Sequence[int] | None = None,
    watch: Watch = _nobody,
) -> list[Symbolic]:
    """
    What a function returns, in normal form.

    Args:
        operators: evaluates its operations.
        function: what is evaluated.
        wanted: which of its results; None: all.
        watch: is shown the value of each operation that they need.

    Raises:
        Undecided: something has none.
    """
    results = [v for n, v in enumerate(returned(function)) if wanted is None or n in wanted]
    return forms_of(operators, function.body.block, results, watch=watch)


def returned(function: FuncOp) -> Sequence[SSAValue]:
    """What a function returns; raises `Undecided` where that is not said."""
    last = function.body.block.last_op
    if not isinstance(last, ReturnOp):
        raise Undecided("has no return")
    return last.operands


def needed_whole(results: Iterable[SSAValue]) -> set[Operation]:
    """The operations all of whose results' elements some values need."""
    return live_operations(_owners(results), through=_uses_all)


def forms_of(
    operators: Operators,
    block: Block,
    results: Sequence[SSAValue],
    known: Sequence[SSAValue] = (),
    watch: Watch = _nobody,
) -> list[Symbolic]:
    """
    Values of a function's block, in normal form.

    Args:
        operators: evaluates its operations.
        block: the function's.
        results: the values.
        known: values that are taken for further arguments, of which nothing is known.
        watch: is shown the value of each operation that is needed.

    Raises:
        Undecided: something has none.
    """
    values: dict[SSAValue, Symbolic] = {
        argument: operators.argument(number, shape_of(argument))
        for number, argument in enumerate(block.args)
    }
    for number, value in enumerate(known, len(values)):
        values[value] = operators.argument(number, shape_of(value), "cut")
    live = live_operations(
        _owners(results), lambda op: not all(result in values for result in op.results)
    )
    for op in block.ops:
        if op not in live or all(result in values for result in op.results):
            continue
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, kernel.GraphDefinedOp):
            made = BlockForms(operators, op, operands, watch).outputs()
        else:
            made = [operators.result(op, operands)]
        for value, result in zip(op.results, made, strict=True):
            values.setdefault(value, result)
            watch(op, result)
    return [values[value] for value in results]


def _owners(values: Iterable[SSAValue]) -> list[Operation]:
    return [value.owner for value in values if isinstance(value.owner, Operation)]
