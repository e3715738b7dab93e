"""`mirage-opt -t c`: the kernels of each function as C."""

from dataclasses import dataclass

from mirage_mlir.outputs.base import FilesTarget


@dataclass(frozen=True)
class CTarget(FilesTarget):
    """
    A header and a source of C for each function, beside the artifacts in `--artifacts=DIR`.

    They hold the cubins and launch them; compiled, they need libcuda.so.1 alone, at run time.
    """

    name = "c"
