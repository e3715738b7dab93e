"""The `software-pipeline` pass."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.target import settle_target
from mirage_mlir.passes.analysis.tile_attributes import has_layouts
from mirage_mlir.passes.schedule.pipelining import Pipelining
from mirage_mlir.targets.target import require_known


@dataclass(frozen=True)
class SoftwarePipelinePass(ModulePass):
    """
    Order a block's work into before, in and after the loop, and insert its barriers.

    Input:
        %p = threadblock.matmul %x, %w {layout = registers, ...}

    Output (in a loop with 8 buffers):
        threadblock.barrier {stage = "loop", pending = 6 : i64}
        %p = threadblock.matmul %x, %w {layout = registers, ...}

    Output where tensor copies fetch all tiles of the loop (the graph gets `producer_warps = 1`):
        threadblock.await_tiles
        %p = threadblock.matmul %x, %w {layout = registers, ...}
        threadblock.release_tiles

    A barrier stands where a thread reads, or overwrites, what another wrote or still reads. Loads
    are `cp.async` by all threads, and the barrier at the top of the loop also waits for the
    iteration's tiles; or producers, warps that do nothing else, start tensor copies, and the others
    wait for these, each for itself. There is one such warp, or four where those that compute need
    the registers that a group can give away. Buffers of `cp.async` are as many as keep enough bytes
    on their way; those of tensor copies take the memory that there is. What threads compute for the
    iteration of such a loop has two buffers (`double_buffered`) where they synchronize less often
    then, and they compute what they can while warpgroups multiply.

    Fails on a graph without layouts, and on a module for another target.
    """

    name = "software-pipeline"

    stages: int | None = None
    """Buffers of each tile that the loop loads; chosen by their size where not given."""

    target: str | None = None
    """The GPU, or its instruction set; if not given the module's `kernel.target`, or else H200."""

    def __post_init__(self) -> None:
        require_known(self.target)
        if self.stages is not None and self.stages < 2:
            raise ValueError(f"stages is at least 2, not {self.stages}")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Visit every `kernel.graph_defined` of the module."""
        target = settle_target(op, self.target, self.name)
        for graph in [g for g in op.walk() if isinstance(g, kernel.GraphDefinedOp)]:
            if not has_layouts(graph):
                fail(graph, "has no layouts; run assign-layouts first")
            Pipelining(graph, target, self.stages).run()
