"""Random choices of sizes: primes, powers of two and others, from 17 to 16384."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

Shape = tuple[int, ...]

PRIMES = (17, 31, 61, 97, 127, 257, 509, 1021, 2039, 4093, 8191, 16381)

POWERS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)

OTHERS = (24, 36, 50, 100, 192, 300, 768, 1000, 1536, 3000, 5120, 11008, 14336, 15000)

LONG = tuple(sorted((*PRIMES, *POWERS, *OTHERS)))


class Scale(NamedTuple):
    """How large programs are."""

    long: tuple[int, ...]
    """Sizes of one dimension."""
    short: tuple[int, ...]
    """Sizes of the others."""
    few: tuple[int, ...]
    """Numbers of heads."""
    elements: int
    """Of one operand, about."""
    steps: int
    """Blocks times iterations of a uGraph: the oracle evaluates them one by one."""


REAL = Scale(LONG, LONG[:8], (2, 3, 4, 5), 1 << 19, 96)
"""What models have, as far as thousands of pairs can be evaluated in float64."""

SAMPLE = Scale(tuple(n for n in LONG if n < 1100), (5, 8, 17, 24, 31), (2, 3), 1 << 13, 24)
"""Some hundred pairs in some seconds."""

TINY = Scale(tuple(range(4, 12)), (3, 4, 5, 6), (2, 3), 1 << 10, 96)
"""What an evaluator that loops over elements can take."""


class Draw:
    """A source of random choices."""

    def __init__(self, seed: str, scale: Scale = REAL, *, square: bool = False) -> None:
        self.random = Random(seed)
        self.scale = scale
        self.square = square
        """Whether sizes and counts are alike, so that one axis can be taken for another."""

    def chance(self, share: float) -> bool:
        """True in a `share` of the cases."""
        return self.random.random() < share

    def long(self, most: int) -> int:
        """Any size up to `most`, every second time one of the larger half."""
        sizes = [size for size in self.scale.long if size <= max(most, self.scale.long[0])]
        return self.random.choice(sizes[len(sizes) // 2 :] if self.chance(0.5) else sizes)

    def short(self) -> int:
        """A size of a second dimension."""
        return self.random.choice(self.scale.short)

    def few(self) -> int:
        """A number of heads or groups."""
        return self.random.choice(self.scale.few)

    def pair(self) -> tuple[int, int]:
        """A long and a short size in random order, or twice the same."""
        if self.square or self.chance(0.2):
            size = self.long(512)
            return size, size
        short = self.short()
        long = self.long(self.scale.elements // short)
        return (long, short) if self.chance(0.5) else (short, long)

    def cuts(self, size: int, parts: int) -> list[int]:
        """The bounds of so many parts of random sizes, from 0 to `size`."""
        parts = min(parts, size)
        return [0, *sorted(self.random.sample(range(1, size), parts - 1)), size]

    def permutation(self, count: int) -> Sequence[int]:
        """A random order."""
        return self.random.sample(range(count), count)
