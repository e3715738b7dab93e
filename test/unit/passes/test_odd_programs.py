"""A sample of `benchmarks/verification/programs_nobody_has.py`."""

import pytest
from odd_programs import OddProgram, smallest
from odd_runs import difference, superoptimized
from oracle import differ, draw, run_dense
from sampling import sampled
from xdsl.dialects.func import FuncOp

SECONDS = 5.0
"""Of one search."""


@pytest.mark.parametrize("seed", sampled(range(1000, 1005), 2))
def test_odd_programs(seed: int) -> None:
    function = OddProgram(seed).make()
    function.verify()
    result, _ = superoptimized(function, SECONDS)
    off, allowed = difference(function, result, seed)
    assert off <= allowed, str(function)


@pytest.mark.parametrize("seed", range(12))
def test_smallest_part(seed: int) -> None:
    """A part of a program is a program of its own, which still has what is looked for."""
    function = OddProgram(seed).make()
    name = next(op.name for op in function.body.block.ops if op.name != "func.return")

    def fails(part: FuncOp) -> bool:
        return any(op.name == name for op in part.body.block.ops)

    part = smallest(function, fails, tries=100)
    part.verify()
    assert fails(part)
    assert len(part.body.block.ops) <= len(function.body.block.ops)
    assert not differ(part, part.clone(), seed)
    assert len(run_dense(part, draw(part, seed))) == 1
