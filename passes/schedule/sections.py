"""Producer, prologue, main loop and epilogue of a block."""

from collections.abc import Sequence
from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import kernel, threadblock
from mirage_mlir.dialects.pipeline import (
    EPILOGUE,
    MAIN_LOOP,
    PROLOGUE,
    SCHEDULE_OPS,
    SECTIONS,
    SectionOp,
)
from mirage_mlir.dialects.split_k import StorePartialSumOp
from mirage_mlir.dialects.threadblock import Stage

SECTION_OF = {Stage.INVARIANT: PROLOGUE, Stage.LOOP: MAIN_LOOP, Stage.POST: EPILOGUE}
"""The section for the operations of each stage."""

Sections = dict[str, list[Operation]]


def by_stage(graph: kernel.GraphDefinedOp) -> Sections:
    """The operations of a graph without sections, by the section to which they will belong."""
    stages = threadblock.stages(graph)
    looped = has_later_part(graph)
    sections: Sections = {section: [] for section in SECTIONS}
    for op in graph.body.block.ops:
        sections[SECTION_OF[stage_of(op, stages, looped=looped)]].append(op)
    return sections


def sections_of(graph: kernel.GraphDefinedOp) -> Sections:
    """The operations of each section of a scheduled graph, without loads; fails on any other."""
    sections: Sections = {section: [] for section in SECTIONS}
    current: list[Operation] | None = None
    for op in graph.body.block.ops:
        if isinstance(op, SectionOp):
            current = sections[op.section.data]
        elif isinstance(op, threadblock.LoadOp):
            continue
        elif current is None:
            break
        else:
            current.append(op)
    if current is None or not (graph.schedule.threads and graph.schedule.stages):
        fail(graph, "has no schedule yet; run software-pipeline first")
    return sections


def write_sections(
    graph: kernel.GraphDefinedOp, loads: Sequence[Operation], sections: Sections
) -> None:
    """Replace the operations of `graph` by `loads` and `sections`; others are detached."""
    block = graph.body.block
    ordered: list[Operation] = [*loads]
    for op in list(block.ops):
        op.detach()
    for name, ops in sections.items():
        if ops or name == PROLOGUE:
            ordered += [SectionOp(name), *ops]
    for op, follower in reversed([*pairwise([*ordered, graph])]):
        if isinstance(op, SCHEDULE_OPS):
            for each in op.walk():
                each.location = follower.location
    block.add_ops(ordered)


def section_name(op: Operation) -> str | None:
    """The name of the section that `op` starts; None for any other operation."""
    return op.section.data if isinstance(op, SectionOp) else None


def stage_of(op: Operation, stages: dict[SSAValue, Stage], *, looped: bool) -> Stage:
    """The stage in which `op` runs: that of its result; stores come last."""
    if isinstance(op, threadblock.AccumulateOp):
        return Stage.LOOP if stages[op.value] == Stage.LOOP else Stage.POST
    if isinstance(op, StorePartialSumOp):
        return Stage.POST
    if isinstance(op, threadblock.StoreOp):
        if op.in_loop:
            return Stage.LOOP
        # Stores keep their order, which says which result each writes.
        return Stage.POST if looped else Stage.INVARIANT
    return max((stages[value] for value in op.results), key=list(Stage).index)


def has_later_part(graph: kernel.GraphDefinedOp) -> bool:
    """Whether something runs after a loop, or after sums across blocks."""
    ops = graph.body.block.ops
    return bool(graph.loop_sizes) or any(isinstance(op, threadblock.AccumulateOp) for op in ops)
