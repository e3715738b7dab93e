"""
Decides with which iteration the loop of each block begins.

Blocks that each walk along lines of their own, as those of a matmul with weights [out, in] do,
would all read at the same place of their lines at the same time. Lines lie a power of two of bytes
apart as a rule, and such addresses fall into few channels and banks of device memory. Where the
loop of each block begins further along than its neighbour's, and ends with the iterations that it
left out, the addresses differ (StaggerU of AMD's Tensile does the same for its matmuls).
"""

from itertools import count
from math import gcd

import numpy as np
from numpy.typing import ArrayLike

from mirage_mlir.decisions.schedule import Mask

LEAST_STEP = 5
"""Iterations from one block's first to its neighbour's. On an H200, of loops over 128 to 512 bytes
of each line at a time, steps of 5 took as long as steps of 3 and less than 1 and 17: for two
matmuls of 14336 columns with iterations of 128 bytes 55.2 us, with 1 56.2, with 17 55.4, without
56.0."""

LEAST_SHARE = 0.5
"""Of an iteration's bytes that blocks read along lines of their own. Of the others it matters that
blocks read them at the same time, so that L2 holds them."""


def is_staggered(own_bytes: ArrayLike, iteration_bytes: ArrayLike) -> Mask:
    """
    Whether loops begin with different iterations.

    Args:
        own_bytes: of an iteration, of tiles along lines that only one block reads.
        iteration_bytes: of all tiles of an iteration.
    """
    return np.asarray(own_bytes) > LEAST_SHARE * np.asarray(iteration_bytes)


def stagger_of(iterations: int) -> int:
    """
    The step from one block's first iteration to its neighbour's, with which each is a first.

    It is counted around the loop: 0 for a loop of one iteration.
    """
    return next(step for step in count(LEAST_STEP, 2) if gcd(step, iterations) == 1) % iterations
