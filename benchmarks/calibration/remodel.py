"""What the model of now says of kernels that were timed before."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from calibration.sample import Spread, all_samples
from kernels.case import Case

from mirage_mlir.search.cost_model.instantiate import Array, Mesh

if TYPE_CHECKING:
    from calibration.calibrate import Row


class Tiled(Protocol):
    """What has tile sizes."""

    @property
    def tiles(self) -> Mapping[str, int]:
        """Of each axis."""
        ...


class _Again(Spread):
    """A search that keeps the tilings that were timed."""

    wanted: Sequence[Mapping[str, int]] = ()

    def _best(self, seconds: Array, mesh: Mesh) -> list[int]:
        kept: list[int] = []
        for tiles in self.wanted:
            same = np.isfinite(seconds)
            for axis, size in tiles.items():
                same &= mesh.tiles[axis] == size
            kept += [int(index) for index in np.flatnonzero(same)]
        return sorted(set(kept))


def keeping(rows: Sequence[Tiled]) -> type[Spread]:
    """A search that keeps the tilings of `rows`."""

    class Search(_Again):
        wanted = tuple(row.tiles for row in rows)

    return Search


def remodelled(case: Case, rows: Sequence["Row"], target: str) -> list["Row"]:
    """`rows` of a program with the times that the model gives now; without those it cannot make."""

    samples = all_samples(case.text(), target, keeping(rows))
    now = {sample.digest: sample.modelled for sample in samples}
    return [replace(row, modelled=now[row.digest] * 1e6) for row in rows if row.digest in now]
