"""
Tells operations that a program does not do itself where they may lose what it keeps.

In exact arithmetic x W - m W is (x - m) W, and x^4 / s^4 is (x / s)^4. In f32 the first cancels
where x is near m, and powers of s are infinite, or zero, where s is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from mirage_mlir.expr.heads import Poly
from mirage_mlir.expr.normal_form import NormalForm
from mirage_mlir.search.program.program import Kind, Program
from mirage_mlir.search.program.reading import EXPANDED_POWERS


@dataclass
class OwnOperations:
    """What a program adds, subtracts and divides itself."""

    forms: NormalForm
    values: frozenset[Poly] = frozenset()
    """The values of the program."""
    _sums: set[tuple[Poly, Poly]] = field(default_factory=set[tuple[Poly, Poly]])
    """What the program adds or subtracts elementwise, each with what comes of it."""
    _raised: list[tuple[Poly, int]] = field(default_factory=list[tuple[Poly, int]])
    """What the program raises to a power that is a product, and to which."""

    @classmethod
    def of(cls, program: Program, forms: NormalForm, values: Sequence[Poly]) -> "OwnOperations":
        """Those of a program, of whose nodes these are the `values`."""
        own = cls(forms, frozenset(values))
        for node, value in zip(program.nodes, values, strict=True):
            operands = [values[operand] for operand in node.operands]
            if node.kind in (Kind.ADD, Kind.SUB):
                own._sums.update((operand, value) for operand in operands)
            elif node.function is not None and node.function.name == "pow":
                (exponent,) = node.function.parameters
                if exponent in EXPANDED_POWERS:
                    own._raised += [(operand, int(float(exponent))) for operand in operands]
        return own

    @cached_property
    def _powers(self) -> frozenset[Poly]:
        """
        Lower powers of what the program raises to one.

        They are made only where they are asked for: all forms of a search have numbers, which
        decide between equals.
        """
        found: set[Poly] = set()
        for form, exponent in self._raised:
            power: Poly | None = form
            for _ in range(2, exponent):
                power = None if power is None else self.forms.mul(power, form)
                found.update(() if power is None else (power,))
        return frozenset(found)

    def lack(self, kind: Kind, operands: Sequence[Poly], form: Poly) -> bool:
        """
        Whether an operation adds or subtracts two values where the program does not, divides by
        what it does not make, or makes a quotient that it does not make, but for inverses of what
        it makes.
        """
        if kind in (Kind.ADD, Kind.SUB):
            return not any((one, form) in self._sums for one in operands)
        if kind in (Kind.DIV, Kind.INVERSE) and not self._has(operands[-1]):
            return True
        return kind in (Kind.MUL, Kind.DIV) and self._is_quotient(form) and not self._has(form)

    def _has(self, form: Poly) -> bool:
        return form in self.values or form in self._powers

    def _is_quotient(self, form: Poly) -> bool:
        """Whether a term is divided by a value; by its square root is no matter."""
        terms = (monomial for monomial, _ in self.forms.monomials(form))
        return any(factor.exponent <= -1 for term in terms for factor in term.factors)
