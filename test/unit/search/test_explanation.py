"""Explanations: terms that add up to the model's time, and what they say of limits and losers."""

import pytest
from sampling import sampled
from search_programs import PROGRAMS

from mirage_mlir.search.cost_model.terms import COMPUTING, COPYING, EXPOSED, MAIN
from mirage_mlir.search.multi_kernel.explanation import (
    differences,
    explain_kernel,
    floor_bytes,
    runners_up,
)
from mirage_mlir.search.multi_kernel.kernel_plan import in_one_kernel
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import search
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import A100, H200, Target


@pytest.mark.parametrize("target", [H200, A100], ids=lambda target: target.name)
@pytest.mark.parametrize("name", sampled(list(PROGRAMS), 2))
def test_terms_add_up(name: str, target: Target) -> None:
    for graph in search(resolve(PROGRAMS[name]()), target, Limits(), SearchReport()):
        time = graph.model.time
        assert time.total == pytest.approx(graph.seconds, rel=1e-12)
        assert min(time.phases.values()) >= 0
        assert time.limit in {*time.phases, *time.units}
        # No unit of a side takes longer than what the side takes in all.
        shorter, longer = (COMPUTING, COPYING) if time.copies_limit else (COPYING, COMPUTING)
        for side in (shorter, longer):
            assert max(time.units.get(unit, 0.0) for unit in side) <= time.phases[MAIN] * 1.0001
        assert time.phases[EXPOSED] <= time.phases[MAIN]


def test_an_explanation_names_dimensions_and_the_floor() -> None:
    program = resolve(PROGRAMS["rmsnorm_linear"]())
    best, *others = search(program, H200, Limits(), SearchReport())
    (kernel,) = in_one_kernel(program, best).kernels
    found = explain_kernel(kernel, H200, lambda source: f"%arg{source.number}")
    assert [str(dimension) for dimension in found.dimensions] == [
        "i = dim 0 of %arg0, dim 0 of result 0 (size 16)",
        "j = dim 1 of %arg0, dim 0 of %arg1 (size 4096)",
        "k = dim 1 of %arg1, dim 1 of result 0 (size 6144)",
    ]
    assert floor_bytes(program, {}) == 2 * (16 * 4096 + 4096 * 6144 + 16 * 6144)
    assert found.floor_seconds <= found.seconds == best.seconds
    assert found.dram_bytes >= found.floor_bytes
    lost = runners_up([best], best.seconds, [(one.seconds, str(one), [one]) for one in others])
    assert all(one.slower >= 1 and one.differences for one in lost)
    assert list(differences([best], [best, best])) == ["2 kernels instead of 1"]
