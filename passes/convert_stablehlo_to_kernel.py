"""The `convert-stablehlo-to-kernel` pass."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from mirage_mlir.passes.stablehlo.functions import called, convert_function, uses_stablehlo


class ConvertStablehloToKernelPass(ModulePass):
    """
    Turn functions of StableHLO, as JAX prints them, into functions of kernel operators.

    Input:
        func.func @f(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf32> {
          %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<
            lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}>
            : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf32>
          func.return %y : tensor<4x6xf32>
        }

    Output:
        func.func @f(%x: tensor<4x8xf16>, %w: tensor<8x6xf16>) -> tensor<4x6xf32> {
          %y = kernel.matmul %x, %w : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf32>
          func.return %y : tensor<4x6xf32>
        }

    What a function calls takes the place of the calls; private functions that nobody calls any more
    are gone. Constants are computed, broadcasts left to the operators that have them. Booleans
    become tensors of zeros and ones, integers numbers in f32, and they are refused where they might
    not be exact. `erfc`, `log_plus_one` and `exponential_minus_one` are formulas in f32, with its
    roundoff as absolute error. Functions without operations of StableHLO stay as they are.

    Fails at the first operation that the kernel dialect does not express, and says why.
    """

    name = "convert-stablehlo-to-kernel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [
            each
            for each in op.body.block.ops
            if isinstance(each, FuncOp) and not each.is_declaration
        ]
        before = {*called(op)}
        foreign = {each.sym_name.data for each in functions if uses_stablehlo(each)}
        while more := {
            each.sym_name.data
            for each in functions
            if each.sym_name.data not in foreign and not foreign.isdisjoint(called(each))
        }:
            foreign |= more
        wanted = [each for each in functions if each.sym_name.data in foreign]
        bodies = [
            (each, convert_function(op, each))
            for each in wanted
            if not _is_private(each) or each.sym_name.data not in before
        ]
        for function, body in bodies:
            function.detach_region(function.body)
            function.add_region(body)
        unused = [each for each in wanted if _is_private(each) and each.sym_name.data in before]
        while gone := [each for each in unused if each.sym_name.data not in {*called(op)}]:
            for function in gone:
                unused.remove(function)
                Rewriter.erase_op(function)


def _is_private(function: FuncOp) -> bool:
    visibility = function.sym_visibility
    return visibility is not None and visibility.data == "private"
