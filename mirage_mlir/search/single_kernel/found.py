"""Graphs that a search of one kernel has found, and the tile sizes worth costing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mirage_mlir.search.cost_model.instantiate import Array, Mesh
from mirage_mlir.search.saturation.config import Configuration
from mirage_mlir.search.saturation.extract import Derivation
from mirage_mlir.search.saturation.hypergraph import Hypergraph
from mirage_mlir.search.saturation.values import Algebra


@dataclass(frozen=True)
class Found:
    """A graph of one configuration, with its best modelled time so far."""

    seconds: float
    order: tuple[int, int]
    """The number of the configuration, and of the graph in it."""
    algebra: Algebra
    configuration: Configuration
    graph: Hypergraph
    derivation: Derivation


@dataclass(frozen=True)
class Bounded:
    """Tile sizes with a lower bound on the time of every graph."""

    mesh: Mesh
    seconds: Array

    @property
    def least(self) -> float:
        """The lowest bound."""
        return float(self.seconds.min(initial=np.inf))

    def count(self, most: float) -> int:
        """The number of tile sizes whose bounds are at most `most`."""
        return int(np.count_nonzero(self.seconds <= most))

    def within(self, most: float) -> "Bounded":
        """The tile sizes whose bounds are finite and at most `most`."""
        kept = (self.seconds <= most) & np.isfinite(self.seconds)
        return Bounded(self.mesh.where(kept), self.seconds[kept])


@dataclass
class Explored:
    """
    The hypergraphs of a program in which no product of sums is multiplied out, for later searches.
    """

    algebra: Algebra
    graphs: dict[Configuration, Hypergraph] = field(default_factory=dict[Configuration, Hypergraph])


def different(ordered: Sequence[int], mesh: Mesh) -> list[int]:
    """
    The fastest of `ordered` that are structurally different: a model that is wrong about one graph
    is wrong about its neighbours, too.
    """
    places = np.array(ordered, dtype=np.int64)
    cut = np.round(np.log2(mesh.shares[places]))
    for count in (*mesh.counts.values(), mesh.iterations**0.5):
        # A fourth of an octave, and for the iterations of the loop half of one.
        cut = 256 * cut + np.round(4 * np.log2(count[places]))
    _, first = np.unique(cut, return_index=True)
    return [ordered[place] for place in sorted(first.tolist())]
