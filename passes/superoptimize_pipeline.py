"""The pipeline `superoptimize`: what `mirage-opt --superoptimize` and the Python interface run."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mirage_mlir.effort import VERIFY_BUDGET
from mirage_mlir.interruption import deferred
from mirage_mlir.passes.frontend.whole import MAX_OPERATORS
from mirage_mlir.passes.kernel_decompose import KernelDecomposePass
from mirage_mlir.passes.partition_program import PartitionProgramPass
from mirage_mlir.passes.pipelines import Pipeline
from mirage_mlir.passes.superoptimize import SuperoptimizePass
from mirage_mlir.passes.verify_equivalence import VerifyEquivalencePass


@dataclass(frozen=True)
class SuperoptimizePipeline(Pipeline, SuperoptimizePass):
    """
    Replace functions of kernel operators by the fastest equivalent uGraphs that a search finds.

    The pipeline `kernel-decompose{only-unsearched=true keep-program=true}`, `partition-program`,
    `superoptimize`, `verify-equivalence`, with these options. `superoptimize` on a command line of
    `mirage-opt`, in a pipeline too, and in `mirage_mlir.host` is this pipeline, unless there is a
    `verify-equivalence` without `reference` behind it: then each pass is what it says.

    Input:
        %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (...) -> tensor<16x4096xf16>
        %o = kernel.matmul %y, %w : (...) -> tensor<16x6144xf16>

    Output:
        %o = kernel.graph_defined ins(%x, %w) grid [128] loop [32] {
          ...
        } : (tensor<16x4096xf16>, tensor<4096x6144xf16>) -> tensor<16x6144xf16>

    What is found is verified before it is taken: proved by normal forms or tested, and accurate.
    Where nothing better is found, the result has each operator as a graph of its own, and a remark
    says so.

    Fails where one of its passes does, and where nothing that was found is verified.
    """

    top_k: int = 1
    """How many results to keep: the others follow as `@NAME__candidate_<i>`."""

    verify_budget: float = VERIFY_BUDGET
    """Seconds that random tests of a result may take; above it normal forms have to prove it."""

    allow_unverified: bool = False
    """Whether the best graph is returned where none is verified; reports say NOT VERIFIED."""

    def search_passes(self) -> Sequence[ModulePass]:
        """The passes up to the one that writes candidates."""
        return (
            KernelDecomposePass(only_unsearched=True, keep_program=True),
            PartitionProgramPass(
                self.target, whole_up_to=MAX_OPERATORS, time_limit=self.time_limit
            ),
            SuperoptimizePass(
                self.target,
                self.time_limit,
                self.top_k,
                self.max_kernels,
                self.jobs,
                self.verify_budget,
                self.f32,
            ),
        )

    def passes(self) -> Sequence[ModulePass]:
        """All passes, in order."""
        verification = VerifyEquivalencePass(
            budget=self.verify_budget, top_k=self.top_k, allow_unverified=self.allow_unverified
        )
        return *self.search_passes(), verification

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Ctrl-C ends the search, also that for a cut: the best so far is verified."""
        with deferred():
            super().apply(ctx, op)
