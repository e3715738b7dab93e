"""Independent matmuls of one depth, which run in one loop."""

import pytest

from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Kind, Program


def summed(program: Program) -> list[tuple[str, ...]]:
    return [node.reduced for node in program.nodes if node.kind is Kind.MATMUL]


def two_products(depth: int, combine: Kind = Kind.ADD) -> ProgramBuilder:
    b = ProgramBuilder()
    first = b.matmul(b.input((16, 64)), b.input((64, 32)))
    second = b.matmul(b.input((16, depth)), b.input((depth, 32)))
    b.output(b.binary(combine, first, second))
    return b


@pytest.mark.parametrize("combine", [Kind.ADD, Kind.MUL])
def test_independent_sums_are_one(combine: Kind) -> None:
    program = resolve(two_products(64, combine))
    first, second = summed(program)
    assert first == second
    assert len(program.sizes) == 3
    assert [tensor.axes for tensor in program.inputs[:2]] == [
        tensor.axes for tensor in program.inputs[2:]
    ]


def test_sums_of_other_lengths_stay() -> None:
    program = resolve(two_products(128))
    first, second = summed(program)
    assert first != second


def test_a_sum_that_needs_the_other_stays() -> None:
    """Of `x u d` the second matmul sums over what the first one computes."""
    b = ProgramBuilder()
    hidden = b.matmul(b.input((16, 64)), b.input((64, 64)))
    b.output(b.matmul(hidden, b.input((64, 64))))
    first, second = summed(resolve(b))
    assert first != second


def test_sums_in_a_row_stay() -> None:
    """The second product of a sum needs the first's, though no tensor has both depths."""
    b = ProgramBuilder()
    x, y = b.input((64, 16)), b.input((16, 64))
    first = b.matmul(b.matmul(b.input((16, 64)), x), y)
    b.output(b.matmul(b.input((16, 16)), b.matmul(first, b.input((64, 32)))))
    assert len({*summed(resolve(b))}) == 4


def test_an_axis_that_others_sum_over_stays() -> None:
    """A mean over the second depth is another sum over it, which may need a loop of its own."""
    b = ProgramBuilder()
    h = b.input((16, 64))
    mean = b.reduce(Kind.REDUCE_SUM, h, (1,))
    first = b.matmul(b.input((16, 64)), b.input((64, 32)))
    second = b.matmul(b.binary(Kind.MUL, h, mean), b.input((64, 32)))
    b.output(b.binary(Kind.ADD, first, second))
    one, other = summed(resolve(b))
    assert one != other
