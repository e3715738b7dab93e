"""The rules of a threadblock graph as a whole: what no operation can check alone."""

from mirage_mlir.dialects.kernel import GraphDefinedOp
from mirage_mlir.dialects.threadblock import stages


def verify_graph(graph: GraphDefinedOp) -> None:
    """Raise `InvalidOperation` at the first operation that breaks a rule."""
    stages(graph)
