"""
Bulk tensor copies: boxes of tensors in device memory, written to shared memory.

Source: PTX ISA, "Tensors" and "cp.async.bulk.tensor"; CUDA driver API, "Tensor Map Object
Management".
"""

from math import prod

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm_hopper
from mirage_mlir.dialects.interface import TensorMapFacts
from mirage_mlir.dialects.nvvm_attributes import TensorCopyMode
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.interpreters.gpu_simulator.accesses import Access
from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.faults import FaultKind, unsupported
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Rules
from mirage_mlir.interpreters.gpu_simulator.mbarriers import barrier_at, place_of, require_bytes
from mirage_mlir.interpreters.gpu_simulator.shared_memory import NAME
from mirage_mlir.interpreters.gpu_simulator.values import TensorMapValue

PIECE = 16
"""Bytes that a swizzle keeps together; addresses, strides and lines of a box are multiples."""

BOX_ALIGNMENT = 128
"""Bytes to which a box in shared memory is aligned."""

MAX_RANK, MAX_SIDE = 5, 256

MAX_MASK = (1 << 16) - 1
"""Of blocks of a cluster."""

SWIZZLES = (0, 32, 64, 128)


def swizzled(addresses: Array, swizzle: int) -> Array:
    """Where bytes lie: bits 4 to 6 of the address are changed by bits 7 to 9, as far as it goes."""
    return np.asarray(addresses ^ (addresses >> 3 & max(swizzle - PIECE, 0)))


def is_encodable(tensor: TensorMapValue) -> bool:
    """Whether `cuTensorMapEncodeTiled` takes it, and lines of a swizzled box are whole."""
    rank, inner = len(tensor.dims), tensor.box[0] * tensor.item
    sizes = tensor.item > 0 and 1 <= rank <= MAX_RANK
    sizes &= rank == len(tensor.strides) == len(tensor.box)
    sides = all(1 <= side <= MAX_SIDE for side in tensor.box) and min(tensor.dims) > 0
    aligned = tensor.offset % PIECE == 0 and all(s % PIECE == 0 for s in tensor.strides[1:])
    lines = inner % PIECE == 0 and tensor.swizzle in SWIZZLES
    return sizes and sides and aligned and lines and tensor.swizzle in (0, inner)


def run_copy(state: Flow, op: Operation) -> None:
    """Each active thread starts the copy of a box."""
    assert isinstance(op, nvvm_hopper.CpAsyncBulkTensorLoadOp)
    if op.mode.data != TensorCopyMode.TILE or op.im2col_offsets:
        raise unsupported(op, "copies no box")
    if op.predicate is not None:
        raise unsupported(op, "copies to a block or to none, which no lowered kernel does")
    tensor = state.values[op.descriptor]
    if not isinstance(tensor, TensorMapValue):
        raise unsupported(op, "has a descriptor that is no parameter of the kernel")
    coordinates = [state.array(value) for value in op.coordinates]
    if len(coordinates) != len(tensor.dims):
        message = f"has {len(coordinates)} coordinates of a tensor of rank {len(tensor.dims)}"
        state.checker.report(FaultKind.OUT_OF_BOUNDS, op, message)
        return
    for thread in state.here.tolist():
        start = [int(places[thread]) for places in coordinates]
        data = read_box(state, op, tensor, thread, start)
        for block in receivers(state, op, thread):
            write_box(state, op, tensor, thread, data, block)


def receivers(state: Flow, op: nvvm_hopper.CpAsyncBulkTensorLoadOp, thread: int) -> list[int]:
    """The blocks of the cluster that get what a thread copies."""
    if op.multicast_mask is None:
        return [thread // state.shared.threads]
    mask = int(state.array(op.multicast_mask)[thread]) & MAX_MASK
    if not mask or mask >> len(state.blocks):
        message = f"copies to blocks {mask:#b} of a cluster of {len(state.blocks)}"
        state.checker.report(FaultKind.OUT_OF_BOUNDS, op, message)
    return [block for block in range(len(state.blocks)) if mask >> block & 1]


def read_box(
    state: Flow, op: Operation, tensor: TensorMapValue, thread: int, start: list[int]
) -> Array:
    """The bytes of a box, lines x bytes of a line; 0 where it lies outside of the tensor."""
    state.previous.require_over(op, tensor.memory, np.array([thread]))
    outer = tensor.box[:0:-1]
    places = np.indices(outer).reshape(len(outer), prod(outer))[::-1]
    first = np.full(prod(outer), tensor.offset, np.int64)
    inside = np.ones(prod(outer), np.bool_)
    for dim, along in enumerate(places, 1):
        at = along + start[dim]
        inside &= (at >= 0) & (at < tensor.dims[dim])
        first += at * tensor.strides[dim]
    data = np.zeros((prod(outer), tensor.box[0] * tensor.item), np.uint8)
    left, right = max(start[0], 0), min(start[0] + tensor.box[0], tensor.dims[0])
    if left < right and inside.any():
        begins = first[inside] + left * tensor.item
        threads, size = np.full(len(begins), thread), (right - left) * tensor.item
        access = Access(op, threads, begins, size, tensor.item, unordered=True)
        skipped = (left - start[0]) * tensor.item
        data[inside, skipped : skipped + size] = tensor.memory.read(access)
    return data


def write_box(
    state: Flow, op: Operation, tensor: TensorMapValue, thread: int, data: Array, block: int
) -> None:
    """Start to write a box to a block's memory, whose bytes the barrier there counts."""
    assert isinstance(op, nvvm_hopper.CpAsyncBulkTensorLoadOp)
    shared = state.shared
    (home, byte), (_, place) = (place_of(state, each, thread) for each in (op.dst, op.mbar))
    if home != thread // shared.threads:
        raise unsupported(op, "starts from another block's memory, which no lowered kernel does")
    barrier = barrier_at(state, op, block, place, thread)
    if barrier is None:
        return
    name = shared.name_of(thread)
    if not barrier.shown:
        message = f"has {name} use {barrier.name}, which no fence has shown to copies"
        state.checker.report(FaultKind.RACE, op, message, barrier.op)
    if byte % BOX_ALIGNMENT:
        message = f"has {name} copy a box to byte {byte} of {NAME}"
        state.checker.report(FaultKind.MISALIGNED, op, message)
        return
    pieces = data.reshape(-1, PIECE)
    starts = swizzled(byte + PIECE * np.arange(len(pieces)), tensor.swizzle)
    threads, blocks = np.full(len(pieces), thread), np.full(len(pieces), block)
    access = Access(op, threads, starts, PIECE, PIECE, blocks)
    stamp = shared.write_box(access, pieces, thread, barrier.agent)
    barrier.copy(shared.clocks, data.size, stamp)
    require_bytes(state, op, barrier)


def tensor_map_of(
    op: Operation, facts: TensorMapFacts, memory: DeviceBuffer, offset: int
) -> TensorMapValue:
    """The tensor map that `facts` describe, in a buffer from `offset` on."""
    item = FORMATS[facts.element].bytes
    start, strides = offset + facts.offset, (item, *facts.strides)
    tensor = TensorMapValue(memory, start, facts.dims, strides, facts.box, facts.swizzle, item)
    if not is_encodable(tensor):
        raise unsupported(op, f"has a tensor map that the driver would refuse: {facts}")
    return tensor


RULES: Rules = {
    nvvm_hopper.CpAsyncBulkTensorLoadOp: run_copy,
}
