"""
Whether the search explains every small graph that brute force finds.

A graph is explained if each of its tiles is a value of the hypergraph of its configuration and each
of its operators an edge there, up to the program's result. A right graph that is not is either
outside the axioms or missed. Outside, some tile is no sub-expression of the program by the axioms
even without indices, so that the paper's search has not got it either: there is no cancellation
(`x * y / y`, `x / (y / z)`, `norm(x / 4)`). An e-graph says so, which knows nothing of normal
forms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from brute_force import (
    COMPOSITE,
    ELEMENTWISE,
    PARTS,
    SIZE,
    UNCUT,
    BruteForce,
    Cut,
    Found,
    Tile,
    cuts,
)
from label_free import LabelFree
from search_programs import in_bf16

from mirage_mlir.expr.heads import LOOP, Poly
from mirage_mlir.search.axes import resolve
from mirage_mlir.search.builder import ProgramBuilder
from mirage_mlir.search.config import Configuration, one_kernel_configurations
from mirage_mlir.search.engine import EXPANDED
from mirage_mlir.search.hypergraph import Edge, Stage, Value
from mirage_mlir.search.program import Function, Kind, Program
from mirage_mlir.search.saturate import Saturation
from mirage_mlir.search.values import Algebra, apply_pairwise

Positions = tuple[str | None, str | None]
"""The axes of the rows and columns of a tile."""


class Place(NamedTuple):
    """A tile as the search knows it: its value in the hypergraph and its axes."""

    value: int
    axes: Positions


class Unexplained(Exception):
    """Why the search does not have a graph."""


class Explainer:
    """One configuration of one algebra."""

    def __init__(self, algebra: Algebra, configuration: Configuration, scale: Fraction) -> None:
        self.algebra = algebra
        self.configuration = configuration
        self.scale = scale
        self.saturation = Saturation(algebra, configuration)
        self.graph = self.saturation.run()
        edges = enumerate(self.graph.edges)
        self._made = {edge: value for value, made in edges for edge in made}

    def check(self, found: Found) -> None:
        """
        Follow a graph through the hypergraph.

        Raises:
            Unexplained: the search does not have it.
        """
        program = self.algebra.program
        places = [self._input(k) for k in range(len(program.inputs))]
        for application in found.graph:
            operands = [places[operand] for operand in application.operands]
            place: Place | None = None
            for step in COMPOSITE.get(application.operator, (application.operator,)):
                if step == "accumulate" and not self.configuration.loop:
                    continue
                place = self._step(step, operands if place is None else [place])
            assert place is not None
            places.append(place)
        self._check_output(places[-1], found.stored)

    def _check_output(self, place: Place, stored: int) -> None:
        output = self.algebra.program.outputs[0]
        value = self.graph.values[place.value]
        if value.form != self.algebra.outputs[0]:
            raise Unexplained("the result has another normal form")
        if place.axes != output.axes:
            raise Unexplained("the result has other axes")
        grid = () if stored == UNCUT else (place.axes[stored],)
        if grid != self.configuration.grid:
            raise Unexplained("the result is stored along another axis")

    def _input(self, number: int) -> Place:
        tensor = self.algebra.program.inputs[number]
        rows, columns = tensor.axes
        edge = Edge(Kind.INPUT, source=number)
        for value, edges in enumerate(self.graph.edges):
            if edge in edges:
                return Place(value, (rows, columns))
        raise Unexplained("an input is not loaded")

    def _form(self, place: Place) -> Poly:
        return self.graph.values[place.value].form

    def _step(self, name: str, operands: Sequence[Place]) -> Place:
        first = operands[0]
        match name:
            case "square":
                return self._pairwise("mul", first, first)
            case "matmul":
                return self._matmul(first, operands[1])
            case "scale":
                return self._scaled(first)
            case "sum_rows":
                return self._reduced(first, 0)
            case "sum_columns":
                return self._reduced(first, 1)
            case "accumulate":
                return self._accumulated(first)
            case _ if name in ELEMENTWISE:
                return self._pairwise(name, first, operands[1])
            case _:
                return self._function(name, first)

    def _function(self, name: str, place: Place) -> Place:
        """By the operator: the search has names of its own for exp of what is kept in range."""
        for edge in self._made:
            if edge.kind is Kind.FUNCTION and edge.operands == (place.value,):
                if self.algebra.function_named(edge.name).name == name:
                    return Place(self._made[edge], place.axes)
        raise Unexplained(f"{name} is no edge of the hypergraph")

    def _stage(self, *places: Place) -> Stage:
        return max(self.graph.values[place.value].stage for place in places)

    def _found(self, form: Poly | None, stage: Stage, edge: Edge, axes: Positions) -> Place:
        """The place of what `edge` computes, which must be in the hypergraph."""
        if form is None:
            raise Unexplained(f"{edge.kind} has no normal form")
        swapped = Edge(edge.kind, edge.operands[::-1], edge.axis, edge.name, edge.source)
        commutes = edge.kind in (Kind.ADD, Kind.MUL, Kind.MATMUL)
        for same in (edge, swapped) if commutes else (edge,):
            # Not by its form: a value may be computed in ways that its form does not show.
            if same in self._made:
                return Place(self._made[same], axes)
        known = self.graph.find(Value(form, stage)) is not None
        reason = "for that" if known else ", nor is the value there"
        text = self.algebra.forms.show(form)
        raise Unexplained(f"{edge.kind} makes {text}: the hypergraph has no edge {reason}")

    def _pairwise(self, name: str, a: Place, b: Place) -> Place:
        axes: list[str | None] = []
        for mine, other in zip(a.axes, b.axes, strict=True):
            if None not in (mine, other) and mine != other:
                raise Unexplained(f"{name} aligns different axes")
            axes.append(other if mine is None else mine)
        kind = Kind(name)
        form = apply_pairwise(self.algebra.forms, kind, self._form(a), self._form(b))
        edge = Edge(kind, (a.value, b.value))
        return self._found(form, self._stage(a, b), edge, (axes[0], axes[1]))

    def _matmul(self, a: Place, b: Place) -> Place:
        (rows, axis), (other, columns) = a.axes, b.axes
        if axis is None and other is None:
            # One term is summed.
            return self._pairwise("mul", a, b)
        if axis is None or axis != other:
            raise Unexplained("a matmul contracts different axes")
        if rows is None and columns is None:
            # For the search a row times a column is no matter of matrices.
            return self._reduced(self._pairwise("mul", a, Place(b.value, (None, axis))), 1)
        forms = self.algebra.forms
        product = forms.mul(self._form(a), self._form(b))
        bits = self.saturation.resident(self._form(a)).get(axis, 0)
        form = forms.bind(product, axis, bits) if bits else None
        edge = Edge(Kind.MATMUL, (a.value, b.value), axis)
        return self._found(form, self._stage(a, b), edge, (rows, columns))

    def _scaled(self, place: Place) -> Place:
        for number, (_, value) in enumerate(self.algebra.constants):
            constant = self.graph.find(Value(self.algebra.constants[number][0], Stage.INVARIANT))
            if value == self.scale and constant is not None:
                return self._pairwise("mul", place, Place(constant, (None, None)))
        raise Unexplained("the scale is no constant of the program")

    def _reduced(self, place: Place, dim: int) -> Place:
        axis = place.axes[dim]
        form = self._form(place)
        bits = 0 if axis is None else self.saturation.resident(form).get(axis, 0)
        if axis is None or not bits:
            raise Unexplained("a sum over an axis that the value lacks")
        axes = (None, place.axes[1]) if dim == 0 else (place.axes[0], None)
        edge = Edge(Kind.REDUCE_SUM, (place.value,), axis)
        total = self.algebra.forms.bind(form, axis, bits)
        return self._found(total, self._stage(place), edge, axes)

    def _accumulated(self, place: Place) -> Place:
        form: Poly | None = self._form(place)
        for axis in self.configuration.loop:
            form = self.algebra.forms.bind(form, axis, LOOP)
        edge = Edge(Kind.ACCUMULATE_SUM, (place.value,))
        # The tile still has its part of the axis, unless that is summed already.
        left = () if form is None else self.algebra.forms.axes(form)
        axes = [axis if axis in left else None for axis in place.axes]
        return self._found(form, Stage.POST, edge, (axes[0], axes[1]))


class Terms:
    """Tiles as expressions without indices, with the numbers that give their shapes."""

    def __init__(self, brute: BruteForce) -> None:
        self.brute = brute

    def target(self) -> str:
        """The program's result."""
        steps = self.brute.builder.steps
        inputs = iter(range(len(steps)))
        texts: list[str] = []
        for step in steps:
            operands = [texts[operand] for operand in step.operands]
            match step.kind:
                case Kind.INPUT:
                    texts.append(f'(In "x{next(inputs)}")')
                case Kind.CONSTANT:
                    texts.append(_number(step.value))
                case Kind.MATMUL:
                    texts.append(f"(Sum {SIZE} (Mul {operands[0]} {operands[1]}))")
                case Kind.REDUCE_SUM:
                    texts.append(f"(Sum {SIZE ** len(step.reduced)} {operands[0]})")
                case Kind.FUNCTION:
                    assert step.function is not None
                    texts.append(self._one(step.function.name, operands, 1))
                case _:
                    texts.append(self._one(step.kind.value, operands, 1))
        return texts[self.brute.builder.outputs[0].step]

    def tiles(self, cut: Cut, found: Found) -> list[str]:
        """All tiles of a graph but the inputs, those inside chains of operators included."""
        tiles = self.brute.tiles(cut)
        texts = [f'(In "x{number}")' for number in range(len(tiles))]
        inside: list[str] = []
        for name, numbers in found.graph:
            operands, names = [tiles[i] for i in numbers], [texts[i] for i in numbers]
            for step in COMPOSITE.get(name, (name,)):
                if step == "accumulate" and not cut.has_loop:
                    continue
                names = [self._one(step, names, _terms(step, operands[0]))]
                inside.append(names[0])
                result = self.brute.numbers.apply(step, operands)
                assert result is not None
                operands = [result]
            tiles.append(operands[0])
            texts.append(names[0])
        return inside

    def _one(self, name: str, operands: Sequence[str], terms: int) -> str:
        first, last = operands[0], operands[-1]
        match name:
            case "add" | "mul" | "div":
                return f"({name.capitalize()} {first} {last})"
            case "sub":
                return f"(Add {first} (Mul {_number(Fraction(-1))} {last}))"
            case "square":
                return f"(Mul {first} {first})"
            case "scale":
                return f"(Mul {first} {_number(self.brute.numbers.scale)})"
            case "matmul" | "sum_rows" | "sum_columns" | "accumulate":
                inside = f"(Mul {first} {last})" if name == "matmul" else first
                return inside if terms == 1 else f"(Sum {terms} {inside})"
            case "silu":
                return f'(Mul {first} (Fn "sigmoid" {first}))'
            case _:
                return f'(Fn "{name}" {first})'


