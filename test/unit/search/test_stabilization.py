"""Found graphs with shifts put in: where maxima are taken, and which graphs are no candidates."""

from dataclasses import replace

import pytest
from search_programs import attention, in_bf16, kinds, softmax, stable_softmax

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind, Output, Program
from mirage_mlir.search.program.shifts import find_shifts
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.saturation.hypergraph import Stage
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.search.single_kernel import tile_sizes
from mirage_mlir.search.single_kernel.engine import search
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.search.stabilization.degrees import UnstableError
from mirage_mlir.search.stabilization.stabilization import stabilized
from mirage_mlir.targets.target import H200

EXP = Function("exp")


def found(program: Program) -> list[BlockGraph]:
    return search(program, H200, Limits(), SearchReport())


def as_found(program: Program, algebra: Algebra, graph: BlockGraph) -> BlockGraph:
    """In place of `stabilized`: no shift."""
    return graph


def plain_attention(keys: int) -> ProgramBuilder:
    """`attention` without the maximum."""
    b = ProgramBuilder()
    q, k, v = b.input((2, 64, 64)), b.input((2, 64, keys)), b.input((2, keys, 64))
    powers = b.function(EXP, b.matmul(q, k))
    b.output(b.matmul(b.binary(Kind.DIV, powers, b.reduce(Kind.REDUCE_SUM, powers, (2,))), v))
    return b


def split_attention(*, with_maximum: bool) -> Program:
    """The first kernel of attention with its keys split: sums and the maximum they belong to."""
    b = ProgramBuilder()
    q, k, v = b.input((2, 64, 64)), b.input((2, 64, 4096)), b.input((2, 4096, 64))
    powers = b.function(EXP, b.matmul(q, k))
    sums = b.matmul(powers, v), b.reduce(Kind.REDUCE_SUM, powers, (2,))
    b.output(b.binary(Kind.DIV, *sums))
    program = resolve(b)
    (shift,) = find_shifts(program)
    nodes = program.nodes
    outputs = [Output(n, nodes[n].axes, "f32", partial=shift.axes) for n in sums]
    if with_maximum:
        axes = tuple(None if a in shift.axes else a for a in nodes[shift.node].axes)
        outputs.append(Output(shift.node, axes, "f32", partial=shift.axes, shift=0))
    return replace(program, outputs=tuple(outputs), shifts=(shift,))


@pytest.mark.parametrize("keys", [128, 4096])
def test_plain_and_stable_programs_are_one(keys: int) -> None:
    """With and without a maximum in the program the same graphs are found."""
    plain, stable = (
        [
            [(op.kind, op.operands, op.stage, op.axes, op.rescale) for op in graph.operations]
            for graph in found(resolve(builder(keys)))
        ]
        for builder in (plain_attention, attention)
    )
    assert plain
    assert plain == stable


def test_whole_rows() -> None:
    """Without a loop the maximum is that of the row, and nothing is rescaled."""
    graph = found(resolve(softmax()))[0]
    operations = graph.operations
    (exp,) = (op for op in operations if op.function == EXP)
    difference = operations[exp.operands[0]]
    largest = operations[difference.operands[1]]
    assert (difference.kind, largest.kind) == (Kind.SUB, Kind.REDUCE_MAX)
    assert largest.operands[0] == difference.operands[0]
    assert all(op.rescale is None for op in operations)


def test_rows_that_are_walked() -> None:
    """The maximum of each iteration is subtracted in it, and what is summed is rescaled by it."""
    for graph in found(resolve(attention(4096))):
        if not graph.trip_counts:
            continue
        (largest,) = (n for n, op in enumerate(graph.operations) if op.kind is Kind.REDUCE_MAX)
        assert graph.operations[largest].stage is Stage.LOOP
        sums = [op for op in graph.operations if op.kind is Kind.ACCUMULATE_SUM]
        assert len(sums) == 2
        assert {op.rescale for op in sums} == {largest}


