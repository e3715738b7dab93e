"""Functions as one piece: those that are searched for as a whole."""

from collections.abc import Collection

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.frontend.from_ir import Piece, UnsupportedError, read_piece
from mirage_mlir.passes.frontend.plan import returned, to_compute
from mirage_mlir.search.program.roles import RolesError

MAX_OPERATORS = 40
"""Elementary operators (a norm has six) up to which one kernel is searched for: a chain of four
norms has 34 and fits one, searched in 1.5 s."""


class InPiecesError(Exception):
    """A function that is not searched as one piece; the text says why."""

    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        """What is in the way."""


def whole_piece(function: FuncOp, max_operators: int, rounding: Collection[Operation]) -> Piece:
    """
    A function, which is normalised, as one piece; see `read_piece` for `rounding`.

    Raises:
        InPiecesError: it is too large, or holds what no piece can.
    """
    wanted = to_compute(returned(function))
    operators = [op for op in function.body.block.ops if op.results]
    if any(isinstance(op, kernel.GraphDefinedOp) for op in operators):
        reason = "has graphs already: other operators are searched around them"
        raise InPiecesError(function, reason)
    try:
        piece = read_piece(inner(operators, wanted), wanted, rounding)
    except UnsupportedError as error:
        raise InPiecesError(error.op, f"is not fused with its neighbours: {error}") from error
    except RolesError as error:
        raise InPiecesError(function, f"is searched in pieces: it {error}") from error
    if (count := len(list(piece.program.operations()))) > max_operators:
        raise InPiecesError(function, f"is searched in pieces: it has {count} operators")
    return piece


def inner(operators: list[Operation], wanted: list[SSAValue]) -> set[Operation]:
    """The operators to search together: all but views of the function's arguments."""
    computed = {op for op in operators if to_compute(op.results)}
    assert all(value.owner in computed for value in wanted)
    return computed
