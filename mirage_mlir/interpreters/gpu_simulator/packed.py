"""The packed copies of constant inputs that kernels read."""

from collections.abc import Mapping

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.dialects.interface import InterfaceAttr, PackingFacts
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.faults import Checker, unsupported


def packed_buffers(
    module: Operation,
    interface: InterfaceAttr,
    buffers: Mapping[str, DeviceBuffer],
    checker: Checker,
) -> dict[str, DeviceBuffer]:
    """The buffers `packed:0` and so on, packed from the inputs in `buffers`."""
    found: dict[str, DeviceBuffer] = {}
    for number, attribute in enumerate(interface.packings):
        name = f"packed:{number}"
        data = packed(module, attribute.packing, buffers)
        found[name] = DeviceBuffer(name, data, checker, is_input=True)
    return found


def packed(module: Operation, facts: PackingFacts, buffers: Mapping[str, DeviceBuffer]) -> Array:
    """The bytes of one packed copy."""
    source = buffers.get(facts.tensor)
    if source is None:
        raise unsupported(module, f"packs {facts.tensor}, which is no input")
    memory = np.ascontiguousarray(source.data).reshape(-1).view(f"u{FORMATS[facts.element].bytes}")
    if facts.packing.end > memory.size:
        raise unsupported(module, f"packs more than there is of {facts.tensor}: {facts}")
    return facts.packing.pack(memory).reshape(-1).view(np.uint8)
