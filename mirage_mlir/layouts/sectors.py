"""
How many pieces of device memory the instructions of warps ask for, counted from the layouts.

Device memory and its caches hand out sectors of 32 bytes, four to a line (CUDA C++ programming
guide, "Device Memory Accesses"). One instruction asks for each sector once, whatever its lanes
share, and takes a step for each line.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from mirage_mlir.layouts.banks import Array, Spread
from mirage_mlir.layouts.layout import WARP_THREADS

SECTOR_BYTES, LINE_BYTES = 32, 128


@dataclass(frozen=True)
class DeviceTile:
    """
    A tile as it lies in device memory, from the start of a sector on.

    Args:
        shape: of the tile in registers that is read from it or written to it.
        strides: of the tensor along its dims, in elements; 0 where all elements are the same.
        item: bytes of an element.
        together: neighbours that one access takes.
        dim: along which they are neighbours, counted from the last.
    """

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    item: int
    together: int
    dim: int = -1


@dataclass(frozen=True)
class DeviceTraffic:
    """Instructions of warps, and the sectors and lines that these ask for."""

    instructions: int
    sectors: int
    lines: int


@lru_cache(maxsize=4096)
def device_traffic(spread: Spread, tile: DeviceTile) -> DeviceTraffic:
    """
    What one access of a whole tile, spread over registers, asks for.

    Where neighbours lie along rows, `spread` has rows and columns exchanged.
    """
    width, step = spread.width, tile.strides[tile.dim]
    rows, columns, active = spread.places
    if tile.dim != -1:
        rows, columns = columns, rows
    base = columns * tile.strides[-1]
    for size, stride in zip(reversed(tile.shape[:-1]), reversed(tile.strides[:-1]), strict=True):
        base, rows = base + rows % size * stride, rows // size
    pieces = np.arange(0, width if step else 1, tile.together)[:, None, None]
    places = (base + pieces * step) * tile.item
    asked = np.where(active, places, -LINE_BYTES).reshape(-1, WARP_THREADS)
    return DeviceTraffic(
        int((asked >= 0).any(axis=1).sum()) * spread.repeats,
        distinct(asked // SECTOR_BYTES) * spread.repeats,
        distinct(asked // LINE_BYTES) * spread.repeats,
    )


def distinct(asked: Array) -> int:
    """How many different numbers from 0 on each row has, in all."""
    ordered = np.sort(asked, axis=1)
    fresh = ordered >= 0
    fresh[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    return int(fresh.sum())
