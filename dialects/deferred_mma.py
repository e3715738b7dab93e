"""
Operations by which warpgroups multiply one iteration later than they compute the left operand.

    threadblock.section "main_loop"
    threadblock.await_tiles %k, %v : ...
    threadblock.await_order
    %s = threadblock.matmul %q, %k {mma = "wgmma", ...} : ...
    threadblock.start_deferred
    threadblock.arrive_order
    threadblock.await_mma pending 1 %s : ...
    %p = thread.graph ins(%s) ...
    %pv = threadblock.matmul %p, %v {mma = "wgmma", deferred, ...} : ...
    %o = threadblock.accumulate %pv rescale %m ...
    threadblock.await_mma pending 0 %o : ...
    threadblock.release_tiles behind 1 %k, %v : ...
    threadblock.section "epilogue"
    threadblock.start_deferred
    threadblock.await_mma pending 0 %o : ...

The product of the iteration before is in flight while threads compute the left operand of this one.

Source: Shah et al., "FlashAttention-3" (2024), section 3.2, "Intra-warpgroup overlapping GEMMs and
softmax", and section 3.1, "Pingpong scheduling".
"""

from xdsl.irdl import IRDLOperation, irdl_op_definition


class StepOp(IRDLOperation):
    """What all consumer warps do at one place of the schedule, without operands."""

    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


@irdl_op_definition
class StartDeferredOp(StepOp):
    """
    Each warpgroup starts the matmuls of the loop that are `deferred`, for the iteration before.

    In the first iteration it starts none, and in the epilogue those of the last iteration.
    """

    name = "threadblock.start_deferred"


@irdl_op_definition
class AwaitOrderOp(StepOp):
    """
    Each warpgroup waits until the one before it has started its matmuls; the first waits for the
    last.

    While one has its matmuls started the others compute, so that tensor cores and the other units
    both have work. (Named barriers: `bar.sync`; an ordered sequence barrier in CUTLASS.)
    """

    name = "threadblock.await_order"


@irdl_op_definition
class ArriveOrderOp(StepOp):
    """Each warpgroup lets the next one start its matmuls, and goes on (`bar.arrive`)."""

    name = "threadblock.arrive_order"


DEFERRED_OPS = (StartDeferredOp, AwaitOrderOp, ArriveOrderOp)
