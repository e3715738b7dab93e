"""The bases of passes of the lowering, which depend on the GPU."""

from abc import abstractmethod
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.target import settle_target
from mirage_mlir.targets.target import Target, require_known


@dataclass(frozen=True)
class TargetPass(ModulePass):
    """A pass that changes a module for a target."""

    target: str | None = None
    """The GPU, or its instruction set; if not given the module's `kernel.target`, or else H200."""

    def __post_init__(self) -> None:
        require_known(self.target)

    @abstractmethod
    def run(self, module: ModuleOp, target: Target) -> None:
        """Change a module; raises `PassFailure` where the pass's docstring says so."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.run(op, settle_target(op, self.target, self.name))


@dataclass(frozen=True)
class GraphPass(TargetPass):
    """A pass that changes each `kernel.graph_defined` of a module for a target."""

    @abstractmethod
    def visit(self, graph: kernel.GraphDefinedOp, target: Target) -> None:
        """Change one kernel."""

    def run(self, module: ModuleOp, target: Target) -> None:
        for graph in [op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp)]:
            self.visit(graph, target)
