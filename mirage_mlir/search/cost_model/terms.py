"""
The terms of a kernel's modelled time.

The cost model keeps its arrays, with an entry for each combination of tile sizes, in `Terms`. Only
for the few combinations that are kept `Terms.at` makes a `ModelledTime` of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from mirage_mlir.search.cost_model.fitted import LAST_ITERATION

DRAM, L2 = "DRAM", "L2"
PER_MULTIPROCESSOR = "loads of one SM"
"""Bytes in flight of one multiprocessor over the latency, or its own highest rate."""
ISSUE = "issue of TMA copies"
MMA, SCALAR, SHARED = "MMA", "scalar", "shared memory"
BARRIERS = "barriers"
READING = "reads beside wgmma"
LAUNCH = "launch"

MAIN = "copies and compute"
EXPOSED = "not overlapped"
FILL = "first tile"
DRAIN = "last iteration"
WAITS = "dependent waits"
ACROSS = "sums across blocks"
EPILOGUE = "after the loop"

BLOCKS_IN_TURN = "share"
"""What seconds of the whole GPU are multiplied by for those of the busiest multiprocessor."""

COPYING = (DRAM, L2, PER_MULTIPROCESSOR, ISSUE)
COMPUTING = (MMA, SCALAR, SHARED, BARRIERS, READING)

Arrays = dict[str, ArrayLike]


@dataclass(frozen=True)
class ModelledTime:
    """The modelled time of one kernel: seconds of each phase, and of each hardware unit alone."""

    phases: Mapping[str, float]
    """One after the other: their sum is the modelled time."""
    units: Mapping[str, float]
    """What each unit would take alone in the main phase (the loop, where there is one)."""
    copies_limit: bool
    """Whether copies take longer than computing in that phase."""
    blocks_per_sm: int
    waves: int

    @property
    def total(self) -> float:
        """The modelled time."""
        return sum(self.phases.values())

    @property
    def limit(self) -> str:
        """The unit that limits the kernel, or a phase that takes longer than any unit."""
        side = COPYING if self.copies_limit else COMPUTING
        unit = max((name for name in side if name in self.units), key=self.units.__getitem__)
        phase = max(self.phases, key=self.phases.__getitem__)
        return unit if phase == MAIN else phase


@dataclass(frozen=True)
class ModelledResources:
    """The resources that the model predicts for a kernel, besides threads and shared memory."""

    registers: int
    """Of a thread, before ptxas says."""
    stages: int
    """Buffers of each tile that the loop loads."""
    iteration_bytes: int
    """Of one of them each."""
    producer_warps: int
    """Warps that copy them by TMA; 0 where all threads copy."""
    warpgroups: bool
    """Whether all matmuls are `wgmma`."""
    splits: int
    """Blocks that share a loop: split-K."""
    dram_bytes: float
    l2_bytes: float
    """Read and written by the whole kernel."""


@dataclass
class Terms:
    """The arrays of which a modelled time consists: seconds, and a few counts."""

    copies: Arrays = field(default_factory=Arrays)
    """What threads copy."""
    tensor_copies: Arrays = field(default_factory=Arrays)
    """The same where tensor copies do."""
    during: Arrays = field(default_factory=Arrays)
    """Arithmetic up to the end of the loop."""
    after: Arrays = field(default_factory=Arrays)
    """The same behind it."""
    combined: Arrays = field(default_factory=Arrays)
    """By the names of the model's own quantities."""
    kept: bool = False
    """Whether anybody will ask for them."""

    def note(self, group: Arrays, values: Arrays) -> None:
        """Keep some arrays, if an explanation will need them."""
        if self.kept:
            group |= values

    def at(self, index: int, iterations: int) -> ModelledTime:
        """
        The terms of one combination.

        Args:
            index: which.
            iterations: of all its loops together.
        """

        def entry(values: ArrayLike) -> float:
            array = np.asarray(values)
            return float(array if array.ndim == 0 else array[index])

        model = {name: entry(values) for name, values in self.combined.items()}
        pipelined, looped = bool(model["pipelined"]), iterations > 1
        memory, compute = model["memory"], model["compute"]
        phases = {
            LAUNCH: model["started"],
            MAIN: model["main"],
            EXPOSED: model["apart"] * min(memory, compute),
            FILL: 0.0 if pipelined else model["first"],
            DRAIN: model["last"] * (LAST_ITERATION if pipelined else 1.0),
            WAITS: model["waiting"] if looped else 0.0,
            EPILOGUE: model["after"] - model["exchanged"],
            ACROSS: model["exchanged"],
        }
        copied = self.tensor_copies if pipelined else self.copies
        share = entry(self.during[BLOCKS_IN_TURN])
        units = {name: entry(values) for name, values in copied.items()}
        units |= {name: share * entry(self.during[name]) for name in (MMA, SCALAR, SHARED)}
        units[BARRIERS] = model["barriers"] + (0.0 if looped else model["waiting"])
        if model["reading"]:
            units[READING] = model["reading"]
        # Of bounded loops blocks run a part.
        units = {name: seconds * model["left"] for name, seconds in units.items()}
        units[LAUNCH] = model["started"]
        return ModelledTime(
            phases,
            units,
            memory >= compute,
            int(model["resident"]),
            int(model["waves"]),
        )
