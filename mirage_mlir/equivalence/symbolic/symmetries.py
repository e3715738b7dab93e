"""Symmetries of atoms: the orders of parameters that make no difference."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mirage_mlir.equivalence.symbolic.indices import Index

MOST_SYMMETRIES = 120
"""Permutations of an atom's parameters that are tried at each place where it is read, 5!."""


@dataclass(frozen=True)
class Symmetries:
    """The permutations of parameters that leave an atom what it is, as far as they are known."""

    orbits: tuple[tuple[int, ...], ...]
    """Parameters any two of which can be swapped."""
    others: tuple[tuple[int, ...], ...]
    """Further permutations: the parameter that comes to each place."""

    @classmethod
    def of(cls, count: int, generators: Iterable[tuple[int, ...]]) -> Symmetries:
        """What some permutations generate, at most `MOST_SYMMETRIES` besides swaps."""
        orbits = [{n} for n in range(count)]
        others: list[tuple[int, ...]] = []
        for each in generators:
            moved = {n for n, image in enumerate(each) if n != image}
            if len(moved) == 2:
                joined = {n for orbit in orbits if not orbit.isdisjoint(moved) for n in orbit}
                orbits = [orbit for orbit in orbits if orbit.isdisjoint(moved)] + [joined]
            else:
                others.append(each)
        return cls(tuple(sorted(tuple(sorted(o)) for o in orbits if len(o) > 1)), _closed(others))

    def least(self, indices: Sequence[Index]) -> tuple[Index, ...]:
        """Indices in the least of the orders that the symmetries allow."""
        if not self.orbits and not self.others:
            return tuple(indices)
        return min(
            self._sorted([indices[n] for n in p]) for p in (range(len(indices)), *self.others)
        )

    def _sorted(self, indices: list[Index]) -> tuple[Index, ...]:
        for orbit in self.orbits:
            for place, index in zip(orbit, sorted(indices[n] for n in orbit), strict=True):
                indices[place] = index
        return tuple(indices)


NO_SYMMETRIES = Symmetries((), ())


def _closed(generators: Sequence[tuple[int, ...]]) -> tuple[tuple[int, ...], ...]:
    """Permutations and their products, as long as they are few."""
    found = list(dict.fromkeys(generators))
    for one in found:
        for other in generators:
            product = tuple(one[n] for n in other)
            if product not in found and len(found) < MOST_SYMMETRIES:
                found.append(product)
    return tuple(found)
