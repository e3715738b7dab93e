"""The `kernel-decompose` pass."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from mirage_mlir.diagnostics import remark
from mirage_mlir.dialects.candidate import kept_programs
from mirage_mlir.passes.frontend.kept import functions_to_search, keep_program
from mirage_mlir.passes.patterns.decompose import DECOMPOSITIONS, take_apart_unsearched, unsearched


@dataclass(frozen=True)
class KernelDecomposePass(ModulePass):
    """
    Take norms, softmax, silu, means and prefix sums apart into elementary operators, in f32.

    Input:
        %y = kernel.rms_norm %x {eps = 1.0e-05 : f32}
            : (tensor<16x4096xf16>) -> tensor<16x4096xf16>

    Output:
        %0 = kernel.cast %x : (tensor<16x4096xf16>) -> tensor<16x4096xf32>
        %1 = kernel.square %0 : (tensor<16x4096xf32>) -> tensor<16x4096xf32>
        %2 = kernel.reduce_sum %1 {dims = array<i64: 1>} : (...) -> tensor<16x1xf32>
        %3 = kernel.scale %2 {factor = 2.44140625e-04 : f32} : (...) -> tensor<16x1xf32>
        %4 = kernel.constant {value = 1.0e-05 : f32} : tensor<16x1xf32>
        %5 = kernel.add %3, %4 : (...) -> tensor<16x1xf32>
        %6 = kernel.sqrt %5 : (tensor<16x1xf32>) -> tensor<16x1xf32>
        %7 = kernel.div %0, %6 : (...) -> tensor<16x4096xf32>
        %y = kernel.cast %7 : (tensor<16x4096xf32>) -> tensor<16x4096xf16>

    Never fails. The other operators are elementary already. Programs that other functions claim to
    compute (`kernel.implements`) stay as they are.
    """

    name = "kernel-decompose"

    only_unsearched: bool = False
    """Whether operators that `superoptimize` can fuse stay as they are: it knows the formulas of
    norms and softmax, and where nothing is fused one kernel is faster than several."""

    keep_program: bool = False
    """Whether a copy of each function is kept as `@NAME__program`, with which
    `verify-equivalence` compares results."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.keep_program:
            for function in functions_to_search(op):
                keep_program(op, function)
        kept = kept_programs(op)
        patterns = GreedyRewritePatternApplier([*DECOMPOSITIONS])
        for each in list(op.body.block.ops):
            if isinstance(each, FuncOp) and each.sym_name.data in kept:
                continue
            if self.only_unsearched:
                _take_apart_unsearched(each)
                continue
            for region in each.regions:
                PatternRewriteWalker(patterns).rewrite_region(region)


def _take_apart_unsearched(program: Operation) -> None:
    for op in unsearched(program):
        remark(op, "is not fused as one operator: it is taken apart, as kernel-decompose does")
    take_apart_unsearched(program)
