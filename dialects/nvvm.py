"""
The upstream NVVM operations that the lowering emits, under their upstream names.

xDSL has no such dialect. Each operation prints in upstream's syntax where that is a plain list of
operands and types, and in the generic form elsewhere; both are what MLIR's parser reads.
Names and encodings are those of MLIR 23 (`mlir/include/mlir/Dialect/LLVMIR/NVVMOps.td`).
"""

from __future__ import annotations

from typing import ClassVar, Literal

from xdsl.dialects.builtin import BoolAttr, Float32Type, IntegerAttr, IntegerType, f32, i32
from xdsl.ir import Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.nvvm_attributes import (
    GLOBAL,
    SHARED,
    CacheModifier,
    CacheModifierAttr,
    GridDependencyAttr,
    MatrixElementTypeAttr,
    MatrixLayoutAttr,
    MatrixShapeAttr,
    MemoryScopeAttr,
    MmaShapeAttr,
    MultiplicandTypeAttr,
    NvvmTargetAttr,
    PrefetchLevel,
    PrefetchLevelAttr,
    ProxyKindAttr,
    RegisterActionAttr,
    SharedSpaceAttr,
    ShuffleKind,
    ShuffleKindAttr,
    TensorCopyModeAttr,
)
from mirage_mlir.dialects.nvvm_device import (
    AtomicCountOp,
    ConvertFloatToTf32Op,
    MemoryBarrierOp,
    RoundingModeAttr,
    SaturationAttr,
)
from mirage_mlir.dialects.nvvm_hopper import (
    ClusterArriveOp,
    ClusterArriveRelaxedOp,
    ClusterBlockRankOp,
    ClusterWaitOp,
    CpAsyncBulkTensorLoadOp,
    ElectSyncOp,
    FenceMBarrierInitOp,
    FenceProxyOp,
    GridDependencyOp,
    MapClusterAddressOp,
    MBarrierArriveExpectTxOp,
    MBarrierArriveOp,
    MBarrierInitOp,
    MBarrierWaitParityOp,
    SetMaxRegisterOp,
)
from mirage_mlir.dialects.nvvm_mma import LdMatrixOp, MmaSyncOp
from mirage_mlir.dialects.nvvm_registers import (
    BlockIdXOp,
    BlockIdYOp,
    BlockIdZOp,
    LaneIdOp,
    ThreadIdXOp,
    ThreadIdYOp,
    ThreadIdZOp,
)
from mirage_mlir.dialects.nvvm_wgmma import WGMMA_ATTRIBUTES, WGMMA_OPERATIONS


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """
    Wait for all threads of the block, or for `number_of_threads` at barrier `barrier_id`.

    Orders shared- and device-memory accesses of the threads that synchronize. Barrier 0 is the one
    without operands; `number_of_threads` is a multiple of 32.
    """

    name = "nvvm.barrier"

    barrier_id = opt_operand_def(i32)
    number_of_threads = opt_operand_def(i32)
    reduction_predicate = opt_operand_def(i32)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        barrier_id: SSAValue | Operation | None = None,
        number_of_threads: SSAValue | Operation | None = None,
    ) -> None:
        super().__init__(operands=[barrier_id, number_of_threads, None])


@irdl_op_definition
class BarrierArriveOp(IRDLOperation):
    """Arrive at barrier `barrier_id` for `number_of_threads`, as if waiting there, and go on."""

    name = "nvvm.barrier.arrive"

    barrier_id = operand_def(i32)
    number_of_threads = operand_def(i32)

    def __init__(
        self, barrier_id: SSAValue | Operation, number_of_threads: SSAValue | Operation
    ) -> None:
        super().__init__(operands=[barrier_id, number_of_threads])


@irdl_op_definition
class BarWarpSyncOp(IRDLOperation):
    """Wait for the warp's lanes whose bits are set in `mask`, and order their memory accesses."""

    name = "nvvm.bar.warp.sync"

    mask = operand_def(i32)

    assembly_format = "$mask attr-dict `:` type($mask)"

    def __init__(self, mask: SSAValue | Operation) -> None:
        super().__init__(operands=[mask])


@irdl_op_definition
class PrefetchOp(IRDLOperation):
    """Have L2 fetch the line of 128 bytes that holds `addr`; nothing is read or ordered by it."""

    name = "nvvm.prefetch"

    addr = operand_def(GLOBAL)
    level = prop_def(PrefetchLevelAttr, prop_name="cacheLevel")

    def __init__(self, addr: SSAValue | Operation) -> None:
        super().__init__(
            operands=[addr], properties={"cacheLevel": PrefetchLevelAttr(PrefetchLevel.L2)}
        )


@irdl_op_definition
class CpAsyncSharedGlobalOp(IRDLOperation):
    """
    Start a copy of `size` bytes (4, 8 or 16) from device memory to shared memory.

    Both addresses are aligned to `size`. With `cp_size` (bytes, at most `size`) only that many are
    read and the rest of the destination becomes zero: 0 masks an element that is out of range.
    `CG` skips L1 and takes 16 bytes only.
    """

    name = "nvvm.cp.async.shared.global"

    dst = operand_def(SHARED)
    src = operand_def(GLOBAL)
    cp_size = opt_operand_def(i32)
    size = prop_def(IntegerAttr[IntegerType])
    modifier = prop_def(CacheModifierAttr)

    def __init__(
        self,
        dst: SSAValue | Operation,
        src: SSAValue | Operation,
        size: int,
        modifier: Literal["ca", "cg"] = "ca",
        cp_size: SSAValue | Operation | None = None,
    ) -> None:
        super().__init__(
            operands=[dst, src, cp_size],
            properties={
                "size": IntegerAttr(size, i32),
                "modifier": CacheModifierAttr(CacheModifier(modifier)),
            },
        )

    def verify_(self) -> None:
        size = self.size.value.data
        if size not in (4, 8, 16):
            raise invalid(self, f"copies 4, 8 or 16 bytes, not {size}")
        if self.modifier.data == CacheModifier.CG and size != 16:
            raise invalid(self, f"copies 16 bytes past L1 (cg), not {size}")


