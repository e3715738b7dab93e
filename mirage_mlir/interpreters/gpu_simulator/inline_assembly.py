"""Inline PTX that each thread, or each warp, runs for itself."""

from collections.abc import Callable

from xdsl.ir import Operation

from mirage_mlir.dialects.nvvm_device import is_kept_load, is_kept_store, is_transposed_matrix
from mirage_mlir.interpreters.gpu_simulator.flow import Flow
from mirage_mlir.interpreters.gpu_simulator.memory import run_kept_load, run_kept_store
from mirage_mlir.interpreters.gpu_simulator.warps import run_transpose

Rule = Callable[[Flow, Operation], None]

FORMS: tuple[tuple[Callable[[Operation], bool], Rule], ...] = (
    (is_kept_load, run_kept_load),
    (is_kept_store, run_kept_store),
    (is_transposed_matrix, run_transpose),
)
"""How each is told, and what it does."""


def rule_of(op: Operation) -> Rule | None:
    """What `op` does; None where it is no such inline PTX."""
    return next((rule for is_one, rule in FORMS if is_one(op)), None)
