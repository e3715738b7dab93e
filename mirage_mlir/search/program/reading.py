"""Programs read as normal forms: the value of every node."""

from collections.abc import Iterator, Sequence
from math import prod

from mirage_mlir.expr.heads import FULL, GRID, Maximum, Poly
from mirage_mlir.expr.normal_form import NormalForm
from mirage_mlir.search.program.narrowing import Narrowing, ShiftedExps
from mirage_mlir.search.program.program import (
    ROUNDED,
    Function,
    Kind,
    Node,
    Output,
    Program,
    Shift,
    narrower,
)

OPAQUE_EXP = "exp of a sum"
"""
The name of exp in normal forms where no shift is known for its argument, and that is a sum or has a
minus sign.

Known as exp it would split, exp(x - y) = exp(x) / exp(y), exp(-x) = 1 / exp(x), and neither of the
parts need be within the range of floating-point numbers where the whole is.
"""

EXPANDED_POWERS = range(2, 5)
"""Exponents of `pow` that are written as products, which sums and factors can move through."""


def apply_pairwise(forms: NormalForm, kind: Kind, a: Poly | None, b: Poly | None) -> Poly | None:
    """The elementwise operation `kind` on two forms; None where it is not defined."""
    match kind:
        case Kind.ADD:
            return forms.add(a, b)
        case Kind.SUB:
            return forms.sub(a, b)
        case Kind.MUL:
            return forms.mul(a, b)
        case Kind.DIV:
            return forms.div(a, b)
        case _:
            assert kind is Kind.MAX
            return forms.maximum(a, b)


def without_maxima(forms: NormalForm, form: Poly, axes: tuple[str, ...]) -> Poly:
    """A sum without those terms that read a maximum and do not depend on `axes`."""
    kept = {
        monomial: coefficient
        for monomial, coefficient in forms.monomials(form)
        if any(axis in forms.current(monomial) for axis in axes)
        or not any(isinstance(forms.heads[f.head], Maximum) for f in monomial.factors)
    }
    return forms.intern(kept)


