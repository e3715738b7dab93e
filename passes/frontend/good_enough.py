"""Whether plans that were found are good enough, or a program is looked at in another way, too."""

from mirage_mlir.search.cost_model.bounds import least_seconds
from mirage_mlir.search.program.program import Program
from mirage_mlir.targets.target import Target

MUCH = 0.75
"""A plan for the whole that takes at most this part of the time of all operators alone is taken: to
look again in pieces doubled the time of QK-norm attention and found nothing better."""

FAR, FAR_SECONDS = 3.0, 30e-6
"""
A plan for the whole that takes so many times as long as its bytes and launches do, and so many
seconds more, is far from what may be: a search that left something out is repeated in pieces. The
gradient of a divergence took 145 us so in the model, and in pieces 89; its bytes take 27.
"""

NEAR = 2.0
"""
A single kernel for a program without matmuls that takes at most so many times as long as its bytes
and launch do: in pieces it is read and written again. The gradient of a LayerNorm with GELU takes
16.5 us so in the model, its bytes 9.2; in pieces it took 25 us, and 20 s to look for them.
"""

FIRST_LOADS = 0.2e-6
"""Seconds that the loads of the smallest kernels take in the model: the least counts launches and
bytes only. The gradient of a norm of 7 rows of 34 takes 1.60 us as one kernel, and 2.36 in pieces,
which took 165 s to look for; two kernels of one operator each take 1.76."""

LITTLE = 0.95
"""Plans for the whole that all take at least this part of the time of all operators alone gain too
little: the program is looked at in pieces, too. Two projections of one norm took 7.1 us so in the
model, as a whole 8.15, and each operator alone 8.2."""


def is_far(program: Program, target: Target, seconds: float) -> bool:
    """Whether a plan without matmuls takes much longer than what it reads and writes."""
    if program.multiplies:
        return False
    least = least_seconds(program, target)
    return seconds > FAR * least and seconds - least > FAR_SECONDS


def is_near(program: Program, target: Target, seconds: float) -> bool:
    """Whether a plan takes not much longer than what it reads and writes."""
    return seconds <= NEAR * (least_seconds(program, target) + FIRST_LOADS)
