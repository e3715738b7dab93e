"""
Every kind of kernel that is built, on a GPU: the values are those of float64.

Those for another chip are compiled from their PTX by the driver, so that what the older one has
(asynchronous copies by threads, products of single warps, sums across blocks through device
memory) runs on a newer one.
"""

from typing import Any

import gpu_prepared
import pytest
from gpu_prepared import Prepared
from gpu_runs import chip_here, run_guarded
from kernel_kinds import CHIPS, KINDS
from numpy_reference import error


def cases() -> list[tuple[str, str]]:
    """Kinds, and chips that they are built for."""
    return [
        (name, chip)
        for name, kind in KINDS.items()
        for chip in CHIPS
        if kind.marks_on(chip) is not None
    ]


@pytest.mark.prepared(gpu_prepared.kind, "name", "chip")
@pytest.mark.parametrize(("name", "chip"), cases())
def test_values(torch: Any, name: str, chip: str, prepared: Prepared) -> None:
    if chip == "sm_90a" != chip_here():
        pytest.skip("an older GPU cannot run it")
    results = run_guarded(torch, prepared.kernel(), prepared.inputs)
    for result, wanted, limit in zip(results, prepared.wanted, prepared.limits, strict=True):
        assert error(result, wanted) <= limit
