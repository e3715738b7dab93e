"""Programs cut in two: the parts, one after the other, compute what the whole computes."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from program_values import Array, computed
from search_programs import normalised

from mirage_mlir.search.multi_kernel.forms import outermost, products, with_fewer_products
from mirage_mlir.search.multi_kernel.split import Split, splits
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind, Program
from mirage_mlir.search.program.program_cuts import ProgramCut, ProgramPart, Source, Uses, cuts
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.search.single_kernel.found import Explored
from mirage_mlir.targets.target import H200


def rmsnorm_linear() -> ProgramBuilder:
    b = ProgramBuilder()
    x, w = b.input((3, 10)), b.input((10, 4))
    b.output(b.matmul(normalised(b, x), w))
    return b


def gated() -> ProgramBuilder:
    """A whole MLP with a gate."""
    b = ProgramBuilder()
    x, gate, up, down = (b.input(shape) for shape in ((3, 6), (6, 8), (6, 8), (8, 5)))
    silu = b.function(Function("silu"), b.matmul(x, gate))
    b.output(b.matmul(b.binary(Kind.MUL, silu, b.matmul(x, up)), down))
    return b


def attention() -> ProgramBuilder:
    """As a softmax without a maximum; the same freedom to subtract one."""
    b = ProgramBuilder()
    q, k, v = b.input((2, 3, 4)), b.input((2, 4, 9)), b.input((2, 9, 5))
    powers = b.function(Function("exp"), b.matmul(q, k))
    weights = b.binary(Kind.DIV, powers, b.reduce(Kind.REDUCE_SUM, powers, (2,)))
    b.output(b.matmul(weights, v))
    return b


def residual() -> ProgramBuilder:
    """A sum and what a norm and a matmul make of it, both returned."""
    b = ProgramBuilder()
    x, r, w = b.input((3, 10)), b.input((3, 10)), b.input((10, 4))
    h = b.binary(Kind.ADD, x, r)
    b.output(h)
    b.output(b.matmul(normalised(b, h), w))
    return b


def chain() -> ProgramBuilder:
    """Two matrices and a vector, the matrices multiplied first."""
    b = ProgramBuilder()
    a, c, x = b.input((6, 7)), b.input((7, 8)), b.input((8, 1))
    b.output(b.matmul(b.matmul(a, c), x))
    return b


def two_sums() -> ProgramBuilder:
    """Sums over rows and over columns of the same product."""
    b = ProgramBuilder()
    x, y = b.input((4, 6), "f32"), b.input((4, 6), "f32")
    product = b.binary(Kind.MUL, x, y)
    b.output(b.reduce(Kind.REDUCE_SUM, product, (0,)), "f32")
    b.output(b.binary(Kind.MUL, product, b.reduce(Kind.REDUCE_MAX, product, (1,))), "f32")
    return b


def repeated() -> ProgramBuilder:
    """A table that is returned twice, one copy below the other, and read once."""
    b = ProgramBuilder()
    x, w, angles = b.input((3, 10)), b.input((10, 8)), b.input((1, 8), "f32")
    table = b.function(Function("sigmoid"), b.broadcast(angles, (2, 8)))
    b.output(table)
    b.output(b.binary(Kind.MUL, b.matmul(x, w), b.slice(table, (1, 0), (1, 8), (1, 1))))
    return b


PROGRAMS = {
    "rmsnorm_linear": rmsnorm_linear,
    "gated": gated,
    "attention": attention,
    "residual": residual,
    "chain": chain,
    "two_sums": two_sums,
    "repeated": repeated,
}


def arguments_of(program: Program) -> list[Array]:
    random = np.random.default_rng(0)
    shapes = {tensor.argument: program.shape(tensor.axes) for tensor in program.inputs}
    return [random.standard_normal(shapes[number]) for number in sorted(shapes)]


def same(a: Array, b: Array) -> bool:
    """Whether the elements are the same, in order: axes of a part may have been merged."""
    return a.size == b.size and np.allclose(a.ravel(), b.ravel(), rtol=1e-9, atol=1e-12)


def of_part(part: ProgramPart, arguments: Sequence[Array], stored: Sequence[Array]) -> list[Array]:
    given = [(arguments if s.kernel is None else stored)[s.number] for s in part.arguments]
    return computed(part.program, given)


def joined(cut: ProgramCut, first: Sequence[Array], second: Sequence[Array]) -> list[Array]:
    return [(first, second)[source.kernel or 0][source.number] for source in cut.results]


@pytest.mark.parametrize("name", PROGRAMS)
def test_parts_compute_the_whole(name: str) -> None:
    program = resolve(PROGRAMS[name]())
    arguments = arguments_of(program)
    expected = computed(program, arguments)
    found = list(cuts(program))
    assert found
    for cut in found:
        first = of_part(cut.first, arguments, [])
        second = of_part(cut.second, arguments, first)
        assert all(map(same, joined(cut, first, second), expected))
        # The first part computes something, and no more than is needed.
        assert any(node.kind is not Kind.INPUT for node in cut.first.program.nodes)
        read = {s.number for s in cut.second.arguments if s.kernel is not None}
        made = {s.number for s in cut.results if s.kernel == 0}
        assert read | made == set(range(len(cut.first.program.outputs)))


def chunks(program: Program, axis: str, count: int) -> list[slice]:
    size = -(-program.sizes[axis] // count)
    return [slice(n * size, (n + 1) * size) for n in range(-(-program.sizes[axis] // size))]


def parts_of(split: Split, arguments: Sequence[Array], count: int) -> list[Array]:
    """What the first kernel stores, for each block along the axis of which sums stay open."""
    first = split.first.program
    (axis,) = first.open_sums
    stored: list[list[Array]] = []
    for chunk in chunks(first, axis, count):
        given: dict[int, Array] = {}
        for tensor in first.inputs:
            whole = arguments[split.first.arguments[tensor.argument].number]
            cut = [chunk if a == axis else slice(None) for a in tensor.axes]
            given[tensor.argument] = whole.reshape(first.shape(tensor.axes))[tuple(cut)]
        size = len(range(first.sizes[axis])[chunk])
        part = replace(first, sizes={**first.sizes, axis: size})
        maxima = [_maximum(part, number, given) for number in range(len(first.shifts))]
        summed = replace(part, outputs=part.computed)
        results = computed(summed, [given[number] for number in sorted(given)])
        for number, node in enumerate(split.sums):
            for shift, degree in enumerate(split.degrees[node]):
                scale = np.exp(-degree * maxima[shift])
                missing = (1,) * (results[number].ndim - scale.ndim)
                results[number] = results[number] * scale.reshape(scale.shape + missing)
        stored.append([*results, *maxima])
    return [np.stack(arrays) for arrays in zip(*stored, strict=True)]


def _maximum(program: Program, number: int, given: dict[int, Array]) -> Array:
    """The largest value of a shift's argument along its axes, the others in order."""
    shift = program.shifts[number]
    axes = program.nodes[shift.node].axes
    whole = replace(program.outputs[0], node=shift.node, axes=axes, partial=(), shift=None)
    (value,) = computed(replace(program, outputs=(whole,)), [given[n] for n in sorted(given)])
    present = [axis for axis in axes if axis is not None]
    return np.max(value, axis=tuple(present.index(axis) for axis in shift.axes))


