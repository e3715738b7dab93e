"""
Arithmetic on forms: sums, products, and sums over variables.

Products of sums are multiplied out, so commutativity, associativity, distributivity and moving
factors out of sums hold because both sides become the same form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import count
from math import inf, lcm
from typing import NamedTuple

from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.atoms import Atoms, Ranging
from mirage_mlir.equivalence.symbolic.domains import step
from mirage_mlir.equivalence.symbolic.guards import Guard, Guards, guard
from mirage_mlir.equivalence.symbolic.indices import (
    Index,
    Variable,
    all_variables,
    number,
    of,
    plus,
    span,
    variable_of,
)
from mirage_mlir.equivalence.symbolic.multisets import Multisets
from mirage_mlir.equivalence.symbolic.ranges import Range, Rewritten, rewritten
from mirage_mlir.equivalence.symbolic.terms import (
    FIRST_FREE,
    ONE,
    ZERO,
    Atom,
    Entry,
    Factor,
    Form,
    Monomial,
    ProofWork,
    Undecided,
    bound_of,
    form_of,
    free_of,
    indices_of,
    powers,
)

MOST_TERMS = 512
"""Terms of a product of sums; the programs of the tests need up to 60."""

Values = Mapping[Variable, Index]


class Product(NamedTuple):
    """
    A product of factors under guards, with the variables over which it will be summed still free.
    """

    factors: Sequence[Factor]
    guards: Guards = ()
    over: frozenset[Variable] = frozenset()


class Algebra:
    """
    Arithmetic on the forms of one proof.

    Args:
        work: counts its steps.
    """

    def __init__(self, work: ProofWork | None = None) -> None:
        self.atoms = Atoms(work)
        self._numbers = count(FIRST_FREE)
        self._multisets = Multisets(self.atoms)

    def variable(self, size: int) -> Variable:
        """A new free variable."""
        self.atoms.work.spend(1)
        return Variable(next(self._numbers), size)

    # Sources

    def constant(self, value: Fraction | int) -> Form:
        """A number."""
        return ((ONE, Fraction(value)),) if value else ZERO

    def factor(self, atom: Atom, indices: Sequence[Index], exponent: int | Fraction = 1) -> Form:
        """An atom at indices, to a power."""
        found = self.atoms.factor(self.atoms.intern(atom), indices, exponent)
        return self.reduced(Product([found]))

    def value_of(self, form: Form) -> Fraction | None:
        """The number that a form is; None if it depends on anything."""
        if not form:
            return Fraction(0)
        ((monomial, coefficient), *others) = form
        return coefficient if not others and monomial == ONE else None

    def index(self, a: Index) -> Form:
        """An index as a number: a sum of multiples of its variables and floors."""
        atom = Atom("index")
        total = dict(self.constant(a.constant))
        parts = [(of(variable), c) for variable, c in a.linear]
        parts += [(Index((), ((floor, 1),)), c) for floor, c in a.floors]
        for part, coefficient in parts:
            f = self.atoms.factor(self.atoms.intern(atom), [part])
            total[Monomial((), (f,))] = Fraction(coefficient)
        return form_of(total)

    def index_of(self, a: Form) -> tuple[Index, int] | None:
        """An index and a divisor of which a form is the quotient; None where it is none."""
        common = lcm(*(c.denominator for _, c in a))
        found = Index((), (), 0)
        for monomial, coefficient in a:
            times = int(coefficient * common)
            if monomial == ONE:
                found = found._replace(constant=found.constant + times)
                continue
            factors = monomial.factors
            if monomial.guards or len(factors) != 1 or factors[0].exponent != 1:
                return None
            if self.atoms[factors[0].atom].kind != "index":
                return None
            found = plus(found, factors[0].indices[0], times)
        return found, common

    # Sums and products

    def add(self, a: Form, b: Form, sign: int = 1) -> Form:
        """The sum, or with sign -1 the difference."""
        total = dict(a)
        for monomial, coefficient in b:
            total[monomial] = total.get(monomial, Fraction(0)) + sign * coefficient
        return self.together(total)

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
            for right, d in b:
                x, y = self.opened(left), self.opened(right)
                guards = guards_.both(x.guards, y.guards)
                if guards is not None:
                    product = Product([*x.factors, *y.factors], guards, x.over | y.over)
                    collect(total, self.reduced(product, c * d))
        return self.together(total)

    def power(self, a: Form, exponent: int) -> Form:
        """A power, the exponent whole and not negative."""
        result = self.constant(1)
        for _ in range(exponent):
            result = self.mul(result, a)
        return result

    def total(self, a: Form, over: Iterable[Variable], guards: Iterable[Guard] = ()) -> Form:
        """The sum over some free variables, where guards hold."""
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in a:
            x = self.opened(monomial)
            both = guards_.both(x.guards, guards)
            if both is not None:
                product = Product(x.factors, both, x.over.union(over))
                collect(total, self.reduced(product, coefficient))
        return self.together(total)

    def opened(self, monomial: Monomial) -> Product:
        """A monomial with new free variables for its bound ones."""
        bound = sorted(bound_of(monomial))
        if not bound:
            return Product(monomial.factors, monomial.guards)
        names = {v: self.variable(v.size) for v in bound}
        values = {v: of(new) for v, new in names.items()}
        return Product(
            self.atoms.moved(monomial.factors, values),
            guards_.renamed(monomial.guards, names),
            frozenset(names.values()),
        )

    def together(self, total: dict[Monomial, Fraction]) -> Form:
        """
        A form in which ranges that adjoin are one, and sums that read the same elements as earlier
        ones are replaced by these.
        """
        form = form_of(total)
        while (found := rewritten(form)) is not None:
            form = form_of(self._rewritten(dict(form), found))
        total = dict(form)
        for old, new in self._multisets.replacements(form):
            for monomial in old:
                del total[monomial]
            for factors, guards, over, coefficient in new:
                collect(total, self.reduced(Product(factors, guards, over), coefficient))
        return form_of(total)

    def _rewritten(
        self, total: dict[Monomial, Fraction], found: Rewritten
    ) -> dict[Monomial, Fraction]:
        """A form with other sums in the place of two."""
        one, other = found.old
        coefficient = total.pop(one)
        del total[other]
        for places, times in found.new:
            collect(total, self.scale(self._over(one, found, places), coefficient * times))
        return total

    def _over(self, one: Monomial, found: Rewritten, places: Range) -> Form:
        """A sum over another range of one of its variables."""
        low, high = int(span(places.start)[0]), int(span(places.end)[1])
        if low >= high:
            return ZERO
        new = {v: self.variable(v.size) for v in bound_of(one) if v != found.variable}
        along = self.variable(high - low)
        element = plus(of(along), number(low))
        values = {v: of(name) for v, name in new.items()}
        values[found.variable] = plus(element, found.anchor, -1)
        kept = guards_.moved(guards_.without(one.guards, found.own), values)
        inside = (
            guard(plus(element, places.start, -1), 0, inf),
            guard(plus(places.end, element, -1), 1, inf),
        )
        if kept is None or (guards := guards_.both(kept, inside)) is None:
            return ZERO
        factors = self.atoms.moved(one.factors, values)
        anew = [self._changes(f, g) for f, g in zip(one.factors, factors, strict=True)]
        over = frozenset([along, *new.values()])
        return self._rebuilt(Product(factors, guards, over), anew, Fraction(1))

    # Monomials

    def reduced(self, product: Product, coefficient: Fraction = Fraction(1)) -> Form:
        """
        A product of factors, summed over its variables.

        Raises:
            Undecided: the proof takes too long.
        """
        factors, guards, over = product
        while True:
            self.atoms.work.spend(max(len(factors), 1))
            factors = powers(factors)
            form = self.simplified(Product(factors, guards, over), coefficient)
            if form is not None:
                return form
            change = step(indices_of(factors), guards, over, self.variable)
            if change is None:
                break
            guards = guards_.moved(guards, change.values)
            if guards is None or (guards := guards_.both(guards, change.conditions)) is None:
                return ZERO
            over = over.difference(change.values).union(change.new)
            moved = self.atoms.moved(factors, change.values)
            anew = [self._changes(f, new) for f, new in zip(factors, moved, strict=True)]
            if any(anew):
                return self._rebuilt(Product(moved, guards, over), anew, coefficient)
            factors = moved
        for each in guards:
            if cases := guards_.lexicographic(each, over):
                return self._in_cases(Product(factors, guards, over), each, cases, coefficient)
        factors, guards, over = self.cancelled(Product(factors, guards, over))
        read = all_variables(indices_of(factors, guards))
        for variable in over - read:
            coefficient *= variable.size
        return ((self.atoms.named(factors, guards, over & read), coefficient),)

    def _in_cases(
        self, product: Product, each: Guard, cases: Sequence[Guards], coefficient: Fraction
    ) -> Form:
        """A product, with one of its guards replaced by alternatives that exclude each other."""
        total: dict[Monomial, Fraction] = {}
        others = guards_.without(product.guards, (each,))
        for case in cases:
            if (guards := guards_.both(others, case)) is not None:
                collect(total, self.reduced(product._replace(guards=guards), coefficient))
        return form_of(total)

    def simplified(self, product: Product, coefficient: Fraction) -> Form | None:
        """A product simplified by the laws of its factors; None where no law applies."""
        raise NotImplementedError

    def cancelled(self, product: Product) -> Product:
        """A product without sums that one of its factors divides by."""
        raise NotImplementedError

    # Other indices

    def instance(self, form: Form, indices: Sequence[Index]) -> Form:
        """A form over parameters, read at indices."""
        return self.insert(form, {Variable(n, 0): index for n, index in enumerate(indices)})

    def insert(self, a: Form, values: Values) -> Form:
        """A form with free variables replaced by indices."""
        values = {v: index for v, index in values.items() if index != of(v)}
        if values.keys().isdisjoint(free_of(a)):
            return a
        renaming = _is_renaming(values, free_of(a))
        total: dict[Monomial, Fraction] = {}
        for monomial, coefficient in a:
            x = self.opened(monomial)
            guards = guards_.moved(x.guards, values)
            if guards is None:
                continue
            moved = self.atoms.moved(x.factors, values)
            anew = [
                not renaming and self._changes(f, new)
                for f, new in zip(x.factors, moved, strict=True)
            ]
            collect(total, self._rebuilt(Product(moved, guards, x.over), anew, coefficient))
        return self.together(total)

    def _changes(self, old: Factor, new: Factor) -> bool:
        """Whether a function is read at indices that may make its form another one."""
        atom = self.atoms[old.atom]
        if new == old or not (atom.entries or atom.kind == "index"):
            return False
        met = len(set(new.indices)) < len(set(old.indices))
        return met or not self.atoms.is_plain(old.atom)

    def _rebuilt(self, product: Product, anew: Sequence[bool], coefficient: Fraction) -> Form:
        """A product some of whose factors are made anew from their forms."""
        factors, guards, over = product
        if not any(anew):
            return self.reduced(product, coefficient)
        kept = [f for f, new in zip(factors, anew, strict=True) if not new]
        form = self.reduced(Product(kept), coefficient)
        for f, new in zip(factors, anew, strict=True):
            if new:
                form = self.mul(form, self.rebuilt(f))
        return self.total(form, over, guards)

    def rebuilt(self, f: Factor) -> Form:
        """A factor that is made of forms, made anew where it is read."""
        raise NotImplementedError

    # Parameters

    def abstract(self, a: Form) -> tuple[Form, tuple[Index, ...]]:
        """A form as a function of the indices at which it is read, and these indices."""
        (entry,), indices = self.atoms.abstract([Ranging(Entry((), a))])
        return entry.form, indices


def collect(total: dict[Monomial, Fraction], form: Form) -> None:
    """Add a form to a sum of monomials."""
    for monomial, coefficient in form:
        total[monomial] = total.get(monomial, Fraction(0)) + coefficient


def _is_renaming(values: Values, read: set[Variable]) -> bool:
    """Whether values are different variables of the same sizes, and none that stays."""
    new = [variable_of(index) for index in values.values()]
    if any(v is None or v.size != old.size for v, old in zip(new, values, strict=True)):
        return False
    return len(set(new)) == len(new) and (read - values.keys()).isdisjoint(new)
