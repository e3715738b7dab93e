"""Tiles that threads keep in registers from the iteration that loads them to the next."""

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Operation, SSAValue

from mirage_mlir.diagnostics import fail
from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.fetched_tiles import FetchTilesOp, StoreFetchedOp
from mirage_mlir.passes.analysis.buffers import loads_of_tiles
from mirage_mlir.passes.codegen.context import FetchedTile, KernelContext
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.loads import iterations_of
from mirage_mlir.passes.codegen.realigned_copies import RealignedCopy


def copy_of(
    ctx: KernelContext, op: FetchTilesOp | StoreFetchedOp, load: threadblock.LoadOp, later: Index
) -> RealignedCopy:
    """The copy of the tile of iteration number `later`."""
    if not load.is_realigned_copy:
        fail(op, 'takes tiles that are no copy = "realigned"')
    ctx.emit.location = load.location
    slot = (
        later % ctx.stages
        if isinstance(later, int)
        else ctx.stage.moved(ctx.emit, op.ahead.value.data).slot
    )
    return RealignedCopy.of(ctx, load, iterations_of(ctx, later), slot)


def fetch_tiles(ctx: KernelContext, op: FetchTilesOp, iteration: Index) -> None:
    """Start to load the tiles of a later iteration; without one, something small."""
    ahead, looped = op.ahead.value.data, not isinstance(iteration, int)
    later = ctx.emit.add(iteration, ahead)
    exists = ctx.emit.less(later, ctx.count)
    for load in loads_of_tiles(op):
        if looped and fetched_tile(ctx, op, load.result).ahead != ahead - 1:
            fail(op, f"fetches a tile for ahead {ahead - 1}, which is not that of the prologue")
        copy = copy_of(ctx, op, load, later)
        words = copy.fetch(copy.own, exists)
        ctx.fetched_tiles[load.result] = FetchedTile(words, ahead - looped)


def store_fetched(ctx: KernelContext, op: StoreFetchedOp, iteration: Index) -> None:
    """Store the tiles of a later iteration, if there is one, that were loaded before."""
    emit, ahead = ctx.emit, op.ahead.value.data
    later = emit.add(iteration, ahead)
    with emit.when(emit.less(later, ctx.count)):
        for load in loads_of_tiles(op):
            fetched = fetched_tile(ctx, op, load.result)
            if fetched.ahead != ahead:
                fail(op, f"stores a tile of ahead {ahead}; that of {fetched.ahead} was fetched")
            copy = copy_of(ctx, op, load, later)
            copy.put(copy.own, fetched.words, copy.total % ctx.threads == 0)


def fetched_tile(ctx: KernelContext, op: Operation, tile: SSAValue) -> FetchedTile:
    """What the iteration before, or the prologue, has loaded of a tile."""
    if tile not in ctx.fetched_tiles:
        fail(op, "is of a tile that the prologue does not fetch")
    return ctx.fetched_tiles[tile]


def carried_words(ctx: KernelContext, ops: Sequence[FetchTilesOp]) -> list[SSAValue]:
    """The words of the tiles that the loop's `ops` fetch, one tile after the other."""
    return [word for op in ops for tile in op.tiles for word in fetched_tile(ctx, op, tile).words]


def take_words(ctx: KernelContext, ops: Sequence[FetchTilesOp], words: Sequence[SSAValue]) -> None:
    """Give these tiles the words that an iteration carries to the next one."""
    place = 0
    for op in ops:
        for tile in op.tiles:
            fetched = fetched_tile(ctx, op, tile)
            own = words[place : place + len(fetched.words)]
            ctx.fetched_tiles[tile] = replace(fetched, words=own)
            place += len(own)
    assert place == len(words), "these are all words that the loop carries"
