"""The numbers that a graph may use."""

from fractions import Fraction

from mirage_mlir.expr.closure import Closure, Constant
from mirage_mlir.expr.heads import Poly
from mirage_mlir.expr.normal_form import NormalForm
from mirage_mlir.field.rational import is_single
from mirage_mlir.search.program.program import Program


def scalars(
    program: Program, forms: NormalForm, closure: Closure
) -> tuple[tuple[Poly, Fraction], ...]:
    """
    The scalars of the closure, and roots that are numbers, such as x - x and x / x.

    Those that a graph cannot hold are left out: of two factors of a program each is an f32, and
    their product often none, so that graphs multiply by one after the other.
    """
    values = {one.poly: _value(one, program) for one in closure.constants}
    found = {form: value for form, value in values.items() if _is_written(value)}
    for root in closure.roots:
        if (number := forms.constant_value(root)) is not None:
            found.setdefault(root, Fraction(number))
    return tuple(found.items())


def _is_written(value: Fraction) -> bool:
    """Whether an f32 stands for a number, or for its inverse, by which a graph divides."""
    return is_single(value) or (value != 0 and is_single(1 / value))


def _value(constant: Constant, program: Program) -> Fraction:
    if constant.value is not None:
        return Fraction(constant.value)
    assert constant.axis is not None
    return Fraction(program.sizes[constant.axis]) ** constant.exponent
