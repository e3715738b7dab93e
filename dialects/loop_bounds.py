"""
Which iterations of its loop a block runs, where it need not run all.

    kernel.graph_defined ins(%q, %k, %v) grid [16, 8] loop [32] bounds <end = [2, 1, 1]> { ... }

Here block b along axis 0 of the grid runs iterations 0 to 2 b: those of keys that its queries see.
"""

from dataclasses import dataclass

from xdsl.dialects.builtin import BoolAttr, IntegerAttr
from xdsl.ir import Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.dialects.facts import Facts, FactsAttr, to_facts

WHERE_UNMASKED = "threadblock.where_unmasked"
"""The attribute of a selection that says what its condition is in unmasked iterations."""


@dataclass(frozen=True)
class LoopBounds(Facts):
    """
    The first iteration of each block, and the one behind its last one.

    `[s, c, d]` stands for `floor((s * b + c) / d)` in block b along `axis`. A block runs one
    iteration at least, and no other than those of the loop.
    """

    axis: int = 0
    """The axis of the grid on which the bounds depend."""
    first: tuple[int, ...] = ()
    """Of the first iteration; empty where blocks begin with that of the loop."""
    end: tuple[int, ...] = ()
    """Of the end; empty where blocks end with the loop."""

    def verify(self) -> None:
        """Raise `VerifyException` for what bounds no loop."""
        _verify_terms(self)

    def iterations(self, block: int, count: int) -> range:
        """Those that a block runs, of a loop with `count` iterations."""
        first = min(max(0, value_at(self.first, block)), count - 1) if self.first else 0
        end = value_at(self.end, block) if self.end else count
        return range(first, min(count, max(first + 1, end)))


@dataclass(frozen=True)
class Unmasked(Facts):
    """
    Iterations in which no mask of indices hides anything from a block.

    They are those from `first` on that are before `end`, by the terms of `LoopBounds`. What the
    condition of a mask is there its selection says: see `where_unmasked`.
    """

    axis: int = 0
    """The axis of the grid on which they depend."""
    first: tuple[int, ...] = ()
    """Of the first of them; empty for that of the loop."""
    end: tuple[int, ...] = ()
    """Of the end; empty for that of the loop."""

    def verify(self) -> None:
        """Raise `VerifyException` for terms that are none."""
        _verify_terms(self)

    def has(self, block: int, iteration: int) -> bool:
        """Whether an iteration of a block is one of them."""
        behind = not self.first or iteration >= value_at(self.first, block)
        return behind and (not self.end or iteration < value_at(self.end, block))


def where_unmasked(selection: Operation) -> bool | None:
    """What the condition of a selection is in unmasked iterations; None where nobody has said."""
    known = selection.attributes.get(WHERE_UNMASKED)
    return bool(known.value.data) if isinstance(known, IntegerAttr) else None


def set_where_unmasked(selection: Operation, condition: bool) -> None:
    """Say what the condition of a selection is in unmasked iterations."""
    selection.attributes[WHERE_UNMASKED] = BoolAttr.from_bool(condition)


def _verify_terms(facts: LoopBounds | Unmasked) -> None:
    for name in ("first", "end"):
        if (terms := getattr(facts, name)) and (len(terms) != 3 or terms[2] < 1):
            found = list(terms)
            raise VerifyException(f"{name} is {found}: [s, c, d] is floor((s * b + c) / d)")
    if not facts.first and not facts.end:
        raise VerifyException("bounds nothing: it has neither first nor end")


def value_at(terms: tuple[int, ...], block: int) -> int:
    """`floor((s * block + c) / d)` of the terms s, c, d."""
    step, start, divisor = terms
    return (step * block + start) // divisor


@irdl_attr_definition
class LoopBoundsAttr(FactsAttr):
    """The iterations of a block: `#threadblock.loop_bounds<end = [2, 1, 1]>`."""

    name = "threadblock.loop_bounds"

    KIND = LoopBounds

    @property
    def bounds(self) -> LoopBounds:
        """The bounds that the attribute carries."""
        return to_facts(LoopBounds, self.facts.data)


@irdl_attr_definition
class UnmaskedAttr(FactsAttr):
    """Iterations in which no mask hides anything: `#threadblock.unmasked<end = [1, 0, 1]>`."""

    name = "threadblock.unmasked"

    KIND = Unmasked

    @property
    def unmasked(self) -> Unmasked:
        """The iterations that the attribute carries."""
        return to_facts(Unmasked, self.facts.data)
