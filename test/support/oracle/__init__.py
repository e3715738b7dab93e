"""
An oracle for tests: what functions of kernel operators and uGraphs compute, in float64.

It is written from the documents alone and shares no code with the verifier, the interpreters or the
search; only the dialects are used, to read operations. There are two evaluators that share the
functions of one element and nothing else: `naive` has a Python loop for each block, iteration and
element; `dense` gathers tiles by lists of indices and is fast enough for real sizes.

Element types round nothing. A scalar parameter stands for the simplest rational number that rounds
to it, so that the factor 1/100 of a mean is not what tells two functions apart.
"""

from oracle.dense import run as run_dense
from oracle.dense import values_of
from oracle.elements import Unsupported
from oracle.judge import DISTINCT, Judge, differ, difference, distance, draw
from oracle.naive import run as run_naive

__all__ = [
    "DISTINCT",
    "Judge",
    "Unsupported",
    "differ",
    "difference",
    "distance",
    "draw",
    "run_dense",
    "run_naive",
    "values_of",
]
