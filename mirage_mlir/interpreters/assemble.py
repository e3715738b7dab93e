"""Putting the tiles that blocks store together to one tensor."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Generic

import numpy as np

from mirage_mlir.interpreters import views
from mirage_mlir.interpreters.axes import Selection, distinct, make_axis
from mirage_mlir.interpreters.batches import Batch, Batches
from mirage_mlir.interpreters.cuts import Cuts
from mirage_mlir.interpreters.domain import A, AnyArray, NotInterpretable
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain
from mirage_mlir.interpreters.tiles import Tile


def assemble(
    domain: TensorDomain[A],
    batches: Batches,
    cuts: Cuts,
    shape: Sequence[int],
    tiles: Mapping[Batch, Tile[A]],
) -> Tensor[A]:
    """
    The tensor that a store writes.

    Args:
        domain: the numbers, for arrays of tiles.
        batches: which blocks ran side by side.
        cuts: how the store's grid map places the tiles.
        shape: of the tensor.
        tiles: what the blocks of each batch store.

    Raises:
        NotInterpretable: a block stores a maximum over no element.
    """
    return _Assembly(domain, batches, cuts, shape).tensor(tiles)


class _Assembly(Generic[A]):
    """The places that tiles go to."""

    def __init__(self, domain: TensorDomain[A], batches: Batches, cuts: Cuts, shape: Sequence[int]):
        self.domain = domain
        self.whole = TensorDomain(domain.numbers)
        self.batches = batches
        self.shape = shape
        self.cuts = {
            dim: (cut.tile, cut.grid_axis)
            for dim, cut in enumerate(cuts.dims)
            if cut.grid_axis is not None
        }
        """The dimensions that the grid cuts, each with its tile and its axis of the grid."""

    def tensor(self, tiles: Mapping[Batch, Tile[A]]) -> Tensor[A]:
        """All tiles in their places."""
        placed = self._placed(tiles)
        self._align(placed)
        result = self._concatenated({place: self._row(x) for place, x in placed.items()}, ())
        for depth, dim in enumerate(self.cuts):
            result = self.whole.select(result, dim, self._axis(dim, depth, placed))
        return result

    def _placed(self, tiles: Mapping[Batch, Tile[A]]) -> dict[Batch, Tensor[A]]:
        """The valid part of tiles by the classes of the axes that the map names."""
        placed: dict[Batch, Tensor[A]] = {}
        for batch, tile in tiles.items():
            place = tuple(batch[axis] for _, axis in self.cuts.values())
            if place not in placed:
                # Blocks along the axes that the map leaves out hold the same: the verifier sees to
                # it, and of a sum across them all got one total.
                placed[place] = self._valid(batch, tile)
        return placed

    def _valid(self, batch: Batch, tile: Tile[A]) -> Tensor[A]:
        """What of tiles lies within the tensor, of each block."""
        sizes = list(self.shape)
        for dim, (size, axis) in self.cuts.items():
            start = self.batches.blocks(batch, axis)[0].members[0] * size
            sizes[dim] = max(0, min(size, self.shape[dim] - start))
        if tile is None and 0 in sizes:
            tile = self.domain.constant(Fraction(0), sizes)  # beyond the end: nothing to store
        if tile is None:
            raise NotInterpretable("stores a maximum over no element")
        for dim, size in enumerate(sizes):
            assert tile.shape[dim] >= size, "the verifier lets no store leave elements unwritten"
            tile = self.domain.part(tile, dim, 0, size)
        extents = [1] * self.domain.lead
        for _, axis in self.cuts.values():
            extents[1 + axis] = len(self.batches.blocks(batch, axis))

        def stored(array: AnyArray) -> AnyArray:
            first = tuple(slice(0, None if extent > 1 else 1) for extent in extents[1:])
            array = array[(slice(None), *first)]
            stored = (array.shape[0], *extents[1:], *array.shape[len(extents) :])
            return np.broadcast_to(array, stored)

        return Tensor(self.domain.rearrange(tile.array, stored), tile.axes)

    def _align(self, placed: dict[Batch, Tensor[A]]) -> None:
        """Give tiles one axis in each dimension where they lie beside each other."""
        for dim in range(len(self.shape)):
            rows: dict[int, list[Batch]] = {}
            for place in placed:
                key = place[list(self.cuts).index(dim)] if dim in self.cuts else 0
                rows.setdefault(key, []).append(place)
            for row in rows.values():
                aligned = views.refined(self.domain, [placed[place] for place in row], [dim])
                placed.update(zip(row, aligned, strict=True))

    def _row(self, x: Tensor[A]) -> Tensor[A]:
        """The tiles of a batch one after the other, along each dimension that the grid cuts."""
        lead = self.domain.lead
        order = [0]
        for dim in range(len(x.axes)):
            order += [1 + self.cuts[dim][1]] if dim in self.cuts else []
            order.append(lead + dim)
        rest = [axis for axis in range(1, lead) if axis not in order]

        def rows(array: AnyArray) -> AnyArray:
            extents = [
                array.shape[lead + dim]
                * (array.shape[1 + self.cuts[dim][1]] if dim in self.cuts else 1)
                for dim in range(len(x.axes))
            ]
            return array.transpose(*order, *rest).reshape(array.shape[0], *extents)

        array = self.domain.rearrange(x.array, rows)
        extents = self.domain.numbers.shape(array)[1:]
        # What the places of a dimension that is cut hold is said when all are there.
        axes = [
            distinct(extents[dim]) if dim in self.cuts else x.axes[dim]
            for dim in range(len(x.axes))
        ]
        return Tensor(array, tuple(axes))

    def _concatenated(self, rows: Mapping[Batch, Tensor[A]], prefix: Batch) -> Tensor[A]:
        """The rows of the batches that begin with `prefix`, one after the other."""
        depth = len(prefix)
        if depth == len(self.cuts):
            return rows[prefix]
        dim, (_, axis) = list(self.cuts.items())[depth]
        classes = range(len(self.batches.classes[axis]))
        parts = [self._concatenated(rows, (*prefix, number)) for number in classes]
        return views.concatenate(self.whole, parts, dim)

    def _axis(self, dim: int, depth: int, placed: Mapping[Batch, Tensor[A]]) -> Selection:
        """The whole dimension, made of the groups' classes one after the other."""
        axes = {place[depth]: tile.axes[dim] for place, tile in placed.items()}
        pieces: dict[int, np.ndarray] = {}
        offset = 0
        for number, groups in enumerate(self.batches.classes[self.cuts[dim][1]]):
            for group in groups:
                for block in group.members:
                    pieces[block] = axes[number].labels + offset
                offset += axes[number].classes
        return make_axis(np.concatenate([pieces[block] for block in sorted(pieces)]))