@pytest.mark.parametrize("parts", [1, 2, 3])
@pytest.mark.parametrize("name", ["rmsnorm_linear", "gated", "attention"])
def test_parts_of_sums_add_up(name: str, parts: int) -> None:
    program = resolve(PROGRAMS[name]())
    arguments = arguments_of(program)
    expected = computed(program, arguments)
    found = list(splits(program, H200))
    assert found
    for split in found:
        stored = parts_of(split, arguments, parts)
        cut = split.cut(len(stored[0]))
        got = joined(cut, stored, of_part(cut.second, arguments, stored))
        assert all(map(same, got, expected))


def test_fewer_products() -> None:
    """A (B x) for (A B) x; nothing where the program as written has the fewest."""
    program = resolve(chain())
    form = with_fewer_products(Explored(Algebra.of(program)), H200)
    assert form is not None
    assert (products(program), products(form)) == (6 * 7 * 8 + 6 * 8, 7 * 8 + 6 * 7)
    arguments = arguments_of(program)
    assert all(map(same, computed(form, arguments), computed(program, arguments)))
    for name in ("gated", "attention", "residual", "two_sums"):
        explored = Explored(Algebra.of(resolve(PROGRAMS[name]())))
        assert with_fewer_products(explored, H200) is None


@pytest.mark.parametrize("name", ["rmsnorm_linear", "gated", "attention"])
def test_sums_outermost(name: str) -> None:
    """The same program, in which no sum over the axis needs another."""
    program = resolve(PROGRAMS[name]())
    arguments = arguments_of(program)
    expected = computed(program, arguments)
    stored = {axis for output in program.outputs for axis in output.axes}
    walked = [axis for axis in program.sizes if axis not in stored]
    explored = Explored(Algebra.of(program))
    forms = [(axis, form) for axis in walked for form in outermost(explored, axis, H200)]
    assert forms
    for axis, form in forms:
        assert all(map(same, computed(form, arguments), expected))
        needs = Uses(form).needs
        sums = [number for number, node in enumerate(form.nodes) if axis in node.reduced]
        assert sums
        assert all(needs[number].isdisjoint(sums) for number in sums)


