"""Which blocks of a cluster run what follows their sums, and how the others wait for it."""

from collections.abc import Sequence

from xdsl.ir import Operation

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.pipeline import BarrierOp
from mirage_mlir.dialects.split_k import (
    CLUSTER,
    FIRST_BLOCK,
    ArriveClusterOp,
    AwaitClusterOp,
    ContinueWithOp,
)
from mirage_mlir.passes.analysis.tile_attributes import stores_apart
from mirage_mlir.passes.schedule.order import is_lent, reads


def with_ending(graph: kernel.GraphDefinedOp, epilogue: Sequence[Operation]) -> list[Operation]:
    """
    The `epilogue` with the blocks that run what follows the last barrier of a cluster.

    No block ends while another one may read its shared memory. What blocks deliver to each other
    they read in their own: where that is all, each ends when it likes.
    """
    barriers = [
        place
        for place, op in enumerate(epilogue)
        if isinstance(op, BarrierOp) and op.cluster is not None
    ]
    if not barriers:
        return list(epilogue)
    before, rest = epilogue[: barriers[-1] + 1], epilogue[barriers[-1] + 1 :]
    if not any(map(is_lent, graph.body.block.ops)):
        if stores_apart(graph):
            return list(epilogue)
        blocks = CLUSTER if graph.schedule.cluster_reduction else FIRST_BLOCK
        return [*before, ContinueWithOp(blocks), *rest]
    if stores_apart(graph):
        return [*epilogue, BarrierOp(cluster=True)]
    if graph.schedule.cluster_reduction:
        last = max((place + 1 for place, op in enumerate(rest) if reads(op)), default=0)
        # Nobody waits for what is stored meanwhile.
        ending = [*rest[:last], ArriveClusterOp(), *rest[last:], AwaitClusterOp()]
        return [*before, ContinueWithOp(CLUSTER), *ending]
    return [*before, ContinueWithOp(FIRST_BLOCK), *rest, BarrierOp(cluster=True)]
