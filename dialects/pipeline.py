"""
What is in flight when: what `software-pipeline` adds to the threadblock dialect.

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
    threadblock.await_previous_grid
    threadblock.fill_buffers iterations 7 at_start 3 %x, %w : ...
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
from mirage_mlir.dialects.kernel import GraphDefinedOp
from mirage_mlir.dialects.threadblock_bases import TileConstr

PRODUCER, PROLOGUE, MAIN_LOOP, EPILOGUE = "producer", "prologue", "main_loop", "epilogue"

SECTIONS = (PRODUCER, PROLOGUE, MAIN_LOOP, EPILOGUE)
"""In their order; of these only the prologue is always there."""


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
    Here starts the `"prologue"`, the `"main_loop"` or the `"epilogue"` of the warps that compute.

    What stands in the main loop happens in each iteration. A block without a loop has no main
    loop, and an epilogue only where something follows a sum across blocks. In front of these stands
    the section of the `"producer"`, one thread of the `producer_warps` that runs beside them.
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
        sections = [op.section.data for op in graph.body.block.ops if isinstance(op, SectionOp)]
        if sections != [each for each in SECTIONS if each in sections]:
            order = f"each comes once, in the order {', '.join(SECTIONS)}"
            raise invalid(self, f"is one of sections {', '.join(sections)}: {order}")


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """
    All threads of the block that compute synchronize; with `cluster`, those of all its blocks.

    With `pending`, each first waits until at most that many groups of the copies that it has
    issued are in flight. With `async_proxy_fence`, copies or warpgroups, which take another way to
    shared memory than threads do, may rely on what threads did in front of the barrier.
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
class IssueCopiesOp(IRDLOperation):
    """
    All threads start to copy tiles to shared memory, as one group that a barrier can wait for.

    In the prologue these are tiles of an `iteration`, or loop-invariant ones; in the main loop
    those of the iteration which is so many `ahead`, if there is one. (`cp.async`; Triton's
    `ttg.async_copy_global_to_local` and `ttg.async_commit_group`.) A producer starts tensor copies
    of loop-invariant tiles, each of which is waited for alone (`threadblock.await_tile`).
    """

    name = "threadblock.issue_copies"

    iteration = opt_prop_def(IntegerAttr[I64])
    ahead = opt_prop_def(IntegerAttr[I64])
    tiles = var_operand_def(TileConstr)

    assembly_format = (
        "(`iteration` $iteration^)? (`ahead` $ahead^)? ($tiles^ `:` type($tiles))? attr-dict"
    )

    def __init__(
        self, tiles: Sequence[SSAValue], *, iteration: int | None = None, ahead: int | None = None
    ) -> None:
        counts = {"iteration": _optional(iteration), "ahead": _optional(ahead)}
        super().__init__(operands=[tiles], properties=counts)

    def verify_(self) -> None:
        _verify_counts(self, iteration=self.iteration, ahead=self.ahead)
        if self.iteration is not None and self.ahead is not None:
            raise invalid(self, "is of one iteration, or some ahead, not both")