def test_two_softmaxes_over_the_same_keys() -> None:
    """Each has a maximum of its own."""
    b = ProgramBuilder()
    v = b.input((2048, 64))
    parts = [stable_softmax(b, b.matmul(b.input((64, 32)), b.input((32, 2048)))) for _ in range(2)]
    for part in parts:
        b.narrow(part, "f16")
    b.output(b.matmul(b.binary(Kind.SUB, *parts), v))
    graph = next(graph for graph in found(resolve(b)) if graph.trip_counts)
    assert kinds(graph)[Kind.REDUCE_MAX] == 2
    sums = [op.rescale for op in graph.operations if op.kind is Kind.ACCUMULATE_SUM]
    assert len(sums) == 4
    assert len(set(sums)) == 2
    assert None not in sums


def test_a_row_in_two_parts() -> None:
    """Sums over one part are relative to its maximum, and then brought to that of both."""
    b = ProgramBuilder()
    q, k, v = b.input((64, 32)), b.input((32, 2048)), b.input((2048, 64))
    own_k, own_v = b.input((32, 1)), b.input((1, 64))
    old, new = b.function(EXP, b.matmul(q, k)), b.function(EXP, b.matmul(q, own_k))
    both = b.binary(Kind.ADD, b.matmul(old, v), b.binary(Kind.MUL, new, own_v))
    b.output(
        b.binary(Kind.DIV, both, b.binary(Kind.ADD, b.reduce(Kind.REDUCE_SUM, old, (1,)), new))
    )
    graph = next(graph for graph in found(resolve(b)) if graph.configuration.loop == ("k",))
    operations = graph.operations
    (iteration,) = (n for n, op in enumerate(operations) if op.kind is Kind.REDUCE_MAX)
    (total,) = (n for n, op in enumerate(operations) if op.kind is Kind.ACCUMULATE_MAX)
    (largest,) = (n for n, op in enumerate(operations) if op.kind is Kind.MAX)
    assert operations[total].operands == (iteration,)
    assert total in operations[largest].operands
    sums = [n for n, op in enumerate(operations) if op.kind is Kind.ACCUMULATE_SUM]
    assert [operations[n].rescale for n in sums] == [iteration, iteration]
    exps = [op.operands[0] for op in operations if op.function == EXP]
    subtracted = [operations[difference].operands for difference in exps]
    assert len(subtracted) == 3
    assert (total, largest) in subtracted
    assert sorted(below for _, below in subtracted) == sorted([iteration, largest, largest])


def test_split_keys() -> None:
    """The first kernel stores the maximum of each block beside its sums."""
    graphs = found(split_attention(with_maximum=True))
    assert any(graph.configuration.loop == ("l",) for graph in graphs)
    for graph in graphs:
        assert len(graph.outputs) == 3
        largest = graph.operations[graph.outputs[2]]
        if graph.configuration.loop == ("l",):
            assert largest.kind is Kind.ACCUMULATE_MAX
            assert graph.operations[largest.operands[0]].kind is Kind.REDUCE_MAX
        else:
            assert largest.kind is Kind.REDUCE_MAX
        assert largest.axes == graph.operations[graph.outputs[0]].axes[:-1]


def test_sums_without_their_maximum_are_no_result() -> None:
    """They would mean nothing to the kernel that reads them."""
    assert found(split_attention(with_maximum=False)) == []


def test_exp_that_no_shift_fits() -> None:
    """It stays as it is."""
    b = ProgramBuilder()
    b.output(b.function(EXP, b.input((64, 512))))
    graph = found(resolve(b))[0]
    assert [op.kind for op in graph.operations] == [Kind.INPUT, Kind.FUNCTION]