def _number(value: Fraction) -> str:
    return f'(In "{value}")'


def _terms(step: str, operand: Tile) -> int:
    """How many terms a sum has."""
    if step == "accumulate":
        return PARTS
    return operand.shape[0 if step == "sum_rows" else 1]


@dataclass(frozen=True)
class Missed:
    """A right graph that the search should have."""

    cut: Cut
    found: Found
    reason: str

    def __str__(self) -> str:
        return f"{self.cut}: {self.found.graph} stored along {self.found.stored}: {self.reason}"


@dataclass
class Outcome:
    """What an audit of one program came to."""

    cuts: int = 0
    complete: int = 0
    """Cuts of which all graphs were enumerated."""
    graphs: int = 0
    """Graphs, not finished ones included, that were looked at."""
    right: int = 0
    """Graphs that compute the program."""
    explained: int = 0
    outside: int = 0
    """Right graphs with a tile that is no part of the program by the axioms without indices."""
    configurations: set[str] = field(default_factory=set[str])
    """Those with right graphs."""
    missed: list[Missed] = field(default_factory=list[Missed])


@dataclass(frozen=True)
class Subject:
    """
    A program to audit.

    Graphs are made of up to `most` of `operators`, enough for the shortest graphs with a loop;
    `further` operators are for runs of minutes.
    """

    build: Callable[[], ProgramBuilder]
    operators: tuple[str, ...]
    most: int
    scale: Fraction = Fraction(1)
    further: tuple[str, ...] = ()


