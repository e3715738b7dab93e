"""Warpgroup matmuls: right kernels compute them, and each of many wrong ones is found."""

from dataclasses import replace

import numpy as np
import pytest
from wgmma_kernels import MatmulKernel

from mirage_mlir.interpreters.gpu_simulator import (
    FaultKind,
    KernelFault,
    random_inputs,
    run_kernels,
)

RIGHT = MatmulKernel()

ACROSS = MatmulKernel(right_along_depth=False, columns=64)

RACE, INCOMPLETE = FaultKind.RACE, FaultKind.INCOMPLETE


def difference(matmul: MatmulKernel) -> float:
    """The greatest, from what numpy computes."""
    module = matmul.module()
    a, b = inputs = random_inputs(module)
    (result,) = run_kernels(module, inputs)
    a, b = (x.astype(np.float16).astype(np.float64) for x in (a, b))
    return float(np.abs(result - a @ (b.T if matmul.right_along_depth else b)).max())


@pytest.mark.parametrize(
    "matmul",
    [
        RIGHT,
        replace(RIGHT, iterations=1, columns=8),
        replace(RIGHT, columns=64),
        replace(RIGHT, right_swizzle=64),
        replace(RIGHT, right_swizzle=32, columns=24),
        ACROSS,
        replace(ACROSS, columns=128),
        replace(ACROSS, right_swizzle=64),
        replace(ACROSS, right_swizzle=32, columns=48),
        replace(RIGHT, left="stored"),
        replace(RIGHT, left="registers"),
        replace(ACROSS, left="registers"),
    ],
)
def test_matmuls(matmul: MatmulKernel) -> None:
    assert difference(matmul) < 1e-4


@pytest.mark.parametrize("matmul", [RIGHT, ACROSS])
def test_wrong_descriptors(matmul: MatmulKernel) -> None:
    """What they name is there, but it is not the tile."""
    assert difference(replace(matmul, stride=4)) > 1


MUTANTS = {
    "no fence": (replace(RIGHT, fences=False), RACE),
    "no fence of registers": (replace(RIGHT, left="registers", fences=False), RACE),
    "never committed": (replace(RIGHT, commits=False), RACE),
    "waits for the group before": (replace(RIGHT, unfinished=1), RACE),
    "waits for nothing in the last iteration": (
        replace(RIGHT, iterations=1, unfinished=1),
        INCOMPLETE,
    ),
    "arrives before the matmuls are over": (replace(RIGHT, releases_early=True), RACE),
    "reads sums before": (replace(RIGHT, reads_early=True), INCOMPLETE),
    "multiplies without waiting": (replace(RIGHT, sees_barrier=False), INCOMPLETE),
    "no fence of the proxies": (replace(RIGHT, left="stored", proxy_fence=False), RACE),
    "no barrier": (replace(RIGHT, left="stored", synchronizes=False), RACE),
    "the last warp's part of a matmul does not count": (replace(RIGHT, arrivals=3), RACE),
    "three warps": (replace(RIGHT, warps=3), FaultKind.DIVERGENCE),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants(name: str) -> None:
    mutant, kind = MUTANTS[name]
    module = mutant.module()
    with pytest.raises(KernelFault) as caught:
        run_kernels(module, random_inputs(module))
    assert caught.value.kind == kind
