"""
Quotients of forms, and what is known of the signs of forms.

A quotient by a sum has the sum, without what its terms share, as one factor to a negative power.
Denominators are taken not to be zero; one that is zero for all inputs, or for more than a null set
of inputs for which the reference is defined, is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import gcd, lcm

from mirage_mlir.interpreters.forms import guards as guards_
from mirage_mlir.interpreters.forms.algebra import Algebra, Product, collect
from mirage_mlir.interpreters.forms.domains import step
from mirage_mlir.interpreters.forms.guards import Guards
from mirage_mlir.interpreters.forms.indices import ZERO as FIRST
from mirage_mlir.interpreters.forms.indices import (
    Index,
    Span,
    Variable,
    all_variables,
    span,
    substituted,
)
from mirage_mlir.interpreters.forms.terms import (
    Atom,
    Entry,
    Factor,
    Form,
    Monomial,
    Undecided,
    bound_of,
    components,
    indices_of,
    powers,
)

NON_NEGATIVE = frozenset({"exp", "sqrt", "sigmoid"})
"""Functions whose values are never below zero."""

POSITIVE = frozenset({"exp", "sigmoid"})
"""Functions whose values are above zero."""


class Quotients(Algebra):
    """
    Arithmetic with quotients.

    While `is_reference` holds, what is evaluated is the reference: where it is not defined nothing
    is claimed, so what it divides by is not zero, and what it takes a root of is not negative.
    """

    def __init__(self) -> None:
        super().__init__()
        self.is_reference = True
        self.where: Guards = ()
        """What holds where something is computed just now."""
        self._granted: dict[tuple[str, Form], list[list[Span]]] = {}
        self._with_maximum: dict[int, bool] = {}

    def require(self, never: str, a: Form) -> None:
        """
        Demand that the reference is defined only where a form is never negative, or never zero.

        Raises:
            Undecided: it may be defined elsewhere.
        """
        form, indices = self.abstract(a)
        known = self._granted.setdefault((never, form), [])
        spans = self._spans(indices)
        if self.is_reference:
            known.append(spans)
        elif not any(map(partial(_within, spans), known)):
            raise Undecided(f"the candidate alone is not defined where something is {never}")

    def _spans(self, indices: Sequence[Index]) -> list[Span]:
        """Bounds of indices where something is computed just now."""
        guards: Guards | None = self.where
        while guards is not None:
            free = all_variables([*indices, *(each.value for each in guards)])
            change = step(indices, guards, free, self.variable)
            if change is None:
                break
            indices = [substituted(index, change.values) for index in indices]
            guards = guards_.both(guards_.moved(guards, change.values) or (), change.conditions)
        return [span(index) for index in indices]

    # Quotients

    def inverse(self, a: Form) -> Form:
        """
        1 / a.

        Raises:
            Undecided: a is zero, or may be.
        """
        if not a:
            raise Undecided("something is divided by zero")
        self.check_not_empty(a)
        if not self._is_rarely_zero(a):
            self.require("zero", a)
        if len(a) == 1:
            ((monomial, coefficient),) = a
            outside, groups = components(monomial, bound_of(monomial))
            factors = [f._replace(exponent=-f.exponent) for f in outside.factors]
            # A guard that holds nowhere makes it zero, and is checked; elsewhere it is 1.
            result = self.reduced(Product(factors), 1 / coefficient)
            for group in groups:
                result = self.mul(result, self._reciprocal(((self.alone(group), Fraction(1)),)))
            return result
        coefficient, content, rest = self.primitive(a)
        factors = [f._replace(exponent=-f.exponent) for f in content]
        return self.mul(self.reduced(Product(factors), 1 / coefficient), self._reciprocal(rest))

    def alone(self, group: Monomial) -> Monomial:
        """A part of a monomial as one, its bound variables named anew."""
        return self.atoms.named(group.factors, group.guards, bound_of(group))

    def _reciprocal(self, a: Form) -> Form:
        form, indices = self.abstract(a)
        return self.factor(Atom("sum", entries=(Entry((), form),)), indices, -1)

    def div(self, a: Form, b: Form) -> Form:
        """The quotient."""
        return self.mul(a, self.inverse(b))

    def primitive(self, a: Form) -> tuple[Fraction, list[Factor], Form]:
        """A sum of several terms as a number, what all terms share, and the rest."""
        powers_ = [
            {(f.atom, f.indices): f.exponent for f in monomial.factors if _is_free(f)}
            for monomial, _ in a
        ]
        common = powers_[0]
        for other in powers_[1:]:
            common = {
                key: min(exponent, other[key], key=abs)
                for key, exponent in common.items()
                if key in other and (exponent > 0) == (other[key] > 0)
            }
        content = [Factor(*key, exponent) for key, exponent in common.items()]
        inverse = [f._replace(exponent=-f.exponent) for f in content]
        number = Fraction(gcd(*(c.numerator for _, c in a)), lcm(*(c.denominator for _, c in a)))
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in a:
            guards, factors = monomial
            product = Product([*factors, *inverse], guards, frozenset(bound_of(monomial)))
            collect(total, self.reduced(product, coefficient / number))
        rest = self.together(total)
        negative = self.scale(rest, -1)
        coefficients = sorted(c for _, c in rest)
        opposite = sorted(c for _, c in negative)
        is_greater = coefficients > opposite
        if coefficients == opposite:
            is_greater = self.abstract(rest)[0] > self.abstract(negative)[0]
        return (number, content, rest) if is_greater else (-number, content, negative)

    def cancelled(self, product: Product) -> Product:
        factors, guards, over = product
        divisors = [f for f in factors if self._divides_by_one_sum(f, over)]
        if not divisors:
            return product
        outside, groups = components(Monomial(guards, tuple(factors)), over)
        for f in divisors:
            for number, group in enumerate(groups):
                alone = self.atoms.named(group.factors, group.guards, over & _read(group))
                form, indices = self.abstract(((alone, Fraction(1)),))
                if (form, indices) != (self.atoms[f.atom].form, f.indices):
                    continue
                left = [*groups[:number], *groups[number + 1 :]]
                kept = [each for part in (outside, *left) for each in part.factors]
                kept = powers([*kept, f._replace(exponent=1)])
                ranges = guards_.both(*(part.guards for part in (outside, *left)))
                assert ranges is not None, "they are some of the guards"
                names = over - _read(group)
                return self.cancelled(Product(kept, ranges, names))
        return product

    def _divides_by_one_sum(self, f: Factor, over: frozenset[Variable]) -> bool:
        atom = self.atoms[f.atom]
        if atom.kind != "sum" or f.exponent > 0 or len(atom.form) != 1:
            return False
        return over.isdisjoint(all_variables(f.indices))

    # Signs

    def check_not_empty(self, a: Form) -> None:
        """
        Make sure that a form is not a sum over nothing.

        Raises:
            Undecided: it may be one, for some values of its free variables.
        """
        if not any(_has_terms(monomial) for monomial, _ in a):
            raise Undecided("something is divided by a sum that may have no terms")

    def _is_rarely_zero(self, a: Form) -> bool:
        """Whether a form that is not zero everywhere is zero on a null set at most."""
        factors = [f for monomial, _ in a for f in monomial.factors]
        if len(a) == 1 and not bound_of(a[0][0]):
            return all(self.is_positive_factor(f) or not self.has_maximum(f.atom) for f in factors)
        if self.is_positive(a) or self.is_positive(self.scale(a, -1)):
            return True
        return not any(self.has_maximum(f.atom) for f in factors)

    def has_maximum(self, atom: int) -> bool:
        """Whether an atom is made of maxima, and may thus be one number on more than a null set."""
        if atom not in self._with_maximum:
            self._with_maximum[atom] = self.atoms[atom].kind == "maximum" or any(
                self.has_maximum(f.atom)
                for entry in self.atoms[atom].entries
                for monomial, _ in entry.form
                for f in monomial.factors
            )
        return self._with_maximum[atom]

    def is_positive(self, a: Form) -> bool:
        """Whether a form is surely above zero where it is not a sum over nothing."""
        return self.is_never_negative(a) and any(
            _has_terms(monomial) and all(map(self.is_positive_factor, monomial.factors))
            for monomial, _ in a
        )

    def is_positive_factor(self, f: Factor) -> bool:
        """Whether a factor is surely above zero."""
        atom = self.atoms[f.atom]
        if atom.kind == "sum":
            # A denominator is not zero.
            return self.is_positive(atom.form) or self.never_negative(f)
        return atom.kind == "function" and atom.name in POSITIVE

    def is_never_negative(self, a: Form) -> bool:
        """Whether a form is surely zero or above."""
        return all(c > 0 and self._is_never_negative(monomial) for monomial, c in a)

    def _is_never_negative(self, monomial: Monomial) -> bool:
        outside, groups = components(monomial, bound_of(monomial))
        if not all(map(self.never_negative, outside.factors)):
            return False
        # What is there twice is a square.
        signed = [g for g in groups if not all(map(self.never_negative, g.factors))]
        alone = Counter(map(self.alone, signed))
        return all(count % 2 == 0 for count in alone.values())

    def never_negative(self, f: Factor) -> bool:
        """Whether a factor is surely zero or above."""
        atom = self.atoms[f.atom]
        if f.exponent % 2 == 0:
            return True
        match atom.kind:
            case "function":
                return atom.name in NON_NEGATIVE
            case "sum":
                return self.is_never_negative(atom.form)
            case "maximum":
                return any(not e.guards and self.is_never_negative(e.form) for e in atom.entries)
            case _:
                return False


def _has_terms(monomial: Monomial) -> bool:
    """Whether a sum surely has a term: that at which its bound variables are zero."""
    corner = dict.fromkeys(bound_of(monomial), FIRST)
    return guards_.moved(monomial.guards, corner) == ()


def _within(spans: Sequence[Span], others: Sequence[Span]) -> bool:
    pairs = zip(spans, others, strict=True)
    return all(low <= least and greatest <= high for (least, greatest), (low, high) in pairs)


def _is_free(f: Factor) -> bool:
    return all(v.number >= 0 for v in all_variables(f.indices))


def _read(group: Monomial) -> frozenset[Variable]:
    return frozenset(all_variables(indices_of(group.factors, group.guards)))
