"""The offers that are timed."""

from pathlib import Path

from mirage_mlir.driver.offers import offers, to_time
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.effort import Effort

WORKLOADS = Path(__file__).parents[2] / "workloads"


def test_structures_differ() -> None:
    """Other grids, sums across blocks, two kernels: not only tilings of one."""
    text = (WORKLOADS / "rmsnorm_linear.mlir").read_text()
    (function,) = functions(parse_program(text, "rmsnorm_linear"))
    found = list(offers(function, "H200", Effort(candidates=8)))
    timed = to_time(found, 8)
    assert len(timed) == 8
    assert timed[0] is found[0]
    structures = {each.search.structure for each in timed}
    assert len(structures) > 3
    assert any(";" in each for each in structures)
    times = [each.search.modelled for each in timed]
    assert times == sorted(times)
