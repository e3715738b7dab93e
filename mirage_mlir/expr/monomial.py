"""
Monomials: products of atoms under sums over some of their indices.

Each factor says for each axis of its head which variable it reads: 0 is the axis' current (free)
variable, 1 and up are variables that a sum binds. `sum_k x[i, k] * y[k, j]` has the factors
`x (0, 1)` and `y (1, 0)`. A factor that does not read a bound variable stands outside its sum,
so `sum(i, mul(x, y)) = mul(sum(i, x), y)` holds by construction.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, permutations, product
from typing import NamedTuple

from mirage_mlir.expr.heads import Exponent, Function, Head, Masks, Parenthesis

MOST_RENAMINGS = 720
"""
Namings of the bound variables of one sum tried for the canonical one, 6!. Programs need up to 6;
beyond the limit two equal monomials may be told apart, which loses a rewrite and nothing else.
"""


class Factor(NamedTuple):
    """A head to a power, and the variable that it reads on each of its axes."""

    head: int
    slots: tuple[int, ...]
    exponent: Exponent


class Monomial(NamedTuple):
    """Sorted factors, and the bits of current variables that are already summed."""

    factors: tuple[Factor, ...]
    masks: Masks


UNIT = Monomial((), ())


class HeadTable:
    """Interned heads; a head's id is its place."""

    def __init__(self) -> None:
        self.heads: list[Head] = []
        self._axes: list[tuple[str, ...]] = []
        self.reducible: set[int] = set()
        """Heads whose powers or products may have to be rewritten (see `reduction.py`)."""
        self._ids: dict[Head, int] = {}
        self._monomials: dict[object, Monomial] = {}
        self._groups: dict[tuple[Factor, ...], tuple[Factor, ...]] = {}
        """What was named before: most products of a search are met several times."""

    def intern(self, head: Head) -> int:
        """The id of a head, which is given to it when it is first seen."""
        if (known := self._ids.get(head)) is None:
            known = self._ids[head] = len(self.heads)
            self.heads.append(head)
            self._axes.append(head.axes)
            root = isinstance(head, Function) and head.name == "sqrt"
            if root or isinstance(head, Parenthesis):
                self.reducible.add(known)
        return known

    def __getitem__(self, head: int) -> Head:
        return self.heads[head]

    def axes(self, head: int) -> tuple[str, ...]:
        """The axes of a head, in the order of a factor's slots."""
        return self._axes[head]

    def factor(self, head: Head, exponent: Exponent = 1) -> Factor:
        """A head as a factor that reads current variables only."""
        return Factor(self.intern(head), (0,) * len(head.axes), exponent)

    def variables(self, factor: Factor) -> Iterator[tuple[str, int]]:
        """Axis and variable of each slot."""
        return zip(self._axes[factor.head], factor.slots, strict=True)

    def bound(self, factors: Iterable[Factor]) -> dict[str, set[int]]:
        """The bound variables that some factors read, by axis."""
        found: dict[str, set[int]] = {}
        for head, slots, _ in factors:
            if any(slots):
                for axis, variable in zip(self._axes[head], slots, strict=True):
                    if variable:
                        found.setdefault(axis, set()).add(variable)
        return found

    def current(self, factors: Iterable[Factor]) -> tuple[str, ...]:
        """The axes whose current variable some factor reads, sorted."""
        axes = {axis for f in factors for axis, variable in self.variables(f) if not variable}
        return tuple(sorted(axes))

    def renamed(self, factor: Factor, names: Mapping[tuple[str, int], int]) -> Factor:
        """The factor with some variables replaced."""
        head, slots, exponent = factor
        pairs = zip(self._axes[head], slots, strict=True)
        return Factor(head, tuple([names.get(pair, pair[1]) for pair in pairs]), exponent)

    def _signature(
        self, factors: Sequence[Factor], axis: str, variable: int
    ) -> tuple[tuple[int, Exponent, int, tuple[bool, ...]], ...]:
        """What can be said of a bound variable without naming bound variables."""
        uses = [
            (f.head, f.exponent, place, tuple(slot > 0 for slot in f.slots))
            for f in factors
            for place, read in enumerate(self.variables(f))
            if read == (axis, variable)
        ]
        return tuple(sorted(uses))

    def _orders(
        self, factors: Sequence[Factor], axis: str, variables: set[int]
    ) -> Iterator[tuple[int, ...]]:
        """Orders of an axis' bound variables, one of which is canonical."""
        alike: dict[object, list[int]] = {}
        signatures = {v: self._signature(factors, axis, v) for v in sorted(variables)}
        for variable in sorted(variables, key=lambda v: (signatures[v], v)):
            alike.setdefault(signatures[variable], []).append(variable)
        groups = [list(islice(permutations(group), MOST_RENAMINGS)) for group in alike.values()]
        for choice in product(*groups):
            yield tuple(v for group in choice for v in group)

    def canonical(self, factors: Iterable[Factor], masks: Mapping[str, int]) -> Monomial:
        """The monomial of some factors: powers collected, bound variables named canonically."""
        given = tuple(factors)
        key = (given, tuple(masks.items()))
        if (known := self._monomials.get(key)) is None:
            sorted_masks = tuple(sorted((axis, bits) for axis, bits in masks.items() if bits))
            named = tuple(sorted(self._named(_collected(given))))
            known = self._monomials[key] = Monomial(named, sorted_masks)
        return known

    def _named(self, factors: Sequence[Factor]) -> Sequence[Factor]:
        """The same with bound variables named canonically."""
        bound = self.bound(factors)
        if all(len(variables) == 1 for variables in bound.values()):
            names = {(axis, v): 1 for axis, found in bound.items() for v in found if v != 1}
            return [self.renamed(f, names) for f in factors] if names else factors
        outside, groups = self.components(factors)
        taken: dict[str, int] = {}
        for group in sorted(self._canonical_group(group) for group in groups):
            local = self.bound(group)
            names = {(a, v): v + taken.get(a, 0) for a, found in local.items() for v in found}
            outside += (self.renamed(f, names) for f in group)
            for axis, variables in local.items():
                taken[axis] = taken.get(axis, 0) + len(variables)
        return outside

    def _canonical_group(self, factors: tuple[Factor, ...]) -> tuple[Factor, ...]:
        """Factors that sums tie together, their variables named 1 and up: the least such naming."""
        if (known := self._groups.get(factors)) is None:
            known = self._groups[factors] = self._least_naming(factors)
        return known

    def _least_naming(self, factors: Sequence[Factor]) -> tuple[Factor, ...]:
        bound = self.bound(factors)
        axes = sorted(bound)
        orders = [islice(self._orders(factors, a, bound[a]), MOST_RENAMINGS) for a in axes]
        candidates: list[tuple[Factor, ...]] = []
        for choice in islice(product(*orders), MOST_RENAMINGS):
            names = {
                (axis, variable): name
                for axis, order in zip(axes, choice, strict=True)
                for name, variable in enumerate(order, start=1)
            }
            candidates.append(tuple(sorted(self.renamed(f, names) for f in factors)))
        return min(candidates)

    def apart(self, fixed: Monomial, other: Monomial) -> tuple[Factor, ...]:
        """The factors of `other`, its bound variables renamed so that `fixed` has none of them."""
        taken = {axis: max(variables) for axis, variables in self.bound(fixed.factors).items()}
        if not taken:
            return other.factors
        names = {
            (axis, v): v + taken.get(axis, 0)
            for axis, variables in self.bound(other.factors).items()
            for v in variables
        }
        return tuple(self.renamed(f, names) for f in other.factors)

    def components(
        self, factors: Iterable[Factor]
    ) -> tuple[list[Factor], list[tuple[Factor, ...]]]:
        """The factors outside all sums, and the groups that sums tie together."""
        outside: list[Factor] = []
        groups: list[tuple[set[tuple[str, int]], list[Factor]]] = []
        for factor in factors:
            if not any(factor.slots):
                outside.append(factor)
                continue
            reads = {v for v in self.variables(factor) if v[1]}
            members = [factor]
            for group in [g for g in groups if g[0] & reads]:
                groups.remove(group)
                reads |= group[0]
                members = group[1] + members
            groups.append((reads, members))
        return outside, [tuple(members) for _, members in groups]


def _collected(factors: Iterable[Factor]) -> list[Factor]:
    """The factors with the powers of equal ones added."""
    powers: dict[tuple[int, tuple[int, ...]], Factor] = {}
    for factor in factors:
        head, slots, exponent = factor
        if (old := powers.get((head, slots))) is None:
            powers[head, slots] = factor
        else:
            total = old.exponent + exponent
            whole = int(total) if total.denominator == 1 else total
            powers[head, slots] = Factor(head, slots, whole)
    return [factor for factor in powers.values() if factor.exponent]
