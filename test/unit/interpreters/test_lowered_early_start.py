"""Kernels whose constant tiles are copied in pace, before the previous grid has ended."""

import pytest
from lowered_edits import LEARNT, NOT_FOUND, outcomes
from lowered_kernels import check, draw, function_of, graphs_of, lower
from lowering_cases import Linear, rmsnorm_linear
from sampling import sampled
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, ModuleOp, UnitAttr, i64

from mirage_mlir.decisions import schedule
from mirage_mlir.dialects import nvvm_hopper
from mirage_mlir.dialects.nvvm_attributes import GridDependency

SMALL = Linear(64, 256, 64, 64, 32, 32)


def with_constant_weights(case: Linear, cluster: tuple[int, ...] = ()) -> ModuleOp:
    """RMSNorm and a matmul, of which the second input never changes."""
    module = rmsnorm_linear(case)
    constant = DictionaryAttr({"kernel.constant": UnitAttr()})
    function_of(module).properties["arg_attrs"] = ArrayAttr([DictionaryAttr({}), constant])
    for graph in graphs_of(module) if cluster else ():
        graph.cluster = DenseArrayBase.from_list(i64, cluster)
    return module


def waits(kernels: gpu.ModuleOp) -> list[nvvm_hopper.GridDependencyOp]:
    """Where a kernel waits for the previous grid."""
    found = [op for op in kernels.walk() if isinstance(op, nvvm_hopper.GridDependencyOp)]
    return [op for op in found if op.kind.data == GridDependency.WAIT]


CASES = {
    "single warps": (SMALL, (), 4),
    "two buffers": (SMALL, (), 2),
    "all buffers are filled at once": (SMALL, (), 8),
    "ragged": (Linear(50, 232, 56, 64, 32, 32), (), 3),
    "warpgroups": (Linear(64, 256, 128, 64, 64, 128), (), 3),
    "a cluster shares the left side": (SMALL, (2, 1), 3),
    "columns share the right side": (Linear(128, 256, 64, 64, 32, 32), (1, 2), 3),
}


@pytest.mark.parametrize(
    ("name", "start"),
    sampled([(name, start) for name in CASES for start in (1, 5000, 1 << 20)], 4),
)
def test_values(name: str, start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many of the constant tiles are on their way at first."""
    monkeypatch.setattr(schedule, "FLIGHT_BYTES", start)
    case, cluster, stages = CASES[name]
    kernels = check(with_constant_weights(case, cluster), stages=stages)
    # The producer's, that of the thread that starts the other copies, and that before results.
    assert len(waits(kernels)) == 3


def test_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each edit is found, but for harmless ones and those that let more copies be on the way."""
    monkeypatch.setattr(schedule, "FLIGHT_BYTES", 1)
    module = with_constant_weights(Linear(16, 192, 32, 16, 32, 32))
    kernels = lower(module, stages=3)
    inputs = draw(function_of(module))
    found = list(outcomes(kernels, inputs))
    assert len(found) > 30
    pace = "nvvm.mbarrier.try_wait.parity removed"
    not_found = [edit for edit, outcome in found if outcome == NOT_FOUND]
    # The first copies wait for others of their own tiles, later ones for both sorts.
    assert not_found == [pace, *LEARNT, pace, pace, *LEARNT]
