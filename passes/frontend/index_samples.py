"""Formulas of indices, sampled for the cost model."""

import numpy as np
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.passes.analysis.index_formulas import operators_of
from mirage_mlir.passes.analysis.index_values import values_at
from mirage_mlir.search.program.index_masks import MOST_SAMPLES, IndexSamples


def samples_of(value: SSAValue) -> IndexSamples:
    """Elements of a formula, at indices that are evenly spaced."""
    shape = kernel.shape_of(value)
    counts = [min(size, MOST_SAMPLES) for size in shape]
    if sum(count > 1 for count in counts) > 2:
        counts = [1] * len(shape)
    indices = [np.arange(n) * size // n for n, size in zip(counts, shape, strict=True)]
    elements = values_at(value, indices).astype(np.float32)
    work = [op for op in operators_of(value) if kernel.shape_of(op.results[0]) == shape]
    return IndexSamples(tuple(counts), elements.tobytes(), float(max(1, len(work))))
