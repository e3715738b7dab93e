"""
Single edits of lowered kernels: what orders accesses is left out, or orders something else; loads
may be done at any time.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

import numpy as np
from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, UnitAttr, i32, i64
from xdsl.ir import BlockArgument, Operation, SSAValue

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.dialects.nvvm_attributes import GLOBAL, GridDependency
from mirage_mlir.dialects.nvvm_wgmma import WgmmaWaitOp
from mirage_mlir.interpreters.domain import AnyArray
from mirage_mlir.interpreters.gpu_simulator import KernelFault, run_kernels

NOT_FOUND = "not found"
"""The outcome of a mutant that runs without a fault and computes the same."""

ORDERING = (
    "nvvm.bar.warp.sync",
    "nvvm.barrier",
    "nvvm.cluster.arrive",
    "nvvm.cluster.wait",
    "nvvm.cp.async.commit.group",
    "nvvm.cp.async.wait.group",
    "nvvm.fence.mbarrier.init",
    "nvvm.fence.proxy",
    "nvvm.mbarrier.arrive",
    "nvvm.mbarrier.arrive.expect_tx",
    "nvvm.mbarrier.init",
    "nvvm.mbarrier.try_wait.parity",
    "nvvm.wgmma.commit.group.sync.aligned",
    "nvvm.wgmma.fence.aligned",
    "nvvm.wgmma.wait.group.sync.aligned",
)
"""Operations, whose results nothing uses, that order accesses to memory or registers."""

REMOVED, MOVED_UP, MOVED_DOWN = "removed", "comes first", "comes last"
INVARIANT, NOALIAS = "is invariant", "has no alias"

LEARNT = [f"nvvm.griddepcontrol {edit}" for edit in (REMOVED, MOVED_DOWN)]
"""Edits of one wait for the previous grid that are harmless: warps that compute wait for tiles of a
producer, which has waited for that grid."""

Edit = Callable[[Operation], None]


def edits_of(op: Operation) -> Iterator[tuple[str, Edit]]:
    """What may be done to `op`."""
    if op.name in ORDERING and not any(result.uses for result in op.results):
        yield REMOVED, _remove
    yield from _edits_of_early_starts(op)
    if isinstance(op, nvvm.CpAsyncWaitGroupOp | WgmmaWaitOp):
        yield "waits for one stage less", _wait_less
    if isinstance(op, nvvm_hopper.MBarrierWaitParityOp):
        yield "waits for the other parity", partial(_change, 1, arith.XOrIOp, 1)
    if isinstance(op, nvvm_hopper.MBarrierInitOp):
        yield "is for one arrival more", partial(_change, 1, arith.AddiOp, 1)
        yield "is for one arrival less", partial(_change, 1, arith.SubiOp, 1)
    if isinstance(op, nvvm_hopper.MBarrierArriveExpectTxOp):
        yield "expects 16 bytes more", partial(_change, 1, arith.AddiOp, 16)
        yield "expects 16 bytes less", partial(_change, 1, arith.SubiOp, 16)
    if isinstance(op, nvvm_hopper.CpAsyncBulkTensorLoadOp):
        # The operands are the address, the descriptor, and the coordinates.
        yield "starts one line further", partial(_change, 3, arith.AddiOp, 1)


def _edits_of_early_starts(op: Operation) -> Iterator[tuple[str, Edit]]:
    """What may be done to loads from device memory, and to what orders grids."""
    if isinstance(op, llvm.LoadOp) and op.ptr.type == GLOBAL:
        yield INVARIANT, _mark_invariant
    if isinstance(op, llvm.FuncOp):
        # Nothing but loads may then come earlier.
        loads = [each for each in op.walk() if isinstance(each, llvm.LoadOp)]
        for number in sorted({argument_of(load.ptr) for load in loads if load.ptr.type == GLOBAL}):
            if NOALIAS_NOTE not in _notes_of(op)[number].data:
                yield f"{NOALIAS} (argument {number})", partial(_mark_noalias, number)
    if isinstance(op, nvvm_hopper.GridDependencyOp):
        if op.kind.data == GridDependency.WAIT:
            yield REMOVED, _remove
            yield MOVED_DOWN, _move_last
        elif _starts_the_second(op):
            yield MOVED_UP, _move_first


def argument_of(pointer: SSAValue) -> int:
    """The number of the kernel's argument from which a pointer is made."""
    while not isinstance(pointer, BlockArgument):
        assert isinstance(pointer.owner, llvm.GEPOp)
        pointer = pointer.owner.ptr
    return pointer.index


