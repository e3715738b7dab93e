"""
Pairs of functions for tests of the verifier: right ones, and such that differ in one index map.

`programs` has programs of many shapes, each with other ways to write it: as kernel operators in
another order (`rewrites` in each file) and as uGraphs of random tilings. `views` wraps operands and
results in views. `mutations` changes one index map. `pairs` puts these together by number.
"""

from program_pairs.draws import REAL, SAMPLE, TINY, Scale
from program_pairs.pairs import KINDS, NoPair, Pair, valid_pair, wrong_pair

__all__ = ["KINDS", "REAL", "SAMPLE", "TINY", "NoPair", "Pair", "Scale", "valid_pair", "wrong_pair"]
