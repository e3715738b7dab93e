"""The model's threads and shared memory against those of the lowering itself."""

import pytest
from sampling import sampled
from search_programs import PROGRAMS, attention
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16, f16, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import compiler_context
from mirage_mlir.passes.frontend.to_ir import write_graph
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind, Program
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import Limits, search
from mirage_mlir.targets.target import H200

TYPES = {"bf16": bf16, "f16": f16, "f32": f32}


def tall_norm() -> ProgramBuilder:
    """Rows in a block without tensor cores."""
    b = ProgramBuilder()
    x = b.input((300, 5000), "f32")
    y = b.function(Function("exp"), x)
    b.output(b.binary(Kind.DIV, y, b.reduce(Kind.REDUCE_SUM, y, (1,))), "f32")
    return b


CASES = {**PROGRAMS, "attention": attention, "tall_norm": tall_norm}


def graphs(name: str) -> tuple[Program, list[BlockGraph]]:
    program = resolve(CASES[name]())
    return program, search(program, H200, Limits(), SearchReport())


def lowered(program: Program, graph: BlockGraph) -> kernel.GraphDefinedOp:
    """The graph with its layouts, schedule and memory plan."""
    tensors = {tensor.argument: tensor for tensor in program.inputs}
    types = [
        TensorType(TYPES[tensors[i].element_type], program.shape(tensors[i].axes))
        for i in sorted(tensors)
    ]
    # A second role of an argument has the same shape.
    block = Block(arg_types=types)
    shapes = [program.shape(output.axes) for output in program.outputs]
    written = write_graph(program, graph, list(block.args), shapes)
    block.add_ops([*written.operations, ReturnOp(*written.results)])
    results = [value.type for value in written.results]
    module = ModuleOp([FuncOp("f", (types, results), Region(block))])
    for each in lowering_passes("H200"):
        if each.name == "lower-to-nvvm":
            break
        each.apply(compiler_context(), module)
    return next(op for op in module.walk() if isinstance(op, kernel.GraphDefinedOp))


@pytest.mark.parametrize("name", sampled(list(CASES), 2))
def test_as_the_lowering_does(name: str) -> None:
    """The same threads; of shared memory at least what is needed, and not much more."""
    program, found = graphs(name)
    for graph in found[::4]:
        op = lowered(program, graph)
        assert op.schedule.threads == graph.model.threads
        needed = op.memory.shared_bytes
        assert needed <= graph.model.shared_bytes <= 1.2 * needed + 2048
