"""The normal form of each operator of the two dialects."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from fractions import Fraction
from math import inf

from xdsl.ir import Operation

from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.elementwise import row_of
from mirage_mlir.equivalence.symbolic.conditions import Conditions, decided
from mirage_mlir.equivalence.symbolic.demands import Demand, Need
from mirage_mlir.equivalence.symbolic.guards import guard
from mirage_mlir.equivalence.symbolic.indices import ZERO, of, plus
from mirage_mlir.equivalence.symbolic.lowest import Forms
from mirage_mlir.equivalence.symbolic.symbolic import Piece, Symbolic, conjunction
from mirage_mlir.equivalence.symbolic.tensors import Tensors
from mirage_mlir.equivalence.symbolic.terms import Atom, Form, Undecided
from mirage_mlir.equivalence.symbolic.views import Views
from mirage_mlir.field.rational import simplest_rational
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.operators import (
    integer,
    integers,
    is_lowest,
    mnemonic,
    number,
    numbers_of,
    shape_of,
    text,
)
from mirage_mlir.operators.elementwise import Binary, FunctionName, Parameters, Row


class _OfForms:
    """What meanings are made of, for normal forms."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.constant, self.scale, self.power = forms.constant, forms.scale, forms.raised
        self.multiply, self.divide = forms.mul, forms.div
        self.maximum, self.minimum = forms.maximum, forms.minimum

    def real(self, value: float) -> Fraction:
        """What stands for an irrational number."""
        return simplest_rational(value)

    def add(self, x: Form, y: Form) -> Form:
        """`x + y`."""
        return self.forms.add(x, y)

    def subtract(self, x: Form, y: Form) -> Form:
        """`x - y`."""
        return self.forms.add(x, y, -1)

    def compare(self, predicate: str, x: Form, y: Form) -> Form:
        """1 where a comparison holds and 0 elsewhere, where this depends on no index."""
        return decided(self.forms, predicate, self.subtract(x, y))

    def select(self, condition: Form, x: Form, y: Form) -> Form:
        """`x` where a condition is 1, and `y` where it is 0."""
        return self.forms.selected(condition, x, y)

    def function(self, name: FunctionName, x: Form) -> Form:
        """A function of one number."""
        return self.forms.function(name, x)


EXTREMES = {"max": "ge", "min": "le", "abs": "ge", "relu": "ge"}
"""
Operators that give one of two operands, or one and its opposite or 0, and how that stands to it.
"""