@irdl_op_definition
class FillBuffersOp(IRDLOperation):
    """
    A producer starts the copies of the first `iterations`, whose buffers are new.

    Where some of the tiles come from the previous grid, and the others are there earlier, those of
    `at_start` iterations are copied before it has ended: what is waited for is not to queue behind
    many copies.
    """

    name = "threadblock.fill_buffers"

    iterations = prop_def(IntegerAttr[I64])
    at_start = prop_def(IntegerAttr[I64])
    tiles = var_operand_def(TileConstr)

    assembly_format = (
        "`iterations` $iterations `at_start` $at_start $tiles attr-dict `:` type($tiles)"
    )

    def __init__(self, tiles: Sequence[SSAValue], iterations: int, at_start: int) -> None:
        counts = {"iterations": i64_attr(iterations), "at_start": i64_attr(at_start)}
        super().__init__(operands=[tiles], properties=counts)

    def verify_(self) -> None:
        _verify_counts(self, iterations=self.iterations, at_start=self.at_start)
        first, early = self.iterations.value.data, self.at_start.value.data
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

    No block may leave while others arrive at its empty barriers.
    """

    name = "threadblock.await_release"

    tiles = var_operand_def(TileConstr)

    assembly_format = "$tiles attr-dict `:` type($tiles)"

    def __init__(self, tiles: Sequence[SSAValue]) -> None:
        super().__init__(operands=[tiles])


@irdl_op_definition
class AwaitTilesOp(IRDLOperation):
    """
    A warp waits until `tiles` of this iteration have arrived (full barriers).

    At the top of a main loop whose tiles producer warps copy: the graph's schedule has
    `producer_warps`. Warps need not synchronize with each other for that.
    """

    name = "threadblock.await_tiles"

    tiles = var_operand_def(TileConstr)

    assembly_format = "$tiles attr-dict `:` type($tiles)"

    def __init__(self, tiles: Sequence[SSAValue]) -> None:
        super().__init__(operands=[tiles])


@irdl_op_definition
class AwaitTileOp(IRDLOperation):
    """
    A warp waits until a loop-invariant tile has arrived, which a producer warp copies.

    In front of its first reader, or of the main loop that reads it; the graph's schedule has
    `producer_warps`. Warps need not synchronize with each other for that.
    """

    name = "threadblock.await_tile"

    tile = operand_def(TileConstr)

    assembly_format = "$tile attr-dict `:` type($tile)"

    def __init__(self, tile: SSAValue) -> None:
        super().__init__(operands=[tile])


@irdl_op_definition
class ReleaseTilesOp(IRDLOperation):
    """
    A warp has read `tiles`: once all have, producers may fill the buffers anew (empty barriers).

    These are the tiles of this iteration, or of the one `behind` iterations before it, where MMAs
    that read them run on meanwhile; in the epilogue of the last iteration. `async_proxy_fence` is
    that of `threadblock.barrier`.
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
    A warpgroup waits until at most `pending` of its asynchronous matmuls are in flight.

    The tiles are those that matmuls make, or sums that these are added to. With `pending` 0 they
    are there behind it; else they are not before the next wait, and those that were started
    earlier are. (`wgmma.wait_group`; Triton's `ttng.warp_group_dot_wait`.)
    """

    name = "threadblock.await_mma"

    pending = prop_def(IntegerAttr[I64])
    tiles = var_operand_def(TileConstr)

    assembly_format = "`pending` $pending $tiles attr-dict `:` type($tiles)"

    def __init__(self, pending: int, tiles: Sequence[SSAValue]) -> None:
        super().__init__(operands=[tiles], properties={"pending": i64_attr(pending)})

    def verify_(self) -> None:
        _verify_counts(self, pending=self.pending)


@irdl_op_definition
class AwaitPreviousGridOp(IRDLOperation):
    """
    A kernel that is launched early waits until the previous grid has ended, and its results are
    there; any other goes on.

    Copies behind it of tensors that are there earlier, such as constant inputs, are issued in
    front of it. (Programmatic dependent launch; `griddepcontrol.wait`.)
    """

    name = "threadblock.await_previous_grid"

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


SYNCHRONIZATIONS = (BarrierOp, AwaitTileOp, AwaitTilesOp, ReleaseTilesOp)
"""Each orders what several threads, or threads and copies, do in shared memory."""

COPY_OPS = (IssueCopiesOp, FillBuffersOp, RefillBuffersOp, AwaitReleaseOp)
"""What starts copies of tiles; a producer does nothing else."""

SCHEDULE_OPS = (*SYNCHRONIZATIONS, *COPY_OPS, SectionOp, AwaitMmaOp, AwaitPreviousGridOp)
"""What `software-pipeline` adds; it names tiles, and computes with none."""


def computing_users(value: SSAValue) -> list[Operation]:
    """The operations that use `value`, without those of the schedule."""
    users = [use.operation for use in value.uses]
    return [user for user in users if not isinstance(user, SCHEDULE_OPS)]
