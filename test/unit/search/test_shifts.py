"""Which shifts of a program are proved, and which are not."""

from dataclasses import replace

import pytest
from search_programs import PROGRAMS, attention, normalised, rmsnorm_linear, softmax, stable_softmax

from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind, Program, Shift
from mirage_mlir.search.program.shifts import are_admissible, find_shifts, unchanged, unshifted_exps

EXP = Function("exp")


def exp_of(program: Program, number: int = 0) -> int:
    """The argument of an exp of a program."""
    return [node.operands[0] for node in program.nodes if node.function == EXP][number]


def weighted_sum(normalise: bool) -> Program:
    """exp(Q K) V, each row divided by the sum of its exps or not."""
    b = ProgramBuilder()
    q, k, v = b.input((32, 16)), b.input((16, 64)), b.input((64, 8))
    powers = b.function(EXP, b.matmul(q, k))
    total = b.reduce(Kind.REDUCE_SUM, powers, (1,))
    b.output(b.matmul(b.binary(Kind.DIV, powers, total) if normalise else powers, v))
    return resolve(b)


def layer_norm(b: ProgramBuilder, x: int) -> int:
    """Over the last dimension."""
    last = (len(b.shape(x)) - 1,)
    centred = b.binary(Kind.SUB, x, b.mean(x, last))
    variance = b.mean(b.binary(Kind.MUL, centred, centred), last)
    shifted = b.binary(Kind.ADD, variance, b.constant(1e-5))
    return b.binary(Kind.DIV, centred, b.function(Function("sqrt"), shifted))


@pytest.mark.parametrize("stable", [True, False])
def test_softmax_rows(stable: bool) -> None:
    """Along the keys, whether the program subtracts a maximum or not; and along nothing else."""
    program = resolve(attention()) if stable else weighted_sum(normalise=True)
    node = exp_of(program)
    rows, keys = program.nodes[node].present[-2:]
    assert find_shifts(program) == (Shift(node, (keys,)),)
    assert not are_admissible(program, [Shift(node, (rows,))])
    assert are_admissible(program, [Shift(node, program.nodes[node].present)])


def test_without_normalisation() -> None:
    program = weighted_sum(normalise=False)
    assert find_shifts(program) == ()
    assert not are_admissible(program, [Shift(exp_of(program), ("k",))])


def test_sum_of_exps_that_is_returned() -> None:
    """The shift would be in it."""
    b = ProgramBuilder()
    powers = b.function(EXP, b.input((32, 64)))
    total = b.reduce(Kind.REDUCE_SUM, powers, (1,))
    b.output(b.binary(Kind.DIV, powers, total))
    b.output(total)
    assert find_shifts(resolve(b)) == ()


def test_scale_and_mask() -> None:
    b = ProgramBuilder()
    q, k, mask, v = b.input((32, 16)), b.input((16, 64)), b.input((32, 64)), b.input((64, 8))
    scores = b.binary(Kind.MUL, b.matmul(q, k), b.constant(0.25))
    b.output(b.matmul(stable_softmax(b, b.binary(Kind.ADD, scores, mask)), v))
    program = resolve(b)
    (shift,) = find_shifts(program)
    assert shift.node == exp_of(program)


def test_softmax_over_two_axes() -> None:
    """Over one of them alone the sum does not cancel."""
    b = ProgramBuilder()
    x, w = b.input((8, 16, 32)), b.input((8, 32, 16))
    powers = b.function(EXP, x)
    b.output(
        b.binary(
            Kind.MUL,
            b.binary(Kind.DIV, powers, b.reduce(Kind.REDUCE_SUM, powers, (1, 2))),
            b.transpose(w, (0, 2, 1)),
        )
    )
    program = resolve(b)
    (shift,) = find_shifts(program)
    assert len(shift.axes) == 2


def test_two_softmaxes() -> None:
    """One inside the other's argument, and both by values of their own at once."""
    b = ProgramBuilder()
    x, w = b.input((32, 64)), b.input((64, 48))
    b.output(stable_softmax(b, b.matmul(stable_softmax(b, x), w)))
    program = resolve(b)
    found = find_shifts(program)
    assert [shift.node for shift in found] == [exp_of(program, 0), exp_of(program, 1)]
    assert found[0].axes != found[1].axes
    assert are_admissible(program, found)


def row_in_two_parts() -> Program:
    """The softmax of a row of which 64 elements are one tensor and one is another."""
    b = ProgramBuilder()
    old, new = b.function(EXP, b.input((32, 64))), b.function(EXP, b.input((32, 1)))
    total = b.binary(Kind.ADD, b.reduce(Kind.REDUCE_SUM, old, (1,)), new)
    b.output(b.binary(Kind.DIV, old, total))
    b.output(b.binary(Kind.DIV, new, total))
    return resolve(b)


