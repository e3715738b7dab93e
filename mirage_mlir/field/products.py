"""Products of float matrices that take their time from one core."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

ONE_THREAD = 1 << 18
"""Multiplications up to which OpenBLAS, which numpy carries, uses one thread."""

SEVERAL_THREADS = 1 << 24
"""
Multiplications from which several threads are worth it.

They wait for each other: on a machine whose cores are busy a product of 2^21 multiplications,
0.1 ms of work, was seen to take 250 ms. einsum has no threads and is five times slower than BLAS.
"""


def matmul(x: Floats, y: Floats) -> Floats:
    """The product of `... x M x K` and `... x K x N` by numpy's rules."""
    multiplications = x.shape[-2] * x.shape[-1] * y.shape[-1]
    if ONE_THREAD < multiplications < SEVERAL_THREADS:
        return np.einsum("...mk,...kn->...mn", x, y)
    return np.matmul(x, y)
