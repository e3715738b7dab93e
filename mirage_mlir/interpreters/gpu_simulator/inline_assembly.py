"""Inline PTX that each thread, or each warp, runs for itself."""

from collections.abc import Callable

from xdsl.ir import Operation

from mirage_mlir.dialects.nvvm_device import is_kept_load, is_kept_store, is_transposed_matrix
from mirage_mlir.interpreters.gpu_simulator.flow import Flow
from mirage_mlir.interpreters.gpu_simulator.memory import run_kept_load, run_kept_store
from mirage_mlir.interpreters.gpu_simulator.warps import run_transpose

Effect = Callable[[Flow, Operation], None]
"""What it does to the values and the memory of a flow; it never waits."""

FORMS: tuple[tuple[Callable[[Operation], bool], Effect], ...] = (
    (is_kept_load, run_kept_load),
    (is_kept_store, run_kept_store),
    (is_transposed_matrix, run_transpose),
)
"""How each is told, and what it does."""


def effect_of(op: Operation) -> Effect | None:
    """What `op` does; None where it is no such inline PTX."""
    return next((effect for is_one, effect in FORMS if is_one(op)), None)
