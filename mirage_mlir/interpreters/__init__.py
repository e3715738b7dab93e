"""Reference semantics of the dialects: what programs, uGraphs and lowered kernels compute."""

from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.function import run_function

__all__ = ["NotInterpretable", "run_function"]
