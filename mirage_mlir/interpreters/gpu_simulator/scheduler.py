"""Runs flows round-robin until all have ended or none can make progress."""

import numpy as np

from mirage_mlir.interpreters.gpu_simulator.faults import FaultKind
from mirage_mlir.interpreters.gpu_simulator.flow import Flow, Wait


def run_flows(flows: list[Flow]) -> bool:
    """Run until all end; whether they did. Flows that part from others are in `flows` then."""
    while flows:
        moved = [flow.go_on() for flow in tuple(flows)]
        flows[:] = [flow for flow in flows if flow.frames]
        if flows and not any(moved) and not part_ready(flows):
            report_deadlock(flows)
            return False
    return True


def part_ready(flows: list[Flow]) -> bool:
    """Let some warps go on without others of their flow that wait for more; whether any do."""
    for flow in flows:
        assert flow.wait is not None
        stuck = flow.whole_warps(flow.active & ~flow.wait.ready)
        if (flow.active & ~stuck).any():
            flow.part(stuck)
            return True
    return False


def report_deadlock(flows: list[Flow]) -> None:
    """Report the deadlock: no flow can make progress."""
    waits = [(flow, flow.wait) for flow in flows if flow.wait is not None]
    (first, wait), *_ = waits
    others = "; ".join(describe(flow, other) for flow, other in waits)
    first.checker.report(FaultKind.DEADLOCK, wait.op, f"waits, and nobody goes on: {others}")


def describe(flow: Flow, wait: Wait) -> str:
    """The threads of `flow` and what they wait for, as text."""
    threads = np.flatnonzero(flow.active)
    names = [flow.shared.name_of(int(threads[end])) for end in (0, -1)]
    whom = names[0] if len(threads) == 1 else f"{names[0]} to {names[1].removeprefix('thread ')}"
    return f"{whom} for {wait.what}"
