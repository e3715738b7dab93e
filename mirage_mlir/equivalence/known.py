"""What is computed once of a reference, for all candidates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.float_gate import FloatGate
from mirage_mlir.equivalence.float_inputs import InputKind
from mirage_mlir.equivalence.random_tests import RandomTests
from mirage_mlir.equivalence.sample import Dims

MOST_KNOWN = 8
"""What is remembered of a reference: candidates of one program have the same slabs as a rule."""


@dataclass
class Known:
    """
    The gates and random tests of one reference.

    Args:
        reference: it must not change meanwhile.
        seed: of all random numbers.
        quick: whether accuracy is measured only where that takes little time.
        partial: the arguments some of whose elements may be undefined.
    """

    reference: FuncOp
    seed: int
    quick: bool = False
    partial: frozenset[int] = frozenset()
    _drawn: dict[object, RandomTests] = field(default_factory=dict[object, RandomTests])
    _gates: dict[object, FloatGate] = field(default_factory=dict[object, FloatGate])

    def gate(self, dims: Dims, kinds: tuple[InputKind, ...]) -> FloatGate:
        """The floating-point gate on some indices of the arguments."""
        key = (*dims, kinds)
        if key not in self._gates:
            _forget(self._gates)
            self._gates[key] = FloatGate(self.reference, dims, kinds, self.seed)
        return self._gates[key]

    def random_tests(
        self,
        dims: Dims,
        *,
        exponential: frozenset[int],
        expand_sigmoid: bool,
        lanes: int,
        seed: int,
    ) -> RandomTests:
        """Random tests on some indices of the arguments."""
        key = (*dims, exponential, expand_sigmoid, lanes, seed)
        if key not in self._drawn:
            _forget(self._drawn)
            self._drawn[key] = RandomTests(
                self.reference,
                dims,
                seed,
                exponential=exponential,
                expand_sigmoid=expand_sigmoid,
                lanes=lanes,
            )
        return self._drawn[key]


def _forget(known: dict[object, Any]) -> None:
    while len(known) >= MOST_KNOWN:
        del known[next(iter(known))]
