"""
Kernels that ptxas is asked again for, with fewer registers for each thread.

ptxas takes as many registers as help one thread. Without matmuls it is blocks that hide each
other's loads: a step of a gated delta rule took 28.0 us on an H200 with 80 registers for each of
512 threads, one block on a multiprocessor, and 20.2 with two. And blocks that are a few too many
for the places there are wait for all others: attention of five queries with 8 rows each took
14.1 us with them, 12.8 with one more on each multiprocessor, a SIREN layer 22.7 and 21.2.
"""

from collections.abc import Callable, Collection, Mapping
from math import ceil, prod
from typing import NamedTuple

from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import IntegerAttr, i32

from mirage_mlir.bridge.nvptx import to_ptx
from mirage_mlir.bridge.ptxas import Cubin
from mirage_mlir.decisions.occupancy import resident_blocks
from mirage_mlir.decisions.registers import (
    FEW_FOR_A_THREAD,
    MOST_TO_SAVE,
    blocks_side_by_side,
    most_registers,
)
from mirage_mlir.diagnostics import PassFailure
from mirage_mlir.layouts.layout import WARP_THREADS, round_up
from mirage_mlir.runtime.artifact import Launch
from mirage_mlir.targets.target import Target, target_named

MATMULS = ("nvvm.mma", "nvvm.wgmma")
"""How the names of operations on tensor cores begin."""

MOST_WAVES = 4
"""Waves of blocks of which one is worth asking for: a fourth of the time. A guess."""

LEAST_LEFT = 0.7
"""The part of a thread's registers that is left, at least; a guess. What spills is not taken."""


class Residency(NamedTuple):
    """What the blocks of a launch take of a multiprocessor, besides registers."""

    target: Target
    threads: int
    shared_bytes: int

    def resident(self, registers: int) -> int:
        """The blocks that fit with so many registers for each thread."""
        return int(resident_blocks(self.target, self.threads, registers, self.shared_bytes))


def assembled_for_more_blocks(
    kernels: gpu.ModuleOp,
    ptx: str,
    launches: Collection[Launch],
    chip: str,
    assemble: Callable[[str], Cubin],
) -> tuple[str, Cubin]:
    """
    PTX and its machine code: where more blocks of some kernels fit, if nothing spills for that, and
    no matmul waits for another. ptxas refuses a warpgroup matmul whose operands alone take more
    registers than there are; such a kernel stays as it is.

    `ptx` is that of `kernels`; `assemble` makes machine code; it raises `PassFailure` where
    ptxas refuses it.
    """
    cubin = assemble(ptx)
    wanted = _crowded(kernels, cubin, launches, chip)
    while wanted:
        text = to_ptx(_with_blocks(kernels, wanted), chip)
        try:
            made = assemble(text)
        except PassFailure:
            matmuls = {each.sym_name.data for each in _functions(kernels) if _multiplies(each)}
            left_out = (matmuls & wanted.keys()) or wanted.keys()
        else:
            left_out = made.slowed & wanted.keys()
            if not left_out:
                return text, made
        wanted = {name: blocks for name, blocks in wanted.items() if name not in left_out}
    return ptx, cubin


def _with_blocks(kernels: gpu.ModuleOp, wanted: Mapping[str, int]) -> gpu.ModuleOp:
    """The kernels, of which some ask for so many blocks on a multiprocessor."""
    asking = kernels.clone()
    for op in _functions(asking):
        if blocks := wanted.get(op.sym_name.data):
            op.attributes["nvvm.minctasm"] = IntegerAttr(blocks, i32)
    return asking


def _functions(kernels: gpu.ModuleOp) -> list[llvm.FuncOp]:
    return [op for op in kernels.body.block.ops if isinstance(op, llvm.FuncOp)]


def _crowded(
    kernels: gpu.ModuleOp, cubin: Cubin, launches: Collection[Launch], chip: str
) -> dict[str, int]:
    """For each kernel that fits more often with a few registers less how often that is."""
    target = target_named(chip)
    found = {each.name: each for each in cubin.kernels}
    launched = {each.kernel: each for each in launches}
    crowded: dict[str, int] = {}
    for op in filter(_is_free, _functions(kernels)):
        made, launch = found[op.sym_name.data], launched[op.sym_name.data]
        residency = Residency(target, launch.threads, launch.shared_bytes + made.shared_bytes)
        now = residency.resident(made.registers)
        hiding = 0 if _multiplies(op) else _hiding(residency, made.registers)
        blocks = max(hiding, fewer_waves(residency, prod(launch.grid), made.registers))
        if blocks > now:
            crowded[op.sym_name.data] = blocks
    return crowded


def _hiding(residency: Residency, registers: int) -> int:
    """Blocks that hide each other's loads, where a few registers less are enough for that."""
    blocks = blocks_side_by_side(residency.threads)
    return min(blocks, residency.resident(FEW_FOR_A_THREAD)) if registers <= MOST_TO_SAVE else 0


def fewer_waves(residency: Residency, blocks: int, registers: int) -> int:
    """
    The blocks on a multiprocessor with which a grid of `blocks` takes one wave less; 0 where each
    thread would have too few of its `registers`, or where one wave of many matters little.
    """
    now = residency.resident(registers)
    waves = ceil(blocks / max(1, now * residency.target.sm_count))
    if not 1 < waves <= MOST_WAVES:
        return 0
    needed = ceil(blocks / (residency.target.sm_count * (waves - 1)))
    left = int(most_registers(needed * round_up(residency.threads, WARP_THREADS)))
    enough = left >= LEAST_LEFT * registers and residency.resident(left) >= needed
    return needed if enough else 0


def _multiplies(op: llvm.FuncOp) -> bool:
    return any(each.name.startswith(MATMULS) for each in op.walk())


def _is_free(op: llvm.FuncOp) -> bool:
    """Whether nothing was decided about the registers of a kernel."""
    if "nvvm.maxnreg" in op.attributes:
        return False
    least = op.attributes.get("nvvm.minctasm")
    return not (isinstance(least, IntegerAttr) and least.value.data > 1)