class Audit:
    """Brute force and the search on one program."""

    def __init__(self, subject: Subject, *, further: bool = False) -> None:
        self.subject = subject
        operators = (*subject.operators, *(subject.further if further else ()))
        self.brute = BruteForce(subject.build(), operators, subject.scale)
        # Brute force knows no rounding: every value may be the operand of a tensor core.
        self.program = in_bf16(resolve(subject.build()))
        self.algebra = Algebra.of(self.program)
        self.configurations = set(one_kernel_configurations(self.program))
        self.outcome = Outcome()
        self.terms = Terms(self.brute)
        self.label_free = LabelFree([self.terms.target()])
        self._explainers: dict[Configuration, list[Explainer]] = {}

    def cuts(self) -> list[Cut]:
        """All cuts of the inputs, those first that treat an axis alike wherever it is."""
        return sorted(cuts(self.brute.shapes), key=lambda cut: self.configuration(cut) is None)

    def configuration(self, cut: Cut) -> Configuration | None:
        """The configuration of the search that a cut is; None for those that it does not have."""
        grid, loop = _cut_axes(self.program, cut.grid), _cut_axes(self.program, cut.loop)
        if grid is None or loop is None:
            return None
        configuration = Configuration(grid, loop)
        return configuration if configuration in self.configurations else None

    def run(self, cut: Cut, most: int, expired: Callable[[], bool] = lambda: False) -> None:
        """Compare all graphs of one cut."""
        outcome = self.outcome
        enumeration = self.brute.enumerate(cut, most, expired)
        outcome.cuts += 1
        outcome.complete += enumeration.complete
        outcome.graphs += enumeration.graphs
        outcome.right += len(enumeration.found)
        for found in enumeration.found:
            reason = self._reason(cut, found)
            if reason is None:
                outcome.explained += 1
                outcome.configurations.add(str(self.configuration(cut)))
            # Tiles come in order: what is made of sub-expressions is one itself or is not.
            elif not all(map(self.label_free.below, self.terms.tiles(cut, found))):
                outcome.outside += 1
            else:
                outcome.missed.append(Missed(cut, found, reason))

    def _reason(self, cut: Cut, found: Found) -> str | None:
        """Why a graph is not explained; None if it is."""
        if (configuration := self.configuration(cut)) is None:
            return "the search has no such configuration"
        if configuration not in self._explainers:
            algebras = [self.algebra]
            # As the search does it.
            if configuration.loop and self.algebra.has_products_of_sums:
                algebras.append(Algebra.of(self.program, EXPANDED))
            self._explainers[configuration] = [
                Explainer(algebra, configuration, self.subject.scale) for algebra in algebras
            ]
        reasons: list[str] = []
        for explainer in self._explainers[configuration]:
            try:
                explainer.check(found)
            except Unexplained as error:
                reasons.append(str(error))
            else:
                return None
        return "; ".join(reasons)


