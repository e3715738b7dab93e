"""What a search may narrow to f16: numbers of random programs, by a rule of their own."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import pytest
from program_values import Array, ProgramValues, computed
from random_f16 import RandomF16Program, hard_inputs
from search_programs import normalised, stable_softmax
from tile_values import TileValues, in_parts, operands_of_products

from mirage_mlir.expr.heads import Poly
from mirage_mlir.search.multi_kernel.split import splits
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.narrowing import Narrowing
from mirage_mlir.search.program.program import Kind, Program
from mirage_mlir.search.program.program_cuts import cuts
from mirage_mlir.search.saturation.config import one_kernel_configurations
from mirage_mlir.search.saturation.saturate import Saturation
from mirage_mlir.search.saturation.values import Algebra
from mirage_mlir.targets.target import H200

LARGEST, LEAST = 65504.0, 2.0**-14
"""The largest number of f16, and the least normal one."""

NEAR = 1e-6
"""How far two ways to compute a value may be apart."""

DRAWS = 8

MOST_NODES = 40
"""Of random programs: hypergraphs of larger ones take seconds."""


def narrowed_of(program: Program, values: ProgramValues) -> list[Array]:
    """What a program narrows itself, in parts."""
    kept = {tensor.node for tensor in program.inputs if tensor.element_type == "f16"}
    kept |= {n for n, node in enumerate(program.nodes) if node.element_type == "f16"}
    return [in_parts(values.values[number]) for number in sorted(kept)]


def is_never_above(one: Sequence[Array], other: Sequence[Array]) -> bool:
    """Whether a value is no larger than another one wherever both stand together, in all draws."""
    return all(
        bool((np.abs(a) <= np.abs(b) * (1 + NEAR)).all()) for a, b in zip(one, other, strict=True)
    )


def may_be_narrowed(value: Sequence[Array], narrowed: Sequence[Sequence[Array]]) -> bool:
    """
    Whether a value overflows, or underflows, only where something does that the program narrows.

    Args:
        value: in each draw.
        narrowed: values of the program, each in each draw.
    """
    below = all(np.abs(array).max() <= LARGEST for array in value)
    above = all((np.abs(array)[array != 0] >= LEAST).all() for array in value)
    return (below or any(is_never_above(value, other) for other in narrowed)) and (
        above or any(is_never_above(other, value) for other in narrowed)
    )


def argument_shapes(program: Program) -> list[tuple[int, ...]]:
    """The shape of each argument."""
    shapes = {tensor.argument: program.shape(tensor.axes) for tensor in program.inputs}
    return [shapes[number] for number in range(len(shapes))]


def wrongly_narrowed(program: Program) -> Iterator[Poly]:
    """Operands of products, in any configuration, that numbers show may not be narrowed."""
    shapes = argument_shapes(program)
    draws = [ProgramValues(program, hard_inputs(shapes, seed)) for seed in range(DRAWS)]
    narrowed = list(zip(*(narrowed_of(program, draw) for draw in draws), strict=True))
    algebra = Algebra.of(program)
    for configuration in one_kernel_configurations(program):
        graph = Saturation(algebra, configuration).run()
        inputs = [[draw.values[one.node] for one in program.inputs] for draw in draws]
        found = [TileValues(algebra, graph, each).values for each in inputs]
        for operand in operands_of_products(graph):
            if not may_be_narrowed([values[operand] for values in found], narrowed):
                yield graph.values[operand].form


def programs(count: int) -> Iterator[Program]:
    """Random ones with a product, all of whose axes have the same size."""
    for seed in range(count):
        program = resolve(RandomF16Program(seed).builder)
        if len(program.nodes) <= MOST_NODES:
            yield program


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_programs() -> None:
    """Nothing is narrowed that overflows, or underflows, where the program does not."""
    for program in programs(8):
        assert list(wrongly_narrowed(program)) == []


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_search_that_narrows_everything_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def admits(narrowing: Narrowing, form: Poly) -> bool:
        return True

    monkeypatch.setattr(Narrowing, "admits", admits)
    assert sum(any(wrongly_narrowed(program)) for program in programs(8)) >= 4


def marked(program: Program, arguments: Sequence[Array]) -> Iterator[Array]:
    """The magnitudes of what a program says that it narrows, or reads in f16, in order of size."""
    values = ProgramValues(program, arguments).values
    kept = [tensor.node for tensor in program.inputs if tensor.element_type == "f16"]
    kept += [n for n, node in enumerate(program.nodes) if node.element_type == "f16"]
    for number in dict.fromkeys(kept):
        yield np.sort(np.abs(values[number]).ravel())


def are_among(found: Iterable[Array], wanted: Sequence[Array]) -> bool:
    """Whether each array is one of several, but for roundings."""
    return all(
        any(one.shape == other.shape and np.allclose(one, other, NEAR, 0) for other in wanted)
        for one in found
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_parts_of_a_program_narrow_what_it_narrows() -> None:
    """In kernels of a program cut in two, and tensors between them, no other value is f16."""
    between = 0
    for program in programs(6):
        arguments = hard_inputs(argument_shapes(program), 1)
        wanted = list(marked(program, arguments))
        for cut in cuts(program):
            first = [arguments[source.number] for source in cut.first.arguments]
            assert are_among(marked(cut.first.program, first), wanted)
            made = computed(cut.first.program, first)
            second = [
                arguments[source.number] if source.kernel is None else made[source.number]
                for source in cut.second.arguments
            ]
            assert are_among(marked(cut.second.program, second), wanted)
            between += sum(one.element_type == "f16" for one in cut.first.program.outputs)
        for split in splits(program, H200):
            # Nothing is subtracted there from what exp is applied to.
            found = [one for one in marked(split.program, arguments) if np.isfinite(one).all()]
            assert are_among(found, wanted)
    assert between > 5


def admitted(builder: ProgramBuilder) -> tuple[Algebra, Callable[[Poly | None], bool]]:
    """A program's values, and whether one of them may be narrowed."""
    algebra = Algebra.of(resolve(builder))

    def admits(form: Poly | None) -> bool:
        assert form is not None
        return algebra.narrowing.admits(form)

    return algebra, admits


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32"])
def test_a_gain_before_the_norm(kind: str) -> None:
    """The program narrows x and the result; x * g may exceed both, which f16 has no room for."""
    b = ProgramBuilder()
    x, gain, w = b.input((16, 64), kind), b.input((64,), kind), b.input((64, 32), kind)
    b.output(b.matmul(normalised(b, x, gain), w, kind), kind)
    algebra, admits = admitted(b)
    forms = algebra.forms
    first, second, *_ = algebra.sources
    assert admits(first)
    assert admits(second)
    assert admits(forms.mul(first, second)) == (kind != "f16")


