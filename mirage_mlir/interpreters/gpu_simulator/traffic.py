"""Counts memory traffic of kernels: shared-memory bank passes, device-memory sectors."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from xdsl.dialects import llvm
from xdsl.ir import Operation

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects.launch import launch_of
from mirage_mlir.dialects.nvvm_attributes import CLUSTER_SHARED
from mirage_mlir.interpreters.gpu_simulator.accesses import Access, Watcher
from mirage_mlir.interpreters.gpu_simulator.encoding import Array
from mirage_mlir.layouts.banks import Mask, count
from mirage_mlir.layouts.layout import PIECE_BYTES, WARP_THREADS, ceil_div
from mirage_mlir.layouts.sectors import LINE_BYTES, SECTOR_BYTES, distinct

SHARED_ACCESSES: dict[type[Operation], str] = {
    llvm.LoadOp: "load",
    llvm.StoreOp: "store",
    nvvm.LdMatrixOp: "ldmatrix",
    nvvm.CpAsyncSharedGlobalOp: "cp.async",
}
"""What threads do with shared memory; tensor copies and warpgroup matmuls are not theirs."""

DEVICE_ACCESSES: dict[type[Operation], str] = {
    llvm.LoadOp: "load",
    llvm.StoreOp: "store",
    nvvm.CpAsyncSharedGlobalOp: "cp.async",
}

REMOTE = "load of the cluster"
"""A load from the shared memory of any block of the cluster; counted where that is the own one."""


def numbers() -> Counter[str]:
    """One for each sort of access."""
    return Counter()


@dataclass
class Asked:
    """
    What the instructions of warps of one kernel asked for, by what they are.

    Args:
        threads: of a block.
        instructions: of warps, that access shared memory.
        passes: of the banks of shared memory.
        least: passes without conflicts.
        sectors: of device memory, of 32 bytes.
        fewest: sectors that the bytes would fill.
        lines: of device memory, of 128 bytes.
    """

    threads: int
    instructions: Counter[str] = field(default_factory=numbers)
    passes: Counter[str] = field(default_factory=numbers)
    least: Counter[str] = field(default_factory=numbers)
    sectors: Counter[str] = field(default_factory=numbers)
    fewest: Counter[str] = field(default_factory=numbers)
    lines: Counter[str] = field(default_factory=numbers)


@dataclass
class TrafficWatcher(Watcher):
    """
    Counts what kernels ask for, by their names.

    Each access of the interpreter is one instruction of every warp that has an active thread.
    """

    kernels: dict[str, Asked] = field(default_factory=dict[str, Asked])
    _of: dict[Operation, Asked] = field(default_factory=dict[Operation, Asked])

    def asked_by(self, op: Operation) -> Asked:
        """Where what an operation asks for is counted."""
        if op not in self._of:
            inside = op.parent_op()
            while not isinstance(inside, llvm.FuncOp):
                assert inside is not None
                inside = inside.parent_op()
            launch = launch_of(inside)
            assert launch is not None, "the kernel has been launched"
            fresh = Asked(launch.threads)
            self._of[op] = self.kernels.setdefault(inside.sym_name.data, fresh)
        return self._of[op]

    def see(self, access: Access) -> None:
        """Count one access."""
        table = DEVICE_ACCESSES if access.blocks is None else SHARED_ACCESSES
        name = table.get(type(access.op))
        if name is None:
            return
        asked = self.asked_by(access.op)
        if (blocks := access.blocks) is not None:
            name = name_of(access, name)
            access = access.only(blocks == access.threads // asked.threads)
        if not len(access.threads):
            return
        for start in range(0, access.size, PIECE_BYTES):
            part = access._replace(start=access.start + start)
            places, active = by_warps(part)
            see_one = see_device if blocks is None else see_shared
            see_one(asked, name, places, active, access.size)


def see_shared(asked: Asked, name: str, places: Array, active: Mask, size: int) -> None:
    """Count an access of shared memory."""
    traffic = count(places, min(size, PIECE_BYTES), active)
    asked.passes[name] += traffic.passes
    asked.least[name] += traffic.least
    asked.instructions[name] += traffic.instructions


def see_device(asked: Asked, name: str, places: Array, active: Mask, size: int) -> None:
    """Count an access of device memory."""
    places = np.where(active, places, -LINE_BYTES)
    asked.sectors[name] += distinct(places // SECTOR_BYTES)
    asked.lines[name] += distinct(places // LINE_BYTES)
    size = min(size, PIECE_BYTES)
    bytes_of_each = [len(np.unique(row[row >= 0])) * size for row in places]
    asked.fewest[name] += sum(ceil_div(number, SECTOR_BYTES) for number in bytes_of_each)


def name_of(access: Access, name: str) -> str:
    """What a load or store of shared memory is called."""
    op = access.op
    return REMOTE if isinstance(op, llvm.LoadOp) and op.ptr.type == CLUSTER_SHARED else name


def by_warps(access: Access) -> tuple[Array, Mask]:
    """First bytes and which lanes are active, n warps x 32."""
    warps, lanes = access.threads // WARP_THREADS, access.threads % WARP_THREADS
    places = np.zeros((int(warps.max(initial=-1)) + 1, WARP_THREADS), np.int64)
    active = np.zeros(places.shape, np.bool_)
    places[warps, lanes] = access.start
    active[warps, lanes] = True
    return places, active
