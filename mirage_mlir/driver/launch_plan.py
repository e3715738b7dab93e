"""Reads the launch plan of a lowered module: tensors, launches, tensor maps."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from xdsl.dialects import func, gpu, llvm
from xdsl.dialects.builtin import TensorType

from mirage_mlir.dialects.interface import InterfaceAttr, interface_of
from mirage_mlir.dialects.launch import Workspace, launch_of, workspace_of
from mirage_mlir.driver.types import element_type_of_attribute
from mirage_mlir.runtime.arguments import Argument, TensorMapArgument
from mirage_mlir.runtime.artifact import Launch, TensorSpec, row_major
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.packed import PackedInput


def _interface(kernels: gpu.ModuleOp) -> InterfaceAttr:
    interface = interface_of(kernels)
    assert interface is not None, "lower-to-nvvm writes it"
    return interface


def _tensor(
    name: str, kind: TensorType, strides: Sequence[int], *, constant: bool = False
) -> TensorSpec:
    element = element_type_of_attribute(kind.element_type)
    return TensorSpec(name, kind.get_shape(), element, tuple(strides), constant=constant)


def inputs_of(function: func.FuncOp, kernels: gpu.ModuleOp) -> tuple[TensorSpec, ...]:
    """The inputs of `function`, whose kernels are `kernels`, by their names in the program."""
    hints = [argument.name_hint for argument in function.body.block.args]
    tensors = zip(input_tensors(kernels), hints, strict=True)
    return tuple(replace(each, name=hint or each.name) for each, hint in tensors)


def input_tensors(kernels: gpu.ModuleOp) -> tuple[TensorSpec, ...]:
    """The inputs, in order."""
    interface = _interface(kernels)
    constants = interface.constants.get_values()
    return tuple(
        _tensor(f"input{i}", kind, row_major(kind.get_shape()), constant=i in constants)
        for i, kind in enumerate(interface.inputs)
    )


def outputs_of(kernels: gpu.ModuleOp) -> tuple[TensorSpec, ...]:
    """The tensors that the kernels write for the caller."""
    interface = _interface(kernels)
    pairs = zip(interface.outputs, interface.strides, strict=True)
    return tuple(
        _tensor(f"output{i}", kind, steps.get_values()) for i, (kind, steps) in enumerate(pairs)
    )


def packed_of(kernels: gpu.ModuleOp) -> tuple[PackedInput, ...]:
    """The packed copies of inputs that the kernels read, in the order of their numbers."""
    packings = [attribute.packing for attribute in _interface(kernels).packings]
    return tuple(
        PackedInput(Argument.parse(each.tensor), ElementType(each.element), each.packing)
        for each in packings
    )


def tensor_maps_of(kernels: gpu.ModuleOp) -> tuple[TensorMapArgument, ...]:
    """The tensor maps of the kernels, in the order of their numbers."""
    maps = [attribute.tensor_map for attribute in _interface(kernels).tensor_maps]
    return tuple(
        TensorMapArgument(
            tensor=Argument.parse(each.tensor),
            offset=each.offset,
            dims=each.dims,
            strides=each.strides,
            box=each.box,
            swizzle=each.swizzle,
            element_type=ElementType(each.element),
        )
        for each in maps
    )


def launches_of(kernels: gpu.ModuleOp) -> tuple[Launch, ...]:
    """The launches, in order."""
    return tuple(_launch(op) for op in kernels.body.block.ops if isinstance(op, llvm.FuncOp))


def scratch_bytes_of(kernels: gpu.ModuleOp) -> int:
    """Bytes of scratch memory that the kernels share."""
    return _workspace(kernels).scratch_bytes


def counter_bytes_of(kernels: gpu.ModuleOp) -> int:
    """Bytes of split-K counters."""
    return _workspace(kernels).counter_bytes


def _launch(kernel: llvm.FuncOp) -> Launch:
    launch = launch_of(kernel)
    assert launch is not None, "lower-to-nvvm writes it"
    return Launch(
        kernel=kernel.sym_name.data,
        grid=cast(tuple[int, int, int], launch.grid),
        threads=launch.threads,
        shared_bytes=max(launch.shared_bytes, launch.occupancy_limit_bytes),
        arguments=tuple(map(Argument.parse, launch.arguments)),
        follows=launch.starts_early,
    )


def _workspace(kernels: gpu.ModuleOp) -> Workspace:
    workspace = workspace_of(kernels)
    assert workspace is not None, "lower-to-nvvm writes it"
    return workspace