def test_a_maximum_for_each_part() -> None:
    """Sums of exps are stored with the maximum that they are relative to, others without."""
    splits_of = {name: list(splits(resolve(PROGRAMS[name]()), H200)) for name in PROGRAMS}
    over_keys = [split for split in splits_of["attention"] if split.first.program.shifts]
    assert over_keys
    for split in over_keys:
        outputs = split.first.program.outputs
        assert [output.shift for output in outputs] == [None, None, 0]
        assert all(output.element_type == "f32" for output in outputs)
        assert all(degree == (1,) for degree in split.degrees.values())
    for split in splits_of["rmsnorm_linear"]:
        assert not split.first.program.shifts
        # The product and the sum of squares: the division by the norm comes after.
        assert len(split.sums) == 2


def test_what_is_stored_in_which_type() -> None:
    """What only tensor cores read is stored as they take it, all else in f32."""
    program = resolve(gated())
    uses = Uses(program)
    hidden = program.nodes[program.outputs[0].node].operands[0]
    assert uses.element_type(hidden) == "f16"
    gate = next(i for i, n in enumerate(program.nodes) if n.kind is Kind.MATMUL)
    assert uses.element_type(gate) == "f32"


def test_a_result_is_read_as_it_is_stored() -> None:
    program = resolve(residual())
    reading = [c for c in cuts(program) if c.first.program.outputs == (c.first.program.outputs[0],)]
    (at_sum,) = (
        cut
        for cut in reading
        if cut.results == (Source(0, kernel=0), Source(0, kernel=1))
        and any(source.kernel == 0 for source in cut.second.arguments)
    )
    assert at_sum.first.program.outputs[0].element_type == "f16"
    (read,) = (
        tensor
        for tensor in at_sum.second.program.inputs
        if at_sum.second.arguments[tensor.argument].kernel == 0
    )
    assert read.element_type == "f16"


def test_equal_parts_are_equal() -> None:
    """The gate and the way up are the same program: they are searched once."""
    program = resolve(gated())
    single = [
        cut.first.program.key()
        for cut in cuts(program)
        if [node.kind for node in cut.first.program.nodes].count(Kind.MATMUL) == 1
        and len(cut.first.program.nodes) == 3
    ]
    assert len(single) == 2
    assert len(set(single)) == 1
