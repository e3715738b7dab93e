"""Interleaves MMAs with the elementwise code that computes their left operand, piece by piece."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.dialects.layout import RegistersAttr, layout_of
from mirage_mlir.passes.codegen.access import fetch
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.elementwise import run_slot
from mirage_mlir.passes.schedule.interleaving import interleaved_graphs

SLOTS_OF_TILE = 4
"""Elements that a thread holds of an MMA tile with 8 columns; one step of depth takes two tiles."""


@dataclass(frozen=True)
class Interleaving:
    """
    A matmul and the chain of thread graphs that computes its left operand.
    """

    graphs: tuple[thread.GraphOp, ...]
    matmul: threadblock.MatmulOp

    @staticmethod
    def of(matmul: threadblock.MatmulOp) -> Interleaving | None:
        """The interleaving of `matmul`; None where the schedule has none."""
        if matmul.interleaved_graphs is None:
            return None
        return Interleaving(interleaved_graphs(matmul), matmul)

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
    The slots of an interleaving's results while they are computed.

    Args:
        columns: the slots of each graph's operands, by graph and operand.
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
