"""Rules of pointers, loads, stores and asynchronous copies."""

from dataclasses import replace

import numpy as np
from xdsl.dialects import llvm
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.dialects.nvvm_attributes import CLUSTER_SHARED
from mirage_mlir.dialects.nvvm_device import KEPT_WORDS
from mirage_mlir.interpreters.gpu_simulator.accesses import SHARED_START, Access, in_bounds
from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import (
    POISON,
    byte_count,
    decode,
    encode,
    is_known,
    rounded,
)
from mirage_mlir.interpreters.gpu_simulator.faults import FaultKind, unsupported
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Rules
from mirage_mlir.interpreters.gpu_simulator.previous_grid import is_invariant
from mirage_mlir.interpreters.gpu_simulator.shared_memory import SharedMemory
from mirage_mlir.interpreters.gpu_simulator.values import Pointer


def run_address_of(state: Flow, op: Operation) -> None:
    """The start of shared memory, the only global that a kernel has."""
    assert isinstance(op, llvm.AddressOfOp)
    state.values[op.result] = Pointer(state.shared, np.zeros(state.size, np.int64), state.ranks)


def run_pointer(state: Flow, op: Operation) -> None:
    """A pointer moved by a number of elements."""
    assert isinstance(op, llvm.GEPOp)
    constants, dynamic = op.rawConstantIndices.get_values(), op.ssa_indices
    if len(constants) != 1 or not is_known(op.elem_type):
        raise unsupported(op, "does more than to move by a number of elements")
    start = state.pointer(op.ptr)
    index = state.array(dynamic[0]).astype(np.int64) if dynamic else int(constants[0])
    offset = start.offset + index * byte_count(op.elem_type)
    state.values[op.result] = replace(start, offset=offset)


def run_address(state: Flow, op: Operation) -> None:
    """The number of an address in shared memory."""
    assert isinstance(op, llvm.PtrToIntOp)
    pointer = state.pointer(op.input)
    if not isinstance(pointer.memory, SharedMemory) or not is_known(op.output.type):
        raise unsupported(op, "takes the number of an address outside of shared memory")
    state.values[op.output] = rounded(pointer.offset + SHARED_START, op.output.type)


def run_map(state: Flow, op: Operation) -> None:
    """The same address in the shared memory of another block."""
    assert isinstance(op, nvvm_hopper.MapClusterAddressOp)
    state.values[op.res] = replace(state.pointer(op.a), blocks=state.array(op.b))


def run_load(state: Flow, op: Operation) -> None:
    """One scalar or vector for each active thread."""
    assert isinstance(op, llvm.LoadOp)
    kind = op.dereferenced_value.type
    if not is_known(kind):
        raise unsupported(op, f"loads {kind}, which no lowered kernel does")
    if op.ordering.value.data:
        raise unsupported(op, "orders other accesses, which no lowered kernel's load does")
    pointer, here, size = state.pointer(op.ptr), state.here, byte_count(kind)
    alignment = op.alignment.value.data if op.alignment else size
    data = np.full((state.size, size), POISON, np.uint8)
    access = state.access(op, pointer, here, size, alignment)
    if pointer.noalias or is_invariant(op):
        if not isinstance(pointer.memory, DeviceBuffer):
            raise unsupported(op, "takes shared memory not to change, which barriers let change")
        state.previous.require_unwritten(op, pointer.memory, here)
        access = access._replace(unordered=True)
    data[here] = pointer.memory.read(access)
    state.values[op.dereferenced_value] = decode(data, kind)


def run_kept_load(state: Flow, op: Operation) -> None:
    """Four words for each active thread, as a struct."""
    pointer, here, size = state.pointer(op.operands[0]), state.here, 4 * KEPT_WORDS
    data = np.full((state.size, size), POISON, np.uint8)
    data[here] = pointer.memory.read(state.access(op, pointer, here, size, size))
    words = data.view(np.int32)
    state.values[op.results[0]] = tuple(words[:, word].copy() for word in range(KEPT_WORDS))


