"""What to say of a program that no kernel was found for, and where."""

from collections.abc import Generator
from contextlib import contextmanager

from xdsl.dialects.builtin import UNKNOWN_LOC
from xdsl.ir import Operation

from mirage_mlir.api.graph import KernelGraph
from mirage_mlir.diagnostics import (
    PassFailure,
    Severity,
    UnsupportedOperation,
    diagnostic_at,
    location_of,
)
from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.operators import is_lowest


@contextmanager
def failures_at_line(graph: KernelGraph, what: str = "this") -> Generator[None]:
    """
    While kernels are searched for: a failure says which line of the user it is about.

    Args:
        graph: the program; one that was not made of lines of a user fails as it does.
        what: the message calls what was searched for.

    Raises:
        UnsupportedOperation: in place of the failure, with its reasons as notes.
    """
    try:
        yield
    except PassFailure as error:
        found = [op for op in graph.to_module().walk() if location_of(op) != UNKNOWN_LOC]
        if error.diagnostics[0].line or not found:
            raise
        masks = [op for op in found if _masks_with_lowest(op)]
        # Verification follows -inf where a mask is a pattern of indices, and any number elsewhere.
        advice = "-inf in masks is in the way: take finfo(dtype).min"
        message = (
            f"no kernel of {what} could be verified and compiled; "
            f"{advice if masks else 'compile parts of the function, or call it as it is'}"
        )
        place = diagnostic_at(location_of((masks or found)[-1]), Severity.ERROR, message)
        raise UnsupportedOperation(place, *error.diagnostics[1:]) from error


def _masks_with_lowest(op: Operation) -> bool:
    return isinstance(op, kernel.SelectOp) and any(map(_is_lowest, op.operands))


def _is_lowest(value: object) -> bool:
    owner = getattr(value, "owner", None)
    if isinstance(owner, kernel.BroadcastOp):
        return _is_lowest(owner.operands[0])
    return isinstance(owner, kernel.ConstantOp) and is_lowest(owner)