class Reading:
    """
    Computes the form of every node of a program.

    The argument of an exp that the program has a shift for is read without the maxima that were
    subtracted from it: what is computed of it takes away a maximum of its own.
    """

    def __init__(self, program: Program, forms: NormalForm, *, sized: bool = False) -> None:
        """
        Args:
            program: what to read.
            forms: where its values are made.
            sized: read the division of a sum by its number of terms as one by the size of the
                axis, which cancels where the sum of what lacks the axis brings that in.
        """
        self.program = program
        self.forms = forms
        self.sized = sized
        self.functions: dict[str, Function] = {}
        self.values: list[Poly] = []
        self.exponents: dict[Poly, Shift | None] = {}
        """The forms that exp is applied to, with their shifts."""
        self._shifts = {shift.node: shift for shift in program.shifts if not shift.input}

    def run(self) -> None:
        """Read all nodes."""
        with self.forms.lowering():
            for number, node in enumerate(self.program.nodes):
                value = self._node(number, node)
                self.values.append(self.undefined(number, node) if value is None else value)

    def stored(self, output: Output) -> Poly | None:
        """What a kernel stores for an output: sums that are left open lack the grid's bits."""
        if not output.partial:
            return self.values[output.node]
        node = self.program.nodes[output.node]
        operands = [self.values[operand] for operand in node.operands]
        bind = self.forms.bind_max if node.kind is Kind.REDUCE_MAX else self.forms.bind
        value = self.forms.mul(*operands) if node.kind is Kind.MATMUL else operands[0]
        for axis in node.reduced:
            value = bind(value, axis, FULL & ~GRID if axis in output.partial else FULL)
        return value

    def input(self, number: int, node: Node) -> Poly | None:
        """The form of an input."""
        return self.forms.input(node.name, node.present)

    def undefined(self, number: int, node: Node) -> Poly:
        """A value of its own for what is not defined, as `x / (x - x)`: no graph computes it."""
        return self.forms.input(f"undefined {number}", node.present)

    def exp(self, argument: int) -> Poly | None:
        """The form of exp of the node `argument`."""
        value, name = self.values[argument], "exp"
        shift = self._shifts.get(argument)
        if shift is not None:
            bare = without_maxima(self.forms, value, shift.axes)
            # The same exp not shifted, or along other axes, at another place is another value.
            other = self.exponents.get(bare, shift)
            if other is not None and other.axes == shift.axes:
                value = bare
            else:
                shift = None
        if shift is None and self._splits(value):
            name = OPAQUE_EXP
        # Shifted at one place and not at another, exp of one form is not shifted.
        known = self.exponents.get(value, shift)
        self.exponents[value] = None if shift is None else known
        self.functions[name] = Function("exp")
        return self.forms.function(name, value)

    def _splits(self, exponent: Poly) -> bool:
        """Whether the exp of a value is a product of several, or the inverse of one."""
        terms = self.forms.monomials(exponent)
        return len(terms) > 1 or any(coefficient < 0 for _, coefficient in terms)

    def _node(self, number: int, node: Node) -> Poly | None:
        forms = self.forms
        operands = [self.values[operand] for operand in node.operands]
        match node.kind:
            case Kind.INPUT:
                return self.input(number, node)
            case Kind.CONSTANT:
                return forms.constant(node.value)
            case Kind.VIEW:
                return operands[0]
            case Kind.FUNCTION:
                assert node.function is not None
                return self._function(node.function, node.operands)
            case Kind.MATMUL:
                return self._summed(forms.mul(*operands), node.reduced)
            case Kind.REDUCE_SUM:
                return self._summed(operands[0], node.reduced)
            case Kind.REDUCE_MAX:
                return self._largest(operands[0], node.reduced)
            case Kind.MUL if self.sized and (axes := self._averaged(node)):
                return self._divided_by_sizes(self.values[axes[0]], axes[1])
            case _:
                return apply_pairwise(forms, node.kind, *operands)

    def _summed(self, value: Poly | None, axes: tuple[str, ...]) -> Poly | None:
        for axis in axes:
            value = self.forms.bind(value, axis, FULL)
        return value

    def _largest(self, value: Poly | None, axes: tuple[str, ...]) -> Poly | None:
        for axis in axes:
            # The maximum of equal elements is any of them.
            if value is not None and axis in self.forms.free(value):
                value = self.forms.bind_max(value, axis, FULL)
        return value

    def _averaged(self, node: Node) -> tuple[int, tuple[str, ...]] | None:
        """The sum that a product makes a mean of, and the axes that are summed."""
        for total, factor in (node.operands, node.operands[::-1]):
            summed, constant = self.program.nodes[total], self.program.nodes[factor]
            if summed.kind is Kind.REDUCE_SUM and constant.kind is Kind.CONSTANT:
                count = prod(self.program.sizes[axis] for axis in summed.reduced)
                if constant.value * count == 1:
                    return total, summed.reduced
        return None

    def _divided_by_sizes(self, value: Poly | None, axes: tuple[str, ...]) -> Poly | None:
        for axis in axes:
            value = self.forms.div(value, self.forms.size(axis))
        return value

    def _function(self, function: Function, arguments: tuple[int, ...]) -> Poly | None:
        if function.name == "exp":
            return self.exp(arguments[0])
        value, *others = (self.values[argument] for argument in arguments)
        if function.name == "pow" and function.parameters[0] in EXPANDED_POWERS:
            return self.forms.power(value, int(float(function.parameters[0])))
        self.functions[str(function)] = function
        if others:
            return self.forms.function_of_two(str(function), value, *others)
        return self.forms.function(str(function), value)


def narrowing_of(program: Program, reading: Reading) -> Narrowing:
    """Which values may be narrowed to the type of operands of tensor cores."""
    types = [node.element_type for node in program.nodes]
    for tensor in program.inputs:
        types[tensor.node] = narrower(types[tensor.node], tensor.element_type)
    wanted, values = program.operand_type, reading.values
    return Narrowing(
        reading.forms,
        wanted,
        frozenset(value for value, kept in zip(values, types, strict=True) if kept == wanted),
        frozenset(
            value for value, node in zip(values, program.nodes, strict=True) if node.floor == wanted
        ),
        _rounded(program, values),
        tuple(_shifted_exps(reading)),
        program.sizes,
        any(node.function and node.function.name == ROUNDED for node in program.nodes),
    )


def _rounded(program: Program, values: Sequence[Poly]) -> dict[Poly, str]:
    """The values that all nodes that have them round, and all to the same element type."""
    types: dict[Poly, set[str]] = {}
    for value, node in zip(values, program.nodes, strict=True):
        types.setdefault(value, set()).add(node.element_type if node.rounded else "")
    return {value: kept for value, (kept, *others) in types.items() if kept and not others}


def _shifted_exps(reading: Reading) -> Iterator[ShiftedExps]:
    """The exps of a program that maxima keep in range, those with one maximum together."""
    forms = reading.forms
    shifts = {argument: shift for argument, shift in reading.exponents.items() if shift is not None}
    for group in dict.fromkeys(shift.group for shift in shifts.values()):
        exps: list[Poly] = []
        total: Poly | None = forms.zero
        with forms.lowering():
            for argument, shift in shifts.items():
                if shift.group == group and (exp := forms.function("exp", argument)) is not None:
                    exps.append(exp)
                    summed: Poly | None = exp
                    for axis in shift.axes:
                        summed = forms.bind(summed, axis, FULL)
                    total = forms.add(total, summed)
        if total is not None:
            yield ShiftedExps(tuple(exps), total)
