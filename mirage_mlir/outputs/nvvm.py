"""`mirage-opt -t nvvm`: the lowered kernels, as upstream MLIR reads them."""

from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer
from xdsl.utils.target import Target

from mirage_mlir.dialects.launch import in_plain_form
from mirage_mlir.dialects.target import TARGET
from mirage_mlir.outputs.kernels import KernelOptions


@dataclass(frozen=True)
class NvvmTarget(KernelOptions, Target):
    """
    The module in generic form, its functions of uGraphs lowered to `gpu.module`s.

    These say by `#nvvm.target` what they are for; `kernel.target` upstream would not know. Of how
    they are launched, `kernel.launch`, it sees a dictionary.
    """

    name = "nvvm"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        lowered = self.lowered(ctx, module).clone()
        lowered.attributes.pop(TARGET, None)
        for op in lowered.walk():
            for name, attribute in op.attributes.items():
                op.attributes[name] = in_plain_form(attribute)
        Printer(stream=output, print_generic_format=True).print_op(lowered)
        output.write("\n")
