"""
Quotients of forms.

A quotient by a sum has the sum, without the common factors of its terms, as one factor with a
negative power. Denominators are assumed not to be zero. One that is zero for all inputs, or for
more than a null set of inputs, is demanded not to be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.algebra import Product, collect
from mirage_mlir.equivalence.symbolic.demands import Demand, Need, Strength
from mirage_mlir.equivalence.symbolic.guards import Guards
from mirage_mlir.equivalence.symbolic.indices import Variable, all_variables
from mirage_mlir.equivalence.symbolic.inhabited import is_inhabited
from mirage_mlir.equivalence.symbolic.signs import ABOVE_ZERO, IS_ZERO, Signs, has_terms
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
    indices_of,
    powers,
    product_of,
)

MOST_CLEARED = 8
"""Denominators that a form is multiplied by."""


class Quotients(Signs):
    """Arithmetic with quotients."""

    def __init__(self, work: ProofWork | None = None) -> None:
        super().__init__(work)
        self.where: Guards = ()
        """What holds where something is computed just now."""
        self._demands: list[Demand] | None = None
        """What is needed by it; None where nobody asks, as it is known."""

    @contextmanager
    def demanding(self) -> Generator[list[Demand]]:
        """Collect what is needed by what is computed meanwhile."""
        found: list[Demand] = []
        known, self._demands = (self.where, self._demands), found
        try:
            yield found
        finally:
            self.where, self._demands = known

    def require(self, never: str, a: Form, strength: Strength = Strength.SURE) -> None:
        """Note that there is a value only where a form is never negative, or never zero."""
        if self._demands is not None:
            form, indices = self.abstract(self._as_need(never, a))
            self._demands.append(Demand(Need(never, form), indices, self.where, strength))

    def _as_need(self, never: str, a: Form) -> Form:
        """
        What is never to be zero or negative, as all who need it write it.

        A divisor is `1 - sum(p m)` or `sum(e) - sum(e m)`, for p as e over its sum.
        """
        try:
            return self.multiplied_out(a) if never == "zero" else a
        except Undecided:
            return a

    def needed_by(self, a: Form, guards: Guards) -> list[Demand]:
        """
        What a form divides by, and takes roots of, where guards hold.

        Of what data selects it needs not all.
        """
        if any(self.atoms[f.atom].name in (ABOVE_ZERO, IS_ZERO) for m, _ in a for f in m.factors):
            return []
        found: list[Demand] = []
        for monomial, _ in a:
            where = guards_.both(guards, monomial.guards)
            for f in monomial.factors if where is not None else ():
                atom = self.atoms[f.atom]
                if atom.name == "sqrt":
                    found.append(Demand(Need("negative", atom.form), f.indices, where or ()))
                if atom.kind == "sum" and f.exponent < 0:
                    found.append(Demand(Need("zero", atom.form), f.indices, where or ()))
        return found

    def multiplied_out(self, a: Form) -> Form:
        """A form times the sums that its terms divide by."""
        for _ in range(MOST_CLEARED):
            divisors = [f for m, _ in a for f in m.factors if self._is_divisor(f)]
            if not divisors:
                break
            divisor = min(divisors)
            base = self.instance(self.atoms[divisor.atom].form, divisor.indices)
            power = max(-int(f.exponent) for f in divisors if f[:2] == divisor[:2])
            a = self._times(a, divisor, base, power)
        return a

    def _is_divisor(self, f: Factor) -> bool:
        return self.atoms[f.atom].kind == "sum" and f.exponent < 0 and _is_free(f)

    def _times(self, a: Form, divisor: Factor, base: Form, power: int) -> Form:
        """A form times a power of what some of its terms divide by."""
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in a:
            here = [f for f in monomial.factors if f[:2] == divisor[:2]]
            missing = power + sum(int(f.exponent) for f in here)
            rest = [f for f in monomial.factors if f not in here]
            product = Product(rest, monomial.guards, frozenset(bound_of(monomial)))
            collect(total, self.mul(self.reduced(product, coefficient), self.power(base, missing)))
        return self.together(total)

    # Quotients

    def inverse(self, a: Form) -> Form:
        """
        1 / a.

        Raises:
            Undecided: a is zero, or a sum that may have no terms.
        """
        if not a:
            raise Undecided("something is divided by zero")
        self.check_not_empty(a)
        shared, rest = self._common_sums(a) if len(a) > 1 else ((), a)
        if shared:
            # A product of sums, multiplied out.
            result = self.inverse(rest)
            for each in shared:
                result = self.mul(result, self.inverse(((each, Fraction(1)),)))
            return result
        coefficient, factors, sums = self._divisors(a)
        for f in factors:
            if not self.is_rarely_zero_factor(f):
                self.require("zero", self.reduced(Product([f])))
        inverse = [f._replace(exponent=-f.exponent) for f in factors]
        result = self.reduced(Product(inverse), 1 / coefficient)
        for each in sums:
            if not self.is_rarely_zero(each):
                self.require("zero", each)
            result = self.mul(result, self._reciprocal(each))
        return result

    def _divisors(self, a: Form) -> tuple[Fraction, Sequence[Factor], list[Form]]:
        """A form that is no sum over nothing as a product of a number, factors and sums."""
        if len(a) == 1:
            ((monomial, coefficient),) = a
            # Guards hold everywhere: where they did not, it would be a sum over nothing.
            outside, groups = components(monomial, bound_of(monomial))
            return coefficient, outside.factors, [((self.alone(g), Fraction(1)),) for g in groups]
        coefficient, content, rest = self.primitive(a)
        return coefficient, content, [rest]

    def _common_sums(self, a: Form) -> tuple[Sequence[Monomial], Form]:
        """The sums that are factors of all terms, and the rest."""
        split = [components(monomial, bound_of(monomial)) for monomial, _ in a]
        counted = [Counter(self.alone(group) for group in groups) for _, groups in split]
        common = reduce(Counter[Monomial].__and__, counted)
        if not common:
            return [], a
        total: dict[Monomial, Fraction] = {}
        for (outside, groups), (_, coefficient) in zip(split, a, strict=True):
            missing, kept = Counter(common), [outside]
            for group in groups:
                if missing[alone := self.alone(group)]:
                    missing[alone] -= 1
                else:
                    kept.append(group)
            left = product_of(kept)
            product = Product(left.factors, left.guards, frozenset(bound_of(left)))
            collect(total, self.reduced(product, coefficient))
        return [*common.elements()], self.together(total)

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

    def check_not_empty(self, a: Form) -> None:
        """
        Make sure that a form is not a sum over nothing.

        Raises:
            Undecided: it may be one, for some values of its free variables.
        """
        if not any(has_terms(monomial) for monomial, _ in a) and not _is_inhabited(a):
            raise Undecided("something is divided by a sum that may have no terms")


def _is_inhabited(a: Form) -> bool:
    """Whether one of its sums has terms, wherever it is read: not always the same one."""
    over = {variable for monomial, _ in a for variable in bound_of(monomial)}
    return is_inhabited([monomial.guards for monomial, _ in a], over)


def _is_free(f: Factor) -> bool:
    return all(v.number >= 0 for v in all_variables(f.indices))


def _read(group: Monomial) -> frozenset[Variable]:
    return frozenset(all_variables(indices_of(group.factors, group.guards)))
