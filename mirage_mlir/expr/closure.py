"""
The sub-expressions of a program's results, as a hash index.

The search keeps a value only if it can still become part of a target: A_sub of Wu et al. (OSDI
2025, section 4) closed under A_eq. The paper asks an SMT solver; here every sub-expression is
enumerated once, and a query is a look-up. These are, for each monomial of a root, its sub-products,
each sum that ends in them open (its index free), under way (partial) or done, and sums of such
parts that have the same co-factor. Roots are the targets, the arguments of their functions and
maxima, and what they divide by.

Departures: exact in indices; and coefficients are built from the program's own constants only
(`coefficients.parts`), because with free ratios the closure is infinite.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from mirage_mlir.expr.coefficients import parts
from mirage_mlir.expr.heads import Coefficient, Function, Maximum, Parenthesis, Poly, Size, within
from mirage_mlir.expr.monomial import UNIT, Factor, Monomial
from mirage_mlir.expr.normal_form import NormalForm
from mirage_mlir.expr.part_index import PartIndex, Place

MOST_PARTS = 4096
"""Parts of one monomial that are made roots, as denominators or in expanded form; 2^12."""


@dataclass(frozen=True)
class Constant:
    """
    A scalar that a graph may use: a number, or the size of an axis or its inverse.

    `value` is None for sizes, `axis` None for numbers; `exponent` is 1 or -1.
    """

    poly: Poly
    value: Coefficient | None = None
    axis: str | None = None
    exponent: int = 1


@dataclass(frozen=True)
class _Sides:
    """What tells whether a value can be one side of a sum."""

    terms: Mapping[Monomial, Coefficient]
    places: frozenset[Place]
    negated: frozenset[Place]
    """The places of the value with the other sign."""


class Closure:
    """
    What can still become part of the targets.

    Attributes:
        roots: values whose sub-expressions are in the closure, targets first.
        functions: names and arguments of the elementwise functions that occur, sorted.
        constants: the scalars that occur, sorted by value.
        has_maximum: whether any maximum occurs.
        queries: distinct values asked for so far.
    """

    def __init__(self, nf: NormalForm, targets: Iterable[Poly]) -> None:
        self.roots: list[Poly] = []
        self.queries = 0
        self._nf = nf
        self._is_root: set[Poly] = set()
        self._parts = PartIndex(nf)
        self._known: dict[Poly, bool] = {}
        self._known_sides: dict[Poly, _Sides] = {}
        self._known_before = nf.count
        with nf.lowering():
            self._add_roots(targets)
            self._add_arguments_of_calls()
            self.functions = self._all_functions()
            self.constants = self._all_constants()
        self.has_maximum = any(isinstance(nf.heads[h], Maximum) for h in self._parts.powers)

    # Queries.

    def has(self, poly: Poly | None) -> bool:
        """Whether the value is a sub-expression of a root."""
        if poly is None:
            return False
        if (known := self._known.get(poly)) is None:
            self.queries += 1
            known = self._known[poly] = self._look_up(poly)
        return known

    def _look_up(self, poly: Poly) -> bool:
        if self._parts.is_full and poly < self._known_before:
            return True
        head = self._nf.maximum_of(poly)
        if head is not None and self._has_maximum(head):
            return True
        # Two terms of a value come from two terms of the root.
        return any(
            len(set[int]().union(*terms)) >= len(terms)
            for terms in self._parts.places(poly).values()
        )

    def may_add(self, a: Poly, b: Poly, sign: int) -> bool:
        """Whether the sum (or, with sign -1, the difference) is not ruled out at a glance."""
        if self._parts.is_full:
            return True
        mine, others = self._sides(a), self._sides(b)
        together = mine.terms.keys() & others.terms.keys()
        if together:
            return all(
                abs(mine.terms[one] + sign * others.terms[one]) in self._parts.coefficients(one)
                for one in together
            )
        places = others.places if sign == 1 else others.negated
        return not mine.places.isdisjoint(places)

    def _sides(self, poly: Poly) -> "_Sides":
        if (known := self._known_sides.get(poly)) is None:
            places = frozenset(self._parts.places(poly))
            negated = frozenset((group, not same, missing) for group, same, missing in places)
            terms = dict(self._nf.monomials(poly))
            known = self._known_sides[poly] = _Sides(terms, places, negated)
        return known

    def _has_maximum(self, head: Maximum) -> bool:
        """Whether the terms are those of one maximum of the closure or some of them, bound less."""
        for other in map(self._nf.heads.__getitem__, sorted(self._parts.powers)):
            if isinstance(other, Maximum):
                matching = [
                    {
                        i
                        for i, (p, bound) in enumerate(other.terms)
                        if p == poly and within(m, bound)
                    }
                    for poly, m in head.terms
                ]
                if all(matching) and len(set[int]().union(*matching)) >= len(matching):
                    return True
        return False

    # Roots.

    def _add_roots(self, polys: Iterable[Poly]) -> None:
        """Add roots, the roots that their atoms hold, and all their sub-expressions."""
        new: list[Poly] = []
        waiting = deque(polys)
        while waiting:
            poly = waiting.popleft()
            if poly in self._is_root:
                continue
            self._is_root.add(poly)
            new.append(poly)
            for monomial, _ in self._nf.monomials(poly):
                waiting += self._roots_within(monomial)
        self.roots += new
        for poly in new:
            self._parts.add_root(poly)
        self._known.clear()
        self._known_sides.clear()

    def _roots_within(self, monomial: Monomial) -> Iterator[Poly]:
        for factor in monomial.factors:
            self._parts.powers.setdefault(factor.head, set()).add(factor.exponent)
            match self._nf.heads[factor.head]:
                case Function(argument=argument):
                    yield argument
                case Parenthesis(polynomial=polynomial):
                    yield polynomial
                case Maximum(terms=terms):
                    yield from (poly for poly, _ in terms)
                case _:
                    pass
        yield from self._arguments_of_exp(monomial)
        yield from self._denominators(monomial)
        yield from self._factored_parts(monomial)

    def _arguments_of_exp(self, monomial: Monomial) -> Iterator[Poly]:
        """`c * x` for `exp(x)^c`, if c is no whole number."""
        for factor in monomial.factors:
            head = self._nf.heads[factor.head]
            if isinstance(factor.exponent, Fraction) and isinstance(head, Function):
                argument = self._nf.scale(head.argument, abs(factor.exponent))
                if argument is not None:
                    self._nf.function(head.name, argument)
                    yield argument

    def _denominators(self, monomial: Monomial) -> Iterator[Poly]:
        """`subexpr(y, div(x, y))`: each sub-product of a monomial's inverted factors."""
        nf = self._nf
        inverted = [
            f._replace(exponent=-f.exponent)
            for f in monomial.factors
            # The inverses of sizes are constants of their own.
            if f.exponent < 0 and not isinstance(nf.heads[f.head], Size)
        ]
        powers = product(*(self._parts.powers_within(f) for f in inverted))
        for chosen in islice(powers, MOST_PARTS):
            factors = [f._replace(exponent=e) for f, e in zip(inverted, chosen, strict=True) if e]
            free = self._freed(factors) if factors else None
            if free is not None and (value := nf.reduced(nf.heads.canonical(free, {}))) is not None:
                yield value

    def _freed(self, factors: Sequence[Factor]) -> list[Factor] | None:
        """The factors with all variables free; None when an axis would have two."""
        heads = self._nf.heads
        read = {v for f in factors for v in heads.variables(f)}
        if len({axis for axis, _ in read}) < len(read):
            return None
        return [heads.renamed(f, dict.fromkeys(read, 0)) for f in factors]

    def _add_arguments_of_calls(self) -> None:
        """A function that the program calls and whose value is used has its argument as a root."""
        before = -1
        while before != len(self.roots):
            before = len(self.roots)
            for (_, argument), value in list(self._nf.calls.items()):
                if self.has(value) and not self.has(argument):
                    self._add_roots([argument])

    def _factored_parts(self, monomial: Monomial) -> Iterator[Poly]:
        """Products of one unexpanded sum and other factors, which are values in expanded form."""
        nf = self._nf
        sums = [f for f in monomial.factors if f.exponent > 0 and self._is_sum(f)]
        if sum(f.exponent for f in sums) < 2:
            return
        for inside, outside in islice(self._parts.splits(monomial), MOST_PARTS):
            if sum(f.exponent for f in inside if f.exponent > 0 and self._is_sum(f)) != 1:
                continue
            shared = {v for f in outside for v in nf.heads.variables(f)}
            read = {v for f in inside for v in nf.heads.variables(f)} & shared
            if len({axis for axis, _ in read}) == len(read):
                free = (nf.heads.renamed(f, dict.fromkeys(read, 0)) for f in inside)
                if (value := nf.reduced(nf.heads.canonical(free, {}))) is not None:
                    yield value

    def _is_sum(self, factor: Factor) -> bool:
        return isinstance(self._nf.heads[factor.head], Parenthesis)

    # What the search starts from.

    def _all_functions(self) -> list[tuple[str, Poly]]:
        """Functions that the program calls, and those into which laws have split them."""
        found = {call for call, value in self._nf.calls.items() if self.has(value)}
        for number in sorted(self._parts.powers):
            head = self._nf.heads[number]
            if isinstance(head, Function):
                call = head.name, head.argument
                if self.has(self._nf.function(*call)):
                    found.add(call)
        return sorted(found)

    def _all_constants(self) -> list[Constant]:
        nf = self._nf
        values: set[Coefficient] = set()
        sizes: set[tuple[str, int]] = set()
        for root in self.roots:
            terms = nf.monomials(root)
            sign = -1 if terms and all(c < 0 for _, c in terms) else 1
            for monomial, coefficient in terms:
                # A constant term is a number of its own.
                values |= {abs(coefficient)} if monomial == UNIT else set()
                values |= {sign * v for v in parts(abs(coefficient), sorted(nf.constants))} - {1}
                sizes |= set(self._sizes(monomial))
        numbers = [Constant(nf.intern({UNIT: value}), value) for value in sorted(values)]
        return numbers + [
            Constant(nf.atom(Size(axis), exponent), None, axis, exponent)
            for axis, exponent in sorted(sizes)
        ]

    def _sizes(self, monomial: Monomial) -> Iterator[tuple[str, int]]:
        for factor in monomial.factors:
            head = self._nf.heads[factor.head]
            if isinstance(head, Size):
                yield head.axis, 1 if factor.exponent > 0 else -1