@irdl_op_definition
class CpAsyncCommitGroupOp(IRDLOperation):
    """Close a group: the asynchronous copies that this thread started since the last group."""

    name = "nvvm.cp.async.commit.group"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class CpAsyncWaitGroupOp(IRDLOperation):
    """Wait until at most `n` of this thread's latest copy groups are unfinished."""

    name = "nvvm.cp.async.wait.group"

    n = prop_def(IntegerAttr[IntegerType])

    def __init__(self, n: int) -> None:
        super().__init__(properties={"n": IntegerAttr(n, i32)})


@irdl_op_definition
class ShflSyncOp(IRDLOperation):
    """
    Read `value` (32 bits) of another lane of the warp.

    `mask` says which lanes take part (-1: all). `mask_and_clamp` is 31 for the whole warp with
    every kind but `up`, which takes 0; for segments of w lanes, add 0x2000 - 0x100 * w.
    """

    name = "nvvm.shfl.sync"

    T: ClassVar = VarConstraint("T", base(IntegerType) | base(Float32Type))

    mask = operand_def(i32)
    value = operand_def(T)
    offset = operand_def(i32)
    mask_and_clamp = operand_def(i32)
    kind = prop_def(ShuffleKindAttr)
    res = result_def(T)

    def __init__(
        self,
        mask: SSAValue | Operation,
        value: SSAValue | Operation,
        offset: SSAValue | Operation,
        mask_and_clamp: SSAValue | Operation,
        kind: Literal["bfly", "down", "up", "idx"] = "bfly",
    ) -> None:
        super().__init__(
            operands=[mask, value, offset, mask_and_clamp],
            properties={"kind": ShuffleKindAttr(ShuffleKind(kind))},
            result_types=[SSAValue.get(value).type],
        )


class FastMathOp(IRDLOperation):
    """A one-instruction f32 approximation; with `ftz`, subnormal inputs and results become zero."""

    src = operand_def(f32)
    ftz = prop_def(BoolAttr)
    res = result_def(f32)

    traits = traits_def(Pure())

    def __init__(self, src: SSAValue | Operation, *, ftz: bool = True) -> None:
        super().__init__(
            operands=[src],
            properties={"ftz": BoolAttr.from_bool(ftz)},
            result_types=[f32],
        )


@irdl_op_definition
class Ex2Op(FastMathOp):
    """2 to the power of `src`; relative error below 2^-22."""

    name = "nvvm.ex2"


@irdl_op_definition
class Log2Op(FastMathOp):
    """The base-2 logarithm; absolute error below 2^-22 near 1, relative elsewhere."""

    name = "nvvm.log2"


@irdl_op_definition
class RcpApproxFtzOp(IRDLOperation):
    """1 / `arg`, within one unit in the last place; subnormal inputs and results become zero."""

    name = "nvvm.rcp.approx.ftz.f"

    arg = operand_def(f32)
    res = result_def(f32)

    traits = traits_def(Pure())
    assembly_format = "$arg attr-dict `:` type($res)"

    def __init__(self, arg: SSAValue | Operation) -> None:
        super().__init__(operands=[arg], result_types=[f32])


Nvvm = Dialect(
    "nvvm",
    [
        AtomicCountOp,
        BarWarpSyncOp,
        BarrierArriveOp,
        BarrierOp,
        BlockIdXOp,
        BlockIdYOp,
        BlockIdZOp,
        ClusterArriveOp,
        ClusterArriveRelaxedOp,
        ClusterBlockRankOp,
        ClusterWaitOp,
        ConvertFloatToTf32Op,
        CpAsyncBulkTensorLoadOp,
        CpAsyncCommitGroupOp,
        CpAsyncSharedGlobalOp,
        CpAsyncWaitGroupOp,
        ElectSyncOp,
        Ex2Op,
        FenceMBarrierInitOp,
        FenceProxyOp,
        GridDependencyOp,
        LaneIdOp,
        LdMatrixOp,
        Log2Op,
        MBarrierArriveExpectTxOp,
        MBarrierArriveOp,
        MBarrierInitOp,
        MBarrierWaitParityOp,
        MapClusterAddressOp,
        MemoryBarrierOp,
        MmaSyncOp,
        PrefetchOp,
        RcpApproxFtzOp,
        SetMaxRegisterOp,
        ShflSyncOp,
        ThreadIdXOp,
        ThreadIdYOp,
        ThreadIdZOp,
        *WGMMA_OPERATIONS,
    ],
    [
        CacheModifierAttr,
        GridDependencyAttr,
        MatrixElementTypeAttr,
        MatrixLayoutAttr,
        MatrixShapeAttr,
        MemoryScopeAttr,
        MmaShapeAttr,
        MultiplicandTypeAttr,
        NvvmTargetAttr,
        PrefetchLevelAttr,
        ProxyKindAttr,
        RegisterActionAttr,
        RoundingModeAttr,
        SaturationAttr,
        SharedSpaceAttr,
        ShuffleKindAttr,
        TensorCopyModeAttr,
        *WGMMA_ATTRIBUTES,
    ],
)
