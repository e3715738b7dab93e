"""Passes of the banks of shared memory: what `ncu` counts is what the kernels should ask for."""

from pathlib import Path

import bank_conflicts
import pytest
from gpu_runs import chip_here
from kernel_kinds import compiled

NAMES = (
    # Copies by threads, loads of matrices, and stores that have conflicts.
    "rmsnorm_linear_primes",
    "product_of_threads",
    # Tensor copies and products of warpgroups; two kernels.
    "attention_two_kernels",
    "split_k",
)


def test_ncu_counts_what_is_expected(tmp_path: Path) -> None:
    program = bank_conflicts.ncu()
    if program is None:
        pytest.skip("there is no ncu")
    paths: list[Path] = []
    for name in NAMES:
        paths.append(tmp_path / f"{name}.mirage")
        compiled(name, chip_here(), chip_here()).save(paths[-1])
    try:
        has = bank_conflicts.measure(program, paths, tmp_path)
    except SystemExit as error:
        if "ERR_NVGPUCTRPERM" in str(error):
            pytest.skip("only an administrator may read the counters here")
        raise
    should = [each for path in paths for each in bank_conflicts.expected(path)]
    assert [one.kernel for one in should] == [other.kernel for other in has]
    for one, other in zip(should, has, strict=True):
        assert one.whole
        lines = "\n".join(bank_conflicts.lines_of(one.kernel, one, other))
        assert bank_conflicts.agree(one, other), lines
    conflicts = [sum(a.passes - a.least for a in one.accesses.values()) for one in should]
    assert max(conflicts) > 0, "conflicts were expected, and seen"
