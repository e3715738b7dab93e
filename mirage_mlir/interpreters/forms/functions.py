"""
Functions and maxima of forms.

`exp(x + y) = exp(x) exp(y)` and `exp(c x) = exp(x)^c`, whatever x is. sqrt splits over factors that
are provably not negative, and only then, so `sqrt(x^2)` never becomes x while `sqrt(x)^2` is x. A
maximum is that of a set of values, over any indices in any order. Of sigmoid, tanh and the others
nothing is known but that sigmoid is positive.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise

from mirage_mlir.interpreters.forms.algebra import Algebra
from mirage_mlir.interpreters.forms.flat import KIND as FLAT
from mirage_mlir.interpreters.forms.flat import flat, sizes_of
from mirage_mlir.interpreters.forms.ranges import Range, moved_to, range_of
from mirage_mlir.interpreters.forms.terms import (
    FIRST_FREE,
    FIRST_MAXIMISED,
    Atom,
    Factor,
    Form,
    Place,
    Variable,
    bound_of,
    coalesced,
    components,
    named,
    orders,
    place,
    renamed,
    variables_of,
)

NON_NEGATIVE = frozenset({"exp", "sqrt", "sigmoid"})
"""Functions whose values are never below zero."""

MOST_POWERS = 16
"""Whole exponents of `pow` that are products."""

LARGEST_DIVISOR = 1 << 16
"""Prime factors up to which the root of a constant is taken apart."""


@dataclass(frozen=True)
class Term:
    """One of the values that a maximum is taken of, and the variables that it runs over there."""

    form: Form
    over: frozenset[Variable]


class Functions(Algebra):
    """
    Forms with functions.

    With `expand_sigmoid`, sigmoid(x) is 1 / (1 + exp(-x)), as code says after lowering to scalars.
    """

    def __init__(self, *, expand_sigmoid: bool = False) -> None:
        super().__init__()
        self.expand_sigmoid = expand_sigmoid

    def function(self, name: str, a: Form) -> Form:
        """A function of a form; parameters belong into the name of one that has no laws."""
        return self.piecewise([a], partial(self._function, name))

    def _function(self, name: str, a: Form) -> Form:
        match name:
            case "exp":
                return self._exp(a)
            case "sqrt":
                return self._sqrt(a)
            case "rsqrt":
                return self.inverse(self._sqrt(a))
            case "sigmoid" if self.expand_sigmoid:
                return self.inverse(self.add(self.constant(1), self._exp(self.scale(a, -1))))
            case _:
                return self._opaque(name, a)

    def raised(self, a: Form, exponent: Fraction) -> Form:
        """A power: whole and half ones are products and roots, others nothing is known of."""
        if exponent < 0:
            return self.inverse(self.raised(a, -exponent))
        if exponent.denominator == 1 and exponent <= MOST_POWERS:
            return self.power(a, int(exponent))
        if exponent.denominator == 2 and exponent <= MOST_POWERS:
            return self.power(self.function("sqrt", a), int(2 * exponent))
        return self.function(f"power {exponent}", a)

    def _opaque(self, name: str, a: Form, exponent: int | Fraction = 1) -> Form:
        form, places = self.abstract(a)
        return self.factor(Atom("function", name, (form,)), places, exponent)

    def rebuilt(self, atom: Atom, places: Sequence[Place], exponent: int | Fraction) -> Form:
        if atom.kind == "maximum":
            terms = [
                Term(self.instance(term.form, places), term.over) for term in self._terms(atom)
            ]
            return self._whole_power(self._of_terms(terms), exponent)
        if atom.kind == FLAT:
            digits = [self.variable(size) for size in sizes_of(atom)]
            inner = (*(Place((digit,)) for digit in digits), *places[1:])
            form = self.flattened(self.instance(atom.forms[0], inner), digits, places[0])
            return self._whole_power(form, exponent)
        return self._applied(atom, self.instance(atom.forms[0], places), exponent)

    def _applied(self, atom: Atom, argument: Form, exponent: int | Fraction) -> Form:
        """A power of an atom of one form, of another argument."""
        if atom.kind == "sum":
            return self._whole_power(argument, exponent)
        if atom.name == "exp":
            return self._exp(self.scale(argument, Fraction(exponent)))
        return self._whole_power(self.function(atom.name, argument), exponent)

    def _whole_power(self, a: Form, exponent: int | Fraction) -> Form:
        assert isinstance(exponent, int), "only exp has powers that are not whole"
        return self.power(a, exponent)

    # Flattened dimensions

    def flattened(self, a: Form, digits: Sequence[Variable], number: Place) -> Form:
        """A form with digits that make the number at a place; see `flat`."""
        result = self.constant(0)
        for monomial, coefficient in a:
            outside, groups = components(monomial)
            product = self.constant(coefficient)
            for group in [*([f] for f in outside), *groups]:
                product = self.mul(product, self._flattened(group, digits, number))
            result = self.add(result, product)
        return result

    def _flattened(
        self, group: Sequence[Factor], digits: Sequence[Variable], number: Place
    ) -> Form:
        """Factors that belong together; of a function its argument, so that laws still hold."""
        free = {v for v in variables_of(group) if not v.bound}
        if free.isdisjoint(digits):
            return self.reduced(group, Fraction(1))
        f = group[0]
        atom = self.atoms[f.atom]
        if not bound_of(group):
            if atom.kind in ("function", "sum"):
                argument = self.flattened(self.instance(atom.forms[0], f.places), digits, number)
                return self._applied(atom, argument, f.exponent)
            if f.exponent != 1:
                base = self._flattened([f._replace(exponent=1)], digits, number)
                return self._whole_power(base, f.exponent)
        others = sorted(free - {*digits})
        names = {v: Variable(n, v.size) for n, v in enumerate((*digits, *others))}
        form = ((named(renamed(group, names)), Fraction(1)),)
        places = (number, *(Place((v,)) for v in others))
        return self.factor(flat([v.size for v in digits], form), places)

    # Exponentials and roots

    def _exp(self, a: Form) -> Form:
        result = self.constant(1)
        for monomial, coefficient in a:
            whole = coefficient.denominator == 1
            exponent = int(coefficient) if whole else coefficient
            result = self.mul(result, self._opaque("exp", ((monomial, Fraction(1)),), exponent))
        return result

    def _sqrt(self, a: Form) -> Form:
        if (value := self.value_of(a)) is not None:
            return self._sqrt_of_constant(value)
        if len(a) == 1:
            ((monomial, coefficient),) = a
            outside, groups = components(monomial)
            inside: Form = self.constant(1)
        else:
            coefficient, outside, inside = self.primitive(a)
            groups = []
        result = self._sqrt_of_constant(abs(coefficient))
        inside = inside if coefficient > 0 else self.scale(inside, -1)
        for f in outside:
            root = self._root(f)
            if root is None:
                inside = self.mul(self.reduced([f], Fraction(1)), inside)
            else:
                result = self.mul(result, root)
        for group in groups:
            form: Form = ((named(group), Fraction(1)),)
            if all(self._never_negative(f) for f in group):
                result = self.mul(result, self._opaque("sqrt", form))
            else:
                inside = self.mul(inside, form)
        if inside == self.constant(1):
            return result
        return self.mul(result, self._opaque("sqrt", inside))

    def _sqrt_of_constant(self, value: Fraction) -> Form:
        """The root as a rational times the roots of primes."""
        if value < 0:
            return self._opaque("sqrt", self.constant(value))
        rest, rational = value.numerator * value.denominator, Fraction(1, value.denominator)
        result, divisor = self.constant(1), 2
        while divisor * divisor <= rest and divisor < LARGEST_DIVISOR:
            while rest % (divisor * divisor) == 0:
                rest //= divisor * divisor
                rational *= divisor
            if rest % divisor == 0:
                rest //= divisor
                result = self.mul(result, self._opaque("sqrt", self.constant(divisor)))
            divisor += 1
        if rest != 1:
            result = self.mul(result, self._opaque("sqrt", self.constant(rest)))
        return self.scale(result, rational if value else 0)

    def _root(self, f: Factor) -> Form | None:
        """The root of a factor; None when it may be negative, or when its power has none."""
        atom = self.atoms[f.atom]
        if atom.name == "exp":
            half = Fraction(f.exponent) / 2
            exponent = int(half) if half.denominator == 1 else half
            return self.reduced([f._replace(exponent=exponent)], Fraction(1))
        if not self._never_negative(f._replace(exponent=1)):
            return None
        base = f._replace(exponent=1)
        if atom.kind == "sum":
            value = self.instance(atom.forms[0], f.places)
        else:
            value = self.reduced([base], Fraction(1))
        return self.power(self._opaque("sqrt", value), int(f.exponent))

    def _never_negative(self, f: Factor) -> bool:
        atom = self.atoms[f.atom]
        if f.exponent % 2 == 0:
            return True
        match atom.kind:
            case "function":
                return atom.name in NON_NEGATIVE
            case "sum":
                return self._form_is_never_negative(atom.forms[0])
            case "maximum":
                return any(self._form_is_never_negative(form) for form in atom.forms)
            case kind:
                return kind == "valid"

    def _form_is_never_negative(self, form: Form) -> bool:
        return all(c > 0 and all(map(self._never_negative, m)) for m, c in form)

    # Maxima

    def maximum(self, a: Form, b: Form) -> Form:
        """The larger of two values."""
        return self.piecewise([a, b], self._maximum)

    def _maximum(self, a: Form, b: Form) -> Form:
        values = self.value_of(a), self.value_of(b)
        if values[0] is not None and values[1] is not None:
            return self.constant(max(values[0], values[1]))
        return self._of_terms([*self._as_terms(a), *self._as_terms(b)])

    def largest(self, a: Form, variable: Variable) -> Form:
        """The maximum over a variable."""
        if (split := self.bracketed([a])) is None:
            return self._largest(a, variable)
        if split[0] != variable:
            return self.piecewise([a], partial(self.largest, variable=variable))
        result: Form | None = None
        for start, stop in pairwise(split[1]):
            inner = self.variable(stop - start)
            part = self.insert(a, {variable: place((inner,), 0, start)})
            largest = self.largest(part, inner)
            result = largest if result is None else self.maximum(result, largest)
        assert result is not None, "an index has a first and a last number"
        return result

    def _largest(self, a: Form, variable: Variable) -> Form:
        return self._of_terms(
            [Term(term.form, term.over | {variable}) for term in self._as_terms(a)]
        )

    def _as_terms(self, a: Form) -> list[Term]:
        """The values that a form is the maximum of: itself, when it is none."""
        if len(a) == 1:
            ((monomial, coefficient),) = a
            if coefficient == 1 and len(monomial) == 1 and monomial[0].exponent == 1:
                (f,) = monomial
                atom = self.atoms[f.atom]
                if atom.kind == "maximum" and not any(v.bound for v in variables_of(monomial)):
                    return [
                        Term(self.instance(term.form, f.places), term.over)
                        for term in self._terms(atom)
                    ]
        return [Term(a, frozenset())]

    def _terms(self, atom: Atom) -> list[Term]:
        """The values of a maximum, over new variables, its parameters as they are."""
        terms: list[Term] = []
        for form in atom.forms:
            over = sorted(
                {
                    v
                    for m, _ in form
                    for v in variables_of(m)
                    if FIRST_MAXIMISED <= v.number < FIRST_FREE
                }
            )
            new = {v: self.variable(v.size) for v in over}
            opened = self.insert(form, {v: Place((new[v],)) for v in over})
            terms.append(Term(opened, frozenset(new.values())))
        return terms

    def _of_terms(self, terms: Sequence[Term]) -> Form:
        """The maximum of values, each over variables of its own."""
        reading = self._united(
            [Term(t.form, t.over & {v for m, _ in t.form for v in variables_of(m)}) for t in terms]
        )
        # One form for all, whose terms are told apart by a factor, has parameters in common.
        free: list[Form] = []
        for term in reading:
            if term.form not in free or term.over:
                free.append(self._with_maximised(term))
        forms = sorted(set(free))
        if len(forms) == 1 and not any(_maximised(forms[0])):
            return forms[0]
        return self._maximum_atom(forms)

    def _united(self, terms: list[Term]) -> list[Term]:
        """Terms with those as one that are one value, over ranges of an index that meet."""
        index = self.variable(0)
        known: dict[Form, list[tuple[Range, Term]]] = {}
        for term in terms if sum(bool(t.over) for t in terms) > 1 else ():
            for variable in sorted(term.over):
                if (here := range_of(term.form, variable)) is None:
                    continue
                moved = moved_to(term.form, variable, index, here.start)
                value = self._with_maximised(Term(moved, term.over - {variable}))
                for there, other in known.get(value, ()):
                    if other is term or here.start > there.stop or there.start > here.stop:
                        continue
                    start, stop = min(here.start, there.start), max(here.stop, there.stop)
                    new = self.variable(stop - start)
                    form = self.insert(term.form, {variable: place((new,), 0, start - here.start)})
                    rest = [t for t in terms if t is not term and t is not other]
                    return self._united([*rest, Term(form, term.over - {variable} | {new})])
                known.setdefault(value, []).append((here, term))
        return terms

    def _with_maximised(self, term: Term) -> Form:
        """A term with its variables named canonically, those that stand together as one."""
        over = set(term.over)
        joined = coalesced([m for m, _ in term.form], lambda variable: variable in over)
        for new, origin in joined.origins.items():
            over.difference_update(origin.digits)
            over.add(new)
        terms = list(zip(joined.monomials, (c for _, c in term.form), strict=True))
        read = {v for m, _ in terms for v in variables_of(m)}
        forms: list[Form] = []
        for order in orders(terms, sorted(over & read)):
            names = {v: Variable(FIRST_MAXIMISED + n, v.size) for n, v in enumerate(order)}
            forms.append(tuple(sorted((named(renamed(m, names)), c) for m, c in terms)))
        return min(forms)

    def _maximum_atom(self, forms: Sequence[Form]) -> Form:
        """The maximum of forms, as an atom that reads their free variables."""
        flat = [(m, c) for form in forms for m, c in form]
        joined = coalesced([m for m, _ in flat], lambda v: v.number >= FIRST_FREE)
        pieces = iter(zip(joined.monomials, (c for _, c in flat), strict=True))
        split = [[next(pieces) for _ in form] for form in forms]
        free = sorted(
            {
                v
                for monomial in joined.monomials
                for v in variables_of(monomial)
                if v.number >= FIRST_FREE
            }
        )
        found: list[tuple[tuple[Form, ...], tuple[Variable, ...]]] = []
        everything = [pair for group in split for pair in group]
        for order in orders(everything, free):
            names = {v: Variable(number, v.size) for number, v in enumerate(order)}
            renamed_forms = [
                tuple(sorted((named(renamed(m, names)), c) for m, c in group)) for group in split
            ]
            found.append((tuple(sorted(renamed_forms)), order))
        canonical, order = min(found)
        places = tuple(joined.origins.get(variable, Place((variable,))) for variable in order)
        return self.factor(Atom("maximum", forms=canonical), places)


def _maximised(form: Form) -> list[Variable]:
    return [v for m, _ in form for v in variables_of(m) if FIRST_MAXIMISED <= v.number < FIRST_FREE]
