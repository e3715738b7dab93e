"""
Functions of forms.

`exp(x + y) = exp(x) exp(y)` and `exp(c x) = exp(x)^c`, whatever x is. sqrt splits over factors that
are provably not negative (and not zero where the rest may be negative), and only then, so
`sqrt(x^2)` never becomes x while `sqrt(x)^2` is x. Of sigmoid, tanh and the others nothing is known
but that sigmoid is positive.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic.algebra import Product
from mirage_mlir.equivalence.symbolic.indices import Index, floor_div, scaled, substituted
from mirage_mlir.equivalence.symbolic.merged_indices import merged
from mirage_mlir.equivalence.symbolic.quotients import Quotients
from mirage_mlir.equivalence.symbolic.terms import (
    Atom,
    Entry,
    Factor,
    Form,
    Monomial,
    ProofWork,
    Undecided,
    bound_of,
    components,
)

MOST_POWERS = 16
"""Whole exponents of `pow` that are products."""

LARGEST_DIVISOR = 1 << 16
"""Prime factors up to which the root of a constant is taken apart, and divisors of indices."""


class Rooted(NamedTuple):
    """A factor under a root, and its own root if it has one; it may be zero for many inputs."""

    value: Form
    root: Form | None
    may_be_zero: bool


class Functions(Quotients):
    """
    Forms with functions.

    With `expand_sigmoid`, sigmoid(x) is 1 / (1 + exp(-x)), as code says after lowering to scalars.
    With `roundings`, rounding to an element type is a function of which nothing is known; else a
    number stays what it is.
    """

    def __init__(
        self,
        work: ProofWork | None = None,
        *,
        expand_sigmoid: bool = False,
        roundings: bool = False,
    ) -> None:
        super().__init__(work)
        self.expand_sigmoid = expand_sigmoid
        self.roundings = roundings
        self._made_anew: dict[Factor, Form] = {}

    def function(self, name: str, a: Form) -> Form:
        """A function of a form; parameters belong into the name of one that has no laws."""
        match name:
            case "exp":
                return self._exp(a)
            case "sqrt":
                return self._sqrt(a)
            case "rsqrt":
                return self.inverse(self._sqrt(a))
            case "sigmoid" if self.expand_sigmoid:
                return self.inverse(self.add(self.constant(1), self._exp(self.scale(a, -1))))
            case "floor" | "ceil" if (index := self._rounded(name, a)) is not None:
                return self.index(index)
            case "log":
                self._require_positive(a)
                return self._opaque(name, a)
            case "log1p":
                self._require_positive(self.add(self.constant(1), a))
                return self._opaque(name, a)
            case _:
                return self._opaque(name, a)

    def _rounded(self, name: str, a: Form) -> Index | None:
        """An index that is the floor of a form, or its ceiling; None where there is none."""
        up = name == "ceil"
        quotient = self.index_of(self.scale(a, -1) if up else a)
        if quotient is None or quotient[1] > LARGEST_DIVISOR:
            return None
        return scaled(floor_div(*quotient), -1 if up else 1)

    def raised(self, a: Form, exponent: Fraction) -> Form:
        """A power: integers and halves are products and roots; of others nothing is known."""
        if exponent < 0:
            return self.inverse(self.raised(a, -exponent))
        if exponent.denominator == 1 and exponent <= MOST_POWERS:
            return self.power(a, int(exponent))
        if exponent.denominator == 2 and exponent <= MOST_POWERS:
            return self.power(self.function("sqrt", a), int(2 * exponent))
        if exponent.denominator != 1:
            self._require_not_negative(a)
        return self._opaque(f"power {exponent}", a)

    def _opaque(self, name: str, a: Form, exponent: int | Fraction = 1) -> Form:
        a, values = merged(self.atoms, a)
        form, read = self.abstract(a)
        indices = [substituted(index, values) for index in read]
        return self.factor(Atom("function", name, (Entry((), form),)), indices, exponent)

    def whole_power(self, a: Form, exponent: int | Fraction) -> Form:
        """A power of either sign."""
        assert isinstance(exponent, int), "only exp has powers that are not whole"
        return self.inverse(self.power(a, -exponent)) if exponent < 0 else self.power(a, exponent)

    def rebuilt(self, f: Factor) -> Form:
        # Kept, as a chain of functions in which each is made anew twice would take 2^depth steps.
        if f not in self._made_anew:
            known, self._demands = self._demands, None
            try:
                self._made_anew[f] = self.remade(f)
            finally:
                self._demands = known
        return self._made_anew[f]

    def remade(self, f: Factor) -> Form:
        """A factor with forms, made anew where it is read; where it is defined is known."""
        atom = self.atoms[f.atom]
        if atom.kind == "index":
            return self.whole_power(self.index(f.indices[0]), f.exponent)
        argument = self.instance(atom.form, f.indices)
        if atom.kind == "sum":
            return self.whole_power(argument, f.exponent)
        if atom.name == "exp":
            return self._exp(self.scale(argument, Fraction(f.exponent)))
        if atom.name.startswith("power"):
            return self.whole_power(self._opaque(atom.name, argument), f.exponent)
        return self.whole_power(self.function(atom.name, argument), f.exponent)

    # Powers of atoms that are forms

    def simplified(self, product: Product, coefficient: Fraction) -> Form | None:
        factors, guards, over = product
        for number, f in enumerate(factors):
            if (expanded := self._expandable(f)) is not None:
                base, exponent, rest = expanded
                others = [*factors[:number], *factors[number + 1 :], *rest]
                value = self.whole_power(self.instance(base, f.indices), exponent)
                form = self.mul(self.reduced(Product(others), coefficient), value)
                return self.total(form, over, guards)
        return None

    def _expandable(self, f: Factor) -> tuple[Form, int, list[Factor]] | None:
        """A factor that is a power of a form: the form, the power, and what is left over."""
        atom = self.atoms[f.atom]
        if atom.kind == "sum" and f.exponent > 0:
            return atom.form, int(f.exponent), []
        if atom.name == "sqrt" and abs(f.exponent) > 1:
            squares = int(abs(f.exponent)) // 2 * (1 if f.exponent > 0 else -1)
            rest = f.exponent - 2 * squares
            return atom.form, squares, [f._replace(exponent=rest)] if rest else []
        return None

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
        groups: list[Monomial] = []
        if len(a) == 1:
            ((monomial, coefficient),) = a
            outside, groups = components(monomial, bound_of(monomial))
            inside: Form = ((Monomial(outside.guards, ()), Fraction(1)),)
            factors = list(outside.factors)
        else:
            coefficient, factors, inside = self.primitive(a)
        result = self._sqrt_of_constant(abs(coefficient))
        inside = inside if coefficient > 0 else self.scale(inside, -1)
        found = [self._root_of(f) for f in factors] + [self._root_of_group(g) for g in groups]
        for each in found:
            if each.root is None:
                inside = self.mul(each.value, inside)
        may_be_negative = not self.is_never_negative(inside)
        for each in found:
            # Where a factor is zero the rest may be negative: it stays under the root.
            if each.root is not None and each.may_be_zero and may_be_negative:
                inside = self.mul(each.value, inside)
            elif each.root is not None:
                result = self.mul(result, each.root)
        if inside == self.constant(1):
            return result
        self._require_not_negative(inside)
        return self.mul(result, self._opaque("sqrt", inside))

    def _root_of(self, f: Factor) -> Rooted:
        value = self.reduced(Product([f]))
        zero = self.atoms[f.atom].name != "exp" and not self.is_rarely_zero_factor(f)
        return Rooted(value, self._root(f), zero)

    def _root_of_group(self, group: Monomial) -> Rooted:
        form: Form = ((self.alone(group), Fraction(1)),)
        if not all(map(self.never_negative, group.factors)):
            return Rooted(form, None, False)
        return Rooted(form, self._opaque("sqrt", form), not self.is_rarely_zero(form))

    def _require_not_negative(self, a: Form) -> None:
        if (value := self.value_of(a)) is not None and value < 0:
            raise Undecided("a root of a negative number is taken")
        if not self.is_never_negative(a):
            self.require("negative", a)

    def _require_positive(self, a: Form) -> None:
        if (value := self.value_of(a)) is not None and value <= 0:
            raise Undecided("the logarithm of a number that is not positive is taken")
        self.check_not_empty(a)
        if not self.is_positive(a):
            self.require("negative or zero", a)

    def _sqrt_of_constant(self, value: Fraction) -> Form:
        """
        The root as a rational times the roots of primes.

        Raises:
            Undecided: the value is negative.
        """
        if value < 0:
            raise Undecided("a root of a negative number is taken")
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
            return self.reduced(Product([f._replace(exponent=exponent)]))
        if not self.never_negative(f._replace(exponent=1)):
            return None
        if atom.kind == "sum":
            value = self.instance(atom.form, f.indices)
        else:
            value = self.reduced(Product([f._replace(exponent=1)]))
        return self.whole_power(self._opaque("sqrt", value), int(f.exponent))
