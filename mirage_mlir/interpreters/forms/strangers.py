"""
Where a candidate that computes something else begins to: the first value that is a stranger.

A value is known when it, or what becomes of it when all blocks and iterations are added up, is a
part of the reference: one of its values, an argument of its functions, what it divides by, or a
product of some factors of such a value. The first operator whose value is not known is likely what
is wrong; it is a help for people, and no argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from mirage_mlir.dialects import threadblock
from mirage_mlir.interpreters.forms.algebra import components
from mirage_mlir.interpreters.forms.evaluate import outputs
from mirage_mlir.interpreters.forms.functions import Functions
from mirage_mlir.interpreters.forms.operators import Operators
from mirage_mlir.interpreters.forms.tensors import Symbolic, Tensors
from mirage_mlir.interpreters.forms.terms import Factor, Form, Monomial, Undecided, variables_of

MOST_FACTORS = 6
"""Factors of a product of which all parts are known; 2^6."""


class _Known:
    """The parts of a reference."""

    def __init__(self, forms: Functions) -> None:
        self.forms = forms
        self.parts: set[Form] = set()

    def add(self, form: Form) -> None:
        """A value and its parts."""
        key, _ = self.forms.abstract(form)
        if key in self.parts:
            return
        self.parts.add(key)
        for monomial, coefficient in key:
            for part in _products(monomial):
                for number in {Fraction(1), coefficient}:
                    self.parts.add(self.forms.abstract(((part, number),))[0])
            for factor in monomial:
                for inner in self.forms.atoms[factor.atom].forms:
                    self.add(inner)

    def holds(self, value: Symbolic) -> bool:
        """Whether a value, or its sum over blocks and iterations, is a part."""
        if self.forms.abstract(value.form)[0] in self.parts:
            return True
        own = {v for dim in value.dims for v in dim.digits}
        form = value.form
        free = {v for m, _ in form for v in variables_of(m) if not v.bound and v not in own}
        for variable in sorted(free, reverse=True):
            form = self.forms.bind(form, variable, None)
        return self.forms.abstract(form)[0] in self.parts


def _products(monomial: Monomial) -> Iterator[Monomial]:
    """Products of some of the factors that no sum ties together, and of sums."""
    outside, groups = components(monomial)
    pieces: list[list[Factor]] = [[f] for f in outside] + groups
    pieces += [[f._replace(exponent=1)] for f in outside if f.exponent != 1]
    for count in range(1, min(len(pieces), MOST_FACTORS) + 1):
        for chosen in combinations(pieces[:MOST_FACTORS], count):
            yield tuple(sorted(f for piece in chosen for f in piece))
    for group in groups:
        # What is multiplied before it is added up, and the factors that it is made of.
        for count in range(1, min(len(group), MOST_FACTORS) + 1):
            for members in combinations(group[:MOST_FACTORS], count):
                yield tuple(sorted(members))


def first_stranger(reference: FuncOp, candidate: FuncOp) -> str:
    """The first operator of the candidate whose value is no part of the reference; or nothing."""
    forms = Functions()
    operators = Operators(Tensors(forms))
    known = _Known(forms)
    found: list[Operation] = []

    def compare(op: Operation, value: Symbolic) -> None:
        try:
            loads = isinstance(op, threadblock.LoadOp)
            if not (found or loads or known.holds(value)):
                found.append(op)
        except Undecided:
            pass

    try:
        for value in outputs(operators, reference, lambda op, value: known.add(value.form)):
            known.add(value.form)
        outputs(operators, candidate, compare)
    except Undecided:
        pass
    if not found:
        return ""
    name = found[0].results[0].name_hint
    where = f" (%{name})" if name else ""
    return f"'{found[0].name}'{where} is the first whose value is no part of the reference"
