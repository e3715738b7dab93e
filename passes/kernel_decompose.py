"""The `kernel-decompose` pass."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, PatternRewriteWalker

from mirage_mlir.passes.patterns.decompose import DECOMPOSITIONS


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

    Never fails. The other operators are elementary already.
    """

    name = "kernel-decompose"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns = GreedyRewritePatternApplier([*DECOMPOSITIONS])
        PatternRewriteWalker(patterns).rewrite_module(op)
