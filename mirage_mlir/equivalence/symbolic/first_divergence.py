"""
Finds the first divergence: the first operator of a wrong candidate whose value is not in the
reference.

A value is known if it is part of the reference: one of its values, an argument of its functions, a
denominator, or a product of some factors of such a value, up to constant factors. So is a value
whose sum over all blocks and iterations is. The first operator with an unknown value is likely
wrong. This helps people; it is no argument.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from mirage_mlir.dialects import threadblock
from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.algebra import Product
from mirage_mlir.equivalence.symbolic.evaluate import outputs
from mirage_mlir.equivalence.symbolic.lowest import Forms
from mirage_mlir.equivalence.symbolic.operators import Operators
from mirage_mlir.equivalence.symbolic.symbolic import Symbolic
from mirage_mlir.equivalence.symbolic.tensors import Tensors
from mirage_mlir.equivalence.symbolic.terms import (
    Form,
    Monomial,
    Undecided,
    components,
    free_of,
)

MOST_FACTORS = 6
"""Factors of a product of which all parts are known; 2^6."""


class _Known:
    """The parts of a reference, up to constant factors."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.parts: set[Form] = set()

    def add(self, form: Form) -> None:
        """A value and its parts."""
        key = self._key(form)
        if key in self.parts:
            return
        self.parts.add(key)
        for monomial, _ in key:
            for part in self._products(self._pieces(monomial)):
                self.parts.add(self._key(part))
            for factor in monomial.factors:
                for entry in self.forms.atoms[factor.atom].entries:
                    self.add(entry.form)

    def holds(self, value: Symbolic) -> bool:
        """Whether a value, or its sum over blocks and iterations, is a part."""
        for piece in value.pieces:
            inner = free_of(piece.form) - value.variables
            there = guards_.both(
                *(guards_.reading(each, inner) for each in _conditions(value, piece.guards))
            )
            if there is None:
                continue
            form = self.forms.total(piece.form, inner, there)
            if form and self._key(form) not in self.parts:
                return False
        return True

    def _key(self, form: Form) -> Form:
        if len(form) > 1:
            _, _, form = self.forms.primitive(form)
        else:
            form = tuple((monomial, Fraction(1)) for monomial, _ in form)
        return self.forms.abstract(form)[0]

    def _pieces(self, monomial: Monomial) -> list[Product]:
        """The factors that no sum ties together, the sums, and what is in the sums."""
        opened = self.forms.opened(monomial)
        whole = Monomial(opened.guards, tuple(opened.factors))
        outside, groups = components(whole, opened.over)
        pieces = [Product([f]) for f in outside.factors]
        pieces += [Product(each.factors, each.guards, opened.over) for each in groups]
        return pieces + [Product([f]) for each in groups for f in each.factors]

    def _products(self, pieces: Sequence[Product]) -> Iterator[Form]:
        """Products of some pieces, and their reciprocals."""
        for count in range(1, min(len(pieces), MOST_FACTORS) + 1):
            for chosen in combinations(pieces[:MOST_FACTORS], count):
                factors = [f for piece in chosen for f in piece.factors]
                guards = guards_.both(*(piece.guards for piece in chosen)) or ()
                over = frozenset(v for piece in chosen for v in piece.over)
                yield self.forms.reduced(Product(factors, guards, over))
                if not over:
                    inverse = [f._replace(exponent=-f.exponent) for f in factors]
                    yield self.forms.reduced(Product(inverse, guards))


def _conditions(value: Symbolic, guards: guards_.Guards) -> list[guards_.Guards]:
    return [guards, value.exists, *(dim.valid for dim in value.dims)]


def first_divergence(reference: FuncOp, candidate: FuncOp) -> str:
    """The first operator of the candidate whose value is no part of the reference; or nothing."""
    forms = Forms()
    operators = Operators(Tensors(forms))
    known = _Known(forms)
    found: list[Operation] = []

    def note(_: Operation, value: Symbolic) -> None:
        for piece in value.pieces:
            known.add(piece.form)

    def compare(op: Operation, value: Symbolic) -> None:
        try:
            source = isinstance(op, threadblock.LoadOp | threadblock.ConstantOp)
            if not (found or source or known.holds(value)):
                found.append(op)
        except Undecided:
            pass

    try:
        outputs(operators, reference, watch=note)
        outputs(operators, candidate, watch=compare)
    except Undecided:
        pass
    if not found:
        return ""
    name = found[0].results[0].name_hint
    where = f" (%{name})" if name else ""
    return f"'{found[0].name}'{where} is the first whose value is no part of the reference"
