"""Packed constants: constant inputs that a kernel reads from a copy stored tile by tile."""

from dataclasses import asdict

from mirage_mlir.decisions.packing import Packing
from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.interface import PackingAttr, PackingFacts
from mirage_mlir.passes.codegen.context import KernelContext
from mirage_mlir.passes.codegen.emitter import Index
from mirage_mlir.passes.codegen.tile_origins import tile_numbers


def packed_origin(
    ctx: KernelContext, op: threadblock.LoadOp, packing: Packing, iterations: list[Index]
) -> list[Index]:
    """The coordinates at which a tile starts in a packed tensor: its first line, column 0."""
    tiles = tile_numbers(ctx, op, iterations)
    number: Index = 0
    for dim in packing.order:
        number = ctx.emit.add(ctx.emit.mul(number, packing.counts[dim]), tiles[dim])
    return [ctx.emit.mul(number, packing.tile_lines), 0]


def described_packing(packing: Packing, tensor: str, element: str) -> PackingAttr:
    """The attribute from which a launch packs the input `tensor`."""
    return PackingAttr.of(PackingFacts(tensor=tensor, element=element, **asdict(packing)))
