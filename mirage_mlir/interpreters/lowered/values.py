"""
Values of threads.

A scalar is an array of one element per thread, a vector one of threads x elements, a struct a
tuple of scalars.
"""

from dataclasses import dataclass

from mirage_mlir.interpreters.lowered.device_memory import DeviceBuffer
from mirage_mlir.interpreters.lowered.encoding import Array
from mirage_mlir.interpreters.lowered.shared_memory import SharedMemory


@dataclass(frozen=True)
class Pointer:
    """
    An address in one memory.

    Args:
        offset: the byte at which each thread's pointer points.
        blocks: of the cluster, in whose shared memory each pointer points.
    """

    memory: DeviceBuffer | SharedMemory
    offset: Array
    blocks: Array | None = None


Value = Array | Pointer | tuple[Array, ...]
