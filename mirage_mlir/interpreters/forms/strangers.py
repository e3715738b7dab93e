"""
Where a candidate that computes something else begins to: the first value that is a stranger.

A value is known when it, or what becomes of it when all blocks and iterations are added up, is a
part of the reference: one of its values, an argument of its functions, what it divides by, or a
product of some factors of such a value, all up to constant factors. The first operator whose value
is not known is likely what is wrong; it is a help for people, and no argument.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from mirage_mlir.dialects import threadblock
from mirage_mlir.interpreters.forms.evaluate import outputs
from mirage_mlir.interpreters.forms.functions import Functions
from mirage_mlir.interpreters.forms.operators import Operators
from mirage_mlir.interpreters.forms.tensors import Symbolic, Tensors
from mirage_mlir.interpreters.forms.terms import (
    Factor,
    Form,
    Monomial,
    Undecided,
    bound_of,
    components,
    named,
    renamed,
)

MOST_FACTORS = 6
"""Factors of a product of which all parts are known; 2^6."""


class _Known:
    """The parts of a reference, up to constant factors."""

    def __init__(self, forms: Functions) -> None:
        self.forms = forms
        self.parts: set[Form] = set()

    def add(self, form: Form) -> None:
        """A value and its parts."""
        key = self._key(form)
        if key in self.parts:
            return
        self.parts.add(key)
        for monomial, _ in key:
            for part in _products(self._opened(monomial)):
                self.parts.add(self._key(((part, Fraction(1)),)))
            for factor in monomial:
                for inner in self.forms.atoms[factor.atom].forms:
                    self.add(inner)

    def holds(self, value: Symbolic) -> bool:
        """Whether a value, or its sum over blocks and iterations, is a part."""
        own = {v for dim in value.dims for v in dim.digits}
        form = value.form
        inner = {
            v
            for m, _ in form
            for f in m
            for p in f.places
            if own.isdisjoint(p.digits)
            for v in p.digits
            if not (v.bound or v.fixed)
        }
        for variable in sorted(inner, reverse=True):
            form = self.forms.bind(form, variable, None)
        return not form or self._key(form) in self.parts

    def _key(self, form: Form) -> Form:
        if len(form) > 1:
            _, _, form = self.forms.primitive(form)
        else:
            form = tuple((monomial, Fraction(1)) for monomial, _ in form)
        return self.forms.abstract(form)[0]

    def _opened(self, monomial: Monomial) -> list[list[Factor]]:
        """The factors that no sum ties together, the sums, and what is in the sums."""
        outside, groups = components(monomial)
        pieces = [[f] for f in outside] + groups
        for group in groups:
            free = {v: self.forms.variable(v.size) for v in bound_of(group)}
            pieces += [[f] for f in renamed(group, free)]
        return pieces


def _products(pieces: list[list[Factor]]) -> Iterator[Monomial]:
    """Products of some pieces, and their reciprocals."""
    for count in range(1, min(len(pieces), MOST_FACTORS) + 1):
        for chosen in combinations(pieces[:MOST_FACTORS], count):
            product = [f for piece in chosen for f in piece]
            yield named(product)
            if not bound_of(product):
                yield named([f._replace(exponent=-f.exponent) for f in product])


def first_stranger(reference: FuncOp, candidate: FuncOp) -> str:
    """The first operator of the candidate whose value is no part of the reference; or nothing."""
    forms = Functions()
    operators = Operators(Tensors(forms))
    known = _Known(forms)
    found: list[Operation] = []

    def compare(op: Operation, value: Symbolic) -> None:
        try:
            source = isinstance(op, threadblock.LoadOp | threadblock.ConstantOp)
            if not (found or source or known.holds(value)):
                found.append(op)
        except Undecided:
            pass

    try:
        outputs(operators, reference, lambda op, value: known.add(value.form))
        outputs(operators, candidate, compare)
    except Undecided:
        pass
    if not found:
        return ""
    name = found[0].results[0].name_hint
    where = f" (%{name})" if name else ""
    return f"'{found[0].name}'{where} is the first whose value is no part of the reference"
