"""
Operations that `software-pipeline` adds to the threadblock dialect: sections, copies, waits.

    %x = threadblock.load %xa grid_map [_] loop_map [1] {layout = #x} : ...
    %w = threadblock.load %wa grid_map [1] loop_map [0] {layout = #w} : ...
    threadblock.section "prologue"
    threadblock.issue_copies iteration 0 %x, %w : ...
    threadblock.issue_copies iteration 1 %x, %w : ...
    threadblock.section "main_loop"
    threadblock.barrier pending 1
    threadblock.issue_copies ahead 2 %x, %w : ...
    %p = threadblock.matmul %x, %w {layout = #acc, ...} : ...
    %s = threadblock.accumulate %p {layout = #acc} : ...
    threadblock.section "epilogue"
    threadblock.store %s grid_map [_, 1] : ...

Where producer warps copy the loop's tiles, and warpgroups multiply them:

    threadblock.section "producer"
    threadblock.fill_buffers iterations 7 %x, %w : ...
    threadblock.refill_buffers ahead 6 %x, %w : ...
    threadblock.section "prologue"
    threadblock.section "main_loop"
    threadblock.await_tiles %x, %w : ...
    %p = threadblock.matmul %x, %w {layout = #acc, mma = "wgmma", ...} : ...
    %s = threadblock.accumulate %p {layout = #acc} : ...
    threadblock.await_mma pending 1 %s : ...
    threadblock.release_tiles behind 1 %x, %w : ...
    threadblock.section "epilogue"
    threadblock.await_mma pending 0 %s : ...
    threadblock.store %s grid_map [_, 1] : ...

The loads stand in front of all sections: each is a buffer in shared memory that copies fill, or a
ring of them for a tile of the loop, as `ttg.local_alloc` is in Triton.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import HasParent

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.common import i64_attr
from mirage_mlir.dialects.deferred_mma import DEFERRED_OPS
from mirage_mlir.dialects.fetched_tiles import FETCH_OPS
from mirage_mlir.dialects.kernel import GraphDefinedOp
from mirage_mlir.dialects.overlap import OVERLAP_OPS
from mirage_mlir.dialects.split_k import CLUSTER_OPS, LAST_BLOCK, ContinueWithOp
from mirage_mlir.dialects.threadblock_bases import TileConstr

PRODUCER, PROLOGUE, MAIN_LOOP, EPILOGUE = "producer", "prologue", "main_loop", "epilogue"

SECTIONS = (PRODUCER, PROLOGUE, MAIN_LOOP, EPILOGUE)
"""The sections in their order; only the prologue is always there."""


def _verify_counts(op: IRDLOperation, **counts: IntegerAttr[I64] | None) -> None:
    """None of the numbers that `op` has is negative."""
    for name, count in counts.items():
        if count is not None and count.value.data < 0:
            raise invalid(op, f"has {name} {count.value.data}, which is below 0")


def _optional(count: int | None) -> IntegerAttr[I64] | None:
    return None if count is None else i64_attr(count)


@irdl_op_definition
class SectionOp(IRDLOperation):
    """
    The start of the `"prologue"`, the `"main_loop"` or the `"epilogue"` of the consumer warps.

    The operations of the main loop run in each iteration. A block without a loop has no main loop;
    it has an epilogue only if operations follow a sum across blocks. The section `"producer"` comes
    first: one thread of the `producer_warps` runs it beside the others.
    """

    name = "threadblock.section"

    section = prop_def(StringAttr)

    traits = traits_def(HasParent(GraphDefinedOp))
    assembly_format = "$section attr-dict"

    def __init__(self, section: str) -> None:
        super().__init__(properties={"section": StringAttr(section)})

    def verify_(self) -> None:
        if (name := self.section.data) not in SECTIONS:
            names = ", ".join(f'"{each}"' for each in SECTIONS)
            raise invalid(self, f'is "{name}", which is none of {names}')
        graph = self.parent_op()
        assert isinstance(graph, GraphDefinedOp), "checked by a trait"
        sections = [op.section.data for op in graph.walk() if isinstance(op, SectionOp)]
        if sections != [each for each in SECTIONS if each in sections]:
            order = f"each comes once, in the order {', '.join(SECTIONS)}"
            raise invalid(self, f"is one of sections {', '.join(sections)}: {order}")


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """
    All consumer threads of the block synchronize; with `cluster`, those of all its blocks.

    With `pending`, each thread first waits until at most that many groups of its copies are in
    flight. `async_proxy_fence` orders accesses of threads before the barrier and accesses of the
    asynchronous proxy (tensor copies, `wgmma`) after it.
    """

    name = "threadblock.barrier"

    pending = opt_prop_def(IntegerAttr[I64])
    cluster = opt_prop_def(UnitAttr)
    async_proxy_fence = opt_prop_def(UnitAttr)

    assembly_format = (
        "(`pending` $pending^)? (`cluster` $cluster^)? "
        "(`async_proxy_fence` $async_proxy_fence^)? attr-dict"
    )

    def __init__(self, pending: int | None = None, *, cluster: bool = False) -> None:
        everyone = UnitAttr() if cluster else None
        super().__init__(properties={"pending": _optional(pending), "cluster": everyone})

    def verify_(self) -> None:
        _verify_counts(self, pending=self.pending)


@irdl_op_definition
class ClearPaddingOp(IRDLOperation):
    """
    All threads store zeros to all buffers with `zero_padding`: MMAs read past the tiles in them.

    It is the first operation of the prologue that touches shared memory; a barrier follows it.
    """

    name = "threadblock.clear_padding"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class IssueCopiesOp(IRDLOperation):
    """
    All threads start to copy tiles to shared memory, as one group that a barrier can wait for.

    In the prologue these are the tiles of an `iteration`, or loop-invariant ones; in the main loop
    those of the iteration that is `ahead` iterations later, if there is one. (`cp.async`; Triton's
    `ttg.async_copy_global_to_local` and `ttg.async_commit_group`.) Copies that are `uncommitted`
    belong to the group of the next operation. In the producer's section they are tensor copies of
    loop-invariant tiles, each with a wait of its own (`threadblock.await_tile`).
    """

    name = "threadblock.issue_copies"

    iteration = opt_prop_def(IntegerAttr[I64])
    ahead = opt_prop_def(IntegerAttr[I64])
    uncommitted = opt_prop_def(UnitAttr)
    tiles = var_operand_def(TileConstr)

    assembly_format = (
        "(`iteration` $iteration^)? (`ahead` $ahead^)? (`uncommitted` $uncommitted^)? "
        "($tiles^ `:` type($tiles))? attr-dict"
    )

    def __init__(
        self,
        tiles: Sequence[SSAValue],
        *,
        iteration: int | None = None,
        ahead: int | None = None,
        uncommitted: bool = False,
    ) -> None:
        properties = {
            "iteration": _optional(iteration),
            "ahead": _optional(ahead),
            "uncommitted": UnitAttr() if uncommitted else None,
        }
        super().__init__(operands=[tiles], properties=properties)

    def verify_(self) -> None:
        _verify_counts(self, iteration=self.iteration, ahead=self.ahead)
        if self.iteration is not None and self.ahead is not None:
            raise invalid(self, "is of one iteration, or some ahead, not both")


@irdl_op_definition
class FillBuffersOp(IRDLOperation):
    """
    A producer starts the copies of the first `iterations`, whose buffers are empty.

    With `at_start` only those of so many iterations at once, and those of another one whenever the
    tiles of one have arrived: other tiles of the loop are copied once the previous grid has ended,
    and would queue behind more copies. The two kinds of tiles have barriers of their own.
    """

    name = "threadblock.fill_buffers"

    iterations = prop_def(IntegerAttr[I64])
    at_start = opt_prop_def(IntegerAttr[I64])
    tiles = var_operand_def(TileConstr)

    assembly_format = (
        "`iterations` $iterations (`at_start` $at_start^)? $tiles attr-dict `:` type($tiles)"
    )

    def __init__(
        self, tiles: Sequence[SSAValue], iterations: int, at_start: int | None = None
    ) -> None:
        counts = {"iterations": i64_attr(iterations), "at_start": _optional(at_start)}
        super().__init__(operands=[tiles], properties=counts)

    def verify_(self) -> None:
        first = self.iterations.value.data
        early = first if self.at_start is None else self.at_start.value.data
        if not 1 <= early <= first:
            raise invalid(self, f"starts with {early} iterations, of {first} that have buffers")


@irdl_op_definition
class RefillBuffersOp(IRDLOperation):
    """
    A producer starts the copies of each further iteration once its buffers have been released.

    Copies of at most `ahead` iterations are in flight then, however many buffers there are.
    """

    name = "threadblock.refill_buffers"

    ahead = prop_def(IntegerAttr[I64])
    tiles = var_operand_def(TileConstr)

    assembly_format = "`ahead` $ahead $tiles attr-dict `:` type($tiles)"

    def __init__(self, tiles: Sequence[SSAValue], ahead: int) -> None:
        super().__init__(operands=[tiles], properties={"ahead": i64_attr(ahead)})

    def verify_(self) -> None:
        if (ahead := self.ahead.value.data) < 1:
            raise invalid(self, f"has copies of {ahead} iterations in flight")


@irdl_op_definition
class AwaitReleaseOp(IRDLOperation):
    """
    A producer waits until all blocks of the cluster have released the tiles of the last iterations.

    No block may exit while others still arrive at its empty barriers.
    """

    name = "threadblock.await_release"

    tiles = var_operand_def(TileConstr)

    assembly_format = "$tiles attr-dict `:` type($tiles)"

    def __init__(self, tiles: Sequence[SSAValue]) -> None:
        super().__init__(operands=[tiles])


@irdl_op_definition
class AwaitTilesOp(IRDLOperation):
    """
    Each warp waits until the `tiles` of this iteration have arrived (full barriers).

    It stands at the top of a main loop whose tiles producer warps copy (`producer_warps` in the
    graph's schedule). Warps do not synchronize with each other.
    """

    name = "threadblock.await_tiles"

    tiles = var_operand_def(TileConstr)

    assembly_format = "$tiles attr-dict `:` type($tiles)"

    def __init__(self, tiles: Sequence[SSAValue]) -> None:
        super().__init__(operands=[tiles])


@irdl_op_definition
class AwaitTileOp(IRDLOperation):
    """
    Each warp waits until a loop-invariant tile that a producer copies has arrived.

    It stands in front of the first reader of the tile, or of the main loop that reads it. Warps do
    not synchronize with each other.
    """

    name = "threadblock.await_tile"

    tile = operand_def(TileConstr)

    assembly_format = "$tile attr-dict `:` type($tile)"

    def __init__(self, tile: SSAValue) -> None:
        super().__init__(operands=[tile])


@irdl_op_definition
class ReleaseTilesOp(IRDLOperation):
    """
    Each warp arrives at the empty barriers of `tiles`, whose buffers producers then fill again.

    They are the tiles of this iteration, or, where MMAs that read them are in flight longer, those
    of `behind` iterations earlier; in the epilogue those of the last iteration.
    `async_proxy_fence` is that of `threadblock.barrier`.
    """

    name = "threadblock.release_tiles"

    behind = opt_prop_def(IntegerAttr[I64])
    async_proxy_fence = opt_prop_def(UnitAttr)
    tiles = var_operand_def(TileConstr)

    assembly_format = (
        "(`behind` $behind^)? (`async_proxy_fence` $async_proxy_fence^)? "
        "$tiles attr-dict `:` type($tiles)"
    )

    def __init__(self, tiles: Sequence[SSAValue], behind: int | None = None) -> None:
        super().__init__(operands=[tiles], properties={"behind": _optional(behind)})

    def verify_(self) -> None:
        _verify_counts(self, behind=self.behind)


@irdl_op_definition
class AwaitMmaOp(IRDLOperation):
    """
    Each warpgroup waits until at most `pending` of its asynchronous matmuls are in flight.

    The tiles are results of matmuls, or sums to which these are added. They may be used after it if
    `pending` is 0, or if so many others have been started after them; else not before the next
    wait, while results of earlier matmuls may be.
    (`wgmma.wait_group`; Triton's `ttng.warp_group_dot_wait`.)
    """

    name = "threadblock.await_mma"

    pending = prop_def(IntegerAttr[I64])
    tiles = var_operand_def(TileConstr)

    assembly_format = "`pending` $pending $tiles attr-dict `:` type($tiles)"

    def __init__(self, pending: int, tiles: Sequence[SSAValue]) -> None:
        super().__init__(operands=[tiles], properties={"pending": i64_attr(pending)})

    def verify_(self) -> None:
        _verify_counts(self, pending=self.pending)


SYNCHRONIZATIONS = (BarrierOp, AwaitTileOp, AwaitTilesOp, ReleaseTilesOp)
"""Operations that order accesses of several threads, or of threads and copies, to shared memory."""

COPY_OPS = (IssueCopiesOp, FillBuffersOp, RefillBuffersOp, AwaitReleaseOp)
"""Operations that start copies of tiles, or wait for buffers: those of a producer."""


def is_across_blocks(op: Operation) -> bool:
    """Whether blocks synchronize: those of a cluster, or all that store partial sums."""
    if isinstance(op, ContinueWithOp):
        return op.blocks.data == LAST_BLOCK
    return isinstance(op, BarrierOp) and op.cluster is not None


SCHEDULE_OPS = (
    *(*SYNCHRONIZATIONS, *COPY_OPS, *FETCH_OPS, *OVERLAP_OPS, *CLUSTER_OPS),
    *(*DEFERRED_OPS, SectionOp, ClearPaddingOp, AwaitMmaOp),
)
"""All that `software-pipeline` and `overlap-launches` add; they name tiles, and compute nothing."""


def computing_users(value: SSAValue) -> list[Operation]:
    """The users of `value` other than the operations of the schedule."""
    users = [use.operation for use in value.uses]
    return [user for user in users if not isinstance(user, SCHEDULE_OPS)]
