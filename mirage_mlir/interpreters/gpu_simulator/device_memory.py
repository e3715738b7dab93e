"""Tensors in device memory."""

import numpy as np
from xdsl.ir import Operation

from mirage_mlir.interpreters.gpu_simulator.accesses import Access, first_wrong, inside
from mirage_mlir.interpreters.gpu_simulator.encoding import POISON, Array
from mirage_mlir.interpreters.gpu_simulator.faults import Checker, FaultKind


class DeviceBuffer:
    """
    One allocation in device memory.

    The blocks and threads of a launch are not ordered: what one writes, none may read, nor another
    write otherwise. Writing the same value twice is allowed: blocks that hold the same tile do.
    """

    def __init__(self, name: str, data: Array, checker: Checker, *, is_input: bool = False):
        self.name = name
        self.data = data
        self.checker = checker
        self.is_input = is_input
        self.written = np.full(len(data), is_input)
        self.launch_reads = np.zeros(len(data), np.bool_)
        self.launch_writes = np.zeros(len(data), np.bool_)

    @staticmethod
    def blank(name: str, size: int, checker: Checker) -> "DeviceBuffer":
        """Memory that nothing wrote yet."""
        return DeviceBuffer(name, np.full(size, POISON, np.uint8), checker)

    def start_launch(self) -> None:
        """A new kernel: what happened before is ordered before it."""
        self.launch_reads[:] = False
        self.launch_writes[:] = False

    def read(self, access: Access) -> Array:
        """What lies there, n x size bytes."""
        valid = inside(access, len(self.data), self.name, self.checker)
        result = np.full((len(valid), access.size), POISON, np.uint8)
        access = access.only(valid)
        at = access.bytes()
        self._require(FaultKind.UNINITIALISED, access, self.written[at], "read what none wrote")
        self._require(FaultKind.RACE, access, ~self.others_write(access), "read what others write")
        self.launch_reads[at] = True
        result[valid] = self.data[at]
        return result

    def others_write(self, access: Access) -> Array:
        """Which bytes were written in this launch, by nobody knows whom; n x size."""
        return np.asarray(self.launch_writes[access.bytes()])

    def write(self, access: Access, data: Array) -> None:
        """Put `data`, n x size bytes, there."""
        if self.is_input:
            self.checker.report(FaultKind.READ_ONLY, access.op, f"writes to {self.name}")
        valid = inside(access, len(self.data), self.name, self.checker)
        access, data = access.only(valid), data[valid]
        at = access.bytes()
        self._require(FaultKind.RACE, access, ~self.launch_reads[at], "write what others read")
        same = ~self.launch_writes[at] | (self.data[at] == data)
        self.data[at] = data
        same &= self.data[at] == data
        self._require(FaultKind.RACE, access, same, "write what others write otherwise")
        self.written[at] = True
        self.launch_writes[at] = True

    def require_written(self, op: Operation) -> None:
        """Report a result of which a part is missing."""
        missing = int((~self.written).sum())
        if missing:
            message = f"leaves {missing} of the {len(self.data)} bytes of {self.name} unwritten"
            self.checker.report(FaultKind.UNINITIALISED, op, message)

    def _require(self, kind: FaultKind, access: Access, right: Array, what: str) -> None:
        if not right.all():
            _, thread, byte = first_wrong(access, ~right)
            message = f"has thread {thread} {what}: byte {byte} of {self.name}"
            self.checker.report(kind, access.op, message)
