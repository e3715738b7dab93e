"""
The sub-expressions of values, as a hash index: parts of monomials, and which terms they are of.

A part is a sub-product of a term with each sum that ends in it open (its index free), under way
(partial) or done. Parts of several terms of one root that have the same co-factor are in one place:
their sum is a part, too.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from mirage_mlir.expr.coefficients import exact, parts
from mirage_mlir.expr.heads import Coefficient, Exponent, Poly, Size
from mirage_mlir.expr.monomial import Factor, Monomial
from mirage_mlir.expr.normal_form import NormalForm

MOST_ENTRIES = 20_000
"""
Sub-expressions indexed; the programs of the tests have 30 to 300. Past it some are missed, but not
the values of the program itself.
"""

MOST_POWERS = 16
"""Powers of one factor that each have parts: of exp(1000 x), which is exp(x) 1000 times, only those
that the program itself has are looked for."""

COUNTED = -1
"""The number of a variable that no factor reads: its sum is a factor, the size of the axis."""

AFTERWARDS = 1 << 20
"""In keys only: the number of an axis' current variable where a bound one has become current."""

Variable: TypeAlias = tuple[str, int]
_Key: TypeAlias = tuple[tuple[Factor, ...], tuple[str, ...]]
Place: TypeAlias = tuple[int, bool, int]
"""Co-factor group, sign of the root's coefficient, number of the constant still missing."""


