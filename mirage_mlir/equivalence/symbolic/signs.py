"""What is known about the signs of forms, and about their zeros."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import prod

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.algebra import Algebra, Product
from mirage_mlir.equivalence.symbolic.indices import ZERO as FIRST
from mirage_mlir.equivalence.symbolic.terms import (
    ZERO,
    Atom,
    Factor,
    Form,
    Monomial,
    ProofWork,
    bound_of,
    components,
    form_of,
)

ABOVE_ZERO, IS_ZERO = "above zero", "is zero"
"""Functions that are 1 where a number is above zero, or is zero, and 0 elsewhere."""

NON_NEGATIVE = frozenset({"exp", "sqrt", "sigmoid", ABOVE_ZERO, IS_ZERO})
"""Functions whose values are never below zero."""

POSITIVE = frozenset({"exp", "sigmoid"})
"""Functions whose values are above zero."""

ODD = frozenset({"tanh", "erf"})
"""Functions that are analytic, and above zero where their argument is."""


class Signs(Algebra):
    """Arithmetic on forms of whose signs something is known."""

    def __init__(self, work: ProofWork | None = None) -> None:
        super().__init__(work)
        self._with_maximum: dict[int, bool] = {}
        self._analytic: dict[int, bool] = {}

    def alone(self, group: Monomial) -> Monomial:
        """A part of a monomial as one, its bound variables named anew."""
        return self.atoms.named(group.factors, group.guards, bound_of(group))

    def is_rarely_zero_factor(self, f: Factor) -> bool:
        """Whether a factor is surely not zero but on a null set of inputs."""
        # What was divided by 1 / x is not zero.
        if f.exponent < 0 or self.is_positive_factor(f):
            return True
        return not self.has_maximum(f.atom) and self._is_above_zero_somewhere(f)

    def is_rarely_zero(self, a: Form) -> bool:
        """
        Whether a form is zero at most on a null set of inputs, whatever its free variables are.

        It is if it is analytic, and positive or negative, for positive inputs. Terms of different
        signs may cancel: `x_i - x_j` is zero where i = j.
        """
        opposite = self.scale(a, -1)
        if self.is_positive(a) or self.is_positive(opposite):
            return True
        if any(self.has_maximum(f.atom) for monomial, _ in a for f in monomial.factors):
            return False
        return self._is_positive_for_positive(a) or self._is_positive_for_positive(opposite)

    def _is_positive_for_positive(self, a: Form) -> bool:
        """Whether a form is surely analytic, and above zero where all inputs are."""
        return any(has_terms(monomial) for monomial, _ in a) and all(
            c > 0 and all(map(self._is_above_zero_somewhere, m.factors)) for m, c in a
        )

    def _is_above_zero_somewhere(self, f: Factor) -> bool:
        """Whether a factor is surely analytic but for poles, and above zero for positive inputs."""
        atom = self.atoms[f.atom]
        if atom.kind == "input":
            return True
        if not self._is_analytic(f.atom):
            return False
        if self.is_positive_factor(f):
            return True
        named = atom.kind == "sum" or atom.name in ODD
        return named and self._is_positive_for_positive(atom.form)

    def _is_analytic(self, atom: int) -> bool:
        """Whether an atom is surely an analytic function of all real inputs."""
        if atom not in self._analytic:
            self._analytic[atom] = self._is_new_analytic(self.atoms[atom])
        return self._analytic[atom]

    def _is_new_analytic(self, atom: Atom) -> bool:
        if atom.kind == "input":
            return True
        if atom.kind in ("maximum", "index", "lowest") or atom.name not in (
            "",
            *POSITIVE,
            *ODD,
            "sqrt",
        ):
            return False
        if atom.name == "sqrt" and not self.is_positive(atom.form):
            return False
        factors = [f for monomial, _ in atom.form for f in monomial.factors]
        return all(self._is_analytic(f.atom) and self._is_power(f) for f in factors)

    def _is_power(self, f: Factor) -> bool:
        return f.exponent > 0 or self.atoms[f.atom].name == "exp"

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
        found = self._never_negative_terms(a)
        return found is not None and any(
            has_terms(monomial) and all(map(self.is_positive_factor, monomial.factors))
            for monomial, _ in found
        )

    def is_positive_factor(self, f: Factor) -> bool:
        """Whether a factor is surely above zero."""
        atom = self.atoms[f.atom]
        if atom.kind == "sum":
            # A denominator is not zero.
            return self.is_positive(atom.form) or self.never_negative(f)
        if atom.name == "sqrt":
            # Only where it is read two parameters may be one.
            return self.is_positive(atom.form) or self.is_positive(self._read_at(f))
        return atom.kind == "function" and atom.name in POSITIVE

    def _read_at(self, f: Factor) -> Form:
        return self.instance(self.atoms[f.atom].form, f.indices)

    def is_never_negative(self, a: Form) -> bool:
        """Whether a form is surely zero or above."""
        return self._never_negative_terms(a) is not None

    def _never_negative_terms(self, a: Form) -> Form | None:
        """Terms that are never negative, and together nowhere above a form; None if unknown."""
        terms = {monomial: c for monomial, c in a if c > 0}
        for monomial, c in a:
            bound = self._bound_of_square(monomial) if c < 0 else ZERO
            if bound is None:
                return None
            for square, times in bound:
                terms[square] = terms.get(square, Fraction(0)) + c * times
        if all(c >= 0 and (not c or self._is_never_negative(m)) for m, c in terms.items()):
            return form_of(terms)
        return None

    def _bound_of_square(self, monomial: Monomial) -> Form | None:
        """
        What a square of a sum is never above; None where it is none.

        The square of the sum of n numbers is at most n times the sum of their squares: variances
        are not negative.
        """
        outside, groups = components(monomial, bound_of(monomial))
        if len(groups) != 2 or self.alone(groups[0]) != self.alone(groups[1]):
            return None
        group, own = groups[0], frozenset(bound_of(groups[0]))
        if group.guards or outside.guards or not all(map(self.never_negative, outside.factors)):
            return None
        square = self.reduced(Product([*outside.factors, *group.factors, *group.factors], (), own))
        return self.scale(square, prod(variable.size for variable in own))

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
                return self.is_never_negative(atom.form) or self.is_never_negative(self._read_at(f))
            case "index":
                return True
            case "maximum":
                return any(not e.guards and self.is_never_negative(e.form) for e in atom.entries)
            case _:
                return False


def has_terms(monomial: Monomial) -> bool:
    """Whether a sum surely has a term: that at which its bound variables are zero."""
    corner = dict.fromkeys(bound_of(monomial), FIRST)
    return guards_.moved(monomial.guards, corner) == ()
