"""Whole functions of StableHLO as functions of the kernel dialect."""

import re
from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr, ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import SymbolTable

from mirage_mlir.diagnostics import UnsupportedOperation, error_about, fail, name_of, place_of
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.dialects.stablehlo import ConstantOp, IotaOp
from mirage_mlir.float_formats import COMPILED
from mirage_mlir.hints import isa
from mirage_mlir.passes.stablehlo import (
    contractions,
    elementwise,
    gathers,
    rearrangements,
    tables,
    windows,
)
from mirage_mlir.passes.stablehlo.tensors import KernelBuilder, Rule, Tensor, given_as, type_of
from mirage_mlir.shapes.shapes import ShapeError, check_static

RULES: Mapping[str, Rule] = {
    **elementwise.RULES,
    **rearrangements.RULES,
    **contractions.RULES,
    **gathers.RULES,
    **windows.RULES,
}

DIALECTS = ("stablehlo", "chlo")

BARRIER = "stablehlo.optimization_barrier"


def in_stablehlo(op: Operation) -> Operation:
    """
    `op`, or an operation without operands, of no program, that has the same result.

    That is a constant for a tensor of arith, and `iota` where the type says the sizes, as well:
    torch-mlir writes so.
    """
    kinds = [result.type for result in op.results]
    if not kinds or not isa(kinds[0], TensorType[Attribute]):
        return op
    if isinstance(op, arith.ConstantOp):
        return ConstantOp.create(properties={"value": op.value}, result_types=kinds)
    if name_of(op) == "stablehlo.dynamic_iota":
        return IotaOp.create(properties={**op.properties}, result_types=kinds)
    return op


class Converter:
    """
    Converts the body of a function, and of those that it calls in the place of the calls.

    Args:
        module: where functions are that are called.
        function: what is converted.
        block: an empty one with the arguments, which gets the operators.
    """

    def __init__(self, module: ModuleOp, function: FuncOp, block: Block) -> None:
        self._module, self._function, self._block = module, function, block
        self._emit = KernelBuilder(block, function)
        self._running: list[FuncOp] = []
        self._place: LocationAttr = UNKNOWN_LOC
        """Of the call that is replaced."""

    def convert(self) -> None:
        """Append what the function computes, and the return."""
        arguments = [
            Tensor(type_of(before).get_shape(), type_of(before).element_type, arg)
            for before, arg in zip(
                self._function.body.blocks[0].args, self._block.args, strict=True
            )
        ]
        results = self._run(self._function, arguments)
        last = self._function.body.block.last_op
        assert last is not None
        self._emit.at(last)
        for number, result in enumerate(results):
            if not isinstance(result.element, FloatType):
                self._emit.fail(
                    f"gives elements of type {result.element} as result {number}; "
                    f"kernels give {COMPILED}"
                )
        values = [self._emit.whole(result) for result in results]
        end = ReturnOp(*values)
        end.location = last.location
        self._block.add_op(end)
        self._drop_unused()

    def _run(self, function: FuncOp, arguments: Sequence[Tensor]) -> list[Tensor]:
        if len(function.body.blocks) != 1:
            fail(function, "has several blocks, and kernels have no branches")
        self._running.append(function)
        known = dict[SSAValue, Tensor](zip(function.body.block.args, arguments, strict=True))
        for op in function.body.block.ops:
            operands = [known[value] for value in op.operands]
            if place_of(op.location) is None:
                op.location = self._place
            if isinstance(op, ReturnOp):
                self._running.pop()
                return operands
            known.update(zip(op.results, self._convert(op, operands), strict=True))
        fail(function, "does not return")

    def _convert(self, op: Operation, operands: Sequence[Tensor]) -> Sequence[Tensor]:
        self._emit.at(op)
        if isinstance(op, CallOp):
            outer, self._place = self._place, op.location
            results = self._run(self._callee(op), operands)
            self._place = outer
            return results
        if (meant := in_stablehlo(op)) is not op:
            op, operands = meant, ()
        if (name := op.name) not in RULES and name != BARRIER:
            target = op.attributes.get("call_target_name", op.properties.get("call_target_name"))
            of = "" if target is None else f" (a call of {target})"
            self._emit.fail(f"has no counterpart among the operators of the kernel dialect{of}")
        for value in (*op.operands, *op.results):
            try:
                check_static(type_of(value).get_shape(), "a value")
            except ShapeError as error:
                self._emit.fail(str(error))
        if name == BARRIER:
            return operands
        try:
            # What a scan carries is its second result, which nothing uses.
            return [tables.apply(RULES[name], self._emit, op, operands)] * len(op.results)
        except (ShapeError, OverflowError) as error:
            # What lies outside of a tensor, or has no number of its type.
            self._emit.fail(str(error))

    def _callee(self, call: CallOp) -> FuncOp:
        function = SymbolTable.lookup_symbol(self._module, call.callee)
        if not isinstance(function, FuncOp) or function.is_declaration:
            fail(call, f"calls {call.callee}, which this module does not define")
        if function in self._running:
            fail(call, f"calls {call.callee}, which runs already")
        return function

    def _drop_unused(self) -> None:
        for op in reversed([*self._block.ops]):
            if op.results and not any(result.first_use for result in op.results):
                op.detach()
                op.erase()


def uses_stablehlo(op: Operation) -> bool:
    """Whether there is an operation of StableHLO or CHLO in `op`."""
    return any(name_of(each).partition(".")[0] in DIALECTS for each in op.walk())


def called(op: Operation) -> Iterator[str]:
    """The names of the functions that are called in `op`."""
    return (each.callee.string_value() for each in op.walk() if isinstance(each, CallOp))


def _named(value: SSAValue) -> str:
    """How an argument is called, where the program says it: bindings print numbers of their own."""
    name = value.name_hint
    return "" if name is None or re.fullmatch(r"arg\d+", name) else f" (%{name})"


def _argument_type(function: FuncOp, number: int, value: SSAValue) -> Attribute:
    """The type that an argument has for kernels."""
    if (found := given_as(value.type)) is not None:
        return found
    why = f"kernels take tensors of {COMPILED}, and of booleans as zeros and ones"
    if isa(value.type, TensorType[FloatType]):
        try:
            check_static(value.type.get_shape(), "it")
        except ShapeError as error:
            why = str(error)
    said = f"takes {value.type} as argument {number}{_named(value)}; {why}"
    raise UnsupportedOperation(error_about(function, said))


def convert_function(module: ModuleOp, function: FuncOp) -> Region:
    """
    The body that `function` gets, whose arguments are numbers where they were booleans.

    Raises:
        UnsupportedOperation: an operation cannot be converted; the message names the first one.
    """
    args = function.body.blocks[0].args
    kinds = [_argument_type(function, number, value) for number, value in enumerate(args)]
    block = Block(arg_types=kinds)
    for old, new in zip(args, block.args, strict=True):
        new.name_hint, new.location = old.name_hint, old.location
    Converter(module, function, block).convert()
    return Region(block)