def run_kept_store(state: Flow, op: Operation) -> None:
    """Four words from each active thread."""
    address, *words, _ = op.operands
    pointer, here, size = state.pointer(address), state.here, 4 * KEPT_WORDS
    data = np.stack([state.array(word) for word in words], axis=1).view(np.uint8)
    pointer.memory.write(state.access(op, pointer, here, size, size), data[here])


def run_store(state: Flow, op: Operation) -> None:
    """One scalar or vector from each active thread."""
    assert isinstance(op, llvm.StoreOp)
    kind = op.value.type
    if not is_known(kind):
        raise unsupported(op, f"stores {kind}, which no lowered kernel does")
    pointer, here, size = state.pointer(op.ptr), state.here, byte_count(kind)
    alignment = op.alignment.value.data if op.alignment else size
    access = state.access(op, pointer, here, size, alignment)
    data = encode(state.array(op.value), kind)[here]
    if op.ptr.type == CLUSTER_SHARED:
        assert isinstance(pointer.memory, SharedMemory)
        pointer.memory.deliver(access, data)
    else:
        pointer.memory.write(access, data)


def run_copy(state: Flow, op: Operation) -> None:
    """Start an asynchronous copy; what lies past `cp_size` becomes zero and is not read."""
    assert isinstance(op, nvvm.CpAsyncSharedGlobalOp)
    source, target, here = state.pointer(op.src), state.pointer(op.dst), state.here
    assert isinstance(source.memory, DeviceBuffer)
    assert isinstance(target.memory, SharedMemory)
    size = op.size.value.data
    limits = np.full(len(here), size) if op.cp_size is None else state.array(op.cp_size)[here]
    if ((limits < 0) | (limits > size)).any():
        message = f"reads {limits.max()} bytes or {limits.min()}, to copy {size}"
        state.checker.report(FaultKind.OUT_OF_BOUNDS, op, message)
        limits = np.clip(limits, 0, size)
    data = np.zeros((len(here), size), np.uint8)
    for limit in np.unique(limits[limits > 0]):
        chosen = limits == limit
        access = state.access(op, source, here[chosen], int(limit), size)
        data[chosen, :limit] = source.memory.read(access)
    access = state.access(op, target, here, size, size)
    target.memory.start_copy(access, data, state.groups[here])


def run_prefetch(state: Flow, op: Operation) -> None:
    """
    The address must be one of the tensor's; nothing is read.

    So it may come before the previous grid has ended, even where that writes there.
    """
    assert isinstance(op, nvvm.PrefetchOp)
    source = state.pointer(op.addr)
    assert isinstance(source.memory, DeviceBuffer)
    access = Access(op, state.here, source.offset[state.here], 1, 1)
    in_bounds(access, len(source.memory.data), source.memory.name, source.memory.checker)


def run_commit(state: Flow, op: Operation) -> None:
    """Close each thread's group of copies."""
    state.groups[state.active] += 1


def run_wait(state: Flow, op: Operation) -> None:
    """Each thread waits for all but its latest groups."""
    assert isinstance(op, nvvm.CpAsyncWaitGroupOp)
    state.shared.complete(state.here, state.groups - op.n.value.data)


RULES: Rules = {
    llvm.AddressOfOp: run_address_of,
    llvm.GEPOp: run_pointer,
    llvm.LoadOp: run_load,
    llvm.PtrToIntOp: run_address,
    llvm.StoreOp: run_store,
    nvvm.CpAsyncCommitGroupOp: run_commit,
    nvvm.CpAsyncSharedGlobalOp: run_copy,
    nvvm.PrefetchOp: run_prefetch,
    nvvm.CpAsyncWaitGroupOp: run_wait,
    nvvm_hopper.MapClusterAddressOp: run_map,
}
