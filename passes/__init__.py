"""Every pass of the project, by name; nothing is imported until it is asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module

from xdsl.passes import ModulePass

if __name__ == "passes":
    # Two names for one module would be two classes for one pass.
    raise ImportError("import mirage_mlir.passes: the top-level folder is not a package of its own")

PASSES: Mapping[str, str] = {
    "superoptimize": "mirage_mlir.passes.superoptimize:SuperoptimizePass",
    "kernel-differentiate": "mirage_mlir.passes.kernel_differentiate:KernelDifferentiatePass",
    "kernel-decompose": "mirage_mlir.passes.kernel_decompose:KernelDecomposePass",
    "algebraic-rewrite": "mirage_mlir.passes.algebraic_rewrite:AlgebraicRewritePass",
    "partition-program": "mirage_mlir.passes.partition_program:PartitionProgramPass",
    "verify-equivalence": "mirage_mlir.passes.verify_equivalence:VerifyEquivalencePass",
    "sink-reductions": "mirage_mlir.passes.sink_reductions:SinkReductionsPass",
    "fuse-thread-graphs": "mirage_mlir.passes.fuse_thread_graphs:FuseThreadGraphsPass",
    "split-cross-block-sums": ("mirage_mlir.passes.split_cross_block_sums:SplitCrossBlockSumsPass"),
    "assign-layouts": "mirage_mlir.passes.assign_layouts:AssignLayoutsPass",
    "software-pipeline": "mirage_mlir.passes.software_pipeline:SoftwarePipelinePass",
    "plan-memory": "mirage_mlir.passes.plan_memory:PlanMemoryPass",
    "lower-to-nvvm": "mirage_mlir.passes.lower_to_nvvm:LowerToNvvmPass",
    "check-lowered-kernels": "mirage_mlir.passes.check_lowered_kernels:CheckLoweredKernelsPass",
}
"""
Pass name to `module:class`; `test_registry` loads every row and compares its name.

First the one that does the whole search, then the others in the order in which they run.
"""


def load_pass(name: str) -> type[ModulePass]:
    """Import the pass `name` of the table."""
    module, _, attribute = PASSES[name].partition(":")
    loaded = getattr(import_module(module), attribute)
    assert isinstance(loaded, type)
    assert issubclass(loaded, ModulePass)
    return loaded


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Pass name to a function that imports it, as `xdsl.universe.Universe` wants it."""

    def lazy(name: str) -> Callable[[], type[ModulePass]]:
        return lambda: load_pass(name)

    return {name: lazy(name) for name in PASSES}
