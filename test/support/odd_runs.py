"""Odd programs through the whole of `superoptimize`, compared with the oracle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from oracle import distance, draw, run_dense
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.driver.source import compiler_context, functions
from mirage_mlir.passes.superoptimize_pipeline import SuperoptimizePipeline

Arrays = Sequence[NDArray[np.float64]]

DIFFERENT = 1e-9
"""Relative distance from which results differ, if the program is well-conditioned."""

CONDITION = 1e4
"""How much farther results may be than the program's own, when its inputs move by one rounding."""


def superoptimized(function: FuncOp, seconds: float) -> tuple[FuncOp, list[str]]:
    """What `superoptimize` makes of a function, and its remarks."""
    module = ModuleOp([function.clone()])
    with collect_remarks() as remarks:
        SuperoptimizePipeline(time_limit=seconds).apply(compiler_context(), module)
    return functions(module)[0], [remark.message for remark in remarks]


def difference(function: FuncOp, result: FuncOp, seed: int) -> tuple[float, float]:
    """How far results are from the program's, and how far they may be; element types aside."""
    inputs = draw(function, seed)
    wanted = run_dense(function, inputs)
    noise = np.random.default_rng(seed)
    moved = [x * (1 + noise.choice([-1.0, 1.0], x.shape) * np.finfo(float).eps) for x in inputs]
    own = farthest(run_dense(function, moved), wanted)
    return farthest(run_dense(result, inputs), wanted), DIFFERENT + CONDITION * own


def farthest(values: Arrays, wanted: Arrays) -> float:
    """The largest distance of a result, where what is wanted is finite."""
    finite = [np.isfinite(right) for right in wanted]
    pairs = zip(values, wanted, finite, strict=True)
    return max(distance(value[there], right[there]) for value, right, there in pairs)
