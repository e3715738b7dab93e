"""Calls in a host's function, replaced by what they call, so that parts go across them."""

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import SymbolTable

from mirage_mlir.diagnostics import place_of


def inline_calls(module: ModuleOp, host: FuncOp, is_wanted: Callable[[FuncOp], bool]) -> None:
    """Put the bodies of functions that are wanted, of one block each, in the place of calls."""
    pending = [op for op in host.walk() if isinstance(op, CallOp)]
    while pending:
        call = pending.pop()
        function = SymbolTable.lookup_symbol(module, call.callee)
        if isinstance(function, FuncOp) and function is not host and is_wanted(function):
            pending += [op for op in _inlined(call, function) if isinstance(op, CallOp)]


def _inlined(call: CallOp, function: FuncOp) -> list[Operation]:
    """The operations that are now in the place of `call`."""
    block = function.body.block
    values = dict[SSAValue, SSAValue](zip(block.args, call.arguments, strict=True))
    ops = [op.clone(values) for op in block.ops if not isinstance(op, ReturnOp)]
    for op in ops:
        if place_of(op.location) is None:  # JAX has names of operators there
            op.location = call.location
    last = block.last_op
    assert isinstance(last, ReturnOp)
    Rewriter.insert_op(ops, InsertPoint.before(call))
    Rewriter.replace_op(call, [], [values[value] for value in last.arguments])
    return ops
