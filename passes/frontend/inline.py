"""Functions that call pieces of themselves, and the calls replaced by what is called."""

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import SSAValue
from xdsl.rewriter import Rewriter

from mirage_mlir.passes.frontend.plan import stays


def is_partitioned(function: FuncOp) -> bool:
    """Whether `function` calls others and has nothing else but views and graphs."""
    ops = [op for block in function.body.blocks for op in block.ops]
    rest = (op for op in ops if not isinstance(op, CallOp | ReturnOp))
    return any(isinstance(op, CallOp) for op in ops) and all(stays(op) for op in rest)


def inline_pieces(module: ModuleOp) -> None:
    """
    Put the bodies of private functions in the place of calls, and take away what nobody calls.

    Functions of other kinds, and calls of them, stay.
    """
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    pieces = {f.sym_name.data: f for f in functions if _is_piece(f)}
    called = {call.callee.string_value() for call in _calls(module)}
    for call in list(_calls(module)):
        if (piece := pieces.get(call.callee.string_value())) is not None:
            _inline(call, piece)
    left = {call.callee.string_value() for call in _calls(module)}
    for name, piece in pieces.items():
        if name in called and name not in left:
            Rewriter.erase_op(piece)


def _is_piece(function: FuncOp) -> bool:
    """Whether `function` is private, straight-line code that calls nothing."""
    return (
        function.sym_visibility is not None
        and function.sym_visibility.data == "private"
        and len(function.body.blocks) == 1
        and not any(isinstance(op, CallOp) for op in function.body.block.ops)
    )


def _calls(module: ModuleOp) -> Iterator[CallOp]:
    return (op for op in module.walk() if isinstance(op, CallOp))


def _inline(call: CallOp, piece: FuncOp) -> None:
    values: dict[SSAValue, SSAValue] = dict(zip(piece.body.block.args, call.operands, strict=True))
    last = piece.body.block.last_op
    assert isinstance(last, ReturnOp)
    copies = [op.clone(values) for op in piece.body.block.ops if op is not last]
    for old, new in zip(last.operands, call.results, strict=True):
        values[old].name_hint = new.name_hint
    Rewriter.replace_op(call, copies, [values[value] for value in last.operands])
