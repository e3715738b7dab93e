"""
Measures how accurate a candidate is, and decides which elements the floating-point gate computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from xdsl.dialects.func import FuncOp

from mirage_mlir.equivalence.float_gate import FloatGate, Loss
from mirage_mlir.equivalence.float_inputs import InputKind, has_f16, kinds_of
from mirage_mlir.equivalence.known import Known
from mirage_mlir.equivalence.sample import adjacent, window
from mirage_mlir.equivalence.slabs import Slab, find_slabs
from mirage_mlir.equivalence.work import (
    elements_of_window,
    most_blocks,
    most_elements,
    seconds,
    with_enough_elements,
)
from mirage_mlir.interpreters.dims import NotClosed

GATE = 0.5
"""Seconds for the floating-point gate: a kind of input takes as long as one lane of residues."""

QUICK_GATE = 0.05
"""The same where it has to be quick; what it then takes in fact is up to some ten times that."""

MOST_GATE = 5.0
"""The same where nothing smaller can be run."""

MOST_TOGETHER = 1 << 20
"""Elements of a value that the gate looks at, if fewer labels have fewer: some 100 MB for all."""

MOST_WHOLE = 1 << 23
"""Elements of a value that the gate looks at, at most: 64 MB in f64, of which it has about six."""

WINDOW = 1 << 15
"""Elements of a result that the gate looks at where a program has no slabs."""

MOST_BLOCKS = 1 << 21
"""Blocks of a graph on such elements: listing them takes a second."""

FEWEST_KINDS = 3
"""Kinds of inputs that are looked at in any case: normal, one large channel, tiny."""

READ = 3e-8
"""Seconds for an input of the gate: it is drawn and rounded to its element type once."""

GATE_LABELS = (64, 16, 8, 4, 2, 1)
"""How many labels the gate looks at: errors are averages over elements."""

MORE = 1.5
"""How much longer it may take to look at up to 64 elements of each result: the error of one alone
is luck, as it may be what did not cancel of a long sum."""


class Accuracy:
    """
    Runs the floating-point gate for one candidate.

    Args:
        known: of the reference.
        candidate: what is compared with it.
        slabs: of both.
        exponentials: whether there are exponentials in either.
    """

    def __init__(
        self, known: Known, candidate: FuncOp, slabs: Sequence[Slab], *, exponentials: bool
    ):
        self.known = known
        self.candidate = candidate
        self.slabs = slabs
        self.exponentials = exponentials
        self.reference = known.reference
        self.seed = known.seed
        self.wanted = QUICK_GATE if known.quick else GATE

    @cached_property
    def kinds(self) -> tuple[InputKind, ...]:
        """The kinds of inputs, the most telling first."""
        narrow = has_f16(self.candidate)
        return tuple(kinds_of(self.reference, exponentials=self.exponentials, narrow=narrow))

    def losses(self) -> list[Loss] | None:
        """
        The errors of the candidate.

        None where the program is too large to measure them, or to do so quickly if that is wanted.
        """
        gate = self.gate(self.slabs, self.wanted)
        if gate is not None:
            return gate.losses(self.candidate)
        # Sums over fewer terms, the others being weighted by zero.
        gate = self.gate(find_slabs(self.reference, self.reference, sums=True), self.wanted)
        try:
            if gate is not None:
                return gate.losses(self.candidate)
        except NotClosed:
            # The candidate needs other indices than the program does.
            pass
        if self.known.quick:
            return None
        gate = self.gate(self.slabs, MOST_GATE)
        return self._window_losses() if gate is None else gate.losses(self.candidate)

    def _window_losses(self) -> list[Loss] | None:
        """
        The errors on a window of adjacent elements; None where these need others, or the window is
        too large.
        """
        random = np.random.default_rng([self.seed, 7])
        dims = window(self.reference, WINDOW, random)
        if dims is None or elements_of_window(self.reference, dims) > MOST_WHOLE:
            return None
        if most_blocks(self.candidate) > MOST_BLOCKS:
            return None
        try:
            return self.known.gate(dims, self.kinds).losses(self.candidate)
        except NotClosed:
            return None

    def gate(self, slabs: Sequence[Slab], most: float) -> FloatGate | None:
        """The gate on as many adjacent labels as fit the time limit."""
        random = np.random.default_rng([self.seed, 6])
        kinds = self.kinds
        found = [
            (labels, seconds(self.reference, 1, slabs, labels, READ))
            for labels in GATE_LABELS
            if labels == 1 or most_elements(self.reference, slabs, labels) <= MOST_TOGETHER
        ]
        fitting = (each for each in found if each[1] * len(kinds) <= self.wanted)
        labels, one = next(fitting, found[-1])
        if most_elements(self.reference, slabs, labels) > MOST_WHOLE:
            return None
        # Of a large program only the kinds that say most.
        if one * len(kinds) > self.wanted:
            kinds = kinds[: max(FEWEST_KINDS, int(self.wanted / one))]
        if one * len(kinds) > most:
            return None
        chosen = enough_labels(self.reference, slabs, labels)
        return self.known.gate(adjacent(self.reference, slabs, chosen, random), kinds)


def enough_labels(function: FuncOp, slabs: Sequence[Slab], labels: int) -> list[int]:
    """
    As many labels of each slab axis, or more where a result would have few elements.

    As long as that takes little more time: up to 64 elements, else up to 16, and so on.
    """
    time = MORE * seconds(function, 1, slabs, labels, READ)
    memory = max(MOST_TOGETHER, most_elements(function, slabs, labels))
    for fewest in GATE_LABELS:
        found = with_enough_elements(function, slabs, labels, fewest)
        if most_elements(function, slabs, found) <= memory:
            if seconds(function, 1, slabs, found, READ) <= time:
                return found
    return [labels] * len(slabs)
