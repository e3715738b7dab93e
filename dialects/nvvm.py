"""
The upstream NVVM operations that the lowering emits, under their upstream names.

xDSL has no such dialect. Each operation prints in upstream's syntax where that is a plain list of
operands and types, and in the generic form elsewhere; both are what MLIR's parser reads.
Names and encodings are those of MLIR 23 (`mlir/include/mlir/Dialect/LLVMIR/NVVMOps.td`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

from xdsl.dialects.builtin import (
    BoolAttr,
    Float32Type,
    IntAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    f16,
    f32,
    i32,
)
from xdsl.dialects.llvm import LLVMStructType
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.nvvm_attributes import (
    GLOBAL,
    SHARED,
    CacheModifier,
    CacheModifierAttr,
    GridDependencyAttr,
    MatrixElementType,
    MatrixElementTypeAttr,
    MatrixLayout,
    MatrixLayoutAttr,
    MatrixShapeAttr,
    MemoryScopeAttr,
    MmaShapeAttr,
    MultiplicandType,
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
from mirage_mlir.dialects.nvvm_wgmma import WGMMA_ATTRIBUTES, WGMMA_OPERATIONS


def struct_of(element: Attribute, count: int) -> LLVMStructType:
    """The type in which an instruction returns `count` registers of one type."""
    return LLVMStructType.from_type_list((element,) * count)


class SpecialRegisterOp(IRDLOperation):
    """A read-only register of the thread: an i32 that never changes while the kernel runs."""

    res = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


@irdl_op_definition
class ThreadIdXOp(SpecialRegisterOp):
    """The thread's index in its block along x."""

    name = "nvvm.read.ptx.sreg.tid.x"


@irdl_op_definition
class ThreadIdYOp(SpecialRegisterOp):
    """The thread's index in its block along y."""

    name = "nvvm.read.ptx.sreg.tid.y"


@irdl_op_definition
class ThreadIdZOp(SpecialRegisterOp):
    """The thread's index in its block along z."""

    name = "nvvm.read.ptx.sreg.tid.z"


@irdl_op_definition
class BlockIdXOp(SpecialRegisterOp):
    """The block's index in the grid along x."""

    name = "nvvm.read.ptx.sreg.ctaid.x"


@irdl_op_definition
class BlockIdYOp(SpecialRegisterOp):
    """The block's index in the grid along y."""

    name = "nvvm.read.ptx.sreg.ctaid.y"


@irdl_op_definition
class BlockIdZOp(SpecialRegisterOp):
    """The block's index in the grid along z."""

    name = "nvvm.read.ptx.sreg.ctaid.z"


@irdl_op_definition
class LaneIdOp(SpecialRegisterOp):
    """The thread's index in its warp, 0 to 31."""

    name = "nvvm.read.ptx.sreg.laneid"


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
class LdMatrixOp(IRDLOperation):
    """
    Load `num` (1, 2 or 4) 8x8 matrices of 16-bit elements from shared memory, by a whole warp.

    Lane 8*i + r holds the address of row r (16 bytes, aligned) of matrix i. Lane l receives, in
    register i, elements (l/4, 2*(l%4)) and the next of matrix i; with `COL` of its transpose.
    The result is one i32, or a struct of `num` i32, each of two elements.
    """

    name = "nvvm.ldmatrix"

    ptr = operand_def(SHARED)
    num = prop_def(IntegerAttr[IntegerType])
    layout = prop_def(MatrixLayoutAttr)
    shape = prop_def(MatrixShapeAttr)
    element_type = prop_def(MatrixElementTypeAttr, prop_name="eltType")
    res = result_def(base(LLVMStructType) | base(IntegerType))

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$ptr attr-dict `:` functional-type($ptr, $res)"
    irdl_options = (ParsePropInAttrDict(),)

    def __init__(
        self, ptr: SSAValue | Operation, num: int, layout: Literal["row", "col"] = "row"
    ) -> None:
        super().__init__(
            operands=[ptr],
            properties={
                "num": IntegerAttr(num, i32),
                "layout": MatrixLayoutAttr(MatrixLayout(layout)),
                "shape": MatrixShapeAttr(IntAttr(8), IntAttr(8)),
                "eltType": MatrixElementTypeAttr(MatrixElementType.B16),
            },
            result_types=[i32 if num == 1 else struct_of(i32, num)],
        )

    def verify_(self) -> None:
        num = self.num.value.data
        if num not in (1, 2, 4):
            raise invalid(self, f"loads 1, 2 or 4 matrices, not {num}")
        expected = i32 if num == 1 else struct_of(i32, num)
        if self.res.type != expected:
            raise invalid(self, f"returns {expected} for {num} matrices, not {self.res.type}")


