"""Cuts at sums of exps, the maximum that they are relative to stored with them."""

from fractions import Fraction

import pytest
from sampling import sampled
from search_programs import attention, attention_gradient, rmsnorm_linear, stable_softmax

from mirage_mlir.search.multi_kernel.kernels import search_kernels
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind, Program
from mirage_mlir.search.program.program_cuts import Source
from mirage_mlir.search.program.shifted_cuts import shifted_cuts, without_maxima_of
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.single_kernel.limits import Limits
from mirage_mlir.targets.target import H200

EXP = Function("exp")


def long_softmax(rows: tuple[int, ...] = (16,)) -> Program:
    """Of rows that no block can hold."""
    b = ProgramBuilder()
    b.output(stable_softmax(b, b.input((*rows, 1 << 20))))
    return resolve(b)


def test_program_without_maxima() -> None:
    """exp is of the value itself, and its shift is that of the value."""
    program = without_maxima_of(resolve(attention()))
    (exp,) = (node for node in program.nodes if node.function == EXP)
    assert program.nodes[exp.operands[0]].kind is Kind.MATMUL
    (shift,) = program.shifts
    assert exp.operands == (shift.node,)


def test_cut() -> None:
    """The first part stores sum and maximum, the second subtracts the maximum."""
    (cut,) = shifted_cuts(long_softmax())
    total, largest = cut.first.program.outputs
    assert (total.shift, largest.shift) == (None, 0)
    assert {total.element_type, largest.element_type} == {"f32"}
    assert set(cut.second.arguments) == {Source(0), Source(0, kernel=0), Source(1, kernel=0)}
    nodes = cut.second.program.nodes
    (exp,) = (node for node in nodes if node.function == EXP)
    difference = nodes[exp.operands[0]]
    assert difference.kind is Kind.SUB
    below = cut.second.program.inputs
    (stored,) = (tensor for tensor in below if tensor.node == difference.operands[1])
    assert cut.second.arguments[stored.argument] == Source(1, kernel=0)


def test_the_first_part_is_no_program_of_its_own() -> None:
    """Its maximum is no value of the search: neither other forms nor cuts of it have one."""
    part = next(iter(shifted_cuts(resolve(attention_gradient())))).first.program
    assert not part.is_whole
    limits = Limits(max_kernels=2)
    plans = search_kernels(part, H200, limits, SearchReport())
    assert {len(plan.kernels) for plan in plans} == {1}


def test_merged_rows() -> None:
    """Leading dimensions that run together are one axis in both parts."""
    (cut,) = shifted_cuts(long_softmax((4, 4)))
    assert sorted(cut.first.program.sizes.values()) == [16, 1 << 20]


def test_no_cut_without_exps() -> None:
    assert list(shifted_cuts(resolve(rmsnorm_linear()))) == []


def test_rows_that_no_block_can_hold() -> None:
    """Two kernels: one walks the rows, one normalises them."""
    plans = search_kernels(long_softmax(), H200, Limits(max_kernels=2), SearchReport())
    first, second = plans[0].kernels
    assert first.graph.configuration.loop
    sums = [op for op in first.graph.operations if op.kind is Kind.ACCUMULATE_SUM]
    assert [op.rescale is None for op in sums] == [False]
    largest = [first.graph.operations[number] for number in first.graph.outputs][1]
    assert largest.kind is Kind.ACCUMULATE_MAX
    assert not any(op.kind is Kind.REDUCE_MAX for op in second.graph.operations)


def test_cut_at_all_that_rows_need() -> None:
    """Sum, maximum and the mean of gradients, by which the second part walks rows again."""
    more, alone = shifted_cuts(resolve(attention_gradient()))
    assert [output.shift for output in more.first.program.outputs] == [None, 0, None]
    assert [output.shift for output in alone.first.program.outputs] == [None, 0]
    (rows,) = {output.axes for output in more.first.program.outputs}
    assert rows[-1] is None
    sums = [n for n in more.second.program.nodes if n.kind is Kind.REDUCE_SUM]
    assert sums == []


@pytest.mark.parametrize("factor", sampled([None, Fraction(1, 8)], 2))
def test_gradient_of_attention(factor: Fraction | None) -> None:
    """Three kernels, none of which stores anything with an element for each score."""
    program = resolve(attention_gradient(length=320, factor=factor))
    limits = Limits(max_kernels=3, coarse=True)
    plans = search_kernels(program, H200, limits, SearchReport())
    kernels = plans[0].kernels
    assert len(kernels) == 3
    for each in kernels:
        for output in each.program.outputs:
            assert [each.program.sizes[axis] for axis in output.axes if axis].count(320) == 1
