"""The normal forms of what a function computes."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.forms.blocks import BlockForms, Watch, live_operations
from mirage_mlir.interpreters.forms.operators import Operators
from mirage_mlir.interpreters.forms.symbolic import Symbolic
from mirage_mlir.interpreters.forms.terms import Undecided
from mirage_mlir.interpreters.operators import shape_of


def _nobody(op: Operation, value: Symbolic) -> None:
    """Nobody watches."""


def outputs(operators: Operators, function: FuncOp, watch: Watch = _nobody) -> list[Symbolic]:
    """
    What a function returns, in normal form.

    Raises:
        Undecided: something has none.
    """
    block = function.body.block
    values: dict[SSAValue, Symbolic] = {
        argument: operators.argument(number, shape_of(argument))
        for number, argument in enumerate(block.args)
    }
    live = live_operations(block.ops)
    for op in block.ops:
        if op not in live:
            continue
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, ReturnOp):
            return operands
        if isinstance(op, kernel.GraphDefinedOp):
            results = BlockForms(operators, op, operands, watch).outputs()
        else:
            results = [operators.result(op, operands)]
        for value, result in zip(op.results, results, strict=True):
            values[value] = result
            watch(op, result)
    raise Undecided("has no return")
