"""
A partition of a program into parts, and the changes that make another one of it.

A part computes one or several stored values from the nearest stored values before them; what lies
between is computed in every part that needs it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count


@dataclass(frozen=True)
class Operator:
    """One operator of a program; operands are numbers of earlier operators."""

    operands: tuple[int, ...]
    kept: bool = False
    """Its result is stored in any case: it is returned, or read by a fixed operator."""
    fixed: bool = False
    """It is a part of its own in any case."""
    heavy: bool = False
    """It reads each element many times: a product of matrices."""
    elementwise: tuple[int, ...] | None = None
    """The shape of its result, if each element comes of those at the same place; else None."""


@dataclass(frozen=True)
class OperatorGroup:
    """Operators that compute `results`, some of them, from what is stored; both in order."""

    operators: tuple[int, ...]
    results: tuple[int, ...]


def needed(
    operators: Sequence[Operator], part: OperatorGroup, results: tuple[int, ...]
) -> OperatorGroup:
    """The part for some results of `part` alone, from the same stored values."""
    inside: set[int] = set()
    pending = list(results)
    while pending:
        number = pending.pop()
        inside.add(number)
        operands = operators[number].operands
        pending += [v for v in operands if v in part.operators and v not in inside]
    return OperatorGroup(tuple(sorted(inside)), results)


@dataclass(frozen=True)
class Change:
    """Values that are no longer stored, values that are from now on, and two parts to join."""

    dropped: tuple[int, ...] = ()
    stored: tuple[int, ...] = ()
    joined: tuple[int, ...] = ()
    """The names of two parts, or nothing."""


@dataclass(frozen=True)
class ChangeEffect:
    """What a change makes of which parts."""

    before: tuple[int, ...]
    """The names of the parts that go."""
    after: tuple[OperatorGroup, ...]


def _lists() -> dict[int, dict[int, None]]:
    return {}


@dataclass
class Partition:
    """Parts by name; `make` changes them. At first every operator is a part."""

    operators: Sequence[Operator]
    parts: dict[int, OperatorGroup] = field(default_factory=dict[int, OperatorGroup])
    maker: dict[int, int] = field(default_factory=dict[int, int])
    """The part that makes each stored value."""
    readers: dict[int, dict[int, None]] = field(default_factory=_lists)
    """The parts that read each stored value."""
    computing: dict[int, dict[int, None]] = field(default_factory=_lists)
    """The parts that have each operator."""
    uses: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """The operators that read the result of each."""
    _names: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        for number, operator in enumerate(self.operators):
            self.uses[number], self.readers[number], self.computing[number] = [], {}, {}
            for operand in dict.fromkeys(operator.operands):
                self.uses[operand].append(number)
        for number in range(len(self.operators)):
            self._add(OperatorGroup((number,), (number,)))

    def sources(self, part: OperatorGroup) -> list[int]:
        """The stored values that a part reads, in order."""
        inside = frozenset(part.operators)
        read = {v for number in part.operators for v in self.operators[number].operands}
        return sorted(read - inside)

    def may_drop(self, value: int) -> bool:
        """Whether `value` need not be stored."""
        operator = self.operators[value]
        return not operator.kept and not operator.fixed

    def has_heavy(self, part: OperatorGroup) -> bool:
        """Whether a part has a heavy operator."""
        return any(self.operators[number].heavy for number in part.operators)

    # Changes

    def effect(self, change: Change) -> ChangeEffect | None:
        """What `change` does to which parts; None where it cannot be made."""
        concerned = dict.fromkeys(change.joined)
        for value in change.dropped:
            if value not in self.maker:
                return None
            concerned |= {self.maker[value]: None, **self.readers[value]}
        for value in change.stored:
            if value in self.maker:
                return None
            # A part with several results may need one of them for `value`.
            if any(len(self.parts[name].results) > 1 for name in self.computing[value]):
                return None
            concerned |= self.computing[value]
        names = tuple(sorted(concerned))
        if any(self._is_fixed(name) for name in names) or not self._may_join(change.joined):
            return None
        return ChangeEffect(names, tuple(self._after(change, names)))

    def _after(self, change: Change, names: Sequence[int]) -> Iterator[OperatorGroup]:
        groups = [self.parts[name].results for name in names if name not in change.joined]
        if change.joined:
            groups.append(tuple(v for name in change.joined for v in self.parts[name].results))
        groups += [(value,) for value in change.stored]
        for group in groups:
            results = tuple(sorted(value for value in group if value not in change.dropped))
            if results:
                yield self._part(results, change)

    def _part(self, results: tuple[int, ...], change: Change) -> OperatorGroup:
        """The part for `results`, once the change is made."""
        inside: set[int] = set()
        pending = list(results)
        while pending:
            number = pending.pop()
            if number in inside:
                continue
            inside.add(number)
            for operand in self.operators[number].operands:
                stored = operand in self.maker and operand not in change.dropped
                if operand in results or not (stored or operand in change.stored):
                    pending.append(operand)
        return OperatorGroup(tuple(sorted(inside)), results)

    def _is_fixed(self, name: int) -> bool:
        return any(self.operators[value].fixed for value in self.parts[name].results)

    def _may_join(self, joined: tuple[int, ...]) -> bool:
        """Whether no third part would have to run between the two."""
        if not joined:
            return True
        a, b = joined
        return not self._leads(a, b) and not self._leads(b, a)

    def _leads(self, start: int, end: int) -> bool:
        """Whether `end` needs `start` by way of another part."""
        last = self.parts[end].operators[-1]
        pending = [name for name in self._followers(start, last) if name != end]
        seen = set(pending)
        while pending:
            for name in self._followers(pending.pop(), last):
                if name == end:
                    return True
                if name not in seen:
                    seen.add(name)
                    pending.append(name)
        return False

    def _followers(self, name: int, last: int) -> list[int]:
        """The parts that read results of `name` before `last`; later ones do not lead to it."""
        values = [value for value in self.parts[name].results if value < last]
        return [reader for value in values for reader in self.readers[value]]

    def make(self, effect: ChangeEffect) -> list[int]:
        """Replace parts; returns the names of those that are new, or read something new."""
        for name in effect.before:
            part = self.parts.pop(name)
            for value in self.sources(part):
                self.readers[value].pop(name)
            for number in part.operators:
                self.computing[number].pop(name)
            for value in part.results:
                self.maker.pop(value)
        return [self._add(part) for part in effect.after]

    def _add(self, part: OperatorGroup) -> int:
        name = next(self._names)
        self.parts[name] = part
        for value in part.results:
            self.maker[value] = name
        for number in part.operators:
            self.computing[number][name] = None
        for value in self.sources(part):
            self.readers[value][name] = None
        return name

    # Result

    def in_order(self) -> list[OperatorGroup]:
        """The parts, each after those that it reads, otherwise in the order of their results."""
        placed: dict[int, None] = {}
        for value in sorted(self.maker):
            pending = [self.maker[value]]
            while pending:
                sources = [self.maker[v] for v in self.sources(self.parts[pending[-1]])]
                missing = [source for source in sources if source not in placed]
                if missing:
                    pending += missing
                else:
                    placed.setdefault(pending.pop())
        return [self.parts[name] for name in placed]
