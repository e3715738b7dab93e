"""
The NVVM operations that only some GPUs have: each names the feature that it needs.

Transaction barriers, bulk tensor copies (TMA), clusters, dependent launch, register reallocation.
They belong to the one dialect `nvvm`; this file only keeps the other one short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, IntegerType, UnitAttr, i1, i32, i64
from xdsl.dialects.llvm import LLVMPointerType
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    EqAttrConstraint,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import OpTrait, Pure

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.nvvm_attributes import (
    CLUSTER_SHARED,
    SHARED,
    GridDependency,
    GridDependencyAttr,
    MemoryScope,
    MemoryScopeAttr,
    ProxyKind,
    ProxyKindAttr,
    RegisterAction,
    RegisterActionAttr,
    SharedSpace,
    SharedSpaceAttr,
    TensorCopyMode,
    TensorCopyModeAttr,
)
from mirage_mlir.targets.target import Feature

ANY_SHARED = EqAttrConstraint(SHARED) | EqAttrConstraint(CLUSTER_SHARED)


@dataclass(frozen=True)
class Needs(OpTrait):
    """Only GPUs with `feature` have the operation."""

    feature: Feature


def needed_feature(op: Operation) -> Feature | None:
    """The feature without which a GPU lacks `op`; None for what all have."""
    needs = op.get_traits_of_type(Needs)
    return needs[0].feature if needs else None


class ClusterOp(IRDLOperation):
    """An operation on the blocks of a cluster."""

    traits = traits_def(Needs(Feature.CLUSTERS))


class TmaOp(IRDLOperation):
    """A copy by TMA, or what waits for such copies."""

    traits = traits_def(Needs(Feature.TMA))


@irdl_op_definition
class ClusterBlockRankOp(ClusterOp):
    """The block's index in its cluster."""

    name = "nvvm.read.ptx.sreg.cluster.ctarank"

    res = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($res)"

    def __init__(self) -> None:
        super().__init__(result_types=[i32])


class ClusterBarrierOp(ClusterOp):
    """One half of the barrier of all threads of a cluster; `aligned`: whole warps execute it."""

    aligned = opt_prop_def(UnitAttr)

    def __init__(self, *, aligned: bool = True) -> None:
        super().__init__(properties={"aligned": UnitAttr() if aligned else None})


@irdl_op_definition
class ClusterArriveOp(ClusterBarrierOp):
    """Arrive at the cluster's barrier, and release this thread's writes to shared memory."""

    name = "nvvm.cluster.arrive"


@irdl_op_definition
class ClusterArriveRelaxedOp(ClusterBarrierOp):
    """Arrive at the cluster's barrier, which orders no accesses: this thread has come so far."""

    name = "nvvm.cluster.arrive.relaxed"


@irdl_op_definition
class ClusterWaitOp(ClusterBarrierOp):
    """Wait until every thread of the cluster has arrived, and acquire what they wrote."""

    name = "nvvm.cluster.wait"


@irdl_op_definition
class MapClusterAddressOp(ClusterOp):
    """The address `a` of shared memory, taken in block number `b` of the cluster."""

    name = "nvvm.mapa"

    a = operand_def(SHARED)
    b = operand_def(i32)
    res = result_def(CLUSTER_SHARED)

    traits = traits_def(Pure())

    def __init__(self, a: SSAValue | Operation, b: SSAValue | Operation) -> None:
        super().__init__(operands=[a, b], result_types=[CLUSTER_SHARED])


@irdl_op_definition
class ElectSyncOp(TmaOp):
    """True in one lane of the warp, the same one every time; all lanes execute it."""

    name = "nvvm.elect.sync"

    membermask = opt_operand_def(i32)
    pred = result_def(i1)

    def __init__(self) -> None:
        super().__init__(operands=[None], result_types=[i1])


@irdl_op_definition
class MBarrierInitOp(TmaOp):
    """
    Make the 8 bytes at `addr` (8-aligned) a barrier that takes `count` arrivals per phase.

    Follow it with `nvvm.fence.mbarrier.init` and a barrier of the block.
    """

    name = "nvvm.mbarrier.init"

    addr = operand_def(SHARED)
    count = operand_def(i32)

    def __init__(self, addr: SSAValue | Operation, count: SSAValue | Operation) -> None:
        super().__init__(operands=[addr, count])


@irdl_op_definition
class FenceMBarrierInitOp(TmaOp):
    """Show this thread's `nvvm.mbarrier.init`s to asynchronous copies and to the cluster."""

    name = "nvvm.fence.mbarrier.init"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


class MBarrierArrival(TmaOp):
    """
    One arrival, which releases this thread's writes; the result is the phase it belongs to.

    An arrival at another block's barrier has no result. It releases to threads of its own block
    only, which is enough for what a thread has read and copies overwrite; a release to the cluster
    waits for all of the thread's accesses to memory, and took 0.3 us on an H200.
    """

    scope = prop_def(MemoryScopeAttr)
    relaxed = prop_def(BoolAttr)
    res = opt_result_def(i64)

    def __init__(self, *operands: SSAValue | Operation) -> None:
        remote = SSAValue.get(operands[0]).type == CLUSTER_SHARED
        super().__init__(
            operands=operands,
            properties={
                "scope": MemoryScopeAttr(MemoryScope.CTA),
                "relaxed": BoolAttr.from_bool(False),
            },
            result_types=[None if remote else i64],
        )

    def verify_(self) -> None:
        if (self.operands[0].type == CLUSTER_SHARED) == (self.res is not None):
            raise invalid(self, "has a result, its phase, unless another block has the barrier")


