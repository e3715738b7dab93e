"""Whether the search has a graph: each of its tiles, looked up in the hypergraph."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from cut_graphs import UNCUT, Found
from residue_tiles import COMPOSITE, ELEMENTWISE

from mirage_mlir.expr.heads import LOOP, Poly
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.config import Configuration
from mirage_mlir.search.saturation.hypergraph import Edge, Stage, Value
from mirage_mlir.search.saturation.saturate import Saturation
from mirage_mlir.search.saturation.values import Algebra, apply_pairwise

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
