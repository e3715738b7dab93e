"""
Partitions a large program into kernels: chooses the values that are kept in device memory.

At first every value is stored, so that each operator is a part, but for elementwise ones that only
one other part reads element by element: nothing is gained by storing these. Then the change that
gains most is made, as long as one gains. First values are no longer stored (each reader recomputes
them): between two cheap operators, then between a matmul and cheap operators behind it, then all
others. Then parts that read each other or the same value become one. Where neither helps, two
values are dropped at once, or one is stored in the place of a neighbour.

Changes are evaluated lazily. Each has an upper bound on its gain, from the bytes that its parts
must move, and is costed only when no other change is known to gain as much. A change concerns few
adjacent parts, so the work grows linearly with the program, and equal layers are cut equally.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from heapq import heappop, heappush
from itertools import combinations, count
from math import inf
from typing import Protocol

from mirage_mlir.search.multi_kernel.partition_state import (
    Change,
    ChangeEffect,
    Operator,
    OperatorGroup,
    Partition,
)

MINIMAL_GAIN = 1e-9
"""Seconds; less is rounding of the costs."""

UNKNOWN = 1.0
"""Seconds that a part counts for which there is no kernel: more than any kernel takes."""

NEAR = 4
"""Of the parts that read one value each is joined with so many before and behind it: a table that
every layer reads would join all with all."""


class Costs(Protocol):
    """The cost of parts; that of a part that no kernel computes is infinite."""

    def seconds(self, part: OperatorGroup, most: float = inf) -> float:
        """The modelled time, or infinity; also infinity where it is above `most`."""
        ...

    def least(self, part: OperatorGroup) -> float:
        """A lower bound on `seconds` that is cheap to compute."""
        ...

    def bound(self, part: OperatorGroup) -> float:
        """A tighter lower bound that needs no search; `seconds` itself once it is known."""
        ...

    def prepare(self, parts: Sequence[OperatorGroup]) -> None:
        """Called before many parts are costed, for costs that use several cores."""
        ...


def never() -> bool:
    """A time limit that never expires."""
    return False


class _Known(IntEnum):
    """What is known about the gain of a change."""

    AT_MOST = 0
    """A bound, from the bytes that are stored and read."""
    CLOSER = 1
    """A closer bound."""
    COSTED = 2
    """The gain itself."""


@dataclass(frozen=True, order=True)
class _Offer:
    """A change that may be made; those with the largest gain come first."""

    loss: float
    """The gain, or its upper bound, negated."""
    place: int
    known: _Known = field(compare=False)
    change: Change = field(compare=False)
    effect: ChangeEffect = field(compare=False)


@dataclass
class _Level:
    """Changes of one kind; they are evaluated when no change of an earlier level gains."""

    changes: Callable[[int], Iterable[Change]]
    """Those that concern the part of a name."""
    suits: Callable[[Change, ChangeEffect], bool]
    """Whether a change is of this sort."""
    fresh: list[int]
    """Parts whose changes have not been looked at."""
    heap: list[_Offer] = field(default_factory=list[_Offer])
    seen: set[tuple[Change, tuple[int, ...]]] = field(
        default_factory=set[tuple[Change, tuple[int, ...]]]
    )


class Partitioner:
    """Partitions one program; `run` does all of it."""

    def __init__(
        self, operators: Sequence[Operator], costs: Costs, expired: Callable[[], bool] = never
    ) -> None:
        self.costs = costs
        self.expired = expired
        """Asked before each change is costed: whether to stop with what there is."""
        self.cut = False
        """Whether it was stopped."""
        self._state = Partition(operators)
        self._order = count()
        names = list(self._state.parts)
        self._failed: set[Change] = set()
        """Drops that did not gain: what is around them may change a few times before the next."""
        self._levels = [
            _Level(changes, suits, list(names))
            for changes, suits in (
                (self._drops, self._is_light),
                (self._drops, self._is_epilogue),
                (self._drops, self._is_new),
                (self._drops, self._is_any),
                (self._joins, self._is_any),
                (self._compounds, self._is_any),
            )
        ]

    def run(self) -> list[OperatorGroup]:
        """The parts, each after those whose results it reads."""
        self._prepare()
        while (level := self._next_level()) is not None:
            self._step(level)
        return self._state.in_order()

    def _prepare(self) -> None:
        """
        Announce the parts that are costed in any case: the first ones, and pairs of cheap ones.
        """
        self._fuse_elementwise()
        singles = list(self._state.parts.values())
        changes = [change for name in self._state.parts for change in self._drops(name)]
        effects = [self._state.effect(change) for change in dict.fromkeys(changes)]
        pairs = [part for effect in effects if effect is not None for part in effect.after]
        light = [part for part in pairs if not self._state.has_heavy(part)]
        self.costs.prepare(list(dict.fromkeys([*singles, *light])))

    def _fuse_elementwise(self) -> None:
        """Join elementwise operators with the part that alone reads them, at the same places."""
        state = self._state
        for value, operator in reversed(list(enumerate(state.operators))):
            places = operator.elementwise
            readers = {state.operators[reader].elementwise for reader in state.uses[value]}
            if places is None or readers != {places} or not state.may_drop(value):
                continue
            effect = state.effect(Change(dropped=(value,)))
            if effect is None or len(effect.before) > 2 or self.costs.bound(effect.after[0]) == inf:
                continue
            names = state.make(effect)
            for level in self._levels:
                level.fresh += names

    # The order of changes

    def _next_level(self) -> _Level | None:
        for level in self._levels:
            fresh, level.fresh = level.fresh, []
            for name in fresh:
                if name in self._state.parts and not self.cut:
                    self._offer(level, level.changes(name))
            if level.heap:
                return level
        return None

    def _offer(self, level: _Level, changes: Iterable[Change]) -> None:
        for change in changes:
            effect = self._state.effect(change)
            if effect is None or (change, effect.before) in level.seen:
                continue
            level.seen.add((change, effect.before))
            if not level.suits(change, effect):
                continue
            gain = self._gain(effect, lambda part, _: self.costs.least(part))
            offer = _Offer(-gain, next(self._order), _Known.AT_MOST, change, effect)
            self._push(level, offer)

    def _push(self, level: _Level, offer: _Offer) -> None:
        if -offer.loss > MINIMAL_GAIN:
            heappush(level.heap, offer)

    def _gain(self, effect: ChangeEffect, cost: Callable[[OperatorGroup, float], float]) -> float:
        """
        The gain of a change, with its new parts costed in order of their lower bounds.

        Each cost is asked for only up to the time at which the change no longer gains.
        """
        gain = self._present(effect)
        for part in sorted(effect.after, key=lambda part: len(part.operators)):
            # Of what cannot gain any more the rest need not be known.
            gain -= cost(part, gain)
            if gain <= MINIMAL_GAIN:
                break
        return gain

    def _present(self, effect: ChangeEffect) -> float:
        """The time of the parts that a change replaces."""
        times = (self.costs.seconds(self._state.parts[name]) for name in effect.before)
        return sum(min(seconds, UNKNOWN) for seconds in times)

    def _step(self, level: _Level) -> None:
        """Cost the most promising change; if it has been costed already, make it."""
        offer = heappop(level.heap)
        effect = offer.effect
        if any(name not in self._state.parts for name in effect.before):
            return
        if self._state.effect(offer.change) != effect:
            return
        if offer.known is _Known.COSTED:
            names = self._state.make(effect)
            for each in self._levels:
                each.fresh += names
            return
        # What gains for sure is still done when the time is over.
        self.cut = self.cut or self.expired()
        if self.cut:
            return
        if offer.known is _Known.AT_MOST:
            known, gain = _Known.CLOSER, self._gain(effect, lambda part, _: self.costs.bound(part))
        else:
            known, gain = _Known.COSTED, self._gain(effect, self.costs.seconds)
            if gain <= MINIMAL_GAIN:
                self._failed.add(offer.change)
        self._push(level, replace(offer, loss=-gain, known=known))

    # Sorts of changes

    def _is_light(self, change: Change, effect: ChangeEffect) -> bool:
        """Whether all operators concerned are cheap, and none is computed twice."""
        return len(effect.after) == 1 and not self._state.has_heavy(effect.after[0])

    def _is_epilogue(self, change: Change, effect: ChangeEffect) -> bool:
        """Whether cheap operators become the epilogue of the matmul that they read."""
        makers = {self._state.maker[value] for value in change.dropped}
        heavy = {n for n in effect.before if self._state.has_heavy(self._state.parts[n])}
        return bool(heavy) and heavy <= makers and change not in self._failed

    def _is_new(self, change: Change, effect: ChangeEffect) -> bool:
        """Whether the change has not failed before with a subset of these operators."""
        return change not in self._failed

    def _is_any(self, change: Change, effect: ChangeEffect) -> bool:
        return True

    # Changes

    def _drops(self, name: int) -> Iterator[Change]:
        for value in self._droppable(name):
            yield Change(dropped=(value,))

    def _droppable(self, name: int) -> list[int]:
        """The values that a part makes or reads, and that need not be stored."""
        part = self._state.parts[name]
        values = (*part.results, *self._state.sources(part))
        return [value for value in values if self._state.may_drop(value)]

    def _joins(self, name: int) -> Iterator[Change]:
        """
        Joins of the part with those that read its results, make what it reads, or read the same.
        """
        state = self._state
        part = state.parts[name]
        others = [reader for value in part.results for reader in state.readers[value]]
        for value in state.sources(part):
            others.append(state.maker[value])
            readers = sorted(state.readers[value])
            place = readers.index(name)
            others += readers[max(0, place - NEAR) : place + NEAR + 1]
        for other in dict.fromkeys(others):
            if other != name:
                yield Change(joined=(min(name, other), max(name, other)))

    def _compounds(self, name: int) -> Iterator[Change]:
        """Compound changes: two values dropped, or other values stored in their place."""
        near = self._droppable(name)
        pairs = list(combinations(sorted(near), 2))
        yield from (Change(dropped=pair) for pair in pairs)
        for value in near:
            if instead := self._instead(value, name):
                yield Change(dropped=(value,), stored=instead)
                yield from (Change(pair, instead) for pair in pairs if value in pair)

    def _instead(self, value: int, name: int) -> tuple[int, ...]:
        """The neighbours of `value` in the part `name`, which makes or reads it."""
        state = self._state
        part = state.parts[name]
        if value in part.results:
            neighbours = dict.fromkeys(state.operators[value].operands)
        else:
            neighbours = dict.fromkeys(v for v in state.uses[value] if v in part.operators)
        return tuple(v for v in neighbours if v not in state.maker)
