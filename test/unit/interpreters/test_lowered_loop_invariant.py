"""Loop-invariant tiles, copied by a producer: wrong kernels are found."""

import lowering_cases as cases
import pytest
from attention_cases import Heads, attention
from lowered_edits import NOT_FOUND, outcomes
from lowered_kernels import check, draw, function_of, graphs_of, lower, schedule
from lowering_cases import Linear
from sampling import sampled
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.dialects import nvvm
from mirage_mlir.dialects.pipeline import AwaitTileOp

LORA = cases.lora(Linear(16, 256, 64, 16, 64, 64), 16)

HEADS = attention(Heads(1, 16, 128, 32, 16, 32))


@pytest.mark.parametrize(
    ("module", "count"),
    [
        (LORA, 1),
        (HEADS, 1),
        (cases.invariant_tiles(Linear(16, 192, 96, 16, 64, 96)), 1),
        # A row of 72 bytes is no multiple of 16.
        (cases.lora(Linear(16, 128, 36, 16, 64, 36), 16), 0),
        (cases.lora(Linear(16, 128, 40, 16, 64, 24), 16), 1),
    ],
)
def test_values(module: ModuleOp, count: int) -> None:
    kernels = check(module)
    waits = [op for op in schedule(module.clone()).walk() if isinstance(op, AwaitTileOp)]
    assert len(waits) == count
    if count:
        assert not any(isinstance(op, nvvm.CpAsyncSharedGlobalOp) for op in kernels.walk())


@pytest.mark.parametrize(
    "module", sampled([pytest.param(LORA, id="lora"), pytest.param(HEADS, id="attention")], 2)
)
def test_mutants(module: ModuleOp) -> None:
    """Each of copies and their barriers is found: by a fault, or by what it computes."""
    kernels = lower(module, stages=2)
    found = list(outcomes(kernels, draw(function_of(module)), ("mbarrier", "bulk")))
    assert len(found) > 20
    assert [edit for edit, outcome in found if outcome == NOT_FOUND] == []


def test_without_a_loop_there_is_no_producer() -> None:
    (graph,) = graphs_of(schedule(cases.plain_linear(Linear(16, 64, 64, 16, 64, 64))))
    assert not any(isinstance(op, AwaitTileOp) for op in graph.walk())
