"""Padded layouts of tiles in shared memory, whose lines start in different banks."""

from mirage_mlir.layouts.layout import MMA_DEPTH, SharedLayout, ceil_div, round_up


def padded_pitch(columns: int, item_bytes: int) -> int:
    """
    Elements between rows in shared memory, so that eight rows of 16 bytes have no bank conflict.

    The pitch is an odd number of 16-byte pieces: then the pieces of eight neighbouring rows, which
    `ldmatrix` reads at once, fall in eight different groups of 4 banks. Tiles with rows shorter
    than one piece are not padded.
    """
    row_bytes = columns * item_bytes
    if row_bytes < 16:
        return columns
    pieces = ceil_div(row_bytes, 16)
    return (pieces + (pieces % 2 == 0)) * 16 // item_bytes


def shared_tile(
    rows: int, columns: int, item_bytes: int, *, columns_first: bool = False, copies: int = 1
) -> SharedLayout:
    """
    The padded layout of a tile of 2 or 4-byte elements.

    With `columns_first` neighbours lie along a column, as in a tensor seen through a transpose;
    `copies` are the parts of a sum, each of a group of warps. Sizes are in elements.
    """
    lines, run = (columns, rows) if columns_first else (rows, columns)
    # The tensor core reads whole fragments, past a tile's edge too.
    pitch = padded_pitch(round_up(run, MMA_DEPTH), item_bytes)
    row, column = (1, pitch) if columns_first else (pitch, 1)
    return SharedLayout(row, column, lines * pitch, copies)
