"""Whether the scalar code of thread graphs computes what the operators on tiles did."""

from xdsl.dialects.func import FuncOp

from mirage_mlir.diagnostics import fail
from mirage_mlir.equivalence import Verifier
from mirage_mlir.equivalence.symbolic import prove


def check_fusion(before: FuncOp, after: FuncOp) -> None:
    """
    Compare a function of operators on tiles with the same one after `fuse-thread-graphs`.

    Rules that turn operators into scalar code are compared so with what operators mean, each time
    that they are used: by normal forms, or in f64 on inputs of many kinds.

    Raises:
        DiagnosticException: they differ.
    """
    if prove(before, after).proved:
        return
    if (found := Verifier(before).float_difference(after)) is not None:
        fail(before, f"has operators whose code on threads computes something else: {found}")
