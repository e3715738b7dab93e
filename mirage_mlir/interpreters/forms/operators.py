"""What each operator of the two dialects is in normal form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import pi, sqrt

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from mirage_mlir.field.rational import simplest_rational
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.forms.definedness import Role
from mirage_mlir.interpreters.forms.indices import ZERO, of
from mirage_mlir.interpreters.forms.symbolic import Piece, Symbolic
from mirage_mlir.interpreters.forms.tensors import Tensors
from mirage_mlir.interpreters.forms.terms import Atom, Form, Undecided
from mirage_mlir.interpreters.forms.views import Views
from mirage_mlir.interpreters.operators import integer, integers, mnemonic, number, shape_of

PLAIN = ("exp", "log", "sqrt", "rsqrt", "sigmoid", "tanh")
"""Mnemonics of functions that forms know by that name."""


class Operators:
    """
    Evaluates the operators that both dialects have, and those of the kernel dialect alone.

    An operator has one result wherever it has the same operands: what a candidate leaves as it was
    has the same form even where forms are too large to be canonical.
    """

    def __init__(self, tensors: Tensors):
        self.tensors = tensors
        self.forms = tensors.forms
        self.views = views = Views(tensors)
        self._arguments: dict[int, Symbolic] = {}
        self._known: dict[tuple[object, ...], tuple[Symbolic, list[Symbolic]]] = {}
        """Results by operator and the identity of operands, which are kept with them."""
        forms = self.forms
        self._binary: dict[str, Callable[[Form, Form], Form]] = {
            "add": forms.add,
            "sub": lambda a, b: forms.add(a, b, -1),
            "mul": forms.mul,
            "div": forms.div,
            "max": forms.maximum,
        }
        self._elementwise: dict[str, Callable[[Operation, Form], Form]] = {
            "cast": lambda op, a: a,
            "convert_layout": lambda op, a: a,
            "clamp": self._clamp,
            "gelu": self._gelu,
            "pow": lambda op, a: forms.raised(a, number(op, "exponent")),
            "relu": lambda op, a: forms.maximum(a, forms.constant(0)),
            "scale": lambda op, a: forms.scale(a, number(op, "factor")),
            "silu": lambda op, a: forms.mul(a, forms.function("sigmoid", a)),
            "square": lambda op, a: forms.mul(a, a),
        }
        self._others: dict[str, Callable[[Operation, list[Symbolic]], Symbolic]] = {
            "broadcast": lambda op, x: views.broadcast(x[0], _shape(op)),
            "concat": lambda op, x: views.concat(x, integer(op, "dim")),
            "constant": lambda op, x: tensors.constant(number(op, "value"), _shape(op)),
            "layer_norm": self._layer_norm,
            "matmul": lambda op, x: tensors.matmul(*x),
            "reduce_max": lambda op, x: tensors.largest(x[0], integers(op, "dims")),
            "reduce_mean": lambda op, x: tensors.mean(x[0], integers(op, "dims")),
            "reduce_sum": lambda op, x: tensors.total(x[0], integers(op, "dims")),
            "repeat": self._repeat,
            "repeat_interleave": self._repeat,
            "reshape": lambda op, x: views.reshape(x[0], _shape(op)),
            "rms_norm": lambda op, x: self._scaled_to_unit(op, x[0], x[1:]),
            "slice": self._slice,
            "softmax": self._softmax,
            "transpose": lambda op, x: views.transpose(x[0], integers(op, "permutation")),
        }

    def argument(self, number: int, shape: Sequence[int]) -> Symbolic:
        """An argument of the functions."""
        if number not in self._arguments:
            dims = tuple(map(self.tensors.dim, shape))
            indices = [ZERO if dim.variable is None else of(dim.variable) for dim in dims]
            form = self.forms.factor(Atom("input", str(number)), indices)
            self._arguments[number] = Symbolic((Piece((), form),), dims)
        return self._arguments[number]

    def result(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        """
        The value of an operator.

        Raises:
            Undecided: it has no form.
        """
        unused = self.forms.role == Role.NEITHER
        key = (op.name, unused, *op.properties.items(), op.results[0].type, *map(id, operands))
        if key not in self._known:
            self._known[key] = self._result(op, operands), operands
        return self._known[key][0]

    def _result(self, op: Operation, operands: list[Symbolic]) -> Symbolic:
        name = mnemonic(op)
        try:
            if name in PLAIN:
                return self.tensors.function(name, operands[0])
            if (binary := self._binary.get(name)) is not None:
                return self.tensors.pairwise(binary, *operands)
            if (unary := self._elementwise.get(name)) is not None:
                return self.tensors.each(lambda form: unary(op, form), operands[0])
            if (other := self._others.get(name)) is not None:
                return other(op, operands)
        except NotInterpretable as error:
            raise Undecided(str(error)) from error
        raise Undecided(f"'{op.name}' has no normal form")

    def _clamp(self, op: Operation, a: Form) -> Form:
        low, high = number(op, "min"), number(op, "max")
        forms = self.forms
        return forms.minimum(forms.maximum(a, forms.constant(low)), forms.constant(high))

    def _gelu(self, op: Operation, a: Form) -> Form:
        """`x / 2 (1 + erf(x / sqrt(2)))`, or its approximation by tanh."""
        approximate = op.properties["approximate"]
        assert isinstance(approximate, StringAttr)
        forms = self.forms
        if approximate.data == "none":
            gate = forms.function("erf", forms.scale(a, simplest_rational(sqrt(0.5))))
        else:
            cube = forms.scale(forms.power(a, 3), simplest_rational(0.044715))
            inner = forms.scale(forms.add(a, cube), simplest_rational(sqrt(2 / pi)))
            gate = forms.function("tanh", inner)
        return forms.mul(forms.scale(a, Fraction(1, 2)), forms.add(forms.constant(1), gate))

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
