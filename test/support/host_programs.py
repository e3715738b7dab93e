"""Host programs, as `-t binary` writes them, compiled to shared libraries and called here."""

import ctypes
from collections.abc import Sequence
from importlib.util import module_from_spec, spec_from_file_location
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from optional_packages import package

from mirage_mlir.opt_main import main
from mirage_mlir.runtime.artifact import row_major

BUILD = Path(__file__).parents[2] / "examples" / "mlir" / "build.py"


def _example() -> Any:
    """What compiles and links them."""
    package("llvmlite")
    spec = spec_from_file_location("host_program_build", BUILD)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def shared_library(text: str, target: str, *options: str, pack: bool = False) -> bytes:
    """The shared library of a program that `mirage-opt OPTIONS -t binary{target=TARGET}` reads."""
    target = f"{target} pack=true" if pack else target
    with TemporaryDirectory() as folder:
        read, written, made = (Path(folder, name) for name in ("in.mlir", "out.mlir", "made.so"))
        read.write_text(text)
        words = [str(read), *options, "-t", f"binary{{target={target}}}", "-o", str(written)]
        assert main(words) == 0
        _example().build(written.read_text(), made)
        return made.read_bytes()


def descriptor(address: int, shape: Sequence[int], strides: Sequence[int]) -> Any:
    """A memref that starts at an address."""
    words = (address, address, 0, *shape, *strides)
    return (ctypes.c_int64 * len(words))(*words)


def array_at(address: int, shape: Sequence[int], dtype: np.dtype[Any]) -> NDArray[Any]:
    """What is in memory, as an array; it is not copied."""
    memory = (ctypes.c_char * (prod(shape) * dtype.itemsize)).from_address(address)
    return np.frombuffer(memoryview(memory), dtype).reshape(tuple(shape))


def _passed(argument: Any) -> Any:
    """As C takes it: arrays, and descriptors, by their address."""
    if hasattr(argument, "strides"):
        steps = [step // argument.itemsize for step in argument.strides]
        return ctypes.byref(descriptor(argument.ctypes.data, argument.shape, steps))
    return ctypes.byref(argument) if hasattr(argument, "_length_") else argument


class HostProgram:
    """The functions of a shared library, and memory that they and their kernels both reach."""

    def __init__(self, made: bytes, folder: Path) -> None:
        path = folder / "program.so"
        path.write_bytes(made)
        self.library: Any = ctypes.CDLL(str(path))
        self.library._mlir_memref_to_llvm_alloc.restype = ctypes.c_void_p
        self.library._mlir_memref_to_llvm_alloc.argtypes = [ctypes.c_size_t]

    def array(self, values: NDArray[Any]) -> NDArray[Any]:
        """A copy of an array in such memory; it is never given back."""
        address = self.library._mlir_memref_to_llvm_alloc(max(values.nbytes, 1))
        made = array_at(address, values.shape, values.dtype)
        made[...] = values
        return made

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function on arrays, descriptors and scalars of ctypes; results come first."""
        self.library[f"_mlir_ciface_{name}"](*map(_passed, arguments))

    def results(
        self, name: str, kinds: Sequence[tuple[Sequence[int], np.dtype[Any]]], *arguments: Any
    ) -> list[NDArray[Any]]:
        """What a function returns, as arrays; `kinds` are the shapes and dtypes of its results."""
        words: Any = (ctypes.c_int64 * sum(3 + 2 * len(shape) for shape, _ in kinds))()
        self.call(name, words, *arguments)
        found: list[NDArray[Any]] = []
        given: list[int] = list(words)
        for shape, dtype in kinds:
            (_, address, *layout), given = given[: 3 + 2 * len(shape)], given[3 + 2 * len(shape) :]
            assert layout == [0, *shape, *row_major(tuple(shape))]
            found.append(array_at(address, shape, dtype))
        return found
