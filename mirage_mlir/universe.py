"""What this package adds to xDSL; the `xdsl.universe` entry point names it."""

from xdsl.universe import Universe

from mirage_mlir.dialects import get_all_dialects
from mirage_mlir.outputs import get_all_targets
from mirage_mlir.passes import get_all_passes

MIRAGE_UNIVERSE = Universe(
    all_dialects=get_all_dialects(),
    all_passes=get_all_passes(),
    all_targets=get_all_targets(),
)
