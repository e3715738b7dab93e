"""`#kernel.target<"H200">`, the GPU that a module is compiled for; `target.py` reads it."""

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.targets.target import GPUS, SUPPORTED

TARGET = "kernel.target"
"""Name of the attribute of a module."""


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """`#kernel.target<"H200">`: a GPU; an instruction set would not tell an H100 from an H200."""

    name = "kernel.target"

    gpu: StringAttr

    def verify(self) -> None:
        if self.gpu.data not in GPUS:
            known = ", ".join(name for name in GPUS if name in SUPPORTED)
            raise VerifyException(f"unknown GPU '{self.gpu.data}' as target: it is one of {known}")
