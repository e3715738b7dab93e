"""
MLIR's bindings without the compiler of Python in whose package they come.

Running all of `numba_cuda_mlir` takes 0.35 s, and only `numba_cuda_mlir._mlir` is needed.
"""

import os
import sys
from ctypes import CDLL
from importlib.util import find_spec, module_from_spec
from pathlib import Path

_libraries: list[CDLL] = []
"""Those that were loaded, for as long as the process runs."""


def leave_out_holder(package: str) -> None:
    """
    Let `package`, say `numba_cuda_mlir._mlir`, be imported without running the one that holds it.

    The holder is there, with its path and nothing else: this is for processes that run no code
    but ours. Nothing is done where it was imported before, say by another package with passes, or
    is not installed.
    """
    holder, _, _ = package.partition(".")
    if holder in sys.modules:
        return
    spec = find_spec(holder)
    if spec is None or spec.submodule_search_locations is None:
        return
    for folder in spec.submodule_search_locations:
        _load_libraries(Path(folder, "_mlir", "_mlir_libs"))
    sys.modules[holder] = module_from_spec(spec)


def _load_libraries(folder: Path) -> None:
    """
    Load MLIR's libraries so that they use their own LLVM, whatever other is in the process.

    The holder does so when it is run. The library with LLVM is the first by name; the others need
    it.
    """
    if sys.platform == "linux":
        mode = os.RTLD_NOW | os.RTLD_LOCAL | getattr(os, "RTLD_DEEPBIND", 0)
        _libraries.extend(CDLL(str(path), mode) for path in sorted(folder.glob("libMLIR*.so")))
