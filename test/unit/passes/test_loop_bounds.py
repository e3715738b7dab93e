"""Loops that masks of indices bound: no iteration is left out that a result needs."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from index_masks import CASES, Array, Masked
from lowered_kernels import lower
from sampling import round_robin
from xdsl.context import Context

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import parse_program
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.bound_loops import BoundLoopsPass
from mirage_mlir.passes.compute_indices import ComputeIndicesPass

TARGETS = ["H200", "A100"]

FILLED = [
    *(("keys behind", fill) for fill in (-1e4, -1e9, -1e30, -2.9e38)),
    *(("window, ragged", fill) for fill in (-1e9, -1e4, -2.9e38, -1e30)),
]
"""Each number in the place of scores, for each of the targets once."""


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


@pytest.mark.parametrize(("filled", "target"), round_robin(FILLED, TARGETS))
def test_numbers_in_the_place_of_scores(filled: tuple[str, float], target: str) -> None:
    """Of a tile without a key that is seen all scores are one large number: exp of 0 is 1."""
    name, fill = filled
    case = replace(CASES[name], fill=fill)
    assert graph_of(case).bounds is None
    inputs = case.inputs()
    (found,) = run_kernels(lower(case.module(), target=target), inputs)
    np.testing.assert_allclose(found, case.expected(inputs), atol=4e-3)


@pytest.mark.parametrize(("name", "target"), round_robin(list(CASES), TARGETS))
def test_results_are_those_of_the_whole_loop(name: str, target: str) -> None:
    case = CASES[name]
    inputs = case.inputs()
    (found,) = run_kernels(lower(case.module(), target=target), inputs)
    exists = case.plane.any(axis=1)
    wanted = case.expected(inputs)
    np.testing.assert_allclose(found[:, exists], wanted[:, exists], atol=4e-3)


DIAGONAL = """
func.func @f(%x: tensor<64x128xf32>) -> tensor<64x1xf32> {{
  %o = kernel.graph_defined ins(%x) grid [4] loop [8] {{
  ^bb0(%0: tensor<64x128xf32>):
    %i = threadblock.iota of [64, 1] strides [1, 0] grid_map [0] loop_map [_] : {column}
    %j = threadblock.iota of [1, 128] strides [0, 1] grid_map [_] loop_map [1] : {row}
    %t = threadblock.load %0 grid_map [0] loop_map [1] : (tensor<64x128xf32>) -> {plane}
    %zero = threadblock.constant {{value = 0.0 : f32}} : {plane}
    %two = threadblock.constant {{value = 2.0 : f32}} : {column}
    %seen = threadblock.compare %i, %j {{predicate = "ge"}} : ({column}, {row}) -> {plane}
    %m = threadblock.select %seen, %t, %zero : ({plane}, {plane}, {plane}) -> {plane}
    %here = threadblock.compare %i, %j {{predicate = "eq"}} : ({column}, {row}) -> {plane}
    %bias = {bias} : ({column}) -> {column}
    %d = threadblock.select %here, %bias, %zero : ({plane}, {column}, {plane}) -> {plane}
    %s = threadblock.add %m, %d : ({plane}, {plane}) -> {plane}
    %r = threadblock.reduce_sum %s {{dims = array<i64: 1>}} : ({plane}) -> {column}
    %a = threadblock.accumulate %r : ({column}) -> {column}
    threadblock.store %a grid_map [0] : {column}
  }} : (tensor<64x128xf32>) -> tensor<64x1xf32>
  func.return %o : tensor<64x1xf32>
}}
"""


@pytest.mark.parametrize("target", ["H200", "A100"])
@pytest.mark.parametrize(
    ("bias", "number"),
    [
        ("threadblock.scale %i {factor = 0.1 : f32}", 0.1 * np.arange(64.0)),
        ("threadblock.exp %two", np.full(64, np.exp(2.0))),
    ],
)
def test_other_selections_by_indices_stay(bias: str, number: Array, target: str) -> None:
    """They stay where the mask of `x` hides nothing: a number on the diagonal is no mask."""
    tiles = {"column": "16x1", "row": "1x16", "plane": "16x16"}
    types = {name: f"!threadblock.tile<{shape}xf32>" for name, shape in tiles.items()}
    module = parse_program(DIAGONAL.format(bias=bias, **types), "diagonal.mlir")
    x = np.random.default_rng(0).standard_normal((64, 128)).astype(np.float32)
    (found,) = run_kernels(lower(module, target=target), [x])
    wanted = np.tril(x.astype(np.float64)).sum(axis=1) + number
    np.testing.assert_allclose(found[:, 0], wanted, atol=1e-4)