def test_exps_that_are_added_up() -> None:
    """One value is subtracted from both; one of its own from each changes the quotient."""
    program = row_in_two_parts()
    old, new = exp_of(program, 0), exp_of(program, 1)
    joint = Shift(old, ("j",), joint=old), Shift(new, (), joint=old)
    assert find_shifts(program) == joint
    assert joint[0].group == joint[1].group
    assert not are_admissible(program, [Shift(old, ("j",)), Shift(new, ())])
    assert not are_admissible(program, [Shift(old, ("j",))])


def test_exps_of_an_input_and_of_a_product() -> None:
    """A row whose first part was computed before, as maxima are that an earlier kernel stored."""
    b = ProgramBuilder()
    old = b.function(EXP, b.input((32, 64)))
    new = b.function(EXP, b.matmul(b.input((32, 16)), b.input((16, 1))))
    total = b.binary(Kind.ADD, b.reduce(Kind.REDUCE_SUM, old, (1,)), new)
    b.output(b.binary(Kind.DIV, old, total))
    b.output(b.binary(Kind.DIV, new, total))
    program = resolve(b)
    first, second = exp_of(program, 0), exp_of(program, 1)
    (axis,) = {*program.nodes[first].present} - {*program.nodes[second].present}
    joint = Shift(first, (axis,), joint=first), Shift(second, (), joint=first)
    assert find_shifts(program) == joint
    assert not are_admissible(program, [Shift(first, (axis,))])


def test_layer_norm() -> None:
    b = ProgramBuilder()
    b.output(b.matmul(layer_norm(b, b.input((16, 256))), b.input((256, 64))))
    program = resolve(b)
    assert find_shifts(program) == (Shift(0, ("j",), input=True),)
    assert not are_admissible(program, [Shift(0, ("i",), input=True)])


def test_layer_norm_of_a_sum() -> None:
    """A shift of the sum is one of either input."""
    b = ProgramBuilder()
    b.output(layer_norm(b, b.binary(Kind.ADD, b.input((16, 256)), b.input((16, 256)))))
    assert [shift.node for shift in find_shifts(resolve(b))] == [0, 1]


def test_rms_norm() -> None:
    """It depends on the mean."""
    program = resolve(rmsnorm_linear())
    assert find_shifts(program) == ()
    assert not are_admissible(program, [Shift(0, ("j",), input=True)])


def test_what_does_not_depend_on_the_mean() -> None:
    """The mean itself may be a result: it is computed from the input as it is."""
    b = ProgramBuilder()
    x = b.input((16, 256))
    b.output(layer_norm(b, x))
    mean = b.mean(x, (1,))
    b.output(mean)
    program = resolve(b)
    (shift,) = find_shifts(program)
    same = unchanged(program, shift)
    assert program.outputs[0].node in same
    assert program.outputs[1].node not in same
    assert not are_admissible(program, [shift])


@pytest.mark.parametrize("name", PROGRAMS)
def test_only_softmaxes_have_shifts(name: str) -> None:
    assert bool(find_shifts(resolve(PROGRAMS[name]()))) == ("softmax" in name or "att" in name)


def test_norm_of_softmax() -> None:
    """A norm after a softmax does not hide the shift."""
    b = ProgramBuilder()
    b.output(normalised(b, stable_softmax(b, b.input((64, 512)))))
    assert len(find_shifts(resolve(b))) == 1


def test_given_shifts_are_kept() -> None:
    """`find_shifts` looks at the program alone, not at what it was told before."""
    program = resolve(softmax())
    found = find_shifts(program)
    assert find_shifts(replace(program, shifts=(Shift(0, ("i",)),))) == found


@pytest.mark.parametrize("normalise", [True, False])
def test_exps_that_may_overflow(normalise: bool) -> None:
    """Those that no shift is known for, and from which the program subtracts nothing."""
    program = weighted_sum(normalise)
    assert unshifted_exps(program) == ([] if normalise else [exp_of(program)])
    b = ProgramBuilder()
    x = b.input((32, 64))
    b.output(b.function(EXP, b.binary(Kind.SUB, x, b.reduce(Kind.REDUCE_MAX, x, (1,)))))
    assert unshifted_exps(resolve(b)) == []


def test_exps_without_sums_that_are_divided() -> None:
    """What is one value of both: the largest of a row, and the numbers of the row."""
    b = ProgramBuilder()
    x, largest, total = b.input((32, 64)), b.input((32, 1)), b.input((32, 1))
    below = b.binary(Kind.MUL, total, b.function(EXP, largest))
    b.output(b.binary(Kind.DIV, b.function(EXP, x), below))
    found = find_shifts(resolve(b))
    assert len({shift.group for shift in found}) == 1
    assert [shift.axes for shift in found] == [("j",), ()]
