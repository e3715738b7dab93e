"""
Rules of warpgroup matmuls (`wgmma`).

The tensor core reads tiles in shared memory through descriptors, some time after the matmul was
started and before the wait for its group is over; sums are there after that. Source: PTX ISA,
"Asynchronous warpgroup level matrix instructions"; the layouts in words of strides: CUTLASS,
`include/cute/arch/mma_sm90_desc.hpp`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.dialects import llvm, scf
from xdsl.dialects.builtin import bf16, f16
from xdsl.ir import Operation, SSAValue

from mirage_mlir.decisions.registers import most_registers
from mirage_mlir.dialects.nvvm_attributes import MatrixLayout, MultiplicandType
from mirage_mlir.dialects.nvvm_device import is_kept_in_place
from mirage_mlir.dialects.nvvm_hopper import SetMaxRegisterOp
from mirage_mlir.dialects.nvvm_wgmma import (
    RegistersForm,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaMmaAsyncOp,
    WgmmaScaleIn,
    WgmmaScaleInAttr,
    WgmmaScaleOut,
    WgmmaWaitOp,
    is_pin,
)
from mirage_mlir.interpreters.gpu_simulator.accesses import SHARED_START, Access
from mirage_mlir.interpreters.gpu_simulator.clocks import AGENT_TIME, GROUP_THREADS
from mirage_mlir.interpreters.gpu_simulator.encoding import Array, decode
from mirage_mlir.interpreters.gpu_simulator.faults import FaultKind, unsupported
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Rules
from mirage_mlir.interpreters.gpu_simulator.inline_assembly import effect_of
from mirage_mlir.interpreters.gpu_simulator.tensor_copies import PIECE, swizzled
from mirage_mlir.interpreters.gpu_simulator.values import Pending, Value
from mirage_mlir.interpreters.gpu_simulator.warps import fragment

ROWS, DEPTH = 64, 16

ITEM = 2
"""Bytes of an element of both operands."""

CORE = 8
"""Lines of a core matrix, of 16 bytes each; swizzles repeat after as many lines."""

MMA = 16
"""Bytes in which descriptors count."""

SWIZZLES = (0, 128, 64, 32)
"""Bytes of a line, by the number of the kind."""


class Descriptor(NamedTuple):
    """A descriptor's fields, in bytes."""

    start: int
    leading: int
    stride: int
    swizzle: int

    @staticmethod
    def read(bits: int) -> "Descriptor":
        """Take the fields apart; base offset, bits 49 to 51, and bits that are not used are 0."""
        start, leading, stride = (MMA * (bits >> at & (1 << 14) - 1) for at in (0, 16, 32))
        return Descriptor(start, leading, stride, SWIZZLES[bits >> 62 & 3])


UNUSED_BITS = 3 << 14 | 3 << 30 | ((1 << 16) - 1) << 46
"""Of a descriptor: base offset included, which tiles that start where swizzles do leave 0."""


def groups_here(state: Flow, op: Operation) -> list[Array]:
    """The threads of each warpgroup that is here, all of it."""
    threads = state.shared.threads
    groups: list[Array] = []
    state.require_warps(op)
    for block in range(len(state.blocks)):
        for first in range(0, threads, GROUP_THREADS):
            group = block * threads + np.arange(first, min(first + GROUP_THREADS, threads))
            active = state.active[group]
            if active.any():
                groups.append(group)
                if not active.all() or len(group) < GROUP_THREADS:
                    message = f"is reached by some warps only of {state.shared.name_of(group[0])}"
                    state.checker.report(FaultKind.DIVERGENCE, op, f"{message} and the 127 after")
    return groups


def common(state: Flow, op: Operation, value: SSAValue, group: Array) -> int:
    """A number that all threads of a warpgroup must agree on."""
    found = state.array(value)[group]
    if (found != found[0]).any():
        name = state.shared.name_of(int(group[np.argmax(found != found[0])]))
        message = f"has {name} see another descriptor than {state.shared.name_of(int(group[0]))}"
        state.checker.report(FaultKind.DIVERGENCE, op, message)
    return int(found[0])