class Operators:
    """
    Evaluates the operators that both dialects have, and those of the kernel dialect alone.

    An operator has one result wherever it has the same operands: what a candidate leaves as it was
    has the same form even where forms are too large to be canonical.

    Args:
        tensors: computes with forms.
        partial: the numbers of arguments some of whose elements may be undefined.
    """

    def __init__(self, tensors: Tensors, partial: Container[int] = ()):
        self.tensors = tensors
        self._partial = partial
        self.forms = tensors.forms
        self.views = views = Views(tensors)
        self.conditions = conditions = Conditions(tensors)
        self._arguments: dict[int, Symbolic] = {}
        self._known: dict[tuple[object, ...], tuple[Symbolic, list[Symbolic]]] = {}
        """Results by operator and the identity of operands, which are kept with them."""
        self._arithmetic = _OfForms(self.forms)
        self._others: dict[str, Callable[[Operation, list[Symbolic]], Symbolic]] = {
            "broadcast": lambda op, x: views.broadcast(x[0], _shape(op)),
            "concat": lambda op, x: views.concat(x, integer(op, "dim")),
            "compare": lambda op, x: conditions.compare(text(op, "predicate"), *x),
            "constant": self._constant,
            "cumsum": self._cumsum,
            "iota": lambda op, x: self._iota(op),
            "layer_norm": self._layer_norm,
            "matmul": lambda op, x: tensors.matmul(*x),
            "reduce_max": lambda op, x: tensors.largest(x[0], integers(op, "dims")),
            "reduce_mean": lambda op, x: tensors.mean(x[0], integers(op, "dims")),
            "reduce_sum": lambda op, x: tensors.total(x[0], integers(op, "dims")),
            "repeat": self._repeat,
            "repeat_interleave": self._repeat,
            "reshape": lambda op, x: views.reshape(x[0], _shape(op)),
            "rms_norm": lambda op, x: self._scaled_to_unit(op, x[0], x[1:]),
            "select": lambda op, x: conditions.chosen(*x),
            "slice": self._slice,
            "softmax": self._softmax,
            "transpose": lambda op, x: views.transpose(x[0], integers(op, "permutation")),
        }

    def _iota(self, op: Operation) -> Symbolic:
        if not isinstance(op, kernel.IotaOp):
            raise Undecided(f"'{op.name}' has no normal form")
        return self.tensors.iota(_shape(op), integer(op, "dim"))

    def _extreme(self, name: str, operands: Sequence[Symbolic]) -> Symbolic | None:
        """The larger or the smaller of two indices, under guards that say which it is."""
        if name not in EXTREMES:
            return None
        x, *others = operands
        y = others[0] if others else self.tensors.scale(x, Fraction(-1))
        if name == "relu":
            y = self.tensors.constant(Fraction(0), (1,) * len(x.dims))
        return self.conditions.extreme(EXTREMES[name], x, y)

    def argument(self, number: int, shape: Sequence[int], kind: str = "input") -> Symbolic:
        """An argument of the functions; or, of kind `cut`, a value that both are known to have."""
        if number not in self._arguments:
            dims = tuple(map(self.tensors.dim, shape))
            indices = [ZERO if dim.variable is None else of(dim.variable) for dim in dims]
            form = self.forms.factor(Atom(kind, str(number)), indices)
            value = Symbolic((Piece((), form),), dims)
            if number in self._partial:
                argument, read = self.forms.abstract(form)
                demand = Demand(Need("undefined", argument), read)
                value = replace(value, demands=(demand,))
            self._arguments[number] = value
        return self._arguments[number]

    def result(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        """
        The value of an operator.

        Raises:
            Undecided: it has no form.
        """
        key = (op.name, *op.properties.items(), op.results[0].type, *map(id, operands))
        if key not in self._known:
            self._known[key] = self._result(op, operands), operands
        return self._known[key][0]

    def _result(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        name = mnemonic(op)
        try:
            if name == "convert_layout":
                return operands[0]
            if (other := self._others.get(name)) is not None:
                return other(op, operands)
            if (found := self._extreme(name, operands)) is not None:
                return found
            if (row := row_of(op)) is not None:
                return self._elementwise(row, numbers_of(op, row), operands)
        except NotInterpretable as error:
            raise Undecided(str(error)) from error
        raise Undecided(f"'{op.name}' has no normal form")

    def _elementwise(self, row: Row, parameters: Parameters, operands: list[Symbolic]) -> Symbolic:
        def meaning(*forms: Form) -> Form:
            return row.mean(self._arithmetic, parameters, forms)

        if isinstance(row, Binary):
            return self.tensors.pairwise(meaning, *operands)
        return self.tensors.each(meaning, operands[0])

    def _constant(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        if is_lowest(op):
            return self.tensors.lowest(_shape(op))
        return self.tensors.constant(number(op, "value"), _shape(op))

    def _cumsum(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        """The sum over j of x[j], where `i - j >= 0`."""
        (x,), dim = operands, integer(op, "dim")
        if (j := x.dims[dim].variable) is None:
            return x
        i = self.tensors.dim(x.dims[dim].size)
        assert i.variable is not None
        before = guard(plus(of(i.variable), of(j), -1), 0, inf)
        tensors, there = self.tensors, conjunction([before])
        pieces = tensors.sum_over(x, [j], there)
        dims = (*x.dims[:dim], i, *x.dims[dim + 1 :])
        return replace(x, pieces=pieces, dims=dims, demands=tensors.of_all(x, [j], there))

    def _layer_norm(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        x, *parameters = operands
        centred = self.tensors.subtract(x, self.tensors.mean(x, [len(x.dims) - 1]))
        result = self._scaled_to_unit(op, centred, parameters[:1])
        for bias in parameters[1:]:
            result = self.tensors.add(result, bias)
        return result

    def _scaled_to_unit(self, op: Operation, x: Symbolic, weights: list[Symbolic]) -> Symbolic:
        tensors, rank = self.tensors, len(x.dims)
        square = tensors.mean(tensors.each(lambda form: self.forms.mul(form, form), x), [rank - 1])
        eps = tensors.constant(number(op, "eps"), (1,) * rank)
        result = tensors.divide(x, tensors.function("sqrt", tensors.add(square, eps)))
        for weight in weights:
            result = tensors.multiply(result, weight)
        return result

    def _softmax(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        """The maximum that is subtracted changes nothing, here as in the fields."""
        tensors, dim = self.tensors, integer(op, "dim")
        weights = tensors.function("exp", operands[0])
        return tensors.divide(weights, tensors.total(weights, [dim]))

    def _repeat(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        inner = mnemonic(op) == "repeat_interleave"
        dim, times = integer(op, "dim"), integer(op, "times")
        repeat = self.views.repeat_interleave if inner else self.views.repeat
        return repeat(operands[0], dim, times)

    def _slice(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        result = operands[0]
        bounds = zip(*(integers(op, name) for name in ("offsets", "sizes", "strides")), strict=True)
        for dim, (offset, size, stride) in enumerate(bounds):
            result = self.views.slice(result, dim, offset, size, stride)
        return result


def _shape(op: Operation) -> tuple[int, ...]:
    return shape_of(op.results[0])
