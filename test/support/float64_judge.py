"""Float64 as a judge of whether functions are equal, beside the verifier."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.func import FuncOp

from mirage_mlir.interpreters.axes import Axis, distinct, special
from mirage_mlir.interpreters.dimensions import DimensionClasses
from mirage_mlir.interpreters.domain import NotInterpretable
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import shape_of
from mirage_mlir.equivalence.float_gate import relative_errors
from mirage_mlir.interpreters.tensors import Tensor

DISTINCT = 1e-9
"""Relative distance from which float64 tells results apart; reordered sums stay below 1e-12."""

LITERAL = 1 << 15
"""Elements of all arguments up to which no index repeats when float64 judges."""

SPECIAL = 3
"""Indices of a dimension that differ from all others where it is too long for that."""


def differs(reference: FuncOp, candidate: FuncOp, seed: int) -> bool:
    """
    Whether float64 tells two functions apart on normal inputs.

    Inputs repeat where they are large: then `SPECIAL` random indices of each dimension differ.
    """
    axes = _axes(reference, candidate, seed)
    random = np.random.default_rng(seed)
    inputs = [
        Tensor[Floats](random.standard_normal((1, *(axis.classes for axis in each))), each)
        for each in axes
    ]
    interpreter = KernelInterpreter(FloatDomain(rounding=False))
    expected = interpreter.run(reference, inputs)
    try:
        results = interpreter.run(candidate, inputs)
    except NotInterpretable:
        return True
    pairs = zip(results, expected, strict=True)
    return any(max(relative_errors(result, exact)) > DISTINCT for result, exact in pairs)


def _axes(reference: FuncOp, candidate: FuncOp, seed: int) -> list[tuple[Axis, ...]]:
    shapes = [shape_of(argument) for argument in reference.body.block.args]
    if sum(int(np.prod(shape)) for shape in shapes) <= LITERAL:
        return [tuple(map(distinct, shape)) for shape in shapes]
    random = np.random.default_rng([seed, 1])
    classes = DimensionClasses((reference, candidate))
    known: dict[tuple[int, int], Axis] = {}
    axes: list[tuple[Axis, ...]] = []
    for argument, shape in zip(reference.body.block.args, shapes, strict=True):
        own: list[Axis] = []
        for dim, size in enumerate(shape):
            key = id(classes.of((argument, dim))), size
            if key not in known:
                places = [int(place) for place in random.integers(0, size, SPECIAL)]
                known[key] = special(size, places)
            own.append(known[key])
        axes.append(tuple(own))
    return axes
