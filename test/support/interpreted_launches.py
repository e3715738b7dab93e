"""Launches that the interpreter carries out: what a program of a host computes, without a GPU."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from c_programs import FakeCuda
from host_programs import array_at
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.opt_main import main
from mirage_mlir.passes.frontend.check import is_compiled
from mirage_mlir.runtime.arguments import Argument
from mirage_mlir.runtime.artifact import TargetCode, TensorSpec


def memory(address: int, spec: TensorSpec) -> NDArray[Any]:
    """A dense tensor in memory."""
    return array_at(address, spec.shape, np.dtype(spec.element_type.array_name))


@dataclass
class Launched:
    """The kernels of one function: the last one computes all that the function returns."""

    function: FuncOp
    code: TargetCode
    inputs: Sequence[TensorSpec]
    outputs: Sequence[TensorSpec]
    addresses: dict[str, int] = field(default_factory=dict[str, int])

    def tensor_of(self, argument: Argument) -> Argument:
        if argument.kind != "map":
            return argument
        return self.code.tensor_maps[argument.index].tensor

    def launch(self, number: int, given: Sequence[int]) -> None:
        """Note what a kernel was given; behind the last one, compute."""
        for argument, address in zip(self.code.launches[number].arguments, given, strict=True):
            self.addresses[str(self.tensor_of(argument))] = address
        if number + 1 < len(self.code.launches):
            return
        arrays = [
            memory(self.addresses[f"input:{at}"], spec) for at, spec in enumerate(self.inputs)
        ]
        for at, result in enumerate(run_function(self.function, arrays)):
            memory(self.addresses[f"output:{at}"], self.outputs[at])[...] = result
        self.addresses.clear()


def superoptimized(text: str, target: str, *passes: str) -> ModuleOp:
    """A program whose functions of kernel operators are uGraphs."""
    with TemporaryDirectory() as folder:
        read, written = Path(folder, "in.mlir"), Path(folder, "out.mlir")
        read.write_text(text)
        words = [*passes, f"--superoptimize=target={target}"]
        assert main([str(read), *words, "-o", str(written)]) == 0
        return parse_program(written.read_text(), "superoptimized.mlir")


def interpret_launches(fake: FakeCuda, module: ModuleOp, target: str) -> None:
    """Let the driver in host memory do what the kernels of each function would."""
    for function in module.walk():
        if isinstance(function, FuncOp) and not function.is_declaration and is_compiled(function):
            _interpret(fake, module, function, target)


def _interpret(fake: FakeCuda, module: ModuleOp, function: FuncOp, target: str) -> None:
    made = compile_function(module, function.sym_name.data, target)
    launched = Launched(function, made.code, made.inputs, made.outputs)
    for number, launch in enumerate(made.code.launches):

        def run(*given: int, number: int = number) -> None:
            launched.launch(number, given)

        fake.kernel(launch.kernel, len(launch.arguments), run)
