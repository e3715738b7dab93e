"""What warps ask of device memory, counted from layouts."""

from mirage_mlir.layouts.banks import Spread
from mirage_mlir.layouts.layout import RegisterLayout, blocked
from mirage_mlir.layouts.sectors import DeviceTile, DeviceTraffic, device_traffic


def asked(layout: RegisterLayout, tile: DeviceTile) -> DeviceTraffic:
    rows, columns = tile.shape
    return device_traffic(Spread(layout, (rows, columns)), tile)


def test_rows_of_neighbours() -> None:
    """32 lanes with 16 bytes each: four lines, all of them."""
    tile = DeviceTile((1, 256), (256, 1), 2, 8)
    assert asked(blocked((1, 256), 32), tile) == DeviceTraffic(1, 16, 4)


def test_narrow_accesses_ask_again() -> None:
    """Eight instructions of 2 bytes a lane, 16 apart: each asks for all sectors."""
    tile = DeviceTile((1, 256), (256, 1), 2, 1)
    assert asked(blocked((1, 256), 32), tile) == DeviceTraffic(8, 8 * 16, 8 * 4)


def test_columns_of_neighbours() -> None:
    """Threads along the columns of a transposed tensor, and along its rows."""
    tile = DeviceTile((32, 32), (1, 1024), 4, 1)
    apart, together = blocked((32, 32), 32, 1), blocked((32, 32), 32, 1, rows_first=32)
    assert asked(apart, tile) == DeviceTraffic(32, 32 * 32, 32 * 32)
    assert asked(together, tile) == DeviceTraffic(32, 32 * 4, 32)


def test_some_threads_along_rows_fill_sectors_on_both_sides() -> None:
    """A warp that is 8 x 4 with runs of 8 f16 reads and writes as many bytes as it needs."""
    layout = blocked((8, 32), 32, 8, rows_first=8)
    assert layout.position(7) == (7, 0)
    assert asked(layout, DeviceTile((8, 32), (32, 1), 2, 8)).sectors * 32 == 8 * 32 * 2


def test_runs_along_rows() -> None:
    """Eight rows of a column-major tile in each lane: 16 bytes, four lanes to a column."""
    layout = blocked((32, 64), 32, 8, rows_first=4, tall=8).ordered((1, 0))
    tile = DeviceTile((32, 64), (1, 1024), 2, 8, dim=-2)
    asked = device_traffic(Spread(layout, (32, 64)).exchanged, tile)
    assert asked == DeviceTraffic(8, 8 * 8 * 2, 8 * 8)


def test_what_is_repeated_is_read_once() -> None:
    tile = DeviceTile((32, 8), (0, 1), 4, 1)
    assert asked(blocked((32, 8), 32, 1, rows_first=32), tile).sectors == 8


def test_leading_dims_are_rows() -> None:
    """Two matrices far from each other: rows 0 and 1 are in different lines."""
    tile = DeviceTile((2, 1, 8), (4096, 8, 1), 4, 4)
    spread = Spread(blocked((2, 8), 32, 4), (2, 8))
    assert device_traffic(spread, tile) == DeviceTraffic(1, 2, 2)


def test_only_one_of_many_writes() -> None:
    tile = DeviceTile((1, 8), (8, 1), 4, 4)
    layout = blocked((1, 8), 128, 4)
    read, write = (Spread(layout, (1, 8), writes=writes) for writes in (False, True))
    assert device_traffic(read, tile).instructions == 4
    assert device_traffic(write, tile).instructions == 1
