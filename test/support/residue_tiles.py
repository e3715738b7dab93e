"""Tiles of residues modulo two primes, and what operators do to them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from modular import P, Q, Residues, add, inverse, multiply, power, powers, root
from modular import subtract as difference

from mirage_mlir.field.keyed import keyed_words
from mirage_mlir.field.rational import residue

SIZE = 4
"""Of every dimension."""

PARTS = 2
"""Blocks of the grid and iterations of the loop, as many as a cut tile has elements along a cut."""


class When(IntEnum):
    """When a block has a tile: all the time, in each iteration of the loop, after it."""

    ALWAYS = 0
    ITERATION = 1
    AFTER = 2


class Tile(NamedTuple):
    """
    A tile in all blocks and iterations: shape blocks x iterations x rows x columns, iterations 1
    outside the loop.

    `q` is the residue modulo Q, where exponents are taken; None after exp and where nobody asks.
    """

    when: When
    p: Residues
    q: Residues | None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.p.shape[2], self.p.shape[3]

    def key(self) -> tuple[When, tuple[int, ...], bytes, bytes]:
        """Equal for equal tiles."""
        return (
            self.when,
            self.p.shape,
            self.p.tobytes(),
            b"" if self.q is None else self.q.tobytes(),
        )


ELEMENTWISE = ("add", "sub", "mul", "div")
COMPOSITE: Mapping[str, tuple[str, ...]] = {
    "matmul_accumulate": ("matmul", "accumulate"),
    "sum_accumulate": ("sum_columns", "accumulate"),
    "rows_accumulate": ("sum_rows", "accumulate"),
    "mean": ("sum_columns", "scale"),
    "mean_accumulate": ("sum_columns", "accumulate", "scale"),
    "rms": ("square", "sum_columns", "scale", "sqrt"),
    "rms_accumulate": ("square", "sum_columns", "accumulate", "scale", "sqrt"),
}
"""Chains of operators that count as one, as they do in a µGraph."""


class Numbers:
    """What operators do to tiles of residues, for one random choice of functions."""

    def __init__(self, seed: int, scale: Fraction, exponents: bool) -> None:
        random = np.random.default_rng([seed, SIZE])
        self.exponents = exponents
        self.scale = scale
        self._random = random
        self._inverses: dict[object, Tile] = {}
        self._key = random.integers(0, 1 << 63, 1).astype(np.uint64)
        number = random.integers(2, P - 1, 1).astype(np.uint64)
        self.generator = multiply(number, number, P)
        """A square generates the subgroup of the prime order Q."""

    def draw(self, shape: Sequence[int]) -> Tile:
        """A random input, whole."""
        p = self._random.integers(1, P, (1, 1, *shape)).astype(np.uint64)
        q = self._random.integers(1, Q, (1, 1, *shape)).astype(np.uint64)
        return Tile(When.ALWAYS, p, q if self.exponents else None)

    def apply(self, operator: str, tiles: Sequence[Tile]) -> Tile | None:
        """The result; None where something would be divided by zero."""
        current: Tile | None = None
        for step in COMPOSITE.get(operator, (operator,)):
            operands = tiles if current is None else (current,)
            if (current := self._one(step, operands)) is None:
                return None
        return current

    def _one(self, operator: str, tiles: Sequence[Tile]) -> Tile | None:
        first, last = tiles[0], tiles[-1]
        when = max(first.when, last.when)
        match operator:
            case "div":
                if not last.p.all() or (last.q is not None and not last.q.all()):
                    return None
                return self._pair(multiply, first, self._inverse(last), when)
            case "add" | "sub" | "mul":
                return self._pair(PAIRWISE[operator], first, last, when)
            case "square":
                return self._pair(multiply, first, first, when)
            case "matmul":
                return self._pair(_matmul, first, last, when)
            case "scale":
                p, q = residue(self.scale, P), residue(self.scale, Q)
                scaled = None if first.q is None else first.q * np.uint64(q) % np.uint64(Q)
                return Tile(when, first.p * np.uint64(p) % np.uint64(P), scaled)
            case "sum_rows" | "sum_columns":
                return self._sum(first, 2 if operator == "sum_rows" else 3, when)
            case "accumulate":
                if first.when is When.ALWAYS:
                    first = self._repeated(first)
                return self._sum(first, 1, When.AFTER)
            case _:
                return self._function(operator, first)

    def _inverse(self, tile: Tile) -> Tile:
        key = tile.key()
        if (known := self._inverses.get(key)) is None:
            q = None if tile.q is None else inverse(tile.q, Q)
            known = self._inverses[key] = Tile(tile.when, inverse(tile.p, P), q)
        return known

    def _pair(
        self, f: Callable[[Residues, Residues, int], Residues], a: Tile, b: Tile, when: When
    ) -> Tile:
        q = None if a.q is None or b.q is None else f(a.q, b.q, Q)
        return Tile(when, f(a.p, b.p, P), q)

    def _sum(self, tile: Tile, axis: int, when: When) -> Tile:
        p = tile.p.sum(axis=axis, keepdims=True) % np.uint64(P)
        if tile.q is None:
            return Tile(when, p, None)
        return Tile(when, p, tile.q.sum(axis=axis, keepdims=True) % np.uint64(Q))

    def _repeated(self, tile: Tile) -> Tile:
        parts = [None if r is None else np.repeat(r, PARTS, axis=1) for r in (tile.p, tile.q)]
        assert parts[0] is not None
        return Tile(tile.when, parts[0], parts[1])

    def _function(self, name: str, tile: Tile) -> Tile:
        match name:
            case "exp" if tile.q is not None:
                return Tile(tile.when, powers(self.generator, tile.q, P), None)
            case "sqrt":
                q = None if tile.q is None else root(tile.q, Q)
                return Tile(tile.when, root(tile.p, P), q)
            case "silu":
                words = keyed_words("sigmoid", self._key, (tile.p,))
                gate = Tile(tile.when, words % np.uint64(P), None)
                return self._pair(multiply, tile, gate, tile.when)
            case _:
                words = keyed_words(name, self._key, (tile.p,))
                return Tile(tile.when, words % np.uint64(P), None)

    def is_square(self, tile: Tile) -> bool:
        """Whether roots of the elements exist."""
        return bool((power(tile.p, (P - 1) // 2, P) <= 1).all())


def _matmul(a: Residues, b: Residues, modulus: int) -> Residues:
    m = np.uint64(modulus)
    products = a[..., :, :, None] * b[..., None, :, :] % m
    return products.sum(axis=-2) % m


PAIRWISE: Mapping[str, Callable[[Residues, Residues, int], Residues]] = {
    "add": add,
    "sub": difference,
    "mul": multiply,
}
