"""
Campaign: how often values that differ agree at one random point, beside the bound.

    python benchmarks/verification/collisions.py [--values N] [--trials N] [--output NAME]

Values are random expressions of scalars, of which float64 tells any two apart. In each trial all
are evaluated at one random point of Z_p x Z_q, and all pairs that agree are counted, in both halves
or, where exp left it, in the half modulo p alone. Maxima are no matter of this campaign: max(x, y)
is x in every second random order, by intention.
"""

from __future__ import annotations

import argparse
from random import Random
from typing import NamedTuple

import numpy as np
from all_programs import say, write
from numpy.typing import NDArray

from mirage_mlir.field.bound import Degree, exponential_sums, schwartz_zippel
from mirage_mlir.field.modular import P, Q, Residues
from mirage_mlir.interpreters.domain import A
from mirage_mlir.interpreters.field_domain import FieldDomain, Pairs
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.operators import BINARY, pairwise
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain

POINTS = 3
"""At which float64 tells values apart."""

INPUTS = 4
"""Scalars that expressions are made of."""

LARGEST_DEGREE = 48
"""Of values, numerator and denominator: more than the programs of the tests have, but for norms."""

LATE = 200
"""Values of which new ones are made: the latest."""

PLAIN = 0.6
"""How often only those without exp are taken."""

OPERATORS = ("add", "sub", "mul", "mul", "div", "square", "exp", "sigmoid")


class Value(NamedTuple):
    """An expression in the trials' fields and, at some points, in float64."""

    pairs: Tensor[Pairs]
    floats: Tensor[Floats]
    has_exp: bool


class Expressions:
    """Random values, no two alike."""

    def __init__(self, seed: int, trials: int) -> None:
        self.random = Random(seed)
        self.field = FieldDomain(trials, [seed])
        self._fields = TensorDomain(self.field)
        self._numbers = TensorDomain(FloatDomain(rounding=False))
        self.values: list[Value] = []
        self.known: set[tuple[str, ...]] = set()
        points = np.random.default_rng(seed)
        for _ in range(INPUTS):
            drawn = self._numbers.literal(points.standard_normal((POINTS, 1)))
            self._keep(Value(self._fields.literal(self.field.random([1])), drawn, has_exp=False))

    def _keep(self, value: Value) -> None:
        floats = value.floats.array
        key = tuple(f"{number:.9e}" for number in floats[:, 0])
        degree = value.pairs.array.degree
        if max(degree.numerator, degree.denominator) > LARGEST_DEGREE:
            return
        if np.isfinite(floats).all() and floats.all() and key not in self.known:
            self.known.add(key)
            self.values.append(value)

    def grow(self) -> None:
        """One more value, if it is a new one."""
        name = self.random.choice(OPERATORS)
        late = self.values[-LATE:]
        if self.random.random() < PLAIN:
            late = [value for value in self.values if not value.has_exp][-LATE:]
        x, y = self.random.choices(late, k=2)
        if name == "exp" and x.has_exp:
            return
        pairs = _applied(self._fields, name, x.pairs, y.pairs)
        floats = _applied(self._numbers, name, x.floats, y.floats)
        has_exp = x.has_exp or name == "exp" or (name in BINARY and y.has_exp)
        self._keep(Value(pairs, floats, has_exp))


def _applied(domain: TensorDomain[A], name: str, x: Tensor[A], y: Tensor[A]) -> Tensor[A]:
    """One of `OPERATORS`, which takes `y` only where it is one of two operands."""
    match name:
        case "square":
            return domain.multiply(x, x)
        case "exp" | "sigmoid":
            return domain.function(name, x)
        case _:
            return pairwise(domain, name, x, y)


def _agreeing(words: NDArray[np.uint64]) -> int:
    """How many pairs of values agree in a trial."""
    _, counts = np.unique(words, return_counts=True)
    return int((counts * (counts - 1) // 2).sum())


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, default=3600, help="different values")
    parser.add_argument("--trials", type=int, default=64, help="random points")
    parser.add_argument("--seed", type=int, default=0, help="of values and points")
    parser.add_argument("--output", default="collisions", help="name of the report")
    options = parser.parse_args()
    made = Expressions(options.seed, options.trials)
    while len(made.values) < options.values:
        made.grow()
    report: dict[str, object] = {}
    for name, exponential in (("without exp", False), ("with exp", True)):
        chosen = [
            v.pairs.array
            for v in made.values
            if v.has_exp == exponential and (v.pairs.array.q is None) == exponential
        ]
        pairs = len(chosen) * (len(chosen) - 1) // 2
        halves: dict[str, list[int]] = {"p": [], "p and q": []}
        for trial in np.flatnonzero(made.field.sound):
            p = np.array([_residue(v.p, int(trial)) for v in chosen], np.uint64)
            halves["p"].append(_agreeing(p))
            if not exponential:
                q = np.array([_residue(v.q, int(trial)) for v in chosen], np.uint64)
                halves["p and q"].append(_agreeing(p * np.uint64(1 << 31) + q))
        degree = _largest([v.degree + v.degree for v in chosen])
        report[name] = {
            "values": len(chosen),
            "pairs": pairs,
            "trials": len(halves["p"]),
            "agreeing_modulo_p": sum(halves["p"]),
            "expected_modulo_p_if_uniform": round(pairs * len(halves["p"]) / P, 4),
            "agreeing_in_both": sum(halves["p and q"]) if not exponential else None,
            "degree": degree.numerator,
            "terms": degree.terms,
            "bound_of_one_trial": exponential_sums(degree.numerator, degree.terms, 1).probability
            if exponential
            else schwartz_zippel(degree.numerator, 1).probability,
        }
    write(options.output, {"primes": [P, Q], "seed": options.seed, **report})
    say([report])


def _residue(half: Residues | None, trial: int) -> int:
    assert half is not None
    return int(half[trial if half.shape[0] > 1 else 0, 0])


def _largest(degrees: list[Degree]) -> Degree:
    result = Degree()
    for degree in degrees:
        result = result.larger(degree)
    return result


if __name__ == "__main__":
    main()