def test_a_sum_over_rows_of_different_maxima(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is divided by its row's sum is added up over rows, nothing else is."""
    b = ProgramBuilder()
    b.output(b.reduce(Kind.REDUCE_SUM, stable_softmax(b, b.input((64, 512))), (0,)))
    program = resolve(b)
    algebra = Algebra.of(program)
    monkeypatch.setattr(tile_sizes, "stabilized", as_found)
    (graph, *_) = found(program)
    sums = [n for n, op in enumerate(graph.operations) if op.kind is Kind.REDUCE_SUM]
    stabilized(program, algebra, graph)
    # The quotient replaced by the exp itself.
    (exp,) = (n for n, op in enumerate(graph.operations) if op.function == EXP)
    over_rows = max(sums)
    broken = list(graph.operations)
    broken[over_rows] = replace(broken[over_rows], operands=(exp,))
    with pytest.raises(UnstableError, match=r"reduce_sum .*sums exps along i, along which"):
        stabilized(program, algebra, replace(graph, operations=tuple(broken)))


def layer_norm_linear(kind: str = "f16") -> ProgramBuilder:
    """A norm that subtracts a mean, and a matmul in f16."""
    b = ProgramBuilder()
    x, w = b.input((16, 4096), kind), b.input((4096, 4096))
    centred = b.binary(Kind.SUB, x, b.mean(x, (1,)))
    variance = b.mean(b.binary(Kind.MUL, centred, centred), (1,))
    root = b.function(Function("sqrt"), b.binary(Kind.ADD, variance, b.constant(1e-5)))
    b.output(b.matmul(b.binary(Kind.DIV, centred, root), w))
    return b


def test_one_pass_layer_norm() -> None:
    """
    Squares are taken of what is near zero: the first element of a row is subtracted before.

    The tensor core reads the row itself, as it is in memory, and so does the sum for its mean.
    """
    graph = next(graph for graph in found(resolve(layer_norm_linear())) if graph.trip_counts)
    operations = graph.operations
    (first,) = (n for n, op in enumerate(operations) if op.first == "j")
    (shifted,) = (n for n, op in enumerate(operations) if first in op.operands)
    (whole,) = (o for o in operations[shifted].operands if o != first)
    assert operations[whole].kind is Kind.INPUT
    assert operations[whole].source == operations[first].source
    users = [op.kind for n, op in enumerate(operations) if whole in op.operands and n != shifted]
    assert sorted(users) == [Kind.ACCUMULATE_SUM, Kind.MATMUL]
    squares = [op for op in operations if op.kind is Kind.MUL and op.stage is Stage.LOOP]
    assert [op.operands for op in squares] == [(shifted, shifted)]


def test_layer_norm_of_whole_rows_needs_no_shift() -> None:
    """Where the mean is subtracted before squares are taken, nothing else is."""
    b = ProgramBuilder()
    x = b.input((16, 4096))
    centred = b.binary(Kind.SUB, x, b.mean(x, (1,)))
    variance = b.mean(b.binary(Kind.MUL, centred, centred), (1,))
    b.output(b.binary(Kind.DIV, centred, b.function(Function("sqrt"), variance)))
    graph = found(resolve(b))[0]
    assert kinds(graph)[Kind.INPUT] == 1


def test_softmax_along_both_axes() -> None:
    """exp(S) relative to the maxima of rows is not that relative to those of columns."""
    b = ProgramBuilder()
    x = b.input((64, 48))
    scaled = b.binary(Kind.MUL, x, b.constant(0.5))
    columns = b.binary(Kind.SUB, scaled, b.reduce(Kind.REDUCE_MAX, scaled, (0,)))
    powers = b.function(EXP, columns)
    quotient = b.binary(Kind.DIV, powers, b.reduce(Kind.REDUCE_SUM, powers, (0,)))
    b.output(b.binary(Kind.MUL, stable_softmax(b, scaled), quotient))
    graph = found(resolve(b))[0]
    assert kinds(graph)[Kind.REDUCE_MAX] == 2
    assert sum(op.function == EXP for op in graph.operations) == 2


@pytest.mark.parametrize(("kind", "exact"), [("bf16", True), ("f32", False)])
def test_products_that_round(kind: str, exact: bool) -> None:
    """A tensor core that has to round X multiplies X less its first column, where it may."""
    program = in_bf16(resolve(layer_norm_linear(kind)))
    graph = next(graph for graph in found(program) if graph.trip_counts)
    operations = graph.operations
    products = [op for op in operations if op.kind is Kind.MATMUL]
    read = {operations[o].kind for op in products for o in op.operands}
    assert (read == {Kind.INPUT}) == exact
