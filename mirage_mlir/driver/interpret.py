"""Running a compiled program without a GPU: its uGraph, interpreted on numpy arrays."""

from collections.abc import Sequence
from functools import lru_cache

from xdsl.dialects import func

from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.runtime.arrays import Array
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.runtime.element_types import numpy_dtype

PARSED = 16
"""uGraphs that are kept parsed: parsing takes longer than interpreting a small one."""


@lru_cache(PARSED)
def _function(text: str, name: str) -> func.FuncOp:
    return function_named(parse_program(text, f"{name}.mirage"), name)


def interpret(artifact: Artifact, given: Sequence[Array]) -> list[Array]:
    """
    The outputs of `artifact` by the uGraph of its first target, with the rounding of a GPU.

    `given` are its inputs, in shapes and element types as it says.
    """
    results = run_function(_function(artifact.targets[0].ugraph, artifact.name), given)
    return [
        result.astype(numpy_dtype(spec.element_type))
        for result, spec in zip(results, artifact.outputs, strict=True)
    ]