def _cut_axes(program: Program, dims: Sequence[int]) -> tuple[str, ...] | None:
    """The axis that is cut, if any; None unless it is one axis, and cut in all inputs with it."""
    pairs = list(zip(program.inputs, dims, strict=True))
    axes = {tensor.axes[dim] for tensor, dim in pairs if dim != UNCUT}
    if not axes:
        return ()
    if len(axes) > 1 or None in axes:
        return None
    (axis,) = axes
    alike = all((dim != UNCUT) == (axis in tensor.axes) for tensor, dim in pairs)
    return (str(axis),) if alike else None


# Programs.

SQUARE = (SIZE, SIZE)
MEAN = Fraction(1, SIZE)


def _rms(b: ProgramBuilder, x: int) -> int:
    root = b.function(Function("sqrt"), b.mean(b.binary(Kind.MUL, x, x), (1,)))
    return b.binary(Kind.DIV, x, root)


def _rmsnorm_linear() -> ProgramBuilder:
    b = ProgramBuilder()
    x, w = b.input(SQUARE), b.input(SQUARE)
    b.output(b.matmul(_rms(b, x), w))
    return b


def _weighted_rmsnorm_linear() -> ProgramBuilder:
    b = ProgramBuilder()
    x, weight, w = b.input(SQUARE), b.input((1, SIZE)), b.input(SQUARE)
    b.output(b.matmul(b.binary(Kind.MUL, _rms(b, x), weight), w))
    return b


