"""
Elementwise functions in normal form.

`exp(x + y) = exp(x) exp(y)` and `sqrt(x y) = sqrt(x) sqrt(y)` are the axioms that Wu et al.
(OSDI 2025, section 4) add for exp and sqrt. exp splits into one atom per term, and
`exp(c x) = exp(x)^c`. sqrt splits only over factors that are provably not negative (the paper's
axiom has no condition); so `sqrt(x^2)` never becomes x, but `sqrt(P)^2` is P (`reduction.py`).
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import reduce

from mirage_mlir.expr.coefficients import half, square_root
from mirage_mlir.expr.heads import Coefficient, Function, Input, Parenthesis, Poly, Size
from mirage_mlir.expr.monomial import Factor, Monomial
from mirage_mlir.expr.ring import Ring


class Functions(Ring):
    """
    A ring with elementwise functions.

    `calls` holds every function and argument that was asked for, with the result: the form
    `exp(x) / exp(y)` hides that `exp(x - y)` was meant.
    """

    def __init__(
        self,
        expansion_limit: int = 1,
        size_algebra: bool = False,
        cancelling: bool = False,
        fingerprints: bool | None = None,
    ) -> None:
        super().__init__(expansion_limit, size_algebra, cancelling, fingerprints)
        self.calls: dict[tuple[str, Poly], Poly | None] = {}
        self.calls_of_two: dict[tuple[str, Poly, Poly], Poly] = {}
        """The same of functions of two values, whose results are defined."""

    @abstractmethod
    def maximum(self, a: Poly | None, b: Poly | None) -> Poly | None:
        """The elementwise maximum."""

    def function(self, name: str, a: Poly | None) -> Poly | None:
        """
        An elementwise function of a value, None when the value is bound in part.

        exp, sqrt, rsqrt, square, silu and relu are known by their laws. Every other name is a
        function of which nothing is known (but that sigmoid is positive); parameters
        belong into the name, for example `clamp[-1, 1]`.
        """
        if a is None or self.is_partial(a):
            return None
        key = ("function", name, a)
        if key not in self._memo:
            rule = self._rules().get(name)
            self._memo[key] = self._opaque(name, a) if rule is None else rule(a)
            self.calls.setdefault((name, a), self._memo[key])
        return self._memo[key]

    def function_of_two(self, name: str, a: Poly | None, b: Poly | None) -> Poly | None:
        """
        An elementwise function of two values, of which nothing is known.

        It is a function of their formal sum: of each value times a constant that stands for its
        place, and of a third such constant, so that the sum is no value even where both are 0.
        """
        if a is None or b is None or self.is_partial(a) or self.is_partial(b):
            return None
        first, second, none = (self.atom(Input(f"operand {n}", ())) for n in range(3))
        both = self.add(self.mul(first, a), self.mul(second, b))
        result = self.function(name, self.add(both, none))
        if result is not None:
            self.calls_of_two[name, a, b] = result
        return result

    def _rules(self) -> Mapping[str, Callable[[Poly], Poly | None]]:
        return {
            "exp": self._exp,
            "sqrt": self._sqrt,
            "rsqrt": lambda a: self.inverse(self.function("sqrt", a)),
            "square": lambda a: self.mul(a, a),
            "silu": lambda a: self.mul(a, self.function("sigmoid", a)),
            "relu": lambda a: self.maximum(a, self.zero),
        }

    def _opaque(self, name: str, a: Poly) -> Poly:
        return self.atom(self._function_head(name, a))

    def _function_head(self, name: str, a: Poly) -> Function:
        argument = self.representative(a)
        return Function(name, argument, self.axes(argument))

    def _exp(self, a: Poly) -> Poly | None:
        powers = [
            self.heads.factor(self._function_head("exp", self.intern({monomial: 1})), coefficient)
            for monomial, coefficient in self.monomials(a)
        ]
        return self.reduced(self.heads.canonical(powers, {}))

    def _sqrt(self, a: Poly) -> Poly | None:
        if (value := self.constant_value(a)) is not None:
            return self._sqrt_of_constant(value)
        terms = self.monomials(a)
        if len(terms) == 1:
            return self._sqrt_of_product(*terms[0])
        return self._sqrt_of_sum(a) if self.cancelling else self._opaque("sqrt", a)

    def _sqrt_of_constant(self, value: Coefficient) -> Poly:
        root = square_root(value)
        return self._opaque("sqrt", self.constant(value)) if root is None else self.constant(root)

    def _sqrt_of_sum(self, a: Poly) -> Poly | None:
        """The root of a sum, of which what all terms share is taken out as far as it has a sign."""
        lead, content, rest = self.primitive(a)
        split = [f for f in content if self._has_root(f)]
        kept = self.heads.canonical((f for f in content if not self._has_root(f)), {})
        inside = self.mul(rest, self.intern({kept: 1 if lead > 0 else -1}))
        if inside is None:
            return None
        roots = [self._root_of_factor(f) for f in split]
        return self._all([self._sqrt_of_constant(abs(lead)), *roots, self._opaque("sqrt", inside)])

    def _sqrt_of_product(self, monomial: Monomial, coefficient: Coefficient) -> Poly | None:
        outside, groups = self.heads.components(monomial.factors)
        split = [f for f in outside if self._has_root(f) and not self._is_constant(f)]
        sums = [g for g in groups if self._group_is_non_negative(g)]
        constants = [f for f in outside if self._is_constant(f)]
        rest = [f for f in outside if f not in split and f not in constants]
        rest += [f for g in groups if g not in sums for f in g]
        roots: list[Poly | None] = []
        if self.cancelling and coefficient > 0:
            roots.append(self._sqrt_of_constant(coefficient))
            roots += [self._root_of_factor(f) for f in constants]
            coefficient, constants = 1, []
        # The search's variant leaves constants where they are: their roots are of no use to it.
        if not rest and (constants or coefficient != 1):
            rest = [split.pop(0)] if split else list(sums.pop(0)) if sums else []
        if rest or constants or coefficient != 1:
            inside = {self.heads.canonical((*rest, *constants), {}): coefficient}
            roots.append(self._opaque("sqrt", self.intern(inside)))
        roots += [self._root_of_factor(f) for f in split]
        roots += [self._opaque("sqrt", self.intern({self.heads.canonical(g, {}): 1})) for g in sums]
        return self._all(roots)

    def _all(self, factors: list[Poly | None]) -> Poly | None:
        """The product, None if a factor is; factors 1 are left out."""
        return reduce(self.mul, [f for f in factors if f != self.one] or [self.one])

    def _has_root(self, factor: Factor) -> bool:
        return self.is_non_negative_power(factor.head, factor.exponent)

    def _group_is_non_negative(self, group: tuple[Factor, ...]) -> bool:
        return all(self._has_root(f) for f in group)

    def _is_constant(self, factor: Factor) -> bool:
        return isinstance(self.heads[factor.head], Size)

    def _root_of_factor(self, factor: Factor) -> Poly | None:
        """The root of a power that is not negative."""
        head, exponent = self.heads[factor.head], factor.exponent
        power = Monomial((factor,), ())
        if not self.is_non_negative_head(factor.head):
            return self._opaque("sqrt", self.intern({power: 1}))
        if self.cancelling and isinstance(head, Function) and head.name == "exp":
            return self.intern({Monomial((factor._replace(exponent=half(exponent)),), ()): 1})
        if abs(exponent) != 1 and not self.cancelling:
            # h, h^2, sqrt(h^2) would be a cycle.
            return self._opaque("sqrt", self.intern({power: 1}))
        base = head.polynomial if isinstance(head, Parenthesis) else self.atom(head)
        if exponent % 2 == 0:
            return self.power(base, int(exponent) // 2)
        # The root of a head is an atom; asking `function` for it would come back here.
        in_parentheses = isinstance(head, Parenthesis)
        root = self.function("sqrt", base) if in_parentheses else self._opaque("sqrt", base)
        return self.power(root, int(exponent))
