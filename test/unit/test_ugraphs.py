"""The uGraphs of `test/ugraphs`: what they compute, and that they become machine code."""

import re

import numpy as np
import pytest
from numpy.typing import NDArray
from numpy_reference import TOLERANCE, error
from sampling import sampled
from ugraph_programs import CHIPS, CLUSTERED, FOLDER, NAMES, PROGRAMS, path_of
from xdsl.dialects import gpu
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import (
    alone,
    compiler_context,
    function_named,
    functions,
    parse_program,
)
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.interpreters.gpu_simulator import run_kernels
from mirage_mlir.passes.pipelines import lowering_passes

SHARED_MEMORY = {"sm_90a": 227 * 1024, "sm_80": 163 * 1024}
"""Bytes that a block can have."""


def module_of(name: str) -> ModuleOp:
    """The file, parsed and verified."""
    path = path_of(name)
    return parse_program(path.read_text(), str(path))


def test_what_there_is() -> None:
    """Each file has a reference in numpy and a row in the folder's README."""
    assert sorted(PROGRAMS) == NAMES
    rows = re.findall(r"^\| \[\w+\]\((\w+)\.mlir\) \|", (FOLDER / "README.md").read_text(), re.M)
    assert sorted(rows) == NAMES
    assert set(NAMES) >= CLUSTERED


@pytest.mark.parametrize("name", NAMES)
def test_functions(name: str) -> None:
    """A program of operators, and a uGraph of the same type that has none."""
    reference, ugraph = functions(module_of(name))
    assert (reference.sym_name.data, ugraph.sym_name.data) == ("reference", "ugraph")
    assert reference.function_type == ugraph.function_type
    graphs = [op for op in ugraph.body.ops if isinstance(op, kernel.GraphDefinedOp)]
    assert graphs
    views = {"kernel.transpose", "kernel.reshape", "func.return"}
    assert all(op.name in views for op in ugraph.body.ops if op not in graphs)
    assert not any(isinstance(op, kernel.GraphDefinedOp) for op in reference.body.ops)


def inputs_of(name: str, function: FuncOp, seed: int) -> list[NDArray[np.float32]]:
    """Random inputs for the function of `name`."""
    types = [kernel.tensor_type(argument) for argument in function.body.block.args]
    return PROGRAMS[name].inputs(
        [found.get_shape() for found in types], [str(found.element_type) for found in types], seed
    )


def tolerance(function: FuncOp) -> float:
    """For the results of a function, which have the type of its first argument."""
    element_type = kernel.tensor_type(function.body.block.args[0]).element_type
    return TOLERANCE[str(element_type)]


LARGE = ("attention_backward", "attention_decode", "attention_split_kv")
"""
All blocks of their two or three kernels would take 20 s or more, and some do not suffice. Smaller
ones of two kernels run in `interpreters/test_lowered_attention.py`.
"""


@pytest.mark.parametrize("name", LARGE)
def test_values(name: str) -> None:
    """Interpreted with a kernel's rounding, block by block, a uGraph is near numpy's float64."""
    function = function_named(module_of(name), "ugraph")
    inputs = inputs_of(name, function, seed=1)
    results = run_function(function, inputs)
    for result, wanted in zip(results, PROGRAMS[name].outputs(inputs), strict=True):
        assert error(result, wanted) <= tolerance(function)


@pytest.mark.parametrize(
    ("name", "chip"), sampled([(name, chip) for name in NAMES for chip in CHIPS], 6)
)
def test_machine_code(name: str, chip: str) -> None:
    """Every kernel is assembled, and keeps its values in registers."""
    module = module_of(name)
    compiled = compile_function(module, "ugraph", chip)
    graphs = [op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp)]
    assert len(compiled.code.launches) == len(graphs)
    for launch, graph in zip(compiled.code.launches, graphs, strict=True):
        assert launch.grid[: len(graph.grid_sizes)] == graph.grid_sizes
        assert launch.shared_bytes <= SHARED_MEMORY[chip]
    assert compiled.assembled.spill_bytes == 0
    assert compiled.assembled.stack_bytes == 0
    assert (compiled.code.counter_bytes > 0) == (chip == "sm_80" and name in CLUSTERED)


@pytest.mark.parametrize("name", sampled([name for name in NAMES if name not in LARGE], 2))
def test_kernels(name: str) -> None:
    """
    The lowered kernels, thread by thread: the last block, or all blocks of two kernels.

    Of a ragged grid the first block runs, too: it writes a whole tile.
    """
    function = function_named(module_of(name), "ugraph")
    module = alone(function)
    for each in lowering_passes("sm_90a"):
        each.apply(compiler_context(), module)
    (kernels,) = [op for op in module.ops if isinstance(op, gpu.ModuleOp)]
    grids = [op.grid_sizes for op in function.body.ops if isinstance(op, kernel.GraphDefinedOp)]
    x, y, z = (*grids[0], 1, 1)[:3]
    last = (x - 1, y - 1, z - 1)
    whole = "ragged" not in name
    blocks = None if len(grids) > 1 else {last} if whole else {(0, 0, 0), last}
    inputs = inputs_of(name, function, seed=2)
    results = run_kernels(kernels, inputs, blocks=blocks)
    for result, wanted in zip(results, PROGRAMS[name].outputs(inputs), strict=True):
        # What the other blocks would write is NaN.
        written = ~np.isnan(result)
        assert written.sum() >= result.size // (x * y * z) + (not whole)
        assert error(result[written], wanted[written]) <= tolerance(function)