def test_weights_of_a_softmax() -> None:
    """exp(S - max) is at most 1 and at least the quotient; without a quotient nothing bounds it."""
    b = ProgramBuilder()
    scores, v = b.input((16, 64), "f32"), b.input((64, 32))
    b.output(b.matmul(stable_softmax(b, scores), v))
    algebra, admits = admitted(b)
    forms = algebra.forms
    weights = forms.function("exp", algebra.sources[0])
    assert admits(weights)
    assert not admits(algebra.sources[0])
    assert not admits(forms.mul(weights, weights))
    assert not admits(forms.mul(weights, algebra.sources[1]))


def test_terms_of_a_sum() -> None:
    """Each may exceed the sum that the program narrows."""
    b = ProgramBuilder()
    x, y, w = b.input((16, 64), "f32"), b.input((16, 64), "f32"), b.input((64, 32))
    b.output(b.matmul(b.binary(Kind.ADD, x, y), w))
    algebra, admits = admitted(b)
    one, other, _ = algebra.sources
    assert admits(algebra.forms.add(one, other))
    assert not admits(one)
    assert not admits(other)


def test_scaled_by_a_constant() -> None:
    """There is room between x and x / 8, which the program both narrows, and not beyond them."""
    b = ProgramBuilder()
    x, w = b.input((16, 64)), b.input((64, 32))
    b.output(b.matmul(b.binary(Kind.MUL, x, b.constant(0.125)), w))
    algebra, admits = admitted(b)
    forms, (given, _) = algebra.forms, algebra.sources
    for factor, allowed in ((1, 1), (Fraction(1, 2), 1), (8, 0), (Fraction(1, 16), 0)):
        with forms.lowering():
            scaled = forms.mul(given, forms.constant(factor))
        assert admits(scaled) == bool(allowed)
