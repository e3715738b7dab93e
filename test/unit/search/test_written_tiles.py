"""Tiles that would have to be seen as more than their transposes: such graphs are not offered."""

import pytest
from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Block

from mirage_mlir.passes.frontend.to_ir import write_graph
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind, Program
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.engine import Search
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200


def kernel_regression(centres: int) -> Program:
    """Values of some centres, weighted by the distances of 32 points to them."""
    b = ProgramBuilder()
    x, c, v = (
        b.input((32, 1, 8), "f32"),
        b.input((centres, 8), "f32"),
        b.input((centres, 16), "f32"),
    )
    d = b.binary(Kind.SUB, x, c)
    distance = b.reduce(Kind.REDUCE_SUM, b.binary(Kind.MUL, d, d), (2,))
    weights = b.reshape(b.function(Function("exp"), distance), (32, centres))
    b.output(b.matmul(weights, v, "f32"), "f32")
    return resolve(b)


@pytest.mark.parametrize("centres", [16, 24])
def test_graphs_with_matmuls_can_be_written(centres: int) -> None:
    """The weights have a row for each pair; as the left operand they have one for each point."""
    program = kernel_regression(centres)
    block = Block(
        arg_types=[
            TensorType(f32, program.shape(tensor.axes))
            for tensor in sorted(program.inputs, key=lambda tensor: tensor.argument)
        ]
    )
    search = Search(program, H200, Limits(candidates=64, varied=True), SearchReport())
    for graph in search.run():
        write_graph(program, graph, list(block.args), [None])
