"""The `convert-linalg-to-kernel` pass."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from mirage_mlir.diagnostics import name_of
from mirage_mlir.hints import isa
from mirage_mlir.passes.linalg.conversion import DIALECTS, ELEMENTWISE, Conversion, is_candidate
from mirage_mlir.passes.linalg.host import booleans_as_numbers, numbers_as_booleans
from mirage_mlir.passes.linalg.tensors import UNCHANGED
from mirage_mlir.passes.parts.foreign import tell_foreign
from mirage_mlir.passes.parts.parts import Language, convert

LINALG = Language(Conversion, is_candidate, UNCHANGED, booleans_as_numbers, numbers_as_booleans)


@dataclass(frozen=True)
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
    cannot be converted. Functions that have neither linalg nor tensor operations, nor arith or
    math on tensors, stay as they are; where all are such, a remark names an operation of theirs.

    Named operations are read in MLIR's generic form, whose bodies say what they do with elements.
    Sums and products are computed in f32, in any order. Integers and booleans are for masks: they
    are refused where f32 might not represent them exactly. The host makes zeros and ones of its
    booleans for kernels, which give it such.
    """

    name = "convert-linalg-to-kernel"

    if_any: bool = False
    """Say nothing of a module in which there is nothing to convert."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = {each.sym_name.data for each in op.walk() if isinstance(each, FuncOp)}
        functions = [
            each
            for each in op.body.block.ops
            if isinstance(each, FuncOp) and not each.is_declaration and _uses(each)
        ]
        if not functions and not self.if_any:
            tell_foreign(op, "linalg")
        for function in functions:
            convert(function, LINALG, names)


def _uses(function: FuncOp) -> bool:
    return any(map(_is_of_linalg, function.walk()))


def _is_of_linalg(op: Operation) -> bool:
    dialect = name_of(op).partition(".")[0]
    return dialect in DIALECTS or (dialect in ELEMENTWISE and _computes_a_tensor(op))


def _computes_a_tensor(op: Operation) -> bool:
    return name_of(op) != "arith.constant" and any(
        isa(result.type, TensorType[Attribute]) for result in op.results
    )
