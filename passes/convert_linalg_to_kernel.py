"""The `convert-linalg-to-kernel` pass."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from mirage_mlir.diagnostics import UnsupportedOperation, name_of, remark, remark_of
from mirage_mlir.passes.linalg.conversion import DIALECTS
from mirage_mlir.passes.linalg.parts import Refusals, blocks_of, convert_whole, outline, parts_of


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

    A function of nothing else becomes one of kernel operators. Of others each run of operations
    that can be converted becomes a function `@NAME_part_0`, `@NAME_part_1` and so on, which
    `@NAME` calls; the rest stays. A remark names the first operation that was in the way.
    Functions without linalg or tensor operations stay as they are.

    Named operations are read in MLIR's generic form, which says what they do with elements. Sums
    and products are computed in f32, whatever the order of the loops. Integers and booleans are
    for masks: they are refused where they might not be exact.
    """

    name = "convert-linalg-to-kernel"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = {each.sym_name.data for each in op.walk() if isinstance(each, FuncOp)}
        for function in [*op.body.block.ops]:
            if isinstance(function, FuncOp) and not function.is_declaration and _uses(function):
                self._convert(function, names)

    def _convert(self, function: FuncOp, names: set[str]) -> None:
        first: UnsupportedOperation | None = None
        if len(function.body.blocks) == 1:
            try:
                convert_whole(function)
                return
            except UnsupportedOperation as error:
                first = error
        refusals, replaced, count = Refusals(), dict[SSAValue, SSAValue](), 0
        for block in [*blocks_of(function.body)]:
            for part in parts_of(block, refusals):
                outline(function, part, _new_name(function, count, names), replaced)
                count += 1
        made = "1 part of it became a function" if count == 1 else f"{count} parts became functions"
        result = f"{made} that it calls" if count else "nothing of it was converted"
        remark(function, f"@{function.sym_name.data} stays a function of the host: {result}")
        if first is not None:
            remark_of(first)


def _uses(function: FuncOp) -> bool:
    return any(name_of(each).partition(".")[0] in DIALECTS for each in function.walk())


def _new_name(function: FuncOp, number: int, names: set[str]) -> str:
    """A name that no other function has."""
    base = f"{function.sym_name.data}_part_{number}"
    name, again = base, 0
    while name in names:
        again += 1
        name = f"{base}_{again}"
    names.add(name)
    return name
