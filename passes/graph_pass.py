"""The base of passes of the lowering that visit the kernels of a module, one after the other."""

from abc import abstractmethod
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.target import settle_target
from mirage_mlir.targets.target import Target, require_known


@dataclass(frozen=True)
class GraphPass(ModulePass):
    """A pass that changes each `kernel.graph_defined` of a module for a target."""

    target: str | None = None
    """The GPU, or its instruction set; if not given the module's `kernel.target`, or else H200."""

    def __post_init__(self) -> None:
        require_known(self.target)

    @abstractmethod
    def visit(self, graph: kernel.GraphDefinedOp, target: Target) -> None:
        """Change one kernel; raises `PassFailure` where its docstring says so."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = settle_target(op, self.target, self.name)
        for graph in [each for each in op.walk() if isinstance(each, kernel.GraphDefinedOp)]:
            self.visit(graph, target)
