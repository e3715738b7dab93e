"""From a function of uGraphs to machine code for one GPU."""

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import cast

from xdsl.dialects import func, gpu, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from mirage_mlir.bridge.compile import to_ptx
from mirage_mlir.bridge.ptxas import Cubin, PtxasError, assemble
from mirage_mlir.diagnostics import fail
from mirage_mlir.driver.source import alone, compiler_context, function_named, text_of
from mirage_mlir.driver.types import element_type_of_attribute
from mirage_mlir.graph.target import target_named
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.runtime.artifact import Argument, Launch, TargetCode, TensorSpec, row_major
from mirage_mlir.verification import verify


@dataclass
class Seconds:
    """How long each phase took, in the order in which they began."""

    phases: dict[str, float] = field(default_factory=dict[str, float])

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Add the time of this `with` block to the phase `name`."""
        start = perf_counter()
        try:
            yield
        finally:
            self.add(name, perf_counter() - start)

    def add(self, name: str, seconds: float) -> None:
        """Add time that was measured elsewhere."""
        self.phases[name] = self.phases.get(name, 0.0) + seconds


@dataclass(frozen=True)
class CompiledFunction:
    """Machine code of one function for one chip, and what a caller must know to launch it."""

    name: str
    inputs: tuple[TensorSpec, ...]
    outputs: tuple[TensorSpec, ...]
    code: TargetCode
    ptx: str
    assembled: Cubin
    seconds: Mapping[str, float]
    """Seconds of "lower", "PTX" and "ptxas"."""


def compile_function(module: ModuleOp, name: str, target: str) -> CompiledFunction:
    """
    Lower the function `name` of `module`, which is left as it is, and assemble its kernels.

    The function holds `kernel.graph_defined` and views; `target` is a GPU or a chip.

    Raises:
        ValueError: there is no such function or target.
        DiagnosticException: the function cannot be lowered, or ptxas rejects it; the message says
            where and why.
    """
    chip = target_named(target).chip
    seconds = Seconds()
    function = function_named(module, name)
    lowered = alone(function)
    with seconds.phase("lower"):
        for each in lowering_passes(target):
            each.apply(compiler_context(), lowered)
        verify(lowered)
    kernels = next(op for op in lowered.body.block.ops if isinstance(op, gpu.ModuleOp))
    with seconds.phase("PTX"):
        ptx = to_ptx(kernels, chip)
    with seconds.phase("ptxas"):
        cubin = _assemble(function, ptx, chip)
    return CompiledFunction(
        name=name,
        inputs=_inputs(function, kernels),
        outputs=_outputs(kernels),
        code=TargetCode(
            target=chip,
            cubin=cubin.data,
            launches=tuple(
                _launch(op) for op in kernels.body.block.ops if isinstance(op, llvm.FuncOp)
            ),
            scratch_bytes=_integer(kernels, "mirage.scratch_bytes"),
            ugraph=text_of(alone(function)),
            resources={
                "registers": cubin.registers,
                "spill_bytes": cubin.spill_bytes,
                "stack_bytes": cubin.stack_bytes,
            },
        ),
        ptx=ptx,
        assembled=cubin,
        seconds=seconds.phases,
    )


def _assemble(function: func.FuncOp, ptx: str, chip: str) -> Cubin:
    try:
        return assemble(ptx, chip)
    except PtxasError as error:
        fail(function, str(error))


def _attribute(op: Operation, name: str) -> Attribute:
    return op.attributes[name]


def _integer(op: Operation, name: str) -> int:
    value = _attribute(op, name)
    assert isa(value, IntegerAttr)
    return value.value.data


def _integers(attribute: Attribute) -> tuple[int, ...]:
    assert isinstance(attribute, DenseArrayBase)
    return tuple(int(value) for value in attribute.iter_values())


def _tensors(op: Operation, name: str) -> list[TensorType[Attribute]]:
    types = _attribute(op, name)
    assert isa(types, ArrayAttr[TensorType[Attribute]])
    return list(types)


def _inputs(function: func.FuncOp, kernels: gpu.ModuleOp) -> tuple[TensorSpec, ...]:
    constants = _integers(_attribute(kernels, "mirage.constant_inputs"))
    hints = [argument.name_hint for argument in function.body.block.args]
    return tuple(
        TensorSpec(
            name=hint or f"input{number}",
            shape=tensor.get_shape(),
            element_type=element_type_of_attribute(tensor.element_type),
            strides=row_major(tensor.get_shape()),
            constant=number in constants,
        )
        for number, (tensor, hint) in enumerate(
            zip(_tensors(kernels, "mirage.inputs"), hints, strict=True)
        )
    )


def _outputs(kernels: gpu.ModuleOp) -> tuple[TensorSpec, ...]:
    strides = _attribute(kernels, "mirage.output_strides")
    assert isa(strides, ArrayAttr[Attribute])
    return tuple(
        TensorSpec(
            name=f"output{number}",
            shape=tensor.get_shape(),
            element_type=element_type_of_attribute(tensor.element_type),
            strides=_integers(steps),
        )
        for number, (tensor, steps) in enumerate(
            zip(_tensors(kernels, "mirage.outputs"), strides, strict=True)
        )
    )


def _launch(kernel: llvm.FuncOp) -> Launch:
    arguments = _attribute(kernel, "mirage.arguments")
    assert isa(arguments, ArrayAttr[StringAttr])
    return Launch(
        kernel=kernel.sym_name.data,
        grid=cast(tuple[int, int, int], _integers(_attribute(kernel, "mirage.grid"))),
        threads=_integer(kernel, "mirage.threads"),
        shared_bytes=_integer(kernel, "mirage.smem_bytes"),
        arguments=tuple(Argument.parse(argument.data) for argument in arguments),
        follows="mirage.follows" in kernel.attributes,
    )
