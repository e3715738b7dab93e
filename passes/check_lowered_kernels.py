"""The `check-lowered-kernels` pass."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from mirage_mlir.diagnostics import remark
from mirage_mlir.interpreters.gpu_simulator import random_inputs, run_kernels


@dataclass(frozen=True)
class CheckLoweredKernelsPass(ModulePass):
    """
    Run kernels on random inputs without a GPU, and watch every access to memory.

    Input: the output of `lower-to-nvvm`.

    Output: the same module, and a remark at each `gpu.module`.

    Every thread of every block is interpreted: some thousand operations a second. It is meant for
    small instances of the shapes that a program will have.

    Fails at an access that is out of bounds or misaligned, reads what nothing wrote or what an
    asynchronous copy still writes, or that nothing orders with one of another thread or of the
    previous grid, loads that become `ld.global.nc` among them; at a barrier
    that not all threads reach, or that gets other bytes than it expects; and where threads wait for
    what never comes. What is computed is not compared with anything.
    """

    name = "check-lowered-kernels"

    seed: int = 0
    """Of the inputs."""

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise ValueError(f"seed is not negative, but {self.seed} is")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Run the kernels of each `gpu.module`."""
        for module in [m for m in op.body.block.ops if isinstance(m, gpu.ModuleOp)]:
            run_kernels(module, random_inputs(module, self.seed))
            count = sum(isinstance(kernel, llvm.FuncOp) for kernel in module.body.block.ops)
            kernels = "1 kernel runs" if count == 1 else f"{count} kernels run"
            remark(module, f"@{module.sym_name.data}: {kernels} without a fault")
