"""The `convert-linalg-to-kernel` pass."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from mirage_mlir.diagnostics import name_of
from mirage_mlir.passes.linalg.conversion import DIALECTS, Conversion, is_candidate
from mirage_mlir.passes.linalg.tensors import UNCHANGED
from mirage_mlir.passes.parts.parts import Language, convert

LINALG = Language(Conversion, is_candidate, UNCHANGED)


class ConvertLinalgToKernelPass(ModulePass):
    """
    Turn linalg on tensors, with arith, math and tensor around it, into kernel operators.

    Input:
        %e = tensor.empty() : tensor<4x6xf32>
        %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
        %y = linalg.matmul ins(%x, %w : tensor<4x8xf16>, tensor<8x6xf16>)
          outs(%z : tensor<4x6xf32>) -> tensor<4x6xf32>

    Output:
        %y = kernel.matmul %x, %w : (tensor<4x8xf16>, tensor<8x6xf16>) -> tensor<4x6xf32>

    A function that can be converted whole becomes one of kernel operators. In any other function
    each run of operations that can be converted becomes a function `@NAME_part_0`, `@NAME_part_1`
    and so on, which `@NAME` calls; the rest stays, and a remark names the first operation that
    cannot be converted. Functions without linalg or tensor operations stay as they are.

    Named operations are read in MLIR's generic form, whose bodies say what they do with elements.
    Sums and products are computed in f32, in any order. Integers and booleans are for masks: they
    are refused where f32 might not represent them exactly.
    """

    name = "convert-linalg-to-kernel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = {each.sym_name.data for each in op.walk() if isinstance(each, FuncOp)}
        for function in [*op.body.block.ops]:
            if isinstance(function, FuncOp) and not function.is_declaration and _uses(function):
                convert(function, LINALG, names)


def _uses(function: FuncOp) -> bool:
    return any(name_of(each).partition(".")[0] in DIALECTS for each in function.walk())
