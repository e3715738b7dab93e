"""
Values of threads.

A scalar is an array of one element per thread, a vector one of threads x elements, a struct a
tuple of scalars.
"""

from dataclasses import dataclass

from mirage_mlir.interpreters.gpu_simulator.device_memory import DeviceBuffer
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.interpreters.gpu_simulator.shared_memory import SharedMemory


@dataclass(frozen=True)
class Pointer:
    """
    An address in one memory.

    Args:
        offset: the byte at which each thread's pointer points.
        blocks: of the cluster, in whose shared memory each pointer points.
        noalias: whether LLVM may take it that nothing else changes what is read through it.
    """

    memory: DeviceBuffer | SharedMemory
    offset: Array
    blocks: Array | None = None
    noalias: bool = False


@dataclass(frozen=True)
class TensorMapValue:
    """
    A descriptor of a tensor in device memory, with dims innermost first.

    Args:
        offset: the byte at which the tensor starts.
        dims: elements along each dim.
        strides: bytes between neighbours along each dim.
        box: elements of a box along each dim.
        swizzle: bytes of a line in which pieces of 16 bytes change places, 0 for none.
        item: bytes of an element.
    """

    memory: DeviceBuffer
    offset: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: int
    item: int


@dataclass(frozen=True)
class Pending:
    """
    Registers that warpgroup matmuls are still adding to.

    Args:
        value: what they hold in the end.
        stamp: when the last matmul was started, for each thread.
    """

    value: Array | tuple[Array, ...]
    stamp: Array


Value = Array | Pointer | TensorMapValue | Pending | tuple[Array, ...]
