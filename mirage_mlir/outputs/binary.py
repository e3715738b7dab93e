"""`mirage-opt -t binary`: kernels as `gpu.binary`, and the code of the host that launches them."""

import re
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from mirage_mlir.bridge.ptxas import find_ptxas
from mirage_mlir.outputs.kernels import KernelOptions
from mirage_mlir.outputs.nvvm import with_host

_TIMES = re.compile(r"(?:ISAToBinary|LLVMIRToISA)TimeInMs = \d+ : i64(?:, )?")
"""What upstream notes of itself: equal input gives equal output without."""

FORMATS = ("bin", "isa")


@dataclass(frozen=True)
class GpuBinaryTarget(KernelOptions, Target):
    """
    What `nvvm{host=true}` writes, behind upstream's `gpu-module-to-binary`.

    The kernels are machine code that `ptxas` made, or PTX, which the driver compiles.
    """

    name = "binary"

    format: str = "bin"
    """`bin` for machine code, `isa` for PTX."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.format not in FORMATS:
            raise ValueError(f"format is {' or '.join(FORMATS)}, not '{self.format}'")

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        toolkit = f" toolkit={find_ptxas().parents[1]}" if self.format == "bin" else ""
        to_binary = f"gpu-module-to-binary{{format={self.format}{toolkit}}}"
        output.write(_TIMES.sub("", with_host(self.lowered(ctx, module), to_binary)))
