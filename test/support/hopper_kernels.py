"""Kernels for sm_90a written by hand: a warp copies tiles, the others use them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hand_kernels import below, device, kernel, number, shared, thread, when
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, gpu, llvm, scf
from xdsl.dialects.builtin import (
    VectorType,
    f16,
    i32,
)
from xdsl.ir import Block, SSAValue

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.dialects.interface import TensorMapAttr, TensorMapFacts

TICKS = 1000


def tensor_map(
    tensor: str,
    dims: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    *,
    swizzle: int = 0,
    offset: int = 0,
    element: str = "f16",
) -> TensorMapAttr:
    """A tensor map of the launch plan."""
    facts = TensorMapFacts(
        tensor, tuple(dims), tuple(strides), tuple(box), offset, swizzle, element
    )
    return TensorMapAttr.of(facts)


def loop_with(
    iterations: int,
    first: Sequence[SSAValue],
    body: Callable[[SSAValue, Sequence[SSAValue]], Sequence[SSAValue]],
) -> Sequence[SSAValue]:
    """`body` of each number from 0 on and of what it returned before; what it returned last."""
    block = Block(arg_types=[i32, *(value.type for value in first)])
    with ImplicitBuilder(block) as (iteration, *carried):
        scf.YieldOp(*body(iteration, carried))
    return scf.ForOp(number(0), number(iterations), number(1), first, block).results


def loop(iterations: int, body: Callable[[SSAValue], object]) -> None:
    """`body` for each number from 0 on."""

    def step(iteration: SSAValue, _: Sequence[SSAValue]) -> list[SSAValue]:
        body(iteration)
        return []

    loop_with(iterations, [], step)


def equal(value: SSAValue, other: int) -> SSAValue:
    """`value == other`."""
    return arith.CmpiOp(value, number(other), "eq").result


def plus(value: SSAValue, other: SSAValue | int) -> SSAValue:
    """A sum of i32 numbers."""
    return arith.AddiOp(value, number(other) if isinstance(other, int) else other).result


def times(value: SSAValue, factor: int) -> SSAValue:
    """A matmul of i32 numbers."""
    return arith.MuliOp(value, number(factor)).result


def exclusive_or(value: SSAValue, other: SSAValue | int) -> SSAValue:
    """The bits that differ."""
    return arith.XOrIOp(value, number(other) if isinstance(other, int) else other).result


def over(value: SSAValue, divisor: int) -> SSAValue:
    """A quotient of numbers that are not negative."""
    return arith.DivUIOp(value, number(divisor)).result


def rest(value: SSAValue, divisor: int) -> SSAValue:
    """A remainder of numbers that are not negative."""
    return arith.RemUIOp(value, number(divisor)).result


@dataclass(frozen=True)
class CopyKernel:
    """
    Tiles of 8 rows and 64 columns of f16, through two buffers, to the output; and what is wrong.

    Two warps read; the third one copies. Each reader takes 4 rows: a thread 16 bytes of 128 twice.
    """

    iterations: int = 5
    stages: int = 2
    waits_full: bool = True
    waits_empty: bool = True
    full_parity: int = 0
    empty_parity: int = 1
    slot_shift: int = 0
    arrives_early: bool = False
    syncs_warp: bool = True
    arrivals: int = 2
    bytes_expected: int = 1024
    init_fence: bool = True
    synchronizes: bool = True
    expects: bool = True
    releases: bool = True
    fences: bool = True
    swizzle: int = 128
    row: int = 0
    column: int = 0

    def module(self) -> gpu.ModuleOp:
        """The kernel; the tensor has a column of tiles."""
        rows = 8 * self.iterations
        return kernel(
            self.body,
            [f"{rows}x64xf16"],
            [f"{rows}x64xf16"],
            threads=96,
            smem=1024 * self.stages + 16 * self.stages,
            maps=[
                tensor_map("input:0", [64, rows], [128], [64, 8], swizzle=self.swizzle),
            ],
        )

    def full(self, slot: SSAValue) -> SSAValue:
        """The barrier that says that a buffer is full."""
        return shared(times(slot, 8), shared(1024 * self.stages))

    def empty(self, slot: SSAValue) -> SSAValue:
        """The barrier that says that a buffer is empty."""
        return shared(times(slot, 8), shared(1024 * self.stages + 8 * self.stages))

    def body(self, x: SSAValue, y: SSAValue, tensor: SSAValue) -> None:
        """All of the kernel."""
        me = thread()
        warp, lane = over(me, 32), rest(me, 32)
        when(equal(me, 0), self.make_barriers)
        if self.synchronizes:
            nvvm.BarrierOp()
        when(equal(warp, 2), lambda: when(equal(lane, 0), lambda: self.produce(tensor)))
        when(
            below(warp, 2),
            lambda: loop(self.iterations, lambda iteration: self.consume(y, me, iteration)),
        )

    def make_barriers(self) -> None:
        """By one thread."""
        for slot in range(self.stages):
            nvvm_hopper.MBarrierInitOp(self.full(number(slot)), number(1))
            nvvm_hopper.MBarrierInitOp(self.empty(number(slot)), number(self.arrivals))
        if self.init_fence:
            nvvm_hopper.FenceMBarrierInitOp()

    def produce(self, tensor: SSAValue) -> None:
        """By one thread of a warp."""
        loop(self.iterations, lambda iteration: self.fill(tensor, iteration))

    def fill(self, tensor: SSAValue, iteration: SSAValue) -> None:
        """Start the copy of one iteration."""
        slot, phase = rest(iteration, self.stages), over(iteration, self.stages)
        parity = rest(plus(phase, self.empty_parity), 2)
        if self.waits_empty:
            nvvm_hopper.MBarrierWaitParityOp(self.empty(slot), parity, number(TICKS))
        if self.expects:
            nvvm_hopper.MBarrierArriveExpectTxOp(self.full(slot), number(self.bytes_expected))
        else:
            nvvm_hopper.MBarrierArriveOp(self.full(slot))
        row = plus(times(iteration, 8), self.row)
        nvvm_hopper.CpAsyncBulkTensorLoadOp(
            shared(times(slot, 1024)), tensor, [number(self.column), row], self.full(slot)
        )

    def release(self, me: SSAValue, slot: SSAValue) -> None:
        """Say that this warp has read a buffer."""
        if self.fences:
            nvvm_hopper.FenceProxyOp()
        if self.syncs_warp:
            nvvm.BarWarpSyncOp(number(-1))
        if self.releases:
            when(equal(rest(me, 32), 0), lambda: nvvm_hopper.MBarrierArriveOp(self.empty(slot)).res)

    def consume(self, y: SSAValue, me: SSAValue, iteration: SSAValue) -> None:
        """Each thread writes 16 bytes of a tile to the output."""
        slot, phase = rest(iteration, self.stages), over(iteration, self.stages)
        parity = rest(plus(phase, self.full_parity), 2)
        if self.waits_full:
            nvvm_hopper.MBarrierWaitParityOp(self.full(slot), parity, number(TICKS))
        if self.arrives_early:
            self.release(me, slot)
        buffer = times(rest(plus(slot, self.slot_shift), self.stages), 1024)
        row, piece = over(me, 8), rest(me, 8)
        place = arith.XOrIOp(piece, row).result if self.swizzle else piece
        at = plus(buffer, plus(times(row, 128), times(place, 16)))
        kind = VectorType(f16, [8])
        value = llvm.LoadOp(shared(at), kind, alignment=16).dereferenced_value
        target = plus(times(iteration, 1024), plus(times(row, 128), times(piece, 16)))
        llvm.StoreOp(value, device(y, target), alignment=16)
        if not self.arrives_early:
            self.release(me, slot)
