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

    Every thread of every block is interpreted, at some thousand operations a second, so choose
    small sizes.

    Fails at an access that is out of bounds or misaligned; at a read of memory that nothing wrote
    or that an asynchronous copy still writes; at a race with another thread or the previous grid,
    also of loads that become `ld.global.nc`; at a barrier that not all threads reach, or that gets
    more or fewer bytes than it expects; and at a deadlock. Results are not compared with anything.
    """

    name = "check-lowered-kernels"

    seed: int = 0
    """The seed of the random inputs."""

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
