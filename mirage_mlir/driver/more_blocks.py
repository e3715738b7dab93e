"""
Kernels that ptxas is asked again for, with fewer registers for each thread.

ptxas takes as many registers as help one thread. Without matmuls it is blocks that hide each
other's loads: a step of a gated delta rule took 28.0 us on an H200 with 80 registers for each of
512 threads, one block on a multiprocessor, and 20.2 with two.
"""

from collections.abc import Callable, Collection

from xdsl.dialects import gpu, llvm
from xdsl.dialects.builtin import IntegerAttr, i32

from mirage_mlir.bridge.nvptx import to_ptx
from mirage_mlir.bridge.ptxas import Cubin
from mirage_mlir.decisions.occupancy import resident_blocks
from mirage_mlir.decisions.registers import FEW_FOR_A_THREAD, MOST_TO_SAVE, blocks_side_by_side
from mirage_mlir.runtime.artifact import Launch
from mirage_mlir.targets.target import target_named

MATMULS = ("nvvm.mma", "nvvm.wgmma")
"""How the names of operations on tensor cores begin."""


def assembled_for_more_blocks(
    kernels: gpu.ModuleOp,
    ptx: str,
    launches: Collection[Launch],
    chip: str,
    assemble: Callable[[str], Cubin],
) -> tuple[str, Cubin]:
    """
    PTX and its machine code: where more blocks of some kernels fit, if nothing spills for that.

    `ptx` is that of `kernels`; `assemble` makes machine code, and says what is wrong with PTX.
    """
    cubin = assemble(ptx)
    wanted = _crowded(kernels, cubin, launches, chip)
    while wanted:
        other = kernels.clone()
        for op in other.body.block.ops:
            if isinstance(op, llvm.FuncOp) and (blocks := wanted.get(op.sym_name.data)):
                op.attributes["nvvm.minctasm"] = IntegerAttr(blocks, i32)
        text = to_ptx(other, chip)
        made = assemble(text)
        spilled = {each.name for each in made.kernels if each.spill_bytes} & wanted.keys()
        if not spilled:
            return text, made
        wanted = {name: blocks for name, blocks in wanted.items() if name not in spilled}
    return ptx, cubin


def _crowded(
    kernels: gpu.ModuleOp, cubin: Cubin, launches: Collection[Launch], chip: str
) -> dict[str, int]:
    """For each kernel that fits more often with a few registers less how often that is."""
    target = target_named(chip)
    found = {each.name: each for each in cubin.kernels}
    launched = {each.kernel: each for each in launches}
    crowded: dict[str, int] = {}
    for op in kernels.body.block.ops:
        if not isinstance(op, llvm.FuncOp) or not _is_free(op):
            continue
        made, launch = found[op.sym_name.data], launched[op.sym_name.data]
        blocks = blocks_side_by_side(launch.threads)
        shared = launch.shared_bytes + made.shared_bytes
        few, now = (
            int(resident_blocks(target, launch.threads, registers, shared))
            for registers in (FEW_FOR_A_THREAD, made.registers)
        )
        if blocks and made.registers <= MOST_TO_SAVE and now < min(blocks, few):
            crowded[op.sym_name.data] = min(blocks, few)
    return crowded


def _is_free(op: llvm.FuncOp) -> bool:
    """Whether a kernel has no matmuls, and nothing was decided about its registers."""
    if "nvvm.minctasm" in op.attributes or "nvvm.maxnreg" in op.attributes:
        return False
    return not any(each.name.startswith(MATMULS) for each in op.walk())
