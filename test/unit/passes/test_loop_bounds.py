"""Loops that masks of indices bound: no iteration is left out that a result needs."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from index_masks import CASES, Masked
from lowered_kernels import lower
from xdsl.context import Context

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.bound_loops import BoundLoopsPass
from mirage_mlir.passes.compute_indices import ComputeIndicesPass


def graph_of(case: Masked) -> kernel.GraphDefinedOp:
    """The graph of a case, with the bounds of its loop."""
    module = case.module()
    for step in (ComputeIndicesPass(), BoundLoopsPass()):
        step.apply(Context(), module)
        module.verify()
    (graph,) = [op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp)]
    return graph


@pytest.mark.parametrize("name", CASES)
def test_exactly_the_needed_iterations_are_run(name: str) -> None:
    case = CASES[name]
    bounds = graph_of(case).bounds
    assert bounds is not None
    for block in range(case.grid[0]):
        rows = case.plane[block * case.rows : (block + 1) * case.rows]
        needed = [
            number
            for number in range(case.iterations)
            if rows[:, number * case.columns : (number + 1) * case.columns].any()
        ]
        found = bounds.iterations(block, case.iterations)
        assert list(found) == list(range(needed[0], needed[-1] + 1)) if needed else len(found) == 1


@pytest.mark.parametrize("name", CASES)
def test_in_unmasked_iterations_all_is_seen(name: str) -> None:
    """All of them are known where a block has some; of a narrow window it has none."""
    case = CASES[name]
    unmasked = graph_of(case).unmasked
    whole: list[tuple[int, int]] = []
    for block, number in product(range(case.grid[0]), range(case.iterations)):
        rows = slice(block * case.rows, (block + 1) * case.rows)
        columns = slice(number * case.columns, (number + 1) * case.columns)
        whole += [(block, number)] if case.plane[rows, columns].all() else []
    pairs = product(range(case.grid[0]), range(case.iterations))
    found = [pair for pair in pairs if unmasked is not None and unmasked.has(*pair)]
    assert found == whole or (unmasked is None and "window" in name)


@pytest.mark.parametrize("target", ["H200", "A100"])
@pytest.mark.parametrize("fill", [-1e4, -1e9, -1e30, -2.9e38])
@pytest.mark.parametrize("name", ["keys behind", "window, ragged"])
def test_numbers_in_the_place_of_scores(name: str, fill: float, target: str) -> None:
    """Of a tile without a key that is seen all scores are one large number: exp of 0 is 1."""
    case = replace(CASES[name], fill=fill)
    assert graph_of(case).bounds is None
    inputs = case.inputs()
    (found,) = run_kernels(lower(case.module(), target=target), inputs)
    np.testing.assert_allclose(found, case.expected(inputs), atol=4e-3)


@pytest.mark.parametrize("target", ["H200", "A100"])
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_the_whole_loop(name: str, target: str) -> None:
    case = CASES[name]
    inputs = case.inputs()
    (found,) = run_kernels(lower(case.module(), target=target), inputs)
    exists = case.plane.any(axis=1)
    wanted = case.expected(inputs)
    np.testing.assert_allclose(found[:, exists], wanted[:, exists], atol=4e-3)
