"""Programs that compute each value once."""

from search_programs import attention_gradient

from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind


def test_what_is_the_same_is_computed_once() -> None:
    """One softmax of the two that a gradient is written with."""
    kinds = [node.kind for node in resolve(attention_gradient()).nodes]
    assert kinds.count(Kind.REDUCE_MAX) == 1
    assert kinds.count(Kind.DIV) == 1


def test_results_that_are_the_same() -> None:
    b = ProgramBuilder()
    x = b.input((8, 16))
    for _ in range(2):
        b.output(b.function(Function("exp"), x))
    program = resolve(b)
    first, second = program.outputs
    assert first.node == second.node


def test_inputs_and_other_parameters_stay() -> None:
    b = ProgramBuilder()
    x, y = b.input((8, 16)), b.input((8, 16))
    powers = [b.function(Function("pow", (n,)), v) for n, v in ((2.0, x), (3.0, x), (2.0, y))]
    b.output(b.binary(Kind.ADD, b.binary(Kind.ADD, *powers[:2]), powers[2]))
    nodes = resolve(b).nodes
    assert [node.kind for node in nodes].count(Kind.FUNCTION) == 3
    assert [node.kind for node in nodes].count(Kind.INPUT) == 2
