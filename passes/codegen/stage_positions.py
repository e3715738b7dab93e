"""
Which buffer of the loop's tiles an iteration uses, and in which phase of the buffer's barriers.

With n stages iteration t uses buffer t % n, in phase t / n. Where n is no power of two loops carry
both from one iteration to the next: a division is a chain of a dozen instructions, for which the
next copies and matmuls would wait. On an H200 64 iterations with tiles of 64x128 and nine stages
took 24.5 us with divisions and 19.4 us without, and a matmul of 16 rows 10.8 and 10.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from mirage_mlir.passes.codegen.emitter import Emitter, Index


@dataclass(frozen=True)
class StagePosition:
    """
    Buffer `slot` of `stages`, in this `phase` of its barriers, from 0 on.

    Args:
        number: the iteration, of all that the block does, where it says both by masks.
    """

    stages: int
    slot: Index = 0
    phase: Index = 0
    number: Index | None = None

    @classmethod
    def of(cls, emit: Emitter, number: Index, stages: int) -> StagePosition:
        """The position of iteration `number`."""
        known = number if stages & (stages - 1) == 0 else None
        return cls(stages, emit.rem(number, stages), emit.div(number, stages), known)

    def carried(self, emit: Emitter) -> list[SSAValue]:
        """What a loop carries of the position to know the following ones."""
        return [emit.i32(self.slot), emit.i32(self.phase)] if self.number is None else []

    def taken(
        self, emit: Emitter, values: Sequence[SSAValue], number: Index
    ) -> tuple[StagePosition, list[SSAValue]]:
        """The position of iteration `number`, from what a loop carries, and the other values."""
        if self.number is not None:
            return StagePosition.of(emit, number, self.stages), [*values]
        slot, phase, *others = values
        return StagePosition(self.stages, slot, phase), others

    def parity(self, emit: Emitter) -> Index:
        """0 or 1: what waits for the phase name."""
        return emit.bits(self.phase, 1)

    def moved(self, emit: Emitter, by: int) -> StagePosition:
        """The position `by` iterations later, or earlier: at most `stages`."""
        if self.number is not None:
            return StagePosition.of(emit, emit.add(self.number, by), self.stages)
        start = by if by >= 0 else by + self.stages
        other = emit.add(self.phase, 1 if by >= 0 else -1)
        inside, wrapped = (self.phase, other) if by >= 0 else (other, self.phase)
        if start in (0, self.stages):
            return StagePosition(self.stages, self.slot, other if by else self.phase)
        fits = emit.less(self.slot, self.stages - start)
        ahead, behind = emit.add(self.slot, start), emit.sub(self.slot, self.stages - start)
        slot = emit.pick(fits, ahead, behind)
        return StagePosition(self.stages, slot, emit.pick(fits, inside, wrapped))
