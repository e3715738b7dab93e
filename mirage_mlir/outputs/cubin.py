"""`mirage-opt -t cubin`: the kernels of one function as machine code."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.bridge.nvptx import to_ptx
from mirage_mlir.bridge.ptxas import assemble
from mirage_mlir.outputs.base import BinaryTarget
from mirage_mlir.outputs.kernels import KernelOptions


@dataclass(frozen=True)
class CubinTarget(KernelOptions, BinaryTarget):
    """An ELF file that CUDA's driver loads."""

    name = "cubin"

    def encode(self, ctx: Context, module: ModuleOp) -> bytes:
        kernels = self.kernels(ctx, module)
        chip = self.chip(kernels)
        return assemble(to_ptx(kernels, chip), chip).data
