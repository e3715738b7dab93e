"""
Ranges of NVTX around launches, which profilers show: `MIRAGE_NVTX=1`, with the package nvtx.

Without the variable nothing is imported, and a launch is what it was.
"""

import os
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from mirage_mlir.runtime.artifact import TargetCode
from mirage_mlir.runtime.cuda_driver import Driver
from mirage_mlir.runtime.launch import LoadedCode

VARIABLE = "MIRAGE_NVTX"

DOMAIN = "mirage_mlir"
"""What profilers group the ranges under."""

Make = Callable[[TargetCode, Driver, int, Sequence[int]], LoadedCode]


def annotated_code(name: str) -> Make:
    """What loads the machine code of program `name`: with ranges where the user asks for them."""
    if os.environ.get(VARIABLE, "") in ("", "0"):
        return LoadedCode
    if find_spec("nvtx") is None:
        warnings.warn(f"{VARIABLE} is set, but there is no package nvtx", stacklevel=2)
        return LoadedCode

    def make(code: TargetCode, driver: Driver, device: int, constants: Sequence[int]) -> LoadedCode:
        return AnnotatedCode(name, code, driver, device, constants)

    return make


class AnnotatedCode(LoadedCode):
    """Machine code whose launches are in a range with the name of the program."""

    def __init__(
        self, name: str, code: TargetCode, driver: Driver, device: int, constants: Sequence[int]
    ) -> None:
        super().__init__(code, driver, device, constants)
        self._name = name
        self._nvtx: Any = import_module("nvtx")

    def launch(self, *args: Any, **kwargs: Any) -> None:
        with self._nvtx.annotate(self._name, domain=DOMAIN):
            super().launch(*args, **kwargs)
