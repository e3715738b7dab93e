"""What a lowered module says of its kernels: tensors, launches, tensor maps."""

from collections.abc import Mapping
from typing import cast

from xdsl.dialects import func, gpu, llvm
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from mirage_mlir.decisions.packing import Packing
from mirage_mlir.dialects.launch import Workspace, launch_of, workspace_of
from mirage_mlir.driver.types import element_type_of_attribute
from mirage_mlir.runtime.arguments import Argument, TensorMapArgument
from mirage_mlir.runtime.artifact import Launch, TensorSpec, row_major
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.packed import PackedInput


def _attribute(op: Operation, name: str) -> Attribute:
    return op.attributes[name]


def _integer_of(attribute: Attribute) -> int:
    assert isa(attribute, IntegerAttr)
    return attribute.value.data


def _integers(attribute: Attribute) -> tuple[int, ...]:
    assert isinstance(attribute, DenseArrayBase)
    return tuple(int(value) for value in attribute.iter_values())


def _tensors(op: Operation, name: str) -> list[TensorType[Attribute]]:
    types = _attribute(op, name)
    assert isa(types, ArrayAttr[TensorType[Attribute]])
    return list(types)


def inputs_of(function: func.FuncOp, kernels: gpu.ModuleOp) -> tuple[TensorSpec, ...]:
    """The inputs of `function`, whose kernels are `kernels`."""
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


def input_tensors(kernels: gpu.ModuleOp) -> tuple[TensorSpec, ...]:
    """The inputs, by their numbers."""
    return tuple(
        TensorSpec(
            name=f"input{number}",
            shape=tensor.get_shape(),
            element_type=element_type_of_attribute(tensor.element_type),
            strides=row_major(tensor.get_shape()),
        )
        for number, tensor in enumerate(_tensors(kernels, "mirage.inputs"))
    )


def outputs_of(kernels: gpu.ModuleOp) -> tuple[TensorSpec, ...]:
    """The tensors that the kernels write for the caller."""
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


def packed_of(kernels: gpu.ModuleOp) -> tuple[PackedInput, ...]:
    """The inputs of which the kernels read packed copies, in the order of their numbers."""
    packings = kernels.attributes.get("mirage.packings", ArrayAttr([]))
    assert isa(packings, ArrayAttr[DictionaryAttr])
    return tuple(_packed(each.data) for each in packings)


def _packed(fields: Mapping[str, Attribute]) -> PackedInput:
    packing = Packing(
        _integer_of(fields["offset"]),
        _integers(fields["shape"]),
        _integers(fields["strides"]),
        _integers(fields["tile"]),
        _integers(fields["counts"]),
        _integers(fields["order"]),
        _integer_of(fields["run_dim"]),
        _integer_of(fields["panel"]),
    )
    return PackedInput(_argument(fields["tensor"]), _element(fields["element"]), packing)


def _argument(attribute: Attribute) -> Argument:
    assert isinstance(attribute, StringAttr)
    return Argument.parse(attribute.data)


def _element(attribute: Attribute) -> ElementType:
    assert isinstance(attribute, StringAttr)
    return ElementType(attribute.data)


def tensor_maps_of(kernels: gpu.ModuleOp) -> tuple[TensorMapArgument, ...]:
    """The tensors that the kernels know by a map, in the order of their numbers."""
    maps = kernels.attributes.get("mirage.tensor_maps", ArrayAttr([]))
    assert isa(maps, ArrayAttr[DictionaryAttr])
    return tuple(_tensor_map(each.data) for each in maps)


def _tensor_map(fields: Mapping[str, Attribute]) -> TensorMapArgument:
    return TensorMapArgument(
        tensor=_argument(fields["tensor"]),
        offset=_integer_of(fields["offset"]),
        dims=_integers(fields["dims"]),
        strides=_integers(fields["strides"]),
        box=_integers(fields["box"]),
        swizzle=_integer_of(fields["swizzle"]),
        element_type=_element(fields["element"]),
    )


def launches_of(kernels: gpu.ModuleOp) -> tuple[Launch, ...]:
    """The launches, in order."""
    return tuple(_launch(op) for op in kernels.body.block.ops if isinstance(op, llvm.FuncOp))


def scratch_bytes_of(kernels: gpu.ModuleOp) -> int:
    """The memory that the kernels share."""
    return _workspace(kernels).scratch_bytes


def counter_bytes_of(kernels: gpu.ModuleOp) -> int:
    """The counters of blocks that add up their parts in scratch memory."""
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
