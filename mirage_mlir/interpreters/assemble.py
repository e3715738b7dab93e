"""Putting the tiles that blocks store together to one tensor."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Generic

import numpy as np

from mirage_mlir.interpreters import views
from mirage_mlir.interpreters.batches import Batch, Batches
from mirage_mlir.interpreters.dims import Dim, Index, NotClosed, dim_of
from mirage_mlir.interpreters.domain import A, AnyArray, NotInterpretable
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain
from mirage_mlir.interpreters.tile_cuts import TileCut, TileCuts
from mirage_mlir.interpreters.tiles import Tile


def assemble(
    domain: TensorDomain[A],
    batches: Batches,
    cuts: TileCuts,
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

    def __init__(
        self, domain: TensorDomain[A], batches: Batches, cuts: TileCuts, shape: Sequence[int]
    ):
        self.domain = domain
        self.whole = TensorDomain(domain.numbers)
        self.batches = batches
        self.shape = shape
        self.cuts = {
            dim: (cut, cut.grid_axis)
            for dim, cut in enumerate(cuts.dims)
            if cut.grid_axis is not None
        }
        """The dimensions that the grid cuts, each with its cut and its axis of the grid."""

    def tensor(self, tiles: Mapping[Batch, Tile[A]]) -> Tensor[A]:
        """All tiles in their places."""
        rows: dict[Batch, Tensor[A]] = {}
        places: list[dict[int, Index]] = [{} for _ in self.cuts]
        for batch, tile in tiles.items():
            key = tuple(batch[axis] for _, axis in self.cuts.values())
            if key in rows:
                # Blocks along the axes that the map leaves out hold the same: the verifier sees to
                # it, and of a sum across them all got one total.
                continue
            valid = self._valid(batch, tile)
            for depth, (dim, (cut, axis)) in enumerate(self.cuts.items()):
                found = self._stored_at(valid.dims[dim], self.batches.blocks(batch, axis), cut)
                if not np.array_equal(places[depth].setdefault(key[depth], found), found):
                    raise NotClosed("blocks beside each other store different indices")
            rows[key] = self._row(valid)
        result = self._concatenated(rows, ())
        for depth, dim in enumerate(self.cuts):
            stored = np.concatenate([places[depth][number] for number in sorted(places[depth])])
            order = np.argsort(stored)
            whole = dim_of(self.shape[dim], stored[order])
            result = self.whole.take(result, dim, whole, order)
        return result

    def _stored_at(self, dim: Dim, blocks: Sequence[int], cut: TileCut) -> Index:
        """The indices of the result that blocks store, `dim` being a block's."""
        return cut.place(np.array(blocks)[:, None], dim.indices).reshape(-1)

    def _valid(self, batch: Batch, tile: Tile[A]) -> Tensor[A]:
        """What of tiles lies within the tensor, of each block."""
        sizes = list(self.shape)
        for dim, (cut, axis) in self.cuts.items():
            sizes[dim] = cut.held(self.batches.blocks(batch, axis)[0], self.shape[dim])
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

        tile = Tensor(self.domain.spread(tile, list(self.cuts)), tile.dims)
        return Tensor(self.domain.rearrange(tile.array, stored), tile.dims)

    def _row(self, x: Tensor[A]) -> Tensor[A]:
        """The tiles of a batch one after the other, along each dimension that the grid cuts."""
        lead = self.domain.lead
        order = [0]
        for dim in range(len(x.dims)):
            order += [1 + self.cuts[dim][1]] if dim in self.cuts else []
            order.append(lead + dim)
        rest = [axis for axis in range(1, lead) if axis not in order]

        def rows(array: AnyArray) -> AnyArray:
            extents = [
                array.shape[lead + dim]
                * (array.shape[1 + self.cuts[dim][1]] if dim in self.cuts else 1)
                for dim in range(len(x.dims))
            ]
            return array.transpose(*order, *rest).reshape(array.shape[0], *extents)

        array = self.domain.rearrange(x.array, rows)
        extents = self.domain.numbers.shape(array)[1:]
        # Which indices a dimension that is cut has is said when all are there.
        dims = [
            Dim(extents[dim]) if dim in self.cuts else x.dims[dim] for dim in range(len(extents))
        ]
        return Tensor(array, tuple(dims))

    def _concatenated(self, rows: Mapping[Batch, Tensor[A]], prefix: Batch) -> Tensor[A]:
        """The rows of the batches that begin with `prefix`, one after the other."""
        depth = len(prefix)
        if depth == len(self.cuts):
            return rows[prefix]
        dim, (_, axis) = list(self.cuts.items())[depth]
        classes = range(len(self.batches.classes[axis]))
        parts = [self._concatenated(rows, (*prefix, number)) for number in classes]
        return views.concatenate(self.whole, parts, dim)
