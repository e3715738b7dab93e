"""Functions that call pieces of themselves, and the calls replaced by what is called."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from mirage_mlir.dialects.candidate import kept_programs
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.equivalence.merging import left_of, merge_equal
from mirage_mlir.hints import isa
from mirage_mlir.passes.frontend.piece_extraction import PieceCut
from mirage_mlir.passes.frontend.plan import stays
from mirage_mlir.passes.frontend.strided_views import is_strided_view


@dataclass(frozen=True)
class Flat:
    """A function without calls."""

    function: FuncOp
    cuts: tuple[PieceCut, ...] = ()
    """What was in each piece that it called, in the order of the calls."""


def pieces_of(module: ModuleOp) -> dict[str, FuncOp]:
    """The private functions of straight-line code that may be put in the place of calls."""
    kept = kept_programs(module)
    functions = (op for op in module.body.block.ops if isinstance(op, FuncOp) and _is_piece(op))
    return {f.sym_name.data: f for f in functions if f.sym_name.data not in kept}


def is_of_host(function: FuncOp) -> bool:
    """
    Whether `function` is the host's own, whatever it calls: nothing is put into it.

    It has no operators of its own, but other operations than calls, or values that no kernel has.
    """
    ops = [op for op in function.walk() if op is not function]
    if any(op.name.startswith("kernel.") for op in ops):
        return False
    kinds = (*function.function_type.inputs, *function.function_type.outputs)
    floats = all(isa(kind, TensorType[FloatType]) for kind in kinds)
    return not floats or not all(isinstance(op, CallOp | ReturnOp) for op in ops)


def called_pieces(function: FuncOp, pieces: Mapping[str, FuncOp]) -> list[str]:
    """The pieces that `function` calls; none where it has more than calls, views and graphs."""
    if is_of_host(function):
        return []
    ops = [op for block in function.body.blocks for op in block.ops]
    called = [op.callee.string_value() for op in ops if isinstance(op, CallOp)]
    rest = (op for op in ops if not isinstance(op, CallOp | ReturnOp))
    whole = all(map(stays, rest)) and all(name in pieces for name in called)
    return list(dict.fromkeys(called)) if whole else []


def flattened(function: FuncOp, pieces: Mapping[str, FuncOp]) -> Flat:
    """
    A copy of `function` with the bodies of `pieces` in the place of calls.

    What several pieces compute alike, views and numbers as a rule, is there once.
    """
    copy = function.clone()
    if not called_pieces(function, pieces):
        return Flat(copy)
    bodies: list[tuple[list[Operation], list[SSAValue]]] = []
    for call in [op for op in copy.body.block.ops if isinstance(op, CallOp)]:
        body, results = _inline(call, pieces[call.callee.string_value()])
        bodies.append((body, results))
    first = merge_equal(copy.body.block)
    cuts: list[PieceCut] = []
    for body, results in bodies:
        operators = tuple(dict.fromkeys(first.get(op, op) for op in body))
        inside = tuple(op for op in operators if not _is_view_of_outside(op, operators))
        cuts.append(PieceCut(inside, tuple(left_of(value, first) for value in results)))
    return Flat(copy, tuple(cuts))


def _is_view_of_outside(op: Operation, operators: Sequence[Operation]) -> bool:
    """Whether `op` is a view of what a piece reads: a kernel reads that by its strides."""
    if not is_strided_view(op):
        return False
    source = op.operands[0].owner
    while isinstance(source, Operation) and is_strided_view(source):
        source = source.operands[0].owner
    return source not in operators


def inline_pieces(module: ModuleOp) -> None:
    """
    Put the bodies of private functions in the place of calls, and take away what nobody calls.

    Functions of other kinds, and calls of them, stay, as do calls in functions of the host.
    """
    pieces = pieces_of(module)
    called = {call.callee.string_value() for call in _calls(module)}
    hosts = [op for op in module.body.block.ops if isinstance(op, FuncOp) and is_of_host(op)]
    of_hosts = {call for host in hosts for call in host.walk() if isinstance(call, CallOp)}
    for call in [call for call in _calls(module) if call not in of_hosts]:
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


def _inline(call: CallOp, piece: FuncOp) -> tuple[list[Operation], list[SSAValue]]:
    """The operations in the place of the call, and what they make of its results."""
    values: dict[SSAValue, SSAValue] = dict(zip(piece.body.block.args, call.operands, strict=True))
    last = piece.body.block.last_op
    assert isinstance(last, ReturnOp)
    copies = [op.clone(values) for op in piece.body.block.ops if op is not last]
    for old, new in zip(last.operands, call.results, strict=True):
        values[old].name_hint = new.name_hint
    results = [values[value] for value in last.operands]
    Rewriter.replace_op(call, copies, results)
    return copies, results
