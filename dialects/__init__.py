"""Every dialect of the project, by name; nothing is imported until it is asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module

from xdsl.ir import Dialect

if __name__ == "dialects":
    # Two names for one module would be two classes for one operation.
    raise ImportError(
        "import mirage_mlir.dialects: the top-level folder is not a package of its own"
    )

DIALECTS: Mapping[str, str] = {
    "kernel": "mirage_mlir.dialects.kernel:Kernel",
    "threadblock": "mirage_mlir.dialects.threadblock:Threadblock",
    "thread": "mirage_mlir.dialects.thread:Thread",
    "nvvm": "mirage_mlir.dialects.nvvm:Nvvm",
    "stablehlo": "mirage_mlir.dialects.stablehlo:Stablehlo",
    "chlo": "mirage_mlir.dialects.chlo:Chlo",
}
"""Dialect name to `module:object`; `test_registry` loads every row and compares its name."""


def load_dialect(name: str) -> Dialect:
    """Import the dialect `name` of the table."""
    module, _, attribute = DIALECTS[name].partition(":")
    dialect = getattr(import_module(module), attribute)
    assert isinstance(dialect, Dialect)
    return dialect


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Dialect name to a function that imports it, as `xdsl.universe.Universe` wants it."""

    def lazy(name: str) -> Callable[[], Dialect]:
        return lambda: load_dialect(name)

    return {name: lazy(name) for name in DIALECTS}