def piece_addresses(tile: Descriptor, count: int, *, along_depth: bool) -> Array:
    """Where the 16-byte pieces of `count` places of the outer side lie: lines x pieces."""
    lines = np.arange(count if along_depth else DEPTH)[:, None]
    pieces = np.arange((DEPTH if along_depth else count) * ITEM // PIECE)
    atoms, line = np.divmod(lines, CORE)
    if tile.swizzle:
        panels, inner = np.divmod(pieces, tile.swizzle // PIECE)
        along = panels * tile.leading + inner * PIECE
        places = tile.start + atoms * tile.stride + line * tile.swizzle + along
    elif along_depth:
        places = tile.start + atoms * tile.stride + line * PIECE + pieces * tile.leading
    else:
        places = tile.start + atoms * tile.leading + line * PIECE + pieces * tile.stride
    return swizzled(places, tile.swizzle)


def read_operand(
    state: Flow, op: Operation, bits: int, group: Array, *, count: int, along_depth: bool
) -> Array:
    """The bytes of an operand, outer side x depth x 2."""
    tile = Descriptor.read(bits)
    if bits & UNUSED_BITS or (tile.swizzle and tile.start // tile.swizzle % CORE):
        message = f"has a descriptor ({bits:#x}) that starts between lines of a swizzle"
        state.checker.report(FaultKind.MISALIGNED, op, message)
    places = piece_addresses(tile, count, along_depth=along_depth) - SHARED_START
    threads = np.full(places.size, group[0])
    blocks = threads // state.shared.threads
    access = Access(op, threads, places.reshape(-1), PIECE, PIECE, blocks)
    found = state.shared.read_tile(access, group).reshape(len(places), -1, ITEM)
    return found if along_depth else found.swapaxes(0, 1)


def numbers(data: Array, element: str) -> Array:
    """16-bit elements, as the tensor core takes them."""
    kind = f16 if element == "f16" else bf16
    return decode(data.reshape(-1, ITEM), kind).astype(np.float32).reshape(data.shape[:-1])


def as_matrix(sums: Array) -> Array:
    """The sums of a warpgroup's threads, 128 x n/2, as a matrix of 64 rows."""
    parts = sums.reshape(4, CORE, 4, -1, 2, 2)
    return parts.transpose(0, 4, 1, 3, 2, 5).reshape(ROWS, -1)


def as_sums(matrix: Array) -> Array:
    """The inverse of `as_matrix`."""
    parts = matrix.reshape(4, 2, CORE, -1, 4, 2)
    return parts.transpose(0, 2, 4, 3, 1, 5).reshape(GROUP_THREADS, -1)


class Wgmma(NamedTuple):
    """
    What one operation multiplies.

    Args:
        left: of each warpgroup, 64 x 16.
        right: of each warpgroup, columns x 16.
        sums: what is added to it, a value for each sum of a thread; None for nothing.
        result: the struct that it becomes.
    """

    left: list[Array]
    right: list[Array]
    sums: Sequence[Value] | None
    result: SSAValue


def start_wgmma(state: Flow, groups: list[Array], matmul: Wgmma) -> None:
    """Compute a matmul, whose sums are there when its group was waited for."""
    columns = len(matmul.right[0])
    found = np.zeros((state.size, columns // 2), np.float32)
    if matmul.sums is not None:
        found = np.stack(arrays(matmul.sums), axis=1)
    for group, left, right in zip(groups, matmul.left, matmul.right, strict=True):
        found[group] = as_sums(left @ right.T + as_matrix(found[group]))
    stamp = AGENT_TIME + state.shared.clocks.now
    state.started[state.active] = stamp
    registers = tuple(found[:, i] for i in range(columns // 2))
    state.values[matmul.result] = Pending(registers, np.where(state.active, stamp, 0))


def arrays(values: Sequence[Value]) -> tuple[Array, ...]:
    """Numbers, whether matmuls still add to them or not."""
    found: list[Array] = []
    for value in values:
        plain = value.value if isinstance(value, Pending) else value
        assert isinstance(plain, np.ndarray)
        found.append(plain)
    return tuple(found)


def require_fence(state: Flow, op: Operation, registers: list[SSAValue]) -> None:
    """A fence comes between other uses of these registers and the matmul."""
    written = between_fence_and(op)
    late = any(origin(value) in written for value in registers)
    if late or not state.wgmma_fenced[state.active].all():
        name = state.shared.name_of(int(state.here[0]))
        message = f"has {name} multiply what is in registers without a fence after their last use"
        state.checker.report(FaultKind.RACE, op, message)


def between_fence_and(op: Operation) -> set[object]:
    """
    What may have run between the last fence and `op`: operations, and loops' blocks of operations.

    Those of a loop without a fence in front of `op` have run in an earlier iteration.
    """
    found: set[object] = set()
    step: Operation | None = op
    while step is not None and not isinstance(step, llvm.FuncOp):
        before = step.prev_op
        while before is not None and not isinstance(before, WgmmaFenceOp):
            found.add(before)
            before = before.prev_op
        if before is not None:
            break
        if isinstance(parent := step.parent_op(), scf.ForOp):
            found |= {parent.body.block, *parent.body.block.ops}
        step = parent
    return found


def origin(value: SSAValue) -> object:
    """What computed a value; other names for the same bits do not count."""
    owner = value.owner
    while isinstance(owner, llvm.BitcastOp | llvm.ExtractValueOp):
        owner = owner.operands[0].owner
    return owner


def run_wgmma(state: Flow, op: Operation) -> None:
    """Start D = A B + C of two tiles in shared memory."""
    assert isinstance(op, WgmmaMmaAsyncOp)
    groups, inouts = groups_here(state, op), state.values[op.inouts]
    if not isinstance(inouts, Pending):
        require_fence(state, op, [op.inouts])
    columns, by_row = op.shape.n.data, MatrixLayout.ROW
    left: list[Array] = []
    right: list[Array] = []
    for group in groups:
        a, b = (common(state, op, each, group) for each in (op.descriptor_a, op.descriptor_b))
        along = op.layout_a.data == by_row
        data = read_operand(state, op, a, group, count=ROWS, along_depth=along)
        left.append(signed(op.scale_a) * numbers(data, op.type_a.data.value))
        along = op.layout_b.data != by_row
        data = read_operand(state, op, b, group, count=columns, along_depth=along)
        right.append(signed(op.scale_b) * numbers(data, op.type_b.data.value))
    members = inouts.value if isinstance(inouts, Pending) else inouts
    assert isinstance(members, tuple)
    sums = members if op.scale_d.data == WgmmaScaleOut.ONE else None
    start_wgmma(state, groups, Wgmma(left, right, sums, op.results_))


def signed(scale: WgmmaScaleInAttr) -> np.float32:
    """1, or -1 where an operand is taken with the other sign."""
    return np.float32(-1 if scale.data == WgmmaScaleIn.NEG else 1)


def run_assembly(state: Flow, op: Operation) -> None:
    """
    Values in registers of their own or in place, a matmul that takes its left side from registers,
    a load, a store, or a transpose.
    """
    assert isinstance(op, llvm.InlineAsmOp)
    if (effect := effect_of(op)) is not None:
        effect(state, op)
        return
    if is_kept_in_place(op):
        state.values[op.results[0]] = state.values[op.operands[0]]
        return
    form = RegistersForm.of(op)
    if form is not None:
        run_register_wgmma(state, op, form)
    elif is_pin(op) and op.res is not None:
        run_pin(state, op, op.res)
    else:
        raise unsupported(op, "is assembly that no lowered kernel has")


def run_register_wgmma(state: Flow, op: llvm.InlineAsmOp, form: RegistersForm) -> None:
    """Start D = A B + C, where A lies in registers as `mma.sync` takes them."""
    groups, count = groups_here(state, op), form.columns // 2
    operands = list(op.operands)
    given, registers, descriptor = operands[:count], operands[count:-1], operands[-1]
    sums = [state.values[value] for value in given]
    written = [value for value in given if not isinstance(state.values[value], Pending)]
    require_fence(state, op, [*written, *registers])
    kind = MultiplicandType.F16 if form.element == "f16" else MultiplicandType.BF16
    parts = [fragment(state, value, kind) for value in registers]
    whole = np.block([[parts[0], parts[2]], [parts[1], parts[3]]]).reshape(-1, DEPTH)
    left: list[Array] = []
    right: list[Array] = []
    for group in groups:
        # A warp has 16 of the rows, so that a thread's number is twice that of a row.
        left.append(whole[group[0] // 2 : group[0] // 2 + ROWS])
        bits, along = common(state, op, descriptor, group), not form.transposed
        data = read_operand(state, op, bits, group, count=form.columns, along_depth=along)
        right.append(numbers(data, form.element))
    assert op.res is not None
    start_wgmma(state, groups, Wgmma(left, right, sums if form.adds else None, op.res))


def run_pin(state: Flow, op: llvm.InlineAsmOp, result: SSAValue) -> None:
    """The operands as a struct; no instruction reads them."""
    found = [state.values[value] for value in op.operands]
    waits = [each for each in found if isinstance(each, Pending) and not state.is_over(each)]
    members = arrays(found)
    if waits:
        stamp = np.max([each.stamp for each in waits], axis=0)
        state.values[result] = Pending(members, stamp)
    else:
        state.values[result] = members


def run_fence(state: Flow, op: Operation) -> None:
    """What threads wrote to registers comes before the matmuls that follow."""
    groups_here(state, op)
    state.wgmma_fenced[state.active] = True


def run_commit(state: Flow, op: Operation) -> None:
    """Close a group of matmuls."""
    for group in groups_here(state, op):
        time = AGENT_TIME + state.shared.clocks.tick()
        state.commits.setdefault(int(group[0]), []).append(time)


def run_wait(state: Flow, op: Operation) -> None:
    """All but the latest groups of matmuls are over."""
    assert isinstance(op, WgmmaWaitOp)
    clocks = state.shared.clocks
    for group in groups_here(state, op):
        commits = state.commits.get(int(group[0]), [])
        if len(commits) > op.group.value.data:
            time = commits[-1 - op.group.value.data]
            clocks.learn(group, clocks.matmuls_of(group), time)
    state.wgmma_fenced[state.active] = False


def run_set_registers(state: Flow, op: Operation) -> None:
    """All warps of a warpgroup change their registers."""
    assert isinstance(op, SetMaxRegisterOp)
    threads, count = state.shared.threads, op.reg_count.value.data
    for block in range(len(state.blocks)):
        own = state.active[block * threads : (block + 1) * threads]
        for first in range(0, threads, GROUP_THREADS):
            group = own[first : first + GROUP_THREADS]
            if group.any() and not group.all():
                message = "is reached by some threads only of a warpgroup"
                state.checker.report(FaultKind.DIVERGENCE, op, message)
            if group.any():
                start = block * threads + first
                state.registers[start : start + len(group)] = count


def require_registers(state: Flow, op: Operation) -> None:
    """
    What threads have in the end is no more than a block gets when it starts.

    On a GPU who asks for more waits until others have given as much back.
    """
    threads = state.shared.threads
    for registers in state.registers.reshape(-1, threads):
        if (total := int(registers.sum())) > (room := int(most_registers(threads)) * threads):
            message = (
                f"ends with threads that asked for {total} registers, of which there are {room}"
            )
            state.checker.report(FaultKind.DEADLOCK, op, message)


def require_over(state: Flow, op: Operation) -> None:
    """No matmul is under way when threads end."""
    here = state.here
    if (state.started[here] > state.shared.clocks.matmuls_seen(here)).any():
        message = "ends while warpgroup matmuls may be under way"
        state.checker.report(FaultKind.INCOMPLETE, op, message)


RULES: Rules = {
    SetMaxRegisterOp: run_set_registers,
    WgmmaCommitOp: run_commit,
    WgmmaFenceOp: run_fence,
    WgmmaMmaAsyncOp: run_wgmma,
    WgmmaWaitOp: run_wait,
    llvm.InlineAsmOp: run_assembly,
}
