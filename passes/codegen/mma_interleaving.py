"""Interleaves MMAs with the elementwise code that computes their left operand, piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.dialects.layout import (
    AwaitTilesOp,
    BarrierOp,
    RegistersAttr,
    ReleaseTilesOp,
    layout_of,
)
from mirage_mlir.passes.analysis.tile_attributes import adds_into, resident_slots, uses_wgmma
from mirage_mlir.passes.codegen.access import fetch
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.elementwise import run_slot

SYNCHRONIZATIONS = (BarrierOp, AwaitTilesOp, ReleaseTilesOp)
"""Interleaving does not move elementwise code past these: each orders accesses of several
threads."""

SLOTS_OF_TILE = 4
"""Elements that a thread holds of an MMA tile with 8 columns; one step of depth takes two tiles."""


@dataclass(frozen=True)
class Interleaving:
    """
    Elementwise thread graphs that compute the left operand of a matmul, each from the previous one.

    Args:
        graphs: in program order; all have one layout, so each slot depends on the same slot only.
        matmul: the only value that is added to its accumulator in the loop.
    """

    graphs: tuple[thread.GraphOp, ...]
    matmul: threadblock.MatmulOp

    def begin(self, ctx: KernelContext) -> InterleavedSlots:
        """Load the operands of the graphs; slots are computed later, step by step."""
        columns: list[list[list[SSAValue]]] = []
        for graph in self.graphs:
            attribute = layout_of(graph.results[0])
            assert isinstance(attribute, RegistersAttr)
            layout, shape = attribute.layout, threadblock.shape_of(graph.results[0])
            columns.append([])
            for value in graph.operands:
                found = ctx.registers.get(value) if value.owner in self.graphs else None
                columns[-1].append(fetch(ctx, value, layout, shape) if found is None else found)
            # Filled in slot by slot: the next graph reads this very list.
            nothing = ctx.emit.zero(threadblock.tile_type(graph.results[0]).element_type)
            ctx.registers[graph.results[0]] = [nothing] * len(layout.offsets)
        return InterleavedSlots(ctx, self, columns)


@dataclass(frozen=True)
class InterleavedSlots:
    """
    The slots of a interleaving's results while they are computed.

    Args:
        columns: what each graph reads, by operand and slot.
    """

    ctx: KernelContext
    interleaving: Interleaving
    columns: list[list[list[SSAValue]]]

    def compute(self, row_tiles: int, step: int) -> None:
        """Compute the slots that the MMA reads in one step along the depth."""
        registers = self.ctx.registers
        count = len(registers[self.interleaving.matmul.lhs]) // row_tiles
        wide = 2 * SLOTS_OF_TILE
        for row in range(row_tiles):
            first = row * count + step * wide
            for slot in range(first, first + wide):
                for graph, columns in zip(self.interleaving.graphs, self.columns, strict=True):
                    (found,) = run_slot(self.ctx, graph, columns, slot)
                    registers[graph.results[0]][slot] = found


def find_interleavings(ops: Sequence[Operation]) -> dict[threadblock.MatmulOp, Interleaving]:
    """All interleavings in the `ops` of one iteration, by matmul."""
    interleavings: dict[threadblock.MatmulOp, Interleaving] = {}
    for place, op in enumerate(ops):
        if not isinstance(op, threadblock.MatmulOp) or not uses_wgmma(op):
            continue
        if not adds_into(op.result) or not isinstance(layout_of(op.lhs), RegistersAttr):
            continue
        total = ops.index(total_of(op))
        if any(isinstance(other, SYNCHRONIZATIONS) for other in ops[place:total]):
            continue  # What the matmul reads is there only then.
        graphs = leading_to(op.lhs)
        while graphs and not nothing_between(ops[:place], graphs):
            graphs = graphs[1:]
        if graphs:
            interleavings[op] = Interleaving(tuple(graphs), op)
    return interleavings


def total_of(matmul: threadblock.MatmulOp) -> threadblock.AccumulateOp:
    """The only accumulator that a matmul is added to."""
    (use,) = matmul.result.uses
    assert isinstance(use.operation, threadblock.AccumulateOp)
    return use.operation


def leading_to(value: SSAValue) -> list[thread.GraphOp]:
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
                return [*leading_to(operand), graph]
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
