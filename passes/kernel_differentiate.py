"""The `kernel-differentiate` pass."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from mirage_mlir.diagnostics import fail
from mirage_mlir.passes.frontend.check import check_straight
from mirage_mlir.passes.gradients.backward import SUFFIX, backward


@dataclass(frozen=True)
class KernelDifferentiatePass(ModulePass):
    """
    Append the gradient program of each function of kernel operators.

    Input:
        func.func @f(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>) -> tensor<8x4xf32> {
          %y = kernel.matmul %x, %w : (...) -> tensor<8x4xf32>
          func.return %y : tensor<8x4xf32>
        }

    Output, behind it:
        func.func @f__backward(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>,
                               %grad0: tensor<8x4xf32>) -> (tensor<8x16xf32>, tensor<16x4xf32>) {
          %0 = kernel.transpose %w {permutation = array<i64: 1, 0>} : (...) -> tensor<4x16xf32>
          %1 = kernel.matmul %grad0, %0 : (...) -> tensor<8x16xf32>
          %2 = kernel.transpose %x {permutation = array<i64: 1, 0>} : (...) -> tensor<16x8xf32>
          %3 = kernel.matmul %2, %grad0 : (...) -> tensor<16x4xf32>
          func.return %1, %3 : tensor<8x16xf32>, tensor<16x4xf32>
        }

    The gradient program takes the function's arguments and the gradient of each result; it returns
    the gradient of each argument. It recomputes the intermediate values that it needs; the search
    decides how many kernels run all of it. Each gradient has the element type of its argument, as
    in PyTorch.

    Fails on uGraphs, which have no gradient, and where a name is taken.
    """

    name = "kernel-differentiate"

    function: str | None = None
    """The one function to differentiate; all of the module unless given."""

    inputs: tuple[int, ...] = ()
    """The numbers of the arguments whose gradients are returned; all unless given."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = [
            each
            for each in op.body.block.ops
            if isinstance(each, FuncOp) and not each.is_declaration
        ]
        names = {function.sym_name.data for function in functions}
        if self.function is not None and self.function not in names:
            fail(op, f"has no function @{self.function}")
        for function in functions:
            if self.function in (None, function.sym_name.data):
                self._append(function, names)

    def _append(self, function: FuncOp, names: set[str]) -> None:
        """Put the gradient of a function behind it."""
        if (name := f"{function.sym_name.data}{SUFFIX}") in names:
            fail(function, f"has a gradient program already: @{name}")
        check_straight(function, "differentiated")
        count = len(function.body.block.args)
        if any(not 0 <= number < count for number in self.inputs):
            fail(function, f"has {count} arguments; inputs are {', '.join(map(str, self.inputs))}")
        block = function.parent_block()
        assert block is not None
        block.insert_op_after(backward(function, self.inputs or range(count)), function)
