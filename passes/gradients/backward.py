"""
The gradient program of a function: its operators once more, and their adjoints from the results on.

Source: Griewank and Walther, "Evaluating Derivatives" (2008), section 3.2 (reverse mode).
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.elementwise import row_of
from mirage_mlir.operators.elementwise import Row
from mirage_mlir.passes.gradients.elementwise import derivative
from mirage_mlir.passes.gradients.steps import Steps
from mirage_mlir.passes.gradients.structured import RULES, Gradients
from mirage_mlir.passes.gradients.vanishing import vanishes

SUFFIX = "__backward"
"""What the name of a function's gradient ends in."""


def backward(function: FuncOp, inputs: Sequence[int]) -> FuncOp:
    """
    The gradients of `function` by its arguments `inputs`, as a function.

    It takes the arguments of `function`, then the gradient of each of its results, and returns the
    gradient of each of `inputs`, in its shape and type. Gradients are rounded to the type of what
    they are the gradient of, as PyTorch rounds them; between these points they are in f32.

    Raises:
        DiagnosticException: an operator has no gradient.
    """
    body = Region()
    function.body.clone_into(body)
    block = body.block
    last = block.last_op
    assert isinstance(last, ReturnOp)
    results = [*last.operands]
    last.detach()
    last.erase()
    forward = [*block.ops]
    found = _Adjoints(block, _active(block, inputs))
    for number, value in enumerate(results):
        gradient = block.insert_arg(value.type, len(block.args))
        gradient.name_hint = f"grad{number}"
        found.add(value, gradient)
    for op in reversed(forward):
        found.through(op)
    wanted = [found.of(block.args[number]) for number in inputs]
    block.add_op(ReturnOp(*wanted))
    _erase_unused(block)
    types = ([*block.arg_types], [value.type for value in wanted])
    name = f"{function.sym_name.data}{SUFFIX}"
    return FuncOp(name, types, body, arg_attrs=_attributes(function, block))


def _active(block: Block, inputs: Sequence[int]) -> set[SSAValue]:
    """The values of a program that depend on the arguments `inputs`."""
    active: set[SSAValue] = {block.args[number] for number in inputs}
    for op in block.ops:
        if not active.isdisjoint(op.operands):
            active.update(op.results)
    return active


def _erase_unused(block: Block) -> None:
    """Take out what leads to no result: the last operators of the program, say."""
    for op in reversed([*block.ops]):
        if not isinstance(op, ReturnOp) and not any(value.first_use for value in op.results):
            op.detach()
            op.erase()


def _attributes(function: FuncOp, block: Block) -> ArrayAttr[DictionaryAttr] | None:
    """Those of the arguments, and none for the gradients."""
    if function.arg_attrs is None:
        return None
    more = len(block.args) - len(function.arg_attrs)
    return ArrayAttr([*function.arg_attrs, *[DictionaryAttr({})] * more])


class _Adjoints:
    """The gradients of values by which a sum over all results changes."""

    def __init__(self, block: Block, active: AbstractSet[SSAValue]) -> None:
        self.steps = Steps(block)
        self._block = block
        self._active = active
        """The values whose gradients are asked for, or lead to these."""
        self._terms: dict[SSAValue, list[SSAValue]] = {}

    def add(self, value: SSAValue, gradient: SSAValue) -> None:
        """One more term of the gradient of `value`."""
        self._terms.setdefault(value, []).append(gradient)

    def of(self, value: SSAValue) -> SSAValue:
        """The gradient of `value`, in its type: the sum of all terms, zeros where there is none."""
        steps = self.steps
        terms = self._terms.get(value)
        if not terms:
            return steps.add(kernel.ConstantOp(0.0, kernel.tensor_type(value)))
        if len(terms) == 1:
            return steps.like(terms[0], value)
        total, *others = map(steps.widen, terms)
        for term in others:
            total = steps.plus(total, term)
        return steps.like(total, value)

    def through(self, op: Operation) -> None:
        """Give the operands of `op` what they get of the gradient of its result."""
        if not any(value in self._terms and value in self._active for value in op.results):
            return
        self.steps.origin = op
        gradient = self.of(op.results[0])
        if isinstance(op, kernel.ReduceMaxOp) and vanishes(self._block, gradient):
            return
        for operand, term in zip(op.operands, self._terms_of(op, gradient), strict=True):
            if term is not None and operand in self._active:
                self.add(operand, term)

    def _terms_of(self, op: Operation, gradient: SSAValue) -> Gradients:
        if (rule := RULES.get(type(op))) is not None:
            return rule(op, gradient, self.steps)
        if (row := row_of(op)) is None:
            fail(op, "has no gradient: differentiate the program before it is superoptimized")
        return [
            self._chained(op, row, number, gradient) if operand in self._active else None
            for number, operand in enumerate(op.operands)
        ]

    def _chained(self, op: Operation, row: Row, number: int, gradient: SSAValue) -> SSAValue:
        """The gradient of an elementwise operator's operand, summed where it was broadcast."""
        steps, slope = self.steps, derivative(self.steps, op, row, number)
        wide = steps.widen(gradient)
        if isinstance(slope, SSAValue):
            term = steps.times(wide, slope)
        else:
            term = steps.scaled(wide, float(slope))
        return steps.summed_to(term, kernel.shape_of(op.operands[number]))