_HALVES = VectorType(f16, (2,))

MMA_REGISTERS: dict[tuple[MultiplicandType, tuple[int, int, int]], tuple[int, int, int]] = {
    (MultiplicandType.F16, (16, 8, 8)): (2, 1, 4),
    (MultiplicandType.F16, (16, 8, 16)): (4, 2, 4),
    (MultiplicandType.BF16, (16, 8, 8)): (2, 1, 4),
    (MultiplicandType.BF16, (16, 8, 16)): (4, 2, 4),
    (MultiplicandType.TF32, (16, 8, 4)): (2, 1, 4),
    (MultiplicandType.TF32, (16, 8, 8)): (4, 2, 4),
}
"""Registers of A, B and C per lane: 32 bits each, of 16-bit pairs, tf32 or (C) f32."""


@irdl_op_definition
class MmaSyncOp(IRDLOperation):
    """
    D = A B + C on the tensor core, by a whole warp; C and D are f32.

    A is m x k by rows, B is k x n by columns. With g = lane/4 and t = lane%4, for m16n8k16: A's
    registers are rows g, g+8, g, g+8 at columns 2t, 2t, 2t+8, 2t+8 (pairs), B's are rows 2t and
    2t+8 (pairs) of column g, C's are (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1).
    f16 registers are vector<2xf16>, bf16 and tf32 ones i32.
    """

    name = "nvvm.mma.sync"

    a = var_operand_def()
    b = var_operand_def()
    c = var_operand_def(f32)
    shape = prop_def(MmaShapeAttr)
    layout_a = prop_def(MatrixLayoutAttr, prop_name="layoutA")
    layout_b = prop_def(MatrixLayoutAttr, prop_name="layoutB")
    type_a = prop_def(MultiplicandTypeAttr, prop_name="multiplicandAPtxType")
    type_b = prop_def(MultiplicandTypeAttr, prop_name="multiplicandBPtxType")
    res = result_def(struct_of(f32, 4))

    traits = traits_def(Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        a: Sequence[SSAValue | Operation],
        b: Sequence[SSAValue | Operation],
        c: Sequence[SSAValue | Operation],
        shape: tuple[int, int, int],
        element_type: Literal["f16", "bf16", "tf32"],
    ) -> None:
        multiplicand = MultiplicandTypeAttr(MultiplicandType(element_type))
        super().__init__(
            operands=[a, b, c],
            properties={
                "shape": MmaShapeAttr(*(IntAttr(size) for size in shape)),
                "layoutA": MatrixLayoutAttr(MatrixLayout.ROW),
                "layoutB": MatrixLayoutAttr(MatrixLayout.COL),
                "multiplicandAPtxType": multiplicand,
                "multiplicandBPtxType": multiplicand,
            },
            result_types=[struct_of(f32, 4)],
        )

    def verify_(self) -> None:
        if self.type_a != self.type_b:
            raise invalid(self, f"multiplies {self.type_a.data} by {self.type_b.data}")
        if (self.layout_a.data, self.layout_b.data) != (MatrixLayout.ROW, MatrixLayout.COL):
            raise invalid(self, "takes A by rows and B by columns only")
        element, sizes = self.type_a.data, self.shape.sizes
        expected = MMA_REGISTERS.get((element, sizes))
        if expected is None:
            raise invalid(self, f"has no {element} form of shape {sizes}")
        found = (len(self.a), len(self.b), len(self.c))
        if found != expected:
            raise invalid(self, f"takes {expected} registers of A, B and C, not {found}")
        register = _HALVES if element == MultiplicandType.F16 else i32
        for value in (*self.a, *self.b):
            if value.type != register:
                raise invalid(self, f"takes {element} registers as {register}, not {value.type}")


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
        BarrierOp,
        BlockIdXOp,
        BlockIdYOp,
        BlockIdZOp,
        ClusterArriveOp,
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
