"""
Tests whether two functions agree modulo several primes on random inputs.

Each computed input element is a variable of its own. An element of a result is compared in a draw
in which it is defined (nothing on the way was divided by zero); inputs are drawn until each element
has been compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import gcd, isfinite

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.equivalence.bounds import Bound, Evidence, bound_of
from mirage_mlir.equivalence.inputs import DrawnResidues
from mirage_mlir.equivalence.masked_domain import MaskedDomain
from mirage_mlir.equivalence.residue_domain import UnluckyPrime
from mirage_mlir.equivalence.residues import Residues, first_difference
from mirage_mlir.equivalence.sample import Dims
from mirage_mlir.field.height import Height
from mirage_mlir.field.primes import safe_primes
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.operators import has_exponential, shape_of
from mirage_mlir.interpreters.spelled_out import expands_sigmoid
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain, drawn, made

LANES = 3
"""Primes of a test at least: with 26 bits each, random functions know arguments by 78 bits."""

EXPONENTIAL_LANES = 4
"""Primes of a test with exponentials: bounds of attention are not enough with three."""

MOST_LANES = 16
"""Primes of a test at most: with 7, bounds are enough or will not be."""

MOST_DRAWS = 8
"""
Draws before an element that never had a value is given up.

A denominator of degree 10^4 is zero in one lane in 3000 draws, if it is not zero everywhere.
"""

OTHER = 1 << 20
"""The number of a draw that is none of the others."""


Residue = int | float
"""A residue; -inf where a function has the maximum of nothing."""


@dataclass(frozen=True)
class Difference:
    """A place where two functions differ in a draw."""

    output: int
    element: tuple[int, ...]
    reference: tuple[Residue, ...]
    """The residues there."""
    candidate: tuple[Residue, ...]


@dataclass(frozen=True)
class Outcome:
    """The outcome of random tests."""

    passed: bool
    """Whether each computed element of each result was equal."""
    differences: tuple[Difference, ...]
    bound: Bound
    evidence: Evidence
    reason: str = ""
    """Why it neither passed nor found a difference."""

    def followed_by(self, other: Outcome) -> Outcome:
        """The outcome of this test, which passed, and of another one that is independent of it."""
        if not other.passed:
            return other
        probability = self.bound.probability * other.bound.probability
        bound = Bound(probability, f"{other.bound.theorem}, tested twice")
        return replace(other, bound=bound)


@dataclass
class _Draw:
    """One draw of inputs, with the results of the reference."""

    domain: MaskedDomain
    inputs: list[Tensor[Residues]]
    expected: list[Tensor[Residues]]


class RandomTests:
    """Tests candidates against one reference, on some indices of its arguments."""

    def __init__(
        self,
        reference: FuncOp,
        dims: Dims,
        seed: int,
        *,
        exponential: frozenset[int],
        expand_sigmoid: bool,
        lanes: int = LANES,
    ):
        """`exponential` are the arguments from which exponents are computed."""
        self.reference = reference
        self.dims = dims
        self.seed = seed
        self.exponential = exponential
        self.expand_sigmoid = expand_sigmoid
        self.lanes = lanes
        self._draws: dict[int, _Draw] = {}
        self._dependent: dict[tuple[int, ...], bool] = {}

    def run(self, candidate: FuncOp, private: Sequence[int] | None) -> Outcome:
        """
        Compare a candidate with the reference.

        Args:
            candidate: of the reference's type.
            private: the arguments in which exponents are independent linear forms; with None, no
                bound is known where there are exponentials.

        Raises:
            NotInterpretable: an operation has no interpretation, or slabs are not closed.
        """
        compared: list[np.ndarray] = []
        numbers: list[int] = []
        domains: list[tuple[MaskedDomain, MaskedDomain]] = []
        height = Height()
        for number in range(MOST_DRAWS):
            try:
                draw = self._draw(number)
                domain = self._domain(draw.domain.moduli, number)
                results = KernelInterpreter(domain).run(candidate, draw.inputs)
            except UnluckyPrime:
                continue
            numbers.append(number)
            domains.append((draw.domain, domain))
            found = [
                _compared(output, left, right, domain)
                for output, (left, right) in enumerate(zip(draw.expected, results, strict=True))
            ]
            for left, right in zip(draw.expected, results, strict=True):
                height = height.larger(left.array.height.add(right.array.height, alike=False))
            evidence = self._evidence(domains, height)
            differences = [difference for each in found for difference in each.differences]
            if differences:
                return Outcome(False, tuple(differences), Bound(1.0, ""), evidence)
            defined = [each.defined for each in found]
            compared = [a | b for a, b in zip(compared or defined, defined, strict=True)]
            if all(each.all() for each in compared):
                return self._passed(evidence, domains[0], private, numbers[0])
        reason = "some element of a result has a zero denominator in all draws"
        evidence = self._evidence(domains, height)
        return Outcome(False, (), Bound(1.0, ""), evidence, reason)

    def _passed(
        self,
        evidence: Evidence,
        domains: tuple[MaskedDomain, MaskedDomain],
        private: Sequence[int] | None,
        number: int,
    ) -> Outcome:
        """The outcome if all elements passed; `number` is that of the first draw."""
        known = domains[0].exponent_words, domains[1].exponent_words
        missing = ""
        if evidence.exponentials and (private is None or not self._depends(private, number)):
            missing = "exponents of the reference that may depend on each other"
        elif (
            evidence.exponentials
            and not np.isin(np.concatenate(known[1]), np.concatenate(known[0])).all()
        ):
            missing = "exponents that the reference does not have"
        bound = Bound(1.0, f"no theorem for {missing}") if missing else bound_of(evidence)
        return Outcome(True, (), bound, evidence)

    def _depends(self, private: Sequence[int], number: int) -> bool:
        """Whether all exponents of the reference in a draw change with some arguments."""
        key = (number, *private)
        if key not in self._dependent:
            draw = self._draw(number)
            moduli = draw.domain.moduli
            inputs = [
                self._argument(OTHER + number if position in private else number, position, moduli)
                for position in range(len(draw.inputs))
            ]
            domain = self._domain(moduli, number)
            KernelInterpreter(domain).run(self.reference, inputs)
            zero, *after = domain.exponent_words
            before = np.concatenate([zero[:0], *draw.domain.exponent_words[1:]])
            after = [zero[:0], *after]
            same = np.isin(before, np.concatenate(after)) & ~np.isin(before, zero)
            self._dependent[key] = not same.any()
        return self._dependent[key]

    # Draws

    def _draw(self, number: int) -> _Draw:
        """The inputs of a draw, and the reference's results; the first draws are remembered."""
        if number not in self._draws:
            moduli = safe_primes(self.lanes, np.random.default_rng([self.seed, number, 0]))
            domain = self._domain(moduli, number)
            inputs = [
                self._argument(number, position, moduli) for position in range(len(self.dims))
            ]
            expected = KernelInterpreter(domain).run(self.reference, inputs)
            self._draws[number] = _Draw(domain, inputs, expected)
        return self._draws[number]

    def _argument(self, number: int, position: int, moduli: Sequence[int]) -> Tensor[Residues]:
        """One argument in some draw."""
        shape = shape_of(self.reference.body.block.args[position])
        seed = [self.seed, number, 2, position]
        source = DrawnResidues(shape, seed, moduli, exponents=position in self.exponential)
        return made(drawn(source, self.dims[position]))

    def _domain(self, moduli: Sequence[int], number: int) -> MaskedDomain:
        return MaskedDomain(
            moduli,
            [self.seed, number, 1],
            exponents=bool(self.exponential),
            expand_sigmoid=self.expand_sigmoid,
        )

    def _evidence(
        self, domains: Sequence[tuple[MaskedDomain, MaskedDomain]], height: Height
    ) -> Evidence:
        """The evidence of one draw, as each element is compared in one of them."""
        reference, candidate = domains[0]
        factors = reference.shift_factors | candidate.shift_factors
        words = [*reference.exponent_words, *candidate.exponent_words]
        return Evidence(
            self.lanes,
            height,
            reference.arguments + candidate.arguments,
            reference.argument.larger(candidate.argument),
            len(np.unique(np.concatenate(words))) - 1 if words else 0,
            reference.exponent.larger(candidate.exponent),
            _spread([factor.numerator for factor in factors], [f.denominator for f in factors]),
            tuple(dict.fromkeys([*reference.keyed, *candidate.keyed])),
            reference.functions + candidate.functions,
            reference.maxima + candidate.maxima,
        )


