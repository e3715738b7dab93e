"""A matmul by a warpgroup whose operands another warp copies, written by hand."""

from collections.abc import Sequence
from dataclasses import dataclass

from hand_kernels import below, device, kernel, number, shared, store, thread, when
from hopper_kernels import TICKS, equal, loop_with, over, plus, rest, tensor_map, times
from xdsl.dialects import arith, gpu, llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, VectorType, f16, f32, i32, i64
from xdsl.ir import SSAValue

from mirage_mlir.dialects import nvvm, nvvm_hopper
from mirage_mlir.dialects.nvvm_wgmma import (
    RegistersForm,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaMmaAsyncOp,
    WgmmaWaitOp,
    accumulators,
)

ROWS, DEPTH = 64, 64
"""Of the left tile of an iteration; a line of its depth has 128 bytes."""

KINDS = {128: 1, 64: 2, 32: 3}

A_BYTES = ROWS * DEPTH * 2


def long(value: int) -> SSAValue:
    """An i64."""
    return arith.ConstantOp(IntegerAttr(value - (value >> 63 << 64), i64)).result


@dataclass(frozen=True)
class MatmulKernel:
    """
    y = a b: a is 64 x depth by rows; b is columns x depth by rows, or depth x columns.

    Warps 0 to 3 multiply, warp 4 copies 64 of the depth at a time into two buffers.

    Args:
        right_swizzle: bytes of a line of b's tile; its columns, or depth, are cut into such lines.
        right_along_depth: whether lines of b's tile lie along the depth.
        left: where a's tile is when it is multiplied: `copied` into shared memory, `stored` there
            by threads, or in `registers`.
    """

    iterations: int = 3
    columns: int = 32
    right_swizzle: int = 128
    right_along_depth: bool = True
    left: str = "copied"
    fences: bool = True
    commits: bool = True
    unfinished: int = 0
    releases_early: bool = False
    proxy_fence: bool = True
    synchronizes: bool = True
    stride: int = 8
    reads_early: bool = False
    sees_barrier: bool = True
    warps: int = 4
    arrivals: int = 4

    @property
    def b_bytes(self) -> int:
        """Of one iteration's tile."""
        return self.columns * DEPTH * 2

    @property
    def stage(self) -> int:
        """Bytes of the tiles of one iteration."""
        return A_BYTES + self.b_bytes

    def module(self) -> gpu.ModuleOp:
        """The kernel."""
        depth = self.iterations * DEPTH
        pitch = self.right_swizzle // 2
        along, across = (depth, self.columns) if self.right_along_depth else (self.columns, depth)
        shape = (self.columns, depth) if self.right_along_depth else (depth, self.columns)
        lines = self.columns if self.right_along_depth else DEPTH
        return kernel(
            self.body,
            [f"64x{depth}xf16", f"{shape[0]}x{shape[1]}xf16"],
            [f"64x{self.columns}xf32"],
            threads=160,
            smem=2 * self.stage + A_BYTES + 32,
            maps=[
                tensor_map("input:0", [depth, 64], [2 * depth], [64, 64], swizzle=128),
                tensor_map(
                    "input:1",
                    [along, across],
                    [2 * along],
                    [pitch, lines],
                    swizzle=self.right_swizzle,
                ),
            ],
        )

    def barrier(self, slot: SSAValue, kind: int) -> SSAValue:
        """`full` (0) or `empty` (1) of a buffer."""
        return shared(times(slot, 8), shared(2 * self.stage + A_BYTES + 16 * kind))

    def body(self, *pointers: SSAValue) -> None:
        """All of the kernel."""
        me = thread()
        when(equal(me, 0), self.make_barriers)
        nvvm.BarrierOp()
        maps = pointers[-2:]
        warp, lane = over(me, 32), rest(me, 32)
        when(equal(warp, 4), lambda: when(equal(lane, 0), lambda: self.produce(*maps)))
        when(below(warp, self.warps), lambda: self.multiply_all(me, pointers[0], pointers[2]))

    def make_barriers(self) -> None:
        """By one thread."""
        for slot in range(2):
            nvvm_hopper.MBarrierInitOp(self.barrier(number(slot), 0), number(1))
            nvvm_hopper.MBarrierInitOp(self.barrier(number(slot), 1), number(self.arrivals))
        nvvm_hopper.FenceMBarrierInitOp()

    def produce(self, left: SSAValue, right: SSAValue) -> None:
        """By one thread."""

        def fill(iteration: SSAValue, _: Sequence[SSAValue]) -> list[SSAValue]:
            slot = rest(iteration, 2)
            parity = rest(plus(over(iteration, 2), 1), 2)
            nvvm_hopper.MBarrierWaitParityOp(self.barrier(slot, 1), parity, number(TICKS))
            full = self.barrier(slot, 0)
            nvvm_hopper.MBarrierArriveExpectTxOp(full, number(self.stage))
            place, depth = shared(times(slot, self.stage)), times(iteration, DEPTH)
            copy = nvvm_hopper.CpAsyncBulkTensorLoadOp
            copy(place, left, [depth, number(0)], full)
            pitch = self.right_swizzle // 2
            along = DEPTH if self.right_along_depth else self.columns
            lines = self.columns if self.right_along_depth else DEPTH
            for first in range(0, along, pitch):
                at = shared(A_BYTES + first * lines * 2, place)
                if self.right_along_depth:
                    copy(at, right, [plus(depth, first), number(0)], full)
                else:
                    copy(at, right, [number(first), depth], full)
            return []

        loop_with(self.iterations, [], fill)

    def multiply_all(self, me: SSAValue, a: SSAValue, y: SSAValue) -> None:
        """By four warps."""
        count = self.columns // 2
        zero = llvm.ZeroOp.create(result_types=[accumulators(self.columns)]).results[0]

        def iteration(number_: SSAValue, sums: Sequence[SSAValue]) -> list[SSAValue]:
            return [self.multiply(me, a, number_, sums[0])]

        (sums,) = loop_with(self.iterations, [zero], iteration)
        row = plus(times(over(me, 32), 16), over(rest(me, 32), 4))
        for slot in range(count):
            value = member(sums, slot)
            column = plus(times(rest(me, 4), 2), slot // 4 * 8 + slot % 2)
            place = plus(times(plus(row, slot // 2 % 2 * 8), self.columns), column)
            store(value, device(y, times(place, 4)))

    def multiply(self, me: SSAValue, a: SSAValue, iteration: SSAValue, sums: SSAValue) -> SSAValue:
        """One iteration."""
        slot = rest(iteration, 2)
        if self.sees_barrier:
            parity = rest(over(iteration, 2), 2)
            nvvm_hopper.MBarrierWaitParityOp(self.barrier(slot, 0), parity, number(TICKS))
        place = shared(times(slot, self.stage))
        left = place if self.left == "copied" else shared(2 * self.stage)
        if self.left == "stored":
            self.store_left(me, a, iteration)
        registers = [self.left_registers(me, a, iteration, step) for step in range(DEPTH // 16)]
        if self.fences:
            WgmmaFenceOp()
        for step in range(DEPTH // 16):
            sums = self.start(sums, shared(32 * step, left), registers[step], (place, step))
        if self.commits:
            WgmmaCommitOp()
        if self.reads_early:
            arith.AddfOp(member(sums, 0), member(sums, 1))
        if self.releases_early:
            self.release(me, slot)
        WgmmaWaitOp(self.unfinished)
        if not self.releases_early:
            self.release(me, slot)
        if self.left == "stored":
            nvvm.BarrierOp(number(1), number(128))
        return sums

    def start(
        self, sums: SSAValue, left: SSAValue, registers: list[SSAValue], right: tuple[SSAValue, int]
    ) -> SSAValue:
        """One instruction."""
        b = self.right_descriptor(*right)
        if self.left == "registers":
            form = RegistersForm(self.columns, "f16", not self.right_along_depth)
            fields = [member(sums, i) for i in range(self.columns // 2)]
            return form.make(fields, registers, b).results[0]
        layouts = ("row", "col" if self.right_along_depth else "row")
        a = descriptor(left, 1, 64, 128)
        return WgmmaMmaAsyncOp(sums, a, b, self.columns, "f16", layouts).results_

    def right_descriptor(self, place: SSAValue, step: int) -> SSAValue:
        """Of b's tile, from a step of the depth on."""
        swizzle = self.right_swizzle
        if self.right_along_depth:
            panel, inner = divmod(32 * step, swizzle)
            at = shared(A_BYTES + panel * self.columns * swizzle + inner, place)
            return descriptor(at, 1, self.stride * swizzle // 16, swizzle)
        at = shared(A_BYTES + 16 * step * swizzle, place)
        return descriptor(at, DEPTH * swizzle // 16, self.stride * swizzle // 16, swizzle)

    def release(self, me: SSAValue, slot: SSAValue) -> None:
        """This warp has read the buffers."""
        nvvm.BarWarpSyncOp(number(-1))
        when(
            equal(rest(me, 32), 0),
            lambda: nvvm_hopper.MBarrierArriveOp(self.barrier(slot, 1)).res,
        )

    def store_left(self, me: SSAValue, a: SSAValue, iteration: SSAValue) -> None:
        """Threads write a's tile, 16 bytes at a time, where the swizzle puts them."""
        depth = self.iterations * DEPTH
        for part in range(4):
            at = plus(me, 128 * part)
            row, piece = over(at, 8), rest(at, 8)
            source = plus(times(row, 2 * depth), plus(times(iteration, 128), times(piece, 16)))
            kind = VectorType(f16, [8])
            value = llvm.LoadOp(device(a, source), kind, alignment=16).dereferenced_value
            place = arith.XOrIOp(piece, rest(row, 8)).result
            target = plus(times(row, 128), times(place, 16))
            llvm.StoreOp(value, shared(target, shared(2 * self.stage)), alignment=16)
        if self.proxy_fence:
            nvvm_hopper.FenceProxyOp()
        if self.synchronizes:
            nvvm.BarrierOp(number(1), number(128))

    def left_registers(
        self, me: SSAValue, a: SSAValue, iteration: SSAValue, step: int
    ) -> list[SSAValue]:
        """A's fragments of one step."""
        if self.left != "registers":
            return []
        found: list[SSAValue] = []
        row = plus(times(over(me, 32), 16), over(rest(me, 32), 4))
        for register in range(4):
            column = plus(times(rest(me, 4), 2), 16 * step + register // 2 * 8)
            line = times(plus(row, register % 2 * 8), self.iterations * DEPTH)
            place = plus(line, plus(times(iteration, DEPTH), column))
            kind = VectorType(f16, [2])
            value = llvm.LoadOp(device(a, times(place, 2)), kind).dereferenced_value
            found.append(llvm.BitcastOp(value, i32).results[0])
        return found


def member(value: SSAValue, slot: int) -> SSAValue:
    """An f32 of a struct."""
    return llvm.ExtractValueOp(DenseArrayBase.from_list(i64, [slot]), value, f32).res


def descriptor(pointer: SSAValue, leading: int, stride: int, swizzle: int) -> SSAValue:
    """Of a tile in shared memory; distances in units of 16 bytes."""
    address = llvm.PtrToIntOp(pointer, i32).output
    units = arith.ShRUIOp(address, number(4)).result
    field = arith.AndIOp(units, number((1 << 14) - 1)).result
    fixed = long(leading << 16 | stride << 32 | KINDS[swizzle] << 62)
    return arith.OrIOp(arith.ExtUIOp(field, i64).result, fixed).result