class PartIndex:
    """The parts of the terms of roots, which are added one by one."""

    def __init__(self, nf: NormalForm) -> None:
        self.powers: dict[int, set[Exponent]] = {}
        """With which exponents each head occurs in the roots so far."""
        self._nf = nf
        self._index: dict[_Key, dict[Coefficient, dict[Place, set[int]]]] = {}
        self._groups: dict[object, int] = {}
        self._missing: dict[Coefficient, int] = {}
        """Numbers of constants: the hash of a fraction takes ten times that of an integer."""
        self._entries = 0

    @property
    def is_full(self) -> bool:
        """Whether parts may be missing."""
        return self._entries > MOST_ENTRIES

    # Queries.

    def places(self, poly: Poly) -> Mapping[Place, list[set[int]]]:
        """Where the terms of a value are parts of terms of one root, and of which for each."""
        common: dict[Place, list[set[int]]] | None = None
        for monomial, coefficient in self._nf.monomials(poly):
            key = (monomial.factors, tuple(axis for axis, _ in monomial.masks))
            found = self._index.get(key, {}).get(abs(coefficient))
            if found is None:
                return {}
            positive = coefficient > 0
            here = {(g, sign == positive, missing): t for (g, sign, missing), t in found.items()}
            if common is None:
                common = {place: [terms] for place, terms in here.items()}
            else:
                common = {p: [*common[p], here[p]] for p in common if p in here}
        return common or {}

    def coefficients(self, monomial: Monomial) -> Collection[Coefficient]:
        """With which coefficients a monomial occurs, signs aside."""
        key = (monomial.factors, tuple(axis for axis, _ in monomial.masks))
        return self._index.get(key, {})

    # Entries.

    def powers_within(self, factor: Factor) -> list[Exponent]:
        """The powers of a factor's head that a part of it can have, with 0."""
        exponent = factor.exponent
        if isinstance(exponent, int) and abs(exponent) <= MOST_POWERS:
            sign = 1 if exponent > 0 else -1
            return [sign * e for e in range(abs(exponent) + 1)]
        steps = {e for e in self.powers.get(factor.head, ()) if 0 < e / exponent <= 1}
        return [0, *sorted(steps | {exponent})]

    def splits(self, monomial: Monomial) -> Iterator[tuple[list[Factor], list[Factor]]]:
        """Each way to take a monomial's factors apart in two."""
        factors = monomial.factors
        for chosen in product(*(self.powers_within(f) for f in factors)):
            pairs = list(zip(factors, chosen, strict=True))
            inside = [f._replace(exponent=e) for f, e in pairs if e]
            outside = [
                f._replace(exponent=exact(Fraction(f.exponent - e)))
                for f, e in pairs
                if f.exponent != e
            ]
            yield inside, outside

    def add_root(self, root: Poly) -> None:
        """Index the parts of all terms of a root."""
        heads, terms = self._nf.heads, self._nf.monomials(root)
        alone = len(terms) == 1
        for number, (monomial, coefficient) in enumerate(terms):
            allowed = parts(abs(coefficient), sorted(self._nf.constants))
            for inside, outside in self.splits(monomial):
                for free, partial in self._openings(inside, outside, alone):
                    names = dict.fromkeys((*free, *partial), 0)
                    counted = [axis for axis, number in free if number == COUNTED]
                    part = heads.canonical((heads.renamed(f, names) for f in inside), {})
                    key = (part.factors, tuple(axis for axis, _ in partial))
                    # What the co-factor reads of such an axis after the sum is another variable.
                    names |= {(axis, 0): AFTERWARDS for axis, _ in names}
                    # A sum comes from several terms, which must lack the same co-factor.
                    rest = () if alone else tuple(heads.renamed(f, names) for f in outside)
                    rest += tuple(heads.factor(Size(axis), -1) for axis in counted)
                    # Partial sums over different axes may go into one accumulator: no axis named.
                    axes = sorted(axis for axis, _ in free)
                    status = () if alone else (*axes, len(partial))
                    group = (root, heads.canonical(rest, {}).factors, status)
                    place = self._groups.setdefault(group, len(self._groups)), coefficient > 0
                    self._enter(key, place, allowed, number)
                if self.is_full:
                    return

    def _enter(
        self,
        key: _Key,
        place: tuple[int, bool],
        allowed: Mapping[Coefficient, tuple[Coefficient, ...]],
        number: int,
    ) -> None:
        row = self._index.setdefault(key, {})
        for value, factors in allowed.items():
            for missing in factors:
                constant = self._missing.setdefault(missing, len(self._missing))
                row.setdefault(value, {}).setdefault((*place, constant), set()).add(number)
        self._entries += 1

    def _openings(
        self, inside: Sequence[Factor], outside: Sequence[Factor], alone: bool
    ) -> Iterator[tuple[tuple[Variable, ...], tuple[Variable, ...]]]:
        """
        Bound variables that are free in a part or its co-factor, and those bound in part.

        A variable that both read must be free: it is summed after their product. One that only the
        co-factor reads may be, too: in `sum_k (x[k] + y) w[k]`, y is added before the sum. (For a
        term `alone`, nothing is added.) So may one that nothing reads: in `sum_k (x[k] + y)`, which
        is `sum_k x[k] + |k| y`, too. Free and partial variables become current ones, of which a
        part has one on each axis.
        """
        heads = self._nf.heads
        read_outside = {v for f in outside for v in heads.variables(f)}
        read_inside = {v for f in inside for v in heads.variables(f)}
        options: dict[str, list[tuple[Variable, str] | None]] = {}
        for variable in sorted(read_inside | read_outside):
            axis, number = variable
            ways = options.setdefault(axis, [None])
            if not number and variable not in read_inside:
                continue  # The part meets this factor after its own sums over the axis.
            if variable in read_inside and (not number or variable in read_outside):
                if None not in ways:
                    return  # Two variables would have to be current.
                ways[:] = [(variable, "free" if number else "current")]
            elif None in ways and variable in read_inside:
                ways += [(variable, "free"), (variable, "partial")]
            elif None in ways and not alone:
                ways.append((variable, "free"))
        for axis in () if alone else self._counted(outside, read_inside):
            ways = options.setdefault(axis, [None])
            ways += [((axis, COUNTED), "free")] if None in ways else []
        for chosen in product(*options.values()):
            free = tuple(way[0] for way in chosen if way and way[1] == "free")
            yield free, tuple(way[0] for way in chosen if way and way[1] == "partial")

    def _counted(self, outside: Sequence[Factor], read_inside: set[Variable]) -> list[str]:
        """The axes over which a co-factor is a sum of equal terms, and which the part lacks."""
        heads = [self._nf.heads[f.head] for f in outside if f.exponent >= 1]
        axes = [head.axis for head in heads if isinstance(head, Size)]
        return [axis for axis in axes if (axis, 0) not in read_inside]
