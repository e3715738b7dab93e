"""The uGraphs of `test/ugraphs`: what they compute, and that they become machine code."""

import re

import pytest
from numpy_reference import TOLERANCE, error
from ugraph_programs import FOLDER, LOWERED, NAMES, NOT_LOWERED, PROGRAMS, path_of
from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.diagnostics import PassFailure
from mirage_mlir.dialects import kernel
from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import function_named, functions, parse_program
from mirage_mlir.interpreters.function import run_function

CHIPS = ("sm_90a", "sm_80")

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
    assert set(NAMES) >= NOT_LOWERED


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


@pytest.mark.parametrize("name", NAMES)
def test_values(name: str) -> None:
    """Interpreted with a kernel's rounding, block by block, a uGraph is near numpy's float64."""
    function = function_named(module_of(name), "ugraph")
    types = [kernel.tensor_type(argument) for argument in function.body.block.args]
    program = PROGRAMS[name]
    inputs = program.inputs(
        [found.get_shape() for found in types],
        [str(found.element_type) for found in types],
        seed=1,
    )
    results = run_function(function, inputs)
    element_type = str(types[0].element_type)
    for result, wanted in zip(results, program.outputs(inputs), strict=True):
        assert error(result, wanted) <= TOLERANCE[element_type]


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", LOWERED)
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


@pytest.mark.parametrize("name", sorted(NOT_LOWERED))
def test_not_lowered(name: str) -> None:
    """What the lowering does not take yet is said at the operation that asks for it."""
    with pytest.raises(PassFailure, match=rf"{name}\.mlir:\d+:\d+: .*has no lowering yet"):
        compile_function(module_of(name), "ugraph", "sm_90a")
