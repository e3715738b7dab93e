"""Chooses elementwise code that runs between the MMAs of the matmul whose left operand it is."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.dialects.pipeline import SYNCHRONIZATIONS
from mirage_mlir.passes.analysis.tile_attributes import adds_into, resident_slots, uses_wgmma

Interleavings = dict[threadblock.MatmulOp, tuple[thread.GraphOp, ...]]
"""
For each matmul the thread graphs that compute its left operand, each from the previous one.

All have one layout, so each slot depends on the same slot only. The matmul is the only value that
is added to its accumulator in the loop.
"""


def find_interleavings(ops: Sequence[Operation]) -> Interleavings:
    """
    The matmuls in the `ops` of one iteration that are interleaved with thread graphs.

    Graphs do not move past synchronizations: each orders accesses of several threads.
    """
    interleavings: Interleavings = {}
    for place, op in enumerate(ops):
        if not isinstance(op, threadblock.MatmulOp) or not uses_wgmma(op):
            continue
        if not adds_into(op.result) or not isinstance(layout_of(op.lhs), RegistersAttr):
            continue
        total = ops.index(total_of(op))
        if any(isinstance(other, SYNCHRONIZATIONS) for other in ops[place:total]):
            continue  # The matmul reads a value that an operation in between computes.
        graphs = chain_to(op.lhs)
        while graphs and not nothing_between(ops[:place], graphs):
            graphs = graphs[1:]
        if graphs:
            interleavings[op] = tuple(graphs)
    return interleavings


def interleaved_graphs(matmul: threadblock.MatmulOp) -> tuple[thread.GraphOp, ...]:
    """The thread graphs with which `matmul` is interleaved; fails if they are not there."""
    assert matmul.interleaved_graphs is not None
    count = matmul.interleaved_graphs.value.data
    graphs = chain_to(matmul.lhs) if isinstance(layout_of(matmul.lhs), RegistersAttr) else []
    if not 1 <= count <= len(graphs):
        computing = f"{len(graphs)} compute its left operand slot by slot"
        fail(matmul, f"is interleaved with {count} thread graphs, but {computing}")
    return tuple(graphs[-count:])


def total_of(matmul: threadblock.MatmulOp) -> threadblock.AccumulateOp:
    """The only accumulator that a matmul is added to."""
    (use,) = matmul.result.uses
    assert isinstance(use.operation, threadblock.AccumulateOp)
    return use.operation


def chain_to(value: SSAValue) -> list[thread.GraphOp]:
    """The chain of thread graphs that computes `value`; all have one result, in its layout."""
    graph = value.owner
    if not isinstance(graph, thread.GraphOp) or len(graph.results) != 1:
        return []
    attribute = layout_of(value)
    assert isinstance(attribute, RegistersAttr)
    shape = threadblock.shape_of(value)
    own = list(range(len(attribute.layout.offsets)))
    for operand in graph.operands:
        if isinstance(operand.owner, thread.GraphOp) and layout_of(operand) == attribute:
            if resident_slots(operand, attribute.layout, shape) == own:
                return [*chain_to(operand), graph]
    return [graph]


def nothing_between(ops: Sequence[Operation], graphs: Sequence[thread.GraphOp]) -> bool:
    """Whether no other operation in `ops` uses the results of `graphs`."""
    if any(graph not in ops for graph in graphs):
        return False
    behind = ops[ops.index(graphs[0]) :]
    results = [graph.results[0] for graph in graphs]
    return all(
        op in graphs or not any(value in results for value in op.operands) for op in behind
    ) and not any(isinstance(op, SYNCHRONIZATIONS) for op in behind)
