"""
Arithmetic on forms: sums, products, quotients and sums over indices.

Products of sums are multiplied out, so commutativity, associativity, distributivity and moving
factors out of sums over indices hold because both sides become the same form. A quotient by a sum
has the sum, without what its terms share, as one factor to a negative power.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import count, pairwise
from math import gcd, lcm, prod

from mirage_mlir.interpreters.forms.flat import KIND as FLAT
from mirage_mlir.interpreters.forms.flat import opened, opens, sizes_of, with_digits
from mirage_mlir.interpreters.forms.ranges import (
    Range,
    alone,
    bracket,
    brackets,
    cancel,
    met,
    range_of_sum,
    shortened,
    summed_over,
)
from mirage_mlir.interpreters.forms.terms import (
    FIRST_FREE,
    ZERO,
    Atom,
    Factor,
    Form,
    Monomial,
    Place,
    Undecided,
    Variable,
    bound_of,
    coalesced,
    components,
    inserted,
    named,
    orders,
    place,
    renamed,
    variables_of,
)

MOST_TERMS = 512
"""Terms of a product of sums; the programs of the tests need up to 60."""

MOST_STEPS = 40_000
"""
Factors of monomials made in one proof, three seconds' work: programs and graphs of the tests need
up to 400, a whole decoder layer 16,000.
"""

MOST_CLEARED = 8
"""Denominators that a comparison multiplies by."""

Abstract = tuple[Form, tuple[Place, ...]]
"""A form over parameters, and the places that they stand for."""


class Algebra:
    """Atoms, and arithmetic on the forms that read them."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self._ids: dict[Atom, int] = {}
        self._flat: set[int] = set()
        """Atoms that are, or are made of, tensors that are read as if they had one dimension."""
        self._opening: set[Factor] = set()
        """Factors that are made anew just now."""
        self._abstract: dict[Form, Abstract] = {}
        self._numbers = count(FIRST_FREE)
        self._steps = 0
        self.valid = self.intern(Atom("valid"))

    def intern(self, atom: Atom) -> int:
        """The number of an atom."""
        if (known := self._ids.get(atom)) is None:
            known = self._ids[atom] = len(self.atoms)
            self.atoms.append(atom)
            read = {f.atom for form in atom.forms for monomial, _ in form for f in monomial}
            if atom.kind == FLAT or not self._flat.isdisjoint(read):
                self._flat.add(known)
        return known

    def variable(self, size: int) -> Variable:
        """A new free variable."""
        return Variable(next(self._numbers), size)

    # Sources

    def constant(self, value: Fraction | int) -> Form:
        """A number."""
        return (((), Fraction(value)),) if value else ZERO

    def factor(self, atom: Atom, places: Sequence[Place], exponent: int | Fraction = 1) -> Form:
        """An atom at places, to a power."""
        return self.reduced([Factor(self.intern(atom), tuple(places), exponent)], Fraction(1))

    def value_of(self, form: Form) -> Fraction | None:
        """The number that a form is, None when it depends on anything."""
        if not form:
            return Fraction(0)
        ((monomial, coefficient), *others) = form
        return coefficient if not others and not monomial else None

    # Sums and products

    def add(self, a: Form, b: Form, sign: int = 1) -> Form:
        """The sum, or with sign -1 the difference."""
        total = dict(a)
        for monomial, coefficient in b:
            total[monomial] = total.get(monomial, Fraction(0)) + sign * coefficient
        return _form(total)

    def scale(self, a: Form, factor: Fraction | int) -> Form:
        """A form times a number."""
        return tuple((m, c * factor) for m, c in a) if factor else ZERO

    def mul(self, a: Form, b: Form) -> Form:
        """
        The product, multiplied out.

        Raises:
            Undecided: it has too many terms.
        """
        if len(a) * len(b) > MOST_TERMS:
            raise Undecided(f"a product of sums has more than {MOST_TERMS} terms")
        total: dict[Monomial, Fraction] = {}
        for left, c in a:
            taken = len(bound_of(left))
            for right, d in b:
                names = {v: v._replace(number=v.number - taken) for v in bound_of(right)}
                apart = renamed(right, names) if taken and names else right
                self._collect(total, self.reduced([*left, *apart], c * d))
        return _form(total)

    def power(self, a: Form, exponent: int) -> Form:
        """A whole power."""
        if exponent < 0:
            return self.inverse(self.power(a, -exponent))
        result = self.constant(1)
        for _ in range(exponent):
            result = self.mul(result, a)
        return result

    def _collect(self, total: dict[Monomial, Fraction], form: Form) -> None:
        for monomial, coefficient in form:
            total[monomial] = total.get(monomial, Fraction(0)) + coefficient

    # Monomials

    def reduced(self, factors: Sequence[Factor], coefficient: Fraction) -> Form:
        """
        What a product of factors is, summed over its bound variables.

        Raises:
            Undecided: the proof takes too long.
        """
        self._steps += len(factors)
        if self._steps > MOST_STEPS:
            raise Undecided(f"the normal forms take more than {MOST_STEPS} steps")
        kept = self._met(_powers(factors))
        if kept is None:
            return ZERO
        for variable in sorted(set(bound_of(factors)) - set(bound_of(kept))):
            holder = _limited(factors, variable)
            if holder is None:
                coefficient *= variable.size
            elif (valid := Factor(self.valid, (holder,), 1)) not in kept:
                kept.append(valid)
        if (form := self._opened(kept, coefficient)) is not None:
            return form
        merged = coalesced([kept], lambda variable: variable.bound).monomials[0]
        split = with_digits([f for f in merged if f.atom in self._flat], merged, self.atoms)
        if split is not None:
            return self.reduced(split, coefficient)
        if (shorter := self._shortened(merged, coefficient)) is not None:
            return shorter
        final, times = self._without_valid(merged)
        return ((named(self._cancelled(final)), coefficient * times),)

    def _opened(self, factors: list[Factor], coefficient: Fraction) -> Form | None:
        """A monomial of which a factor is a power of a form, or made of one that it shows now."""
        for f in factors:
            others = [other for other in factors if other is not f]
            if (expanded := self._expandable(f)) is not None:
                base, exponent, rest = expanded
                return self._expanded([*others, *rest], coefficient, f, base, exponent)
            if f.atom in self._flat and f not in self._opening and opens(f, self.atoms):
                self._opening.add(f)
                try:
                    return self._with_rebuilt(factors, [each is f for each in factors], coefficient)
                finally:
                    self._opening.remove(f)
        return None

    # Brackets

    def _met(self, factors: list[Factor]) -> list[Factor] | None:
        """Factors with brackets of one index met; None where one of them is zero."""
        found = brackets(factors, self.atoms)
        if not found:
            return factors
        if (ranges := met(found)) is None:
            return None
        others = [f for f in factors if all(f is not each.factor for each in found)]
        return others + [
            Factor(self.intern(bracket(start, stop)), (where,), 1) for where, start, stop in ranges
        ]

    def _shortened(self, factors: list[Factor], coefficient: Fraction) -> Form | None:
        """A sum of which a bracket leaves a part, as a shorter sum; None where there is none."""
        found = brackets(factors, self.atoms)
        ranges = met(found)
        if not ranges or (part := shortened(ranges)) is None:
            return None
        variable, start, stop = part
        if (stop - start > 1 or _limited(factors, variable)) and not alone(factors, variable):
            return None
        whole, inner = self.variable(variable.size), self.variable(stop - start)
        others = [f for f in factors if all(f is not each.factor for each in found)]
        others += [
            Factor(self.intern(bracket(low, high)), (where,), 1)
            for where, low, high in ranges
            if where.digits != (variable,)
        ]
        form = self.reduced(renamed(others, {variable: whole}), coefficient)
        form = self.insert(form, {whole: place((inner,), 0, start)})
        return self.bind(form, inner, None)

    def bracketed(self, forms: Sequence[Form]) -> tuple[Variable, list[int]] | None:
        """A free index that brackets are read at, and where its ranges end; None without any."""
        ends: dict[Variable, set[int]] = {}
        for a in forms:
            for monomial, _ in a:
                for where, start, stop in met(brackets(monomial, self.atoms)) or ():
                    if len(where.digits) == 1 and not where.digits[0].bound and not where.limit:
                        (digit,) = where.digits
                        ends.setdefault(digit, {0, digit.size}).update((start, stop))
        if not ends:
            return None
        variable = min(ends)
        return variable, sorted(ends[variable])

    def piecewise(self, forms: Sequence[Form], operation: Callable[..., Form]) -> Form:
        """An operation on forms, in each range of their brackets alone."""
        if (split := self.bracketed(forms)) is None:
            return operation(*forms)
        variable, ends = split
        total = ZERO
        for start, stop in pairwise(ends):
            inner = self.variable(stop - start)
            parts = [self.insert(a, {variable: place((inner,), 0, start)}) for a in forms]
            result = self.piecewise(parts, operation)
            back = self.insert(result, {inner: Place((variable,), 0, -start)})
            where = self.factor(bracket(start, stop), (Place((variable,)),))
            total = self.add(total, self.mul(where, back))
        return total

    def _expandable(self, f: Factor) -> tuple[Form, int, list[Factor]] | None:
        """A factor that is a power of a form: the form, the power, and what is left over."""
        atom = self.atoms[f.atom]
        if (atom.kind == "sum" and f.exponent > 0) or self._read_at(f) != f.places:
            return atom.forms[0], int(f.exponent), []
        if atom.name == "sqrt" and abs(f.exponent) > 1:
            squares = int(abs(f.exponent)) // 2 * (1 if f.exponent > 0 else -1)
            rest = f.exponent - 2 * squares
            return atom.forms[0], squares, [f._replace(exponent=rest)] if rest else []
        return None

    def _expanded(
        self, others: list[Factor], coefficient: Fraction, f: Factor, base: Form, exponent: int
    ) -> Form:
        """A monomial of which one factor is a power of a form."""
        factors = [*others, f]
        opened = {v: self.variable(v.size) for v in bound_of(factors)}
        (inner,) = renamed([f], opened)
        value = self.power(self.instance(base, self._read_at(inner)), exponent)
        form = self.mul(self.reduced(renamed(others, opened), coefficient), value)
        holders = {new: _limited(renamed(factors, opened), new) for new in opened.values()}
        for variable in opened.values():
            form = self.bind(form, variable, holders[variable])
        return form

    def _read_at(self, f: Factor) -> tuple[Place, ...]:
        """The places that the form of an atom is read at: of a number in digits, its digits."""
        atom = self.atoms[f.atom]
        return (atom.kind == FLAT and opened(f.places, sizes_of(atom))) or f.places

    def _cancelled(self, factors: list[Factor]) -> list[Factor]:
        """Factors without sums over indices that one of them divides by."""
        for f in factors:
            atom = self.atoms[f.atom]
            if atom.kind != "sum" or f.exponent > 0 or len(atom.forms[0]) != 1 or bound_of([f]):
                continue
            for group in components(factors)[1]:
                form, places = self.abstract(((named(group), Fraction(1)),))
                if form == atom.forms[0] and places == f.places:
                    left = [other for other in factors if other not in group]
                    left[left.index(f)] = f._replace(exponent=f.exponent + 1)
                    return self._cancelled(_powers(left))
        return factors

    def _without_valid(self, factors: list[Factor]) -> tuple[list[Factor], int]:
        """Factors without what says only that places exist, and the number of those summed over."""
        kept, times = list(factors), 1
        for f in factors:
            if f.atom != self.valid:
                continue
            (where,) = f.places
            others = [p for other in kept if other is not f for p in other.places]
            implied = any(
                p.digits == where.digits and (not where.limit or 0 < p.limit <= where.limit)
                for p in others
            )
            read = {digit for p in others for digit in p.digits}
            if implied or (where.limit == 0 and read.issuperset(where.digits)):
                kept.remove(f)
            elif all(digit.bound and digit not in read for digit in where.digits):
                kept.remove(f)
                times *= where.limit or prod(digit.size for digit in where.digits)
        return kept, times

    # Sums over indices

    def bind(self, a: Form, variable: Variable, valid: Place | None) -> Form:
        """
        The sum over a variable.

        Args:
            a: what is summed.
            variable: what it is summed over.
            valid: the place that has to be below its limit, of which the variable is a digit (or
                which says whether there is anything to sum at all); None where it always is.
        """
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in a:
            factors = list(monomial)
            if valid is not None and not _implies(factors, valid):
                factors.append(Factor(self.valid, (valid,), 1))
            if variable in variables_of(factors):
                bound = Variable(-len(bound_of(factors)) - 1, variable.size)
                factors = renamed(factors, {variable: bound})
            else:
                coefficient = coefficient * variable.size
            self._collect(total, self.reduced(factors, coefficient))
        return _form(total)

    # Quotients

    def inverse(self, a: Form) -> Form:
        """
        1 / a.

        Raises:
            Undecided: a is zero.
        """
        if not a:
            raise Undecided("something is divided by zero")
        if self.bracketed([a]) is not None:
            return self.piecewise([a], self.inverse)
        if len(a) == 1:
            ((monomial, coefficient),) = a
            outside, groups = components(monomial)
            factors = [f._replace(exponent=-f.exponent) for f in outside]
            result = self.reduced(factors, 1 / coefficient)
            for group in groups:
                result = self.mul(result, self._reciprocal(((named(group), Fraction(1)),)))
            return result
        coefficient, content, rest = self.primitive(a)
        factors = [f._replace(exponent=-f.exponent) for f in content]
        return self.mul(self.reduced(factors, 1 / coefficient), self._reciprocal(rest))

    def _reciprocal(self, a: Form) -> Form:
        form, places = self.abstract(a)
        return self.factor(Atom("sum", forms=(form,)), places, -1)

    def div(self, a: Form, b: Form) -> Form:
        """The quotient."""
        return self.mul(a, self.inverse(b))

    def primitive(self, a: Form) -> tuple[Fraction, list[Factor], Form]:
        """A sum of several terms as a number, what all terms share, and the rest."""
        powers = [
            {(f.atom, f.places): f.exponent for f in monomial if not bound_of([f])}
            for monomial, _ in a
        ]
        common = powers[0]
        for other in powers[1:]:
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
            self._collect(total, self.reduced([*monomial, *inverse], coefficient / number))
        rest = _form(total)
        negative = self.scale(rest, -1)
        if self.abstract(negative)[0] < self.abstract(rest)[0]:
            return -number, content, negative
        return number, content, rest

    # Parameters

    def abstract(self, a: Form) -> Abstract:
        """A form as a function of the places that it reads, canonical in their order."""
        if (known := self._abstract.get(a)) is not None:
            return known
        joined = coalesced([m for m, _ in a], lambda variable: not variable.bound)
        terms = list(zip(joined.monomials, (c for _, c in a), strict=True))
        free = sorted({v for m, _ in terms for v in variables_of(m) if not v.bound})
        found: list[tuple[Form, tuple[Variable, ...]]] = []
        for order in orders(terms, free):
            names = {v: Variable(number, v.size) for number, v in enumerate(order)}
            form = tuple(sorted((named(renamed(m, names)), c) for m, c in terms))
            found.append((form, order))
        form, order = min(found)
        places = tuple(joined.origins.get(variable, Place((variable,))) for variable in order)
        result = self._abstract[a] = form, places
        return result

    def instance(self, a: Form, places: Sequence[Place]) -> Form:
        """A form over parameters, read at places."""
        sizes = {v.number: v for m, _ in a for v in variables_of(m) if not v.bound}
        return self.insert(a, {sizes[n]: p for n, p in enumerate(places) if n in sizes})

    def insert(self, a: Form, values: dict[Variable, Place]) -> Form:
        """A form with variables replaced by numbers that have digits of their own."""
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in a:
            places = [tuple(inserted(p, values) for p in f.places) for f in monomial]
            moved = [f._replace(places=p) for f, p in zip(monomial, places, strict=True)]
            anew = [
                self._needs_rebuilding(old, new) for old, new in zip(monomial, moved, strict=True)
            ]
            if any(anew):
                self._collect(total, self._with_rebuilt(moved, anew, coefficient))
            else:
                self._collect(total, self.reduced(moved, coefficient))
        return _form(total)

    def moved(self, a: Form, change: Callable[[Place], Place]) -> Form:
        """A form with its places changed; functions are read at places as different as before."""
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in a:
            factors = [f._replace(places=tuple(map(change, f.places))) for f in monomial]
            self._collect(total, self.reduced(factors, coefficient))
        return _form(total)

    def _with_rebuilt(
        self, factors: Sequence[Factor], anew: Sequence[bool], coefficient: Fraction
    ) -> Form:
        """A monomial of which some factors are made anew from their forms."""
        opened = {v: self.variable(v.size) for v in bound_of(factors)}
        free = renamed(factors, opened)
        form = self.reduced([f for f, new in zip(free, anew, strict=True) if not new], coefficient)
        for f, new in zip(free, anew, strict=True):
            if new:
                form = self.mul(form, self.rebuilt(self.atoms[f.atom], f.places, f.exponent))
        for variable in opened.values():
            form = self.bind(form, variable, _limited(free, variable))
        return form

    def _needs_rebuilding(self, old: Factor, new: Factor) -> bool:
        """Whether a function is read at places that make its form another one."""
        if new == old or not self.atoms[old.atom].forms:
            return False
        digits = [digit for p in new.places for digit in p.digits]
        plain = all(
            p.digits and not p.offset and p.stride == 1 and not any(d.fixed for d in p.digits)
            for p in new.places
        )
        return not plain or len(set(digits)) < len(digits)

    def rebuilt(self, atom: Atom, places: Sequence[Place], exponent: int | Fraction) -> Form:
        """A power of an atom that is made of forms, at other places."""
        raise NotImplementedError

    # Comparison

    def equal(self, a: Form, b: Form) -> bool:
        """Whether two forms are the same, after multiplying by what they divide by."""
        difference = self.add(a, b, -1)
        if (split := self.bracketed([difference])) is not None:
            variable, ends = split
            return all(
                self.equal(
                    self.insert(
                        difference, {variable: place((self.variable(stop - start),), 0, start)}
                    ),
                    ZERO,
                )
                for start, stop in pairwise(ends)
            )
        for _ in range(MOST_CLEARED):
            if not difference or not self._without_cancelled(difference):
                return True
            divisors = [
                f
                for m, _ in difference
                for f in m
                if self.atoms[f.atom].kind == "sum" and f.exponent < 0 and not bound_of([f])
            ]
            if not divisors:
                return False
            divisor = min(divisors)
            base = self.instance(self.atoms[divisor.atom].forms[0], divisor.places)
            power = max(-int(f.exponent) for f in divisors if f[:2] == divisor[:2])
            difference = self._cleared(difference, divisor, base, power)
        return not difference

    def _without_cancelled(self, a: Form) -> Form:
        """A form without sums over an index that sums over ranges of the index take away."""
        index = self.variable(0)
        found: dict[Monomial, dict[Monomial, tuple[Range, Fraction]]] = {}
        for monomial, coefficient in a:
            for variable in bound_of(monomial):
                here = range_of_sum(monomial, variable)
                summed = summed_over(monomial, variable, index, here.start)
                if summed is not None:
                    found.setdefault(named(summed), {})[monomial] = here, coefficient
        for ranges in found.values():
            if len(ranges) > 1 and cancel(list(ranges.values())):
                return self._without_cancelled(tuple(m for m in a if m[0] not in ranges))
        return a

    def _cleared(self, a: Form, divisor: Factor, base: Form, power: int) -> Form:
        """A form times a power of what some of its terms divide by."""
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in a:
            here = [f for f in monomial if f[:2] == divisor[:2]]
            missing = power + sum(int(f.exponent) for f in here)
            rest = tuple(f for f in monomial if f not in here)
            times = self.power(base, missing)
            self._collect(total, self.mul(((rest, coefficient),), times))
        return _form(total)


def _form(total: dict[Monomial, Fraction]) -> Form:
    return tuple(sorted((m, c) for m, c in total.items() if c))


def _powers(factors: Sequence[Factor]) -> list[Factor]:
    """Factors with equal ones collected."""
    powers: dict[tuple[int, tuple[Place, ...]], int | Fraction] = {}
    for atom, places, exponent in factors:
        powers[atom, places] = powers.get((atom, places), 0) + exponent
    return [Factor(*key, int(e) if e.denominator == 1 else e) for key, e in powers.items() if e]


def _limited(factors: Sequence[Factor], variable: Variable) -> Place | None:
    """The first place that reads a variable and has a limit."""
    places = (p for f in factors for p in f.places if variable in p.digits and p.limit)
    return next(places, None)


def _implies(factors: Sequence[Factor], valid: Place) -> bool:
    """Whether reading some factors means that a place exists."""
    return any(
        p.digits == valid.digits and 0 < p.limit <= valid.limit for f in factors for p in f.places
    )