def function_around(op: Operation) -> llvm.FuncOp:
    """The kernel of which `op` is a part."""
    while not isinstance(op, llvm.FuncOp):
        parent = op.parent_op()
        assert parent is not None
        op = parent
    return op


def _starts_the_second(op: Operation) -> bool:
    """Whether `op` is in the first of several kernels."""
    module = function_around(op).parent_op()
    assert isinstance(module, gpu.ModuleOp)
    kernels = [each for each in module.body.block.ops if isinstance(each, llvm.FuncOp)]
    return len(kernels) > 1 and function_around(op) is kernels[0]


def mutants(
    kernels: gpu.ModuleOp, about: Sequence[str] = ("",)
) -> Iterator[tuple[str, gpu.ModuleOp]]:
    """Each with one edit, in whose description one of the words is."""
    for number, op in enumerate(kernels.walk()):
        for description, edit in edits_of(op):
            said = f"{op.name} {description}"
            if any(word in said for word in about):
                mutant = kernels.clone()
                edit(next(islice(mutant.walk(), number, None)))
                yield said, mutant


def outcomes(
    kernels: gpu.ModuleOp, inputs: Sequence[AnyArray], about: Sequence[str] = ("",)
) -> Iterator[tuple[str, str]]:
    """The edit of each mutant in whose description one of the words is, and how it is found."""
    wanted = run_kernels(kernels, inputs)
    for description, mutant in mutants(kernels, about):
        yield description, _outcome(mutant, inputs, wanted)


def _outcome(kernels: gpu.ModuleOp, inputs: Sequence[AnyArray], wanted: Sequence[AnyArray]) -> str:
    try:
        results = run_kernels(kernels, inputs)
    except KernelFault as fault:
        return fault.kind.value
    same = all(np.array_equal(a, b) for a, b in zip(results, wanted, strict=True))
    return NOT_FOUND if same else "another result"


def _remove(op: Operation) -> None:
    op.detach()
    op.erase()


def _mark_invariant(op: Operation) -> None:
    op.attributes["invariant"] = UnitAttr()


NOALIAS_NOTE = "llvm.noalias"


def _notes_of(function: llvm.FuncOp) -> list[DictionaryAttr]:
    assert function.arg_attrs is not None
    return list(function.arg_attrs)


def _mark_noalias(number: int, op: Operation) -> None:
    assert isinstance(op, llvm.FuncOp)
    notes = _notes_of(op)
    notes[number] = DictionaryAttr({**notes[number].data, NOALIAS_NOTE: UnitAttr()})
    op.properties["arg_attrs"] = ArrayAttr(notes)


def _move_last(op: Operation) -> None:
    """To the end of its block: behind all that it should come before."""
    block = op.parent
    assert block is not None
    assert block.last_op is not None
    op.detach()
    block.insert_op_before(op, block.last_op)


def _move_first(op: Operation) -> None:
    """To the start of the kernel."""
    function = function_around(op)
    op.detach()
    first = function.body.block.first_op
    assert first is not None
    function.body.block.insert_op_before(op, first)


def _wait_less(op: Operation) -> None:
    if isinstance(op, WgmmaWaitOp):
        op.group = IntegerAttr(op.group.value.data + 1, i64)
    else:
        assert isinstance(op, nvvm.CpAsyncWaitGroupOp)
        op.n = IntegerAttr(op.n.value.data + 1, i32)


def _change(
    index: int, make: type[arith.AddiOp | arith.SubiOp | arith.XOrIOp], number: int, op: Operation
) -> None:
    """Give `op` another number as an operand."""
    constant = arith.ConstantOp(IntegerAttr(number, i32))
    changed = make(op.operands[index], constant.result)
    block = op.parent
    assert block is not None
    block.insert_ops_before([constant, changed], op)
    op.operands[index] = changed.result
