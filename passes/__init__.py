"""Every pass of the project, by name; nothing is imported until it is asked for."""

from collections.abc import Callable, Container, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from xdsl.passes import ModulePass

if TYPE_CHECKING:
    from mirage_mlir.passes.pipelines import Pipeline

if __name__ == "passes":
    # Two names for one module would be two classes for one pass.
    raise ImportError("import mirage_mlir.passes: the top-level folder is not a package of its own")

PASSES: Mapping[str, str] = {
    "convert-stablehlo-to-kernel": (
        "mirage_mlir.passes.convert_stablehlo_to_kernel:ConvertStablehloToKernelPass"
    ),
    "convert-linalg-to-kernel": (
        "mirage_mlir.passes.convert_linalg_to_kernel:ConvertLinalgToKernelPass"
    ),
    "infinite-masks": "mirage_mlir.passes.infinite_masks:InfiniteMasksPass",
    "kernel-differentiate": "mirage_mlir.passes.kernel_differentiate:KernelDifferentiatePass",
    "algebraic-rewrite": "mirage_mlir.passes.algebraic_rewrite:AlgebraicRewritePass",
    "kernel-decompose": "mirage_mlir.passes.kernel_decompose:KernelDecomposePass",
    "partition-program": "mirage_mlir.passes.partition_program:PartitionProgramPass",
    "superoptimize": "mirage_mlir.passes.superoptimize:SuperoptimizePass",
    "verify-equivalence": "mirage_mlir.passes.verify_equivalence:VerifyEquivalencePass",
    "compute-indices": "mirage_mlir.passes.compute_indices:ComputeIndicesPass",
    "bound-loops": "mirage_mlir.passes.bound_loops:BoundLoopsPass",
    "sink-reductions": "mirage_mlir.passes.sink_reductions:SinkReductionsPass",
    "fuse-thread-graphs": "mirage_mlir.passes.fuse_thread_graphs:FuseThreadGraphsPass",
    "split-cross-block-sums": ("mirage_mlir.passes.split_cross_block_sums:SplitCrossBlockSumsPass"),
    "select-mma": "mirage_mlir.passes.select_mma:SelectMmaPass",
    "select-copies": "mirage_mlir.passes.select_copies:SelectCopiesPass",
    "assign-layouts": "mirage_mlir.passes.assign_layouts:AssignLayoutsPass",
    "fuse-horizontally": "mirage_mlir.passes.fuse_horizontally:FuseHorizontallyPass",
    "software-pipeline": "mirage_mlir.passes.software_pipeline:SoftwarePipelinePass",
    "plan-memory": "mirage_mlir.passes.plan_memory:PlanMemoryPass",
    "pack-constants": "mirage_mlir.passes.pack_constants:PackConstantsPass",
    "overlap-launches": "mirage_mlir.passes.overlap_launches:OverlapLaunchesPass",
    "lower-to-nvvm": "mirage_mlir.passes.lower_to_nvvm:LowerToNvvmPass",
    "check-lowered-kernels": "mirage_mlir.passes.check_lowered_kernels:CheckLoweredKernelsPass",
}
"""Pass name to `module:class`; `test_registry` loads every row and compares its name."""

MAKE_PROGRAMS = (
    "convert-stablehlo-to-kernel",
    "convert-linalg-to-kernel",
    "infinite-masks",
    "kernel-differentiate",
)
"""The passes that write the program to search; verification compares its results with that."""

PIPELINES: Mapping[str, str] = {
    "superoptimize": "mirage_mlir.passes.superoptimize_pipeline:SuperoptimizePipeline",
}
"""Names that stand for several passes, as `-O2` does, unless these are written out."""

VERIFICATION = "verify-equivalence"
"""Where this pass follows a search, the passes of the pipeline are written out one by one."""


def is_pipeline(name: str, behind: Iterable[tuple[str, Container[str]]]) -> bool:
    """
    Whether `name` in a list of passes means the pipeline of that name, not the single pass.

    It means the pipeline unless a verification of candidates follows. `behind` has the names and
    options of the passes that follow.
    """
    verified = any(each == VERIFICATION and "reference" not in options for each, options in behind)
    return name in PIPELINES and not verified


def load_pass(name: str) -> type[ModulePass]:
    """Import the pass `name` of the table."""
    return _load(PASSES[name])


def load_pipeline(name: str) -> "type[Pipeline]":
    """Import the pipeline `name` of the table, which as a pass runs all of its passes."""
    from mirage_mlir.passes.pipelines import Pipeline

    loaded = _load(PIPELINES[name])
    assert issubclass(loaded, Pipeline)
    return loaded


def _load(row: str) -> type[ModulePass]:
    module, _, attribute = row.partition(":")
    loaded = getattr(import_module(module), attribute)
    assert isinstance(loaded, type)
    assert issubclass(loaded, ModulePass)
    return loaded


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """Pass name to a function that imports it, as `xdsl.universe.Universe` wants it."""

    def lazy(name: str) -> Callable[[], type[ModulePass]]:
        return lambda: load_pass(name)

    return {name: lazy(name) for name in PASSES}
