"""Buffers and phases that loops carry are those that dividing the iteration gives."""

from hypothesis import given
from hypothesis import strategies as st
from xdsl.ir import Block

from mirage_mlir.passes.codegen.emitter import Emitter
from mirage_mlir.passes.codegen.stage_positions import StagePosition


def emitter() -> Emitter:
    """One that folds: all numbers here are known."""
    return Emitter(Block())


@given(st.integers(1, 16), st.integers(0, 200), st.data())
def test_moved(stages: int, number: int, data: st.DataObject) -> None:
    by = data.draw(st.integers(-min(stages, number), stages))
    moved = StagePosition.of(emitter(), number, stages).moved(emitter(), by)
    assert (moved.slot, moved.phase) == ((number + by) % stages, (number + by) // stages)


@given(st.integers(1, 16))
def test_only_divisions_are_carried(stages: int) -> None:
    carried = StagePosition.of(emitter(), 0, stages).carried(emitter())
    assert len(carried) == (0 if stages in (1, 2, 4, 8, 16) else 2)
