"""Putting the tiles that blocks store together to one tensor."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Generic

import numpy as np

from mirage_mlir.interpreters import views
from mirage_mlir.interpreters.axes import Axis, Selection, make_axis
from mirage_mlir.interpreters.cuts import Cuts
from mirage_mlir.interpreters.domain import A, NotInterpretable
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain
from mirage_mlir.interpreters.tiles import Tile

Block = tuple[int, ...]


def assemble(
    domain: TensorDomain[A],
    cuts: Cuts,
    shape: Sequence[int],
    members: Sequence[Sequence[Sequence[int]]],
    tiles: Mapping[Block, Tile[A]],
) -> Tensor[A]:
    """
    The tensor that a store writes.

    Args:
        domain: the numbers.
        cuts: how the store's grid map places the tiles.
        shape: of the tensor.
        members: for each grid axis its groups, for each group the coordinates of its blocks.
        tiles: what a block of each combination of groups stores.

    Raises:
        NotInterpretable: a block stores a maximum over no element.
    """
    return _Assembly(domain, cuts, shape, members).tensor(tiles)


class _Assembly(Generic[A]):
    """The places that tiles go to."""

    def __init__(
        self,
        domain: TensorDomain[A],
        cuts: Cuts,
        shape: Sequence[int],
        members: Sequence[Sequence[Sequence[int]]],
    ):
        self.domain = domain
        self.cuts = cuts
        self.shape = shape
        self.members = members
        self.cut_dims = [dim for dim, cut in enumerate(cuts.dims) if cut.grid_axis is not None]
        axes = [cuts.dims[dim].grid_axis for dim in self.cut_dims]
        self.grid_axes = [axis for axis in axes if axis is not None]

    def tensor(self, tiles: Mapping[Block, Tile[A]]) -> Tensor[A]:
        """All tiles in their places."""
        placed = self._placed(tiles)
        self._align(placed)
        result = self._concatenated(placed, ())
        for dim, axis in zip(self.cut_dims, self.grid_axes, strict=True):
            selection = self._axis(dim, self.members[axis], placed)
            result = self.domain.select(result, dim, selection)
        return result

    def _placed(self, tiles: Mapping[Block, Tile[A]]) -> dict[Block, Tensor[A]]:
        """The valid part of each tile by the groups of the axes that the map names."""
        placed: dict[Block, Tensor[A]] = {}
        for block, tile in tiles.items():
            place = tuple(block[axis] for axis in self.grid_axes)
            if place not in placed:
                # Blocks along the axes that the map leaves out hold the same: the verifier sees to
                # it, and of a sum across them all got one total.
                placed[place] = self._valid(place, tile)
        return placed

    def _valid(self, place: Block, tile: Tile[A]) -> Tensor[A]:
        """What of a tile lies within the tensor."""
        sizes = list(self.shape)
        for dim, axis, number in zip(self.cut_dims, self.grid_axes, place, strict=True):
            size = self.cuts.dims[dim].tile
            start = self.members[axis][number][0] * size
            sizes[dim] = max(0, min(size, self.shape[dim] - start))
        if tile is None and 0 in sizes:
            return self.domain.constant(Fraction(0), sizes)  # beyond the end: nothing to store
        if tile is None:
            raise NotInterpretable("stores a maximum over no element")
        for dim, size in enumerate(sizes):
            assert tile.shape[dim] >= size, "the verifier lets no store leave elements unwritten"
            tile = self.domain.part(tile, dim, 0, size)
        return tile

    def _align(self, placed: dict[Block, Tensor[A]]) -> None:
        """Give tiles one axis in each dimension where they lie beside each other."""
        for dim in range(len(self.shape)):
            rows: dict[int, list[Block]] = {}
            for place in placed:
                key = place[self.cut_dims.index(dim)] if dim in self.cut_dims else 0
                rows.setdefault(key, []).append(place)
            for row in rows.values():
                aligned = views.refined(self.domain, [placed[place] for place in row], [dim])
                placed.update(zip(row, aligned, strict=True))

    def _concatenated(self, placed: Mapping[Block, Tensor[A]], prefix: Block) -> Tensor[A]:
        """The tiles of the groups that begin with `prefix`, one group after the other."""
        depth = len(prefix)
        if depth == len(self.cut_dims):
            return placed[prefix]
        groups = range(len(self.members[self.grid_axes[depth]]))
        parts = [self._concatenated(placed, (*prefix, number)) for number in groups]
        return views.concatenate(self.domain, parts, self.cut_dims[depth])

    def _axis(
        self, dim: int, groups: Sequence[Sequence[int]], placed: Mapping[Block, Tensor[A]]
    ) -> Selection:
        """The whole dimension, made of the groups' classes one after the other."""
        depth = self.cut_dims.index(dim)
        axes: dict[int, Axis] = {place[depth]: tile.axes[dim] for place, tile in placed.items()}
        pieces: dict[int, np.ndarray] = {}
        offset = 0
        for number, blocks in enumerate(groups):
            for block in blocks:
                pieces[block] = axes[number].labels + offset
            offset += axes[number].classes
        return make_axis(np.concatenate([pieces[block] for block in sorted(pieces)]))
