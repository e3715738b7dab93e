"""
Models which tiles lie in shared memory, and which in registers.

Arrays have an entry for each combination of tile sizes.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mirage_mlir.search.cost_model.instantiate import Array
from mirage_mlir.search.cost_model.tile_bytes import contiguous
from mirage_mlir.search.cost_model.tiling import Tiling, item_bytes
from mirage_mlir.search.cost_model.written_tiles import WrittenTiles, written_tiles
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.extract import Derivation

Mask = NDArray[np.bool_]

REGISTER = 4
"""Bytes of a register."""

REDUCTIONS = (Kind.REDUCE_SUM, Kind.REDUCE_MAX)
ACCUMULATIONS = (Kind.ACCUMULATE_SUM, Kind.ACCUMULATE_MAX)


class LiveValues:
    """
    Computes where the values of one derivation live, and the registers of a block that they take.
    """

    def __init__(self, tiling: Tiling, derivation: Derivation) -> None:
        self.tiling = tiling
        self.derivation = derivation
        self.edges = dict(zip(derivation.values, derivation.edges, strict=True))
        self.uses: dict[int, list[int]] = {value: [] for value in derivation.values}
        for value, edge in self.edges.items():
            for operand in edge.operands:
                self.uses[operand].append(value)
        self._order_operands()
        self.shifted = self._shifted()
        """The exps from whose arguments maxima are subtracted."""
        self.rescaled = self._rescaled()
        """The sums over the loop that every iteration brings to a new maximum."""
        self.moved = self._moved()
        """The tiles that go through shared memory to be transposed, or stretched for a store."""
        self.asked = self._asked()
        self.kept: dict[int, Mask] = {}
        """For operands of tensor cores that may stay in registers, where they do."""

    def _order_operands(self) -> None:
        """Put the left operand of each matmul first: the search has no order of them."""
        for value in self.positions.exchanged:
            left, right = self.edges[value].operands
            self.edges[value] = replace(self.edges[value], operands=(right, left))

    @cached_property
    def positions(self) -> WrittenTiles:
        """The dimensions of each tile."""
        return written_tiles(self.tiling, self.edges, self.derivation.goals)

    def in_shared(self, value: int) -> bool:
        """
        Whether a loaded tile is copied to shared memory; else threads read it where they use it.
        Indices are computed there.
        """
        edge = self.edges[value]
        if edge.kind is Kind.INPUT and self.tiling.program.inputs[edge.source].indices is not None:
            return False
        return self.tiling.in_loop(value) or any(
            self.edges[user].kind is Kind.MATMUL or self.tiling.in_loop(user)
            for user in self.uses[value]
        )

    def is_summed(self, value: int) -> bool:
        """Whether a value is only summed over the loop."""
        users = [self.edges[user].kind for user in self.uses[value]]
        return bool(users) and all(kind is Kind.ACCUMULATE_SUM for kind in users)

    def materialised(self) -> Iterator[tuple[int, Array]]:
        """
        The computed operands of MMAs; with each 1 where it goes through shared memory, else 0.
        """
        seen: set[int] = set()
        for edge in self.edges.values():
            for operand in edge.operands if edge.kind is Kind.MATMUL else ():
                if self.edges[operand].kind is not Kind.INPUT and operand not in seen:
                    seen.add(operand)
                    kept = self.kept.get(operand)
                    one = self.tiling.one
                    yield operand, one if kept is None else np.where(kept, 0.0, one)

    def _moved(self) -> frozenset[int]:
        return frozenset(self.positions.moved)

    # Shifts

    def _shifted(self) -> list[int]:
        exponents, forms = self.tiling.algebra.exponents, self.tiling.graph.values
        return [
            value
            for value, edge in self.edges.items()
            if edge.kind is Kind.FUNCTION
            and edge.name == "exp"
            and exponents.get(forms[edge.operands[0]].form) is not None
        ]

    def _rescaled(self) -> list[int]:
        pending = [value for value in self.shifted if self.tiling.in_loop(value)]
        seen: set[int] = set()
        found: list[int] = []
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if self.edges[value].kind is Kind.ACCUMULATE_SUM:
                found.append(value)
            elif self.tiling.in_loop(value):
                pending += self.uses[value]
        return sorted(found)

    # Registers

    @cached_property
    def live(self) -> Array:
        """The largest number of elements that a block keeps in registers across a barrier."""
        return self._live()

    def _held(self, value: int) -> Array:
        """The registers of all threads that hold a value, at least."""
        return self.tiling.volume(value)

    def _live(self) -> Array:
        """The largest number of elements that a block keeps in registers across a barrier."""
        place = {value: i for i, value in enumerate(self.derivation.values)}
        kept = [
            (place[value], self._last_use(value, place), self._held(value))
            for value, edge in self.edges.items()
            if edge.kind not in (Kind.INPUT, Kind.CONSTANT) and not self._folded(value)
        ]
        sums = [self._summed(value) for value in self._kept_sums()]
        worst = sum(map(self.tiling.volume, sums), start=self.tiling.zero)
        # Those that other sums in the loop wait for.
        wide = [self.tiling.volume(v) for v in sums if self.edges[v].kind not in ACCUMULATIONS]
        for value, edge in self.edges.items():
            if edge.kind in REDUCTIONS or edge.kind is Kind.MATMUL or value in self.shifted:
                barrier = place[value]
                live = sum((v for first, last, v in kept if first < barrier <= last), start=0.0)
                live = sum(wide, start=live)
                if edge.kind is Kind.MATMUL and not self.tiling.in_loop(value):
                    # In the loop its result is what it is added to.
                    live = live + self.tiling.volume(value)
                worst = np.maximum(worst, live)
        return worst

    def _last_use(self, value: int, place: dict[int, int]) -> int:
        return max((place[user] for user in self.uses[value]), default=place[value])

    def _kept_sums(self) -> Iterator[int]:
        """The sums and maxima over the loop of which a block keeps every element."""
        for value, edge in self.edges.items():
            if edge.kind in ACCUMULATIONS and not self._folded(value):
                yield value

    def _summed(self, value: int) -> int:
        """
        The elements that a block keeps of a sum over the loop. A reduction that each iteration
        would do may be sunk behind the loop: then they are the elements before it.
        """
        (operand,) = self.edges[value].operands
        edge = self.edges[operand]
        if edge.kind is not Kind.REDUCE_SUM or not self.is_summed(operand):
            return value
        (whole,) = edge.operands
        axes = [axis for axis in self.positions.axes[whole] if axis is not None]
        return value if edge.axis in axes[-1:] else whole

    def _folded(self, value: int) -> bool:
        """
        Whether a sum over the loop is reduced right behind it, so that a thread keeps few elements.
        """
        users = [self.edges[user].kind for user in self.uses[value]]
        folds = self.edges[value].kind in ACCUMULATIONS and bool(users)
        if folds and all(kind in REDUCTIONS for kind in users):
            return True
        # What is added to such a sum is not kept either.
        return bool(users) and all(
            self.edges[user].kind in ACCUMULATIONS and self._folded(user)
            for user in self.uses[value]
        )

    def _asked(self) -> Array:
        """The registers of all threads for tiles that they read in place, all at once."""
        asked = self.tiling.zero
        for value, edge in self.edges.items():
            if edge.kind is Kind.INPUT and not self.in_shared(value):
                tensor = self.tiling.program.inputs[edge.source]
                if tensor.indices is not None:
                    continue
                item, vector = (
                    item_bytes(tensor.element_type),
                    contiguous(self.tiling, tensor).vector,
                )
                asked = asked + self.tiling.volume(value) * item / np.minimum(vector, REGISTER)
        return asked

    def _reductions(self) -> Iterator[tuple[int, str]]:
        """
        Each reduction with its axis: sums, maxima, and the row maxima of shifted exponentials.
        """
        for edge in self.edges.values():
            if edge.kind in REDUCTIONS and edge.axis is not None:
                yield edge.operands[0], edge.axis
        for value in self.shifted:
            (argument,) = self.edges[value].operands
            shift = self.tiling.algebra.exponents[self.tiling.graph.values[argument].form]
            assert shift is not None
            yield from ((argument, a) for a in shift.axes if a in self.tiling.axes(argument))
