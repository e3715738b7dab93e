"""Programs from the files in the repository: the values are those of float64."""

from pathlib import Path
from typing import Any

import gpu_prepared
import pytest
from gpu_prepared import Prepared, scaled_inputs
from gpu_runs import run_guarded
from numpy_reference import error

WORKLOADS = sorted((Path(__file__).parents[1] / "workloads").glob("*.mlir"))

MASKS = sorted((Path(__file__).parents[2] / "examples" / "masks").glob("*.mlir"))


@pytest.mark.prepared(gpu_prepared.workload, "path", first=True)
@pytest.mark.parametrize("path", [*WORKLOADS, *MASKS], ids=lambda path: path.stem)
def test_superoptimized_workload(torch: Any, path: Path, prepared: Prepared) -> None:
    kernel = prepared.kernel()
    results = run_guarded(torch, kernel, scaled_inputs(kernel.artifact.inputs))
    for result, wanted, limit in zip(results, prepared.wanted, prepared.limits, strict=True):
        assert error(result, wanted) <= limit