@dataclass(frozen=True)
class _Compared:
    differences: tuple[Difference, ...]
    defined: np.ndarray


def _compared(
    output: int, left: Tensor[Residues], right: Tensor[Residues], domain: MaskedDomain
) -> _Compared:
    """Two results, element by element."""
    tensors = TensorDomain(domain)
    assert left.dims == right.dims, "results have the same indices"
    a, b = tensors.expanded(left), tensors.expanded(right)
    unequal, defined = first_difference(a, b, domain.moduli)
    differences = tuple(
        Difference(
            output,
            tuple(int(dim.indices[i]) for dim, i in zip(left.dims, place[1:], strict=True)),
            _residues_at(a, place),
            _residues_at(b, place),
        )
        for place in np.argwhere(unequal)[:MOST_DIFFERENCES]
    )
    return _Compared(differences, defined)


def _residues_at(values: Residues, place: np.ndarray) -> tuple[Residue, ...]:
    """The residues of one element, modulo all primes."""
    found = [float(lane[tuple(place)]) for lane in values.p]
    return tuple(int(value) if isfinite(value) else value for value in found)


MOST_DIFFERENCES = 1000
"""Places that differ that are looked at for a witness."""


def _spread(numerators: Sequence[int], denominators: Sequence[int]) -> int:
    """The largest of some fractions, divided by their greatest common divisor."""
    if not numerators:
        return 1
    common = np.lcm.reduce([int(d) for d in denominators])
    whole = [n * int(common) // d for n, d in zip(numerators, denominators, strict=True)]
    return max(whole) // gcd(*whole)


def exponential_arguments(functions: Sequence[FuncOp]) -> frozenset[int]:
    """The arguments on which arguments of exp depend: they need residues modulo q."""
    found: set[int] = set()
    expanded = expands_sigmoid(*functions)
    for function in functions:
        pending = [value for op in function.walk() for value in _exponents(op, expanded)]
        seen: set[SSAValue] = set()
        while pending:
            value = pending.pop()
            if value in seen:
                continue
            seen.add(value)
            if isinstance(value, BlockArgument):
                owner = value.owner.parent_op()
                if owner is function:
                    found.add(value.index)
                elif owner is not None:
                    pending.append(owner.operands[value.index])
            else:
                assert isinstance(value.owner, Operation)
                pending += value.owner.operands
    return frozenset(found)


def _exponents(op: Operation, expanded: bool) -> Sequence[SSAValue]:
    """The operands of which an operation computes exponentials; see `expands_sigmoid`."""
    if isinstance(op, threadblock.AccumulateOp):
        return () if op.rescale is None else (op.rescale,)
    return op.operands[:1] if has_exponential(op, expanded) else ()
