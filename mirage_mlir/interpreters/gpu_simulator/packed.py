"""The packed copies of constant inputs that kernels read."""

from collections.abc import Mapping

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from mirage_mlir.decisions.packing import Packing
from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.faults import Checker, unsupported

PACKINGS = "mirage.packings"

LISTS = ("shape", "strides", "tile", "counts", "order")

NUMBERS = ("offset", "run_dim", "panel")

ITEMS = {"f16": 2, "bf16": 2, "f32": 4}
"""Bytes of an element."""


def packed_buffers(
    module: Operation, buffers: Mapping[str, DeviceBuffer], checker: Checker
) -> dict[str, DeviceBuffer]:
    """What the launch plan calls `packed:0` and so on, of the inputs in `buffers`."""
    entries = module.attributes.get(PACKINGS, ArrayAttr([]))
    if not isa(entries, ArrayAttr[DictionaryAttr]):
        raise unsupported(module, f"has {entries} in '{PACKINGS}'")
    found: dict[str, DeviceBuffer] = {}
    for number, entry in enumerate(entries):
        name = f"packed:{number}"
        data = packed(module, entry, buffers)
        found[name] = DeviceBuffer(name, data, checker, is_input=True)
    return found


def packed(module: Operation, entry: DictionaryAttr, buffers: Mapping[str, DeviceBuffer]) -> Array:
    """The bytes of the packed copy that `entry` describes."""
    fields = entry.data
    tensor, element = fields.get("tensor"), fields.get("element")
    source = buffers.get(tensor.data) if isinstance(tensor, StringAttr) else None
    item = ITEMS.get(element.data) if isinstance(element, StringAttr) else None
    if source is None or item is None:
        raise unsupported(module, f"packs what is no input: {entry}")
    memory = np.ascontiguousarray(source.data).reshape(-1).view(f"u{item}")
    packing = packing_of(module, fields)
    if packing.end > memory.size:
        raise unsupported(module, f"packs more than there is of {tensor}: {entry}")
    return packing.pack(memory).reshape(-1).view(np.uint8)


def packing_of(module: Operation, fields: Mapping[str, Attribute]) -> Packing:
    """What the launch plan says of one packing."""
    shape, strides, tile, counts, order = (list_of(module, fields, name) for name in LISTS)
    offset, run_dim, panel = (number_of(module, fields, name) for name in NUMBERS)
    try:
        return Packing(offset, shape, strides, tile, counts, order, run_dim, panel)
    except ValueError as error:
        raise unsupported(module, f"has a packing that cannot be: {error}") from error


def list_of(module: Operation, fields: Mapping[str, Attribute], name: str) -> tuple[int, ...]:
    """A list of the launch plan."""
    if not isinstance(found := fields.get(name), DenseArrayBase):
        raise unsupported(module, f"has a packing without a list '{name}'")
    return tuple(int(value) for value in found.get_values())


def number_of(module: Operation, fields: Mapping[str, Attribute], name: str) -> int:
    """A number of the launch plan."""
    if not isinstance(found := fields.get(name), IntegerAttr):
        raise unsupported(module, f"has a packing without a number '{name}'")
    return found.value.data