def _lora() -> ProgramBuilder:
    b = ProgramBuilder()
    x, w, down, up = (b.input(SQUARE) for _ in range(4))
    b.output(b.binary(Kind.ADD, b.matmul(x, w), b.matmul(b.matmul(x, down), up)))
    return b


def _gated_mlp() -> ProgramBuilder:
    b = ProgramBuilder()
    x, gate, up = (b.input(SQUARE) for _ in range(3))
    b.output(b.binary(Kind.MUL, b.function(Function("silu"), b.matmul(x, gate)), b.matmul(x, up)))
    return b


def _attention_core() -> ProgramBuilder:
    b = ProgramBuilder()
    q, k, v = (b.input(SQUARE) for _ in range(3))
    powers = b.function(Function("exp"), b.matmul(q, k))
    weights = b.binary(Kind.DIV, powers, b.reduce(Kind.REDUCE_SUM, powers, (1,)))
    b.output(b.matmul(weights, v))
    return b


def _centred_linear() -> ProgramBuilder:
    """The first half of LayerNorm."""
    b = ProgramBuilder()
    x, w = b.input(SQUARE), b.input(SQUARE)
    b.output(b.matmul(b.binary(Kind.SUB, x, b.mean(x, (1,))), w))
    return b


def _sum_of_linears() -> ProgramBuilder:
    """Two products with one sum, of which one is enough."""
    b = ProgramBuilder()
    x, y, u, v = (b.input(SQUARE) for _ in range(4))
    s = b.binary(Kind.ADD, u, v)
    b.output(b.binary(Kind.ADD, b.matmul(x, s), b.matmul(y, s)))
    return b


def _residual() -> ProgramBuilder:
    """The inner step of nTrans, `x + alpha * (h - x)`."""
    b = ProgramBuilder()
    x, h, alpha = b.input(SQUARE), b.input(SQUARE), b.input((1, SIZE))
    step = b.binary(Kind.MUL, alpha, b.binary(Kind.SUB, h, x))
    b.output(b.binary(Kind.ADD, x, step))
    return b


def _softmax() -> ProgramBuilder:
    b = ProgramBuilder()
    powers = b.function(Function("exp"), b.input(SQUARE))
    b.output(b.binary(Kind.DIV, powers, b.reduce(Kind.REDUCE_SUM, powers, (1,))))
    return b


SUMS = ("sum_columns", "accumulate", "sum_accumulate")
MATMULS = ("matmul", "matmul_accumulate")
NORM = ("mul", "div", "sqrt", "rms", "rms_accumulate", *MATMULS)
MEANS = ("mean", "mean_accumulate", "rows_accumulate")

SUBJECTS = {
    "rmsnorm_linear": Subject(_rmsnorm_linear, NORM, 4, MEAN, ("scale", *SUMS)),
    "weighted_rmsnorm_linear": Subject(_weighted_rmsnorm_linear, NORM, 4, MEAN, ("scale", *SUMS)),
    "lora": Subject(_lora, ("add", "mul", "accumulate", *MATMULS), 4),
    "gated_mlp": Subject(_gated_mlp, ("add", "mul", "silu", "accumulate", *MATMULS), 4),
    "attention_core": Subject(
        _attention_core,
        ("exp", "div", "sum_accumulate", *MATMULS),
        5,
        further=("mul", "sum_columns", "accumulate"),
    ),
    "centred_linear": Subject(
        _centred_linear, ("sub", "mul", *MEANS, *MATMULS), 5, MEAN, ("sum_rows", "accumulate")
    ),
    "sum_of_linears": Subject(_sum_of_linears, ("add", "mul", "accumulate", *MATMULS), 4),
    "residual": Subject(_residual, ("add", "sub", "mul"), 4),
    "softmax": Subject(_softmax, ("exp", "mul", "div", *SUMS), 4),
}