@irdl_op_definition
class MBarrierArriveOp(MBarrierArrival):
    """Arrive at the barrier, which another block of the cluster may have."""

    name = "nvvm.mbarrier.arrive"

    addr = operand_def(ANY_SHARED)

    def __init__(self, addr: SSAValue | Operation) -> None:
        super().__init__(addr)


@irdl_op_definition
class MBarrierArriveExpectTxOp(MBarrierArrival):
    """Arrive, and keep the phase open until `txcount` more bytes have been copied."""

    name = "nvvm.mbarrier.arrive.expect_tx"

    addr = operand_def(SHARED)
    txcount = operand_def(i32)

    def __init__(self, addr: SSAValue | Operation, txcount: SSAValue | Operation) -> None:
        super().__init__(addr, txcount)


@irdl_op_definition
class MBarrierWaitParityOp(TmaOp):
    """
    Wait until the barrier's phase of parity `phase` (0 or 1) is complete; the first phase is 0.

    `ticks` bounds one try in nanoseconds; the wait itself goes on.
    """

    name = "nvvm.mbarrier.try_wait.parity"

    addr = operand_def(SHARED)
    phase = operand_def(i32)
    ticks = operand_def(i32)

    def __init__(
        self,
        addr: SSAValue | Operation,
        phase: SSAValue | Operation,
        ticks: SSAValue | Operation,
    ) -> None:
        super().__init__(operands=[addr, phase, ticks])


@irdl_op_definition
class CpAsyncBulkTensorLoadOp(TmaOp):
    """
    Start the copy of one box of a tensor to shared memory; one thread executes it.

    The descriptor (made by the host, 64-byte aligned) says the box's shape and swizzle;
    `coordinates` (elements, innermost dimension first) where it starts. Elements outside the
    tensor become zero. `mbar` counts the box's bytes, all of them, when they have arrived.

    With a `multicast_mask`, a bit for each block of the cluster, the box goes to the same place in
    all of these, and the barrier at `mbar`'s place in each of them counts it.
    """

    name = "nvvm.cp.async.bulk.tensor.shared.cluster.global"

    dst = operand_def(ANY_SHARED)
    descriptor = operand_def(LLVMPointerType)
    coordinates = var_operand_def(i32)
    mbar = operand_def(SHARED)
    im2col_offsets = var_operand_def(IntegerType(16))
    multicast_mask = opt_operand_def(IntegerType(16))
    l2_cache_hint = opt_operand_def(i64)
    predicate = opt_operand_def(i1)
    mode = prop_def(TensorCopyModeAttr)
    is_cta_only = prop_def(BoolAttr, prop_name="isCTAOnly")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        dst: SSAValue | Operation,
        descriptor: SSAValue | Operation,
        coordinates: Sequence[SSAValue | Operation],
        mbar: SSAValue | Operation,
        l2_cache_hint: SSAValue | Operation | None = None,
        multicast_mask: SSAValue | Operation | None = None,
    ) -> None:
        super().__init__(
            operands=[dst, descriptor, coordinates, mbar, [], multicast_mask, l2_cache_hint, None],
            properties={
                "mode": TensorCopyModeAttr(TensorCopyMode.TILE),
                "isCTAOnly": BoolAttr.from_bool(multicast_mask is None),
            },
        )

    def verify_(self) -> None:
        if not 1 <= len(self.coordinates) <= 5:
            raise invalid(self, f"copies tensors of rank 1 to 5, not {len(self.coordinates)}")
        alone = self.multicast_mask is None
        if bool(self.is_cta_only.value.data) != alone:
            raise invalid(self, "is for one block alone unless it has a multicast mask")
        if self.dst.type != (SHARED if alone else CLUSTER_SHARED):
            raise invalid(self, f"copies to one block or to several, not to {self.dst.type}")


@irdl_op_definition
class FenceProxyOp(TmaOp):
    """Order this thread's ordinary accesses to shared memory before later asynchronous copies."""

    name = "nvvm.fence.proxy"

    kind = prop_def(ProxyKindAttr)
    space = prop_def(SharedSpaceAttr)

    def __init__(self) -> None:
        super().__init__(
            properties={
                "kind": ProxyKindAttr(ProxyKind.ASYNC_SHARED),
                "space": SharedSpaceAttr(SharedSpace.CTA),
            }
        )


@irdl_op_definition
class GridDependencyOp(IRDLOperation):
    """
    Dependent launch: let the next kernel start, or wait for the end of the one before.

    After `wait` everything that the kernel before wrote is visible. Both do nothing in a kernel
    that was launched without the attribute for it.
    """

    name = "nvvm.griddepcontrol"

    traits = traits_def(Needs(Feature.PDL))

    kind = prop_def(GridDependencyAttr)

    def __init__(self, kind: Literal["wait", "launch_dependents"]) -> None:
        super().__init__(properties={"kind": GridDependencyAttr(GridDependency(kind))})


@irdl_op_definition
class SetMaxRegisterOp(IRDLOperation):
    """Give each thread of this warpgroup (128 threads) `reg_count` registers from here on."""

    name = "nvvm.setmaxregister"

    traits = traits_def(Needs(Feature.SETMAXNREG))

    reg_count = prop_def(IntegerAttr[IntegerType], prop_name="regCount")
    action = prop_def(RegisterActionAttr)

    def __init__(self, reg_count: int, action: Literal["increase", "decrease"]) -> None:
        super().__init__(
            properties={
                "regCount": IntegerAttr(reg_count, i32),
                "action": RegisterActionAttr(RegisterAction(action)),
            }
        )

    def verify_(self) -> None:
        count = self.reg_count.value.data
        if count % 8 or not 24 <= count <= 256:
            raise invalid(self, f"takes a multiple of 8 from 24 to 256, not {count}")
