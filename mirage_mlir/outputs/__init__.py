"""Every output format of `mirage-opt -t NAME`; nothing is imported until it is asked for."""

from collections.abc import Callable, Mapping
from importlib import import_module

from xdsl.utils.target import Target

TARGETS: Mapping[str, str] = {
    "irdl": "mirage_mlir.outputs.irdl:IrdlTarget",
    "irdl-generic": "mirage_mlir.outputs.irdl:IrdlGenericTarget",
    "nvvm": "mirage_mlir.outputs.nvvm:NvvmTarget",
    "ptx": "mirage_mlir.outputs.ptx:PtxTarget",
    "c": "mirage_mlir.outputs.c:CTarget",
    "binary": "mirage_mlir.outputs.binary:GpuBinaryTarget",
    "cubin": "mirage_mlir.outputs.cubin:CubinTarget",
}
"""Target name to `module:class`; `test_registry` loads every row and compares its name."""


def load_target(name: str) -> type[Target]:
    """Import the target `name` of the table."""
    module, _, attribute = TARGETS[name].partition(":")
    loaded = getattr(import_module(module), attribute)
    assert isinstance(loaded, type)
    assert issubclass(loaded, Target)
    return loaded


def get_all_targets() -> dict[str, Callable[[], type[Target]]]:
    """Target name to a function that imports it, as `xdsl.universe.Universe` wants it."""

    def lazy(name: str) -> Callable[[], type[Target]]:
        return lambda: load_target(name)

    return {name: lazy(name) for name in TARGETS}
