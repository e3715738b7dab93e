"""Random choices of sizes: primes, powers of two and others, from 17 to 16384."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

Shape = tuple[int, ...]

PRIMES = (17, 31, 61, 97, 127, 257, 509, 1021, 2039, 4093, 8191, 16381)

POWERS = (32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384)

OTHERS = (24, 36, 50, 100, 192, 300, 768, 1000, 1536, 3000, 5120, 11008, 14336, 15000)

LONG = tuple(sorted((*PRIMES, *POWERS, *OTHERS)))

ELEMENTS = 1 << 19
"""Of one operand, so that thousands of pairs can be evaluated in float64."""


class Draw:
    """A source of random choices; with `small`, of sizes that the naive oracle can take."""

    def __init__(self, seed: str, *, small: bool = False, square: bool = False) -> None:
        self.random = Random(seed)
        self.small = small
        self.square = square
        """Whether sizes and counts are alike, so that one axis can be taken for another."""

    def chance(self, share: float) -> bool:
        """True in a `share` of the cases."""
        return self.random.random() < share

    def long(self, most: int = ELEMENTS) -> int:
        """Any size up to `most`, every second time one of the larger half."""
        if self.small:
            return self.random.randint(4, 11)
        sizes = [size for size in LONG if size <= max(most, LONG[0])]
        return self.random.choice(sizes[len(sizes) // 2 :] if self.chance(0.5) else sizes)

    def short(self) -> int:
        """A size of a second dimension."""
        return self.random.randint(3, 6) if self.small else self.random.choice(LONG[:8])

    def few(self) -> int:
        """A number of heads or groups."""
        return self.random.randint(2, 3) if self.small else self.random.randint(2, 5)

    def pair(self) -> tuple[int, int]:
        """A long and a short size in random order, or twice the same."""
        if self.square or self.chance(0.2):
            size = self.long(512)
            return size, size
        short = self.short()
        long = self.long(ELEMENTS // short)
        return (long, short) if self.chance(0.5) else (short, long)

    def cuts(self, size: int, parts: int) -> list[int]:
        """The bounds of so many parts of random sizes, from 0 to `size`."""
        parts = min(parts, size)
        return [0, *sorted(self.random.sample(range(1, size), parts - 1)), size]

    def permutation(self, count: int) -> Sequence[int]:
        """A random order."""
        return self.random.sample(range(count), count)
