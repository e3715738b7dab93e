"""Rules of warp-wide operations: shuffles, `ldmatrix`, `movmatrix` and `mma.sync`."""

import numpy as np
from xdsl.dialects.builtin import bf16, f16
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects.nvvm_attributes import MatrixLayout, MultiplicandType, ShuffleKind
from mirage_mlir.interpreters.gpu_simulator.clocks import WARP_THREADS
from mirage_mlir.interpreters.gpu_simulator.encoding import POISON, Array, decode, encode
from mirage_mlir.interpreters.gpu_simulator.faults import unsupported
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Rules
from mirage_mlir.interpreters.gpu_simulator.shared_memory import SharedMemory

MATRIX = 8
"""Rows, and columns, of the matrices that `ldmatrix` moves."""

TF32_BITS = -(1 << 13)
"""Those of an f32 that a tf32 has."""

EVERYONE = -1
"""The mask of all lanes."""


def run_shuffle(state: Flow, op: Operation) -> None:
    """Read the value of the lane whose number differs in the bits of `offset`."""
    assert isinstance(op, nvvm.ShflSyncOp)
    state.require_warps(op)
    mask, clamp = state.uniform(op, op.mask), state.uniform(op, op.mask_and_clamp)
    whole_warp = (mask, clamp) == (EVERYONE, WARP_THREADS - 1)
    if op.kind.data != ShuffleKind.BFLY or not whole_warp:
        raise unsupported(op, "is no exchange in a whole warp, the only shuffle there is")
    # A warp starts at a multiple of 32, so that its lanes' numbers are the threads' low bits.
    threads = np.arange(state.size) ^ state.array(op.offset)
    state.values[op.res] = state.array(op.value)[threads]


def run_load_matrices(state: Flow, op: Operation) -> None:
    """Lane 8 i + r gives the address of row r of matrix i; each lane gets two elements of each."""
    assert isinstance(op, nvvm.LdMatrixOp)
    state.require_warps(op)
    pointer = state.pointer(op.ptr)
    assert isinstance(pointer.memory, SharedMemory)
    count, warps = op.num.value.data, state.size // WARP_THREADS
    lanes = np.arange(state.size) % WARP_THREADS
    giving = np.flatnonzero(state.active & (lanes < MATRIX * count))
    rows = np.full((state.size, 2 * MATRIX), POISON, np.uint8)
    access = state.access(op, pointer, giving, 2 * MATRIX, 2 * MATRIX)
    rows[giving] = pointer.memory.read_matrices(access)
    of_warps = rows.view(np.uint16).reshape(warps, WARP_THREADS, MATRIX)[:, : MATRIX * count]
    matrices = of_warps.reshape(warps, count, MATRIX, MATRIX)
    if op.layout.data == MatrixLayout.COL:
        matrices = matrices.swapaxes(2, 3)
    pairs = np.ascontiguousarray(matrices).view(np.int32).reshape(warps, count, WARP_THREADS)
    registers = tuple(pairs[:, i].reshape(state.size) for i in range(count))
    state.values[op.res] = registers if count > 1 else registers[0]


def run_transpose(state: Flow, op: Operation) -> None:
    """Each lane holds two elements of a row of its warp's matrix, and gets two of a column."""
    state.require_warps(op)
    halves = np.ascontiguousarray(state.array(op.operands[0])).view(np.uint16)
    matrices = halves.reshape(-1, MATRIX, MATRIX).swapaxes(1, 2)
    state.values[op.results[0]] = np.ascontiguousarray(matrices).view(np.int32).reshape(-1)


def fragment(state: Flow, value: SSAValue, element: MultiplicandType) -> Array:
    """One register of A or B: an 8 x 8 matrix of each warp, in f32."""
    data = encode(state.array(value), value.type)
    numbers = decode(data.reshape(-1, 2), f16 if element == MultiplicandType.F16 else bf16)
    return numbers.astype(np.float32).reshape(-1, MATRIX, MATRIX)


def narrow_fragment(state: Flow, value: SSAValue, element: MultiplicandType) -> Array:
    """One tf32 register of A or B: an 8 x 4 matrix of each warp; lower bits do not count."""
    bits = state.array(value) & np.int32(TF32_BITS)
    return np.ascontiguousarray(bits).view(np.float32).reshape(-1, MATRIX, MATRIX // 2)


def toward_zero(numbers: Array) -> Array:
    """f64 as f32 of no greater size: tensor cores drop what does not fit."""
    near = numbers.astype(np.float32)
    over = np.abs(near.astype(np.float64)) > np.abs(numbers)
    return np.where(over, np.nextafter(near, np.float32(0)), near)


FRAGMENTS = {
    (MultiplicandType.F16, (16, 8, 16)): fragment,
    (MultiplicandType.BF16, (16, 8, 16)): fragment,
    (MultiplicandType.TF32, (16, 8, 8)): narrow_fragment,
}
"""How a register of A or B is read, by element type and shape of the matmul."""


def run_wgmma(state: Flow, op: Operation) -> None:
    """
    D = A B + C for each warp, A 16 x 16, B 16 x 8; of tf32 A 16 x 8, B 8 x 8.

    Fragments are those of PTX ISA, "Matrix fragments for mma.m16n8k16 with floating point type",
    and "for mma.m16n8k8". Sums of tf32 matmuls are cut off, not rounded, as an H200 does it: in
    matmuls of f32 that shows.
    """
    assert isinstance(op, nvvm.MmaSyncOp)
    state.require_warps(op)
    element = op.type_a.data
    if (element, op.shape.sizes) not in FRAGMENTS:
        raise unsupported(op, f"multiplies {element} as {op.shape.sizes}")
    read = FRAGMENTS[element, op.shape.sizes]
    a = [read(state, value, element) for value in op.a]
    left = np.block([[a[0], a[2]], [a[1], a[3]]])
    right = np.concatenate([read(state, v, element).swapaxes(1, 2) for v in op.b], axis=1)
    warps = state.size // WARP_THREADS
    c = [state.array(value).reshape(warps, WARP_THREADS) for value in op.c]
    added = np.stack(c, axis=2).reshape(warps, MATRIX, 4, 2, 2)
    addend = added.transpose(0, 3, 1, 2, 4).reshape(warps, 2 * MATRIX, MATRIX)
    if element == MultiplicandType.TF32:
        total = toward_zero(left.astype(np.float64) @ right + addend)
    else:
        total = left @ right + addend
    parts = total.reshape(warps, 2, MATRIX, 4, 2).transpose(0, 2, 3, 1, 4)
    registers = parts.reshape(state.size, 4)
    state.values[op.res] = tuple(registers[:, i] for i in range(4))


RULES: Rules = {
    nvvm.LdMatrixOp: run_load_matrices,
    nvvm.MmaSyncOp: run_wgmma,
    nvvm.ShflSyncOp: run_shuffle,
}
