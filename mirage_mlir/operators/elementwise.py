"""
The columns of an elementwise operator's row.

Meaning and code are written separately on purpose. All checks go by the meaning: it is what random
tests over fields, normal forms and floating-point references compute. Code is what threads run, and
each compile compares it with the meaning. A wrong code, or a wrong composition in the search, is
therefore refused; a wrong meaning is what the tests against numpy are for.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from fractions import Fraction
from math import isfinite
from typing import Any, ClassVar, Literal, Protocol, TypeVar

from mirage_mlir.field.rational import simplest_rational

V = TypeVar("V")

FunctionName = Literal[
    "exp",
    "log",
    "sqrt",
    "rsqrt",
    "sigmoid",
    "tanh",
    "erf",
    "expm1",
    "log1p",
    "sin",
    "cos",
    "floor",
    "ceil",
    "round",
]
"""The functions of one number that all interpretations have; others are made of them."""

LARGEST_ANGLE = 2.0**20
"""Of sin and cos: up to it code finds the rest of multiples of pi / 2 with all digits of f32."""

Value = float | str
"""A parameter of an operator: a number, or one of some words."""


class Arithmetic(Protocol[V]):
    """What meanings are made of: the operations of floats, residues or normal forms."""

    def constant(self, value: Fraction, /) -> V:
        """One number."""
        ...

    def real(self, value: float, /) -> Fraction:
        """
        What stands for an irrational number.

        A reference in floating point has all its digits; fields and normal forms have the simplest
        number near the f32 that code has in its place.
        """
        ...

    def add(self, x: V, y: V, /) -> V:
        """`x + y`."""
        ...

    def subtract(self, x: V, y: V, /) -> V:
        """`x - y`."""
        ...

    def multiply(self, x: V, y: V, /) -> V:
        """`x * y`."""
        ...

    def divide(self, x: V, y: V, /) -> V:
        """`x / y`."""
        ...

    def maximum(self, x: V, y: V, /) -> V:
        """The larger of two numbers."""
        ...

    def minimum(self, x: V, y: V, /) -> V:
        """The smaller of two numbers."""
        ...

    def scale(self, x: V, factor: Fraction, /) -> V:
        """`factor * x`."""
        ...

    def power(self, x: V, exponent: Fraction, /) -> V:
        """`x ** exponent`."""
        ...

    def function(self, name: FunctionName, x: V, /) -> V:
        """A function of one number."""
        ...


class Logic(Arithmetic[V], Protocol[V]):
    """Arithmetic with conditions: what meanings are made of where the search is not asked."""

    def compare(self, predicate: str, x: V, y: V, /) -> V:
        """1 where a comparison holds and 0 elsewhere."""
        ...

    def select(self, condition: V, x: V, y: V, /) -> V:
        """`x` where a condition, made by `compare`, is 1, and `y` where it is 0."""
        ...


CodeName = Literal[
    "arith.addf",
    "arith.subf",
    "arith.mulf",
    "arith.divf",
    "arith.negf",
    "arith.maximumf",
    "arith.minimumf",
    "math.absf",
    "math.exp",
    "math.log",
    "math.sqrt",
    "math.rsqrt",
    "math.tanh",
    "math.erf",
    "math.expm1",
    "math.log1p",
    "math.sin",
    "math.cos",
    "math.floor",
    "math.ceil",
    "math.roundeven",
    "math.powf",
]
"""The operations on f32 that code consists of: those that thread graphs are interpreted with."""


class Code(Protocol[V]):
    """What code is written with: each call appends one operation."""

    def constant(self, value: float) -> V:
        """An f32 constant."""
        ...

    def op(self, name: CodeName, *operands: V, approximate: bool = False) -> V:
        """
        The result of an operation.

        An approximate function needs a small absolute error only, however small the result is.
        """
        ...

    def select(self, predicate: str, x: V, y: V, if_true: V, if_false: V) -> V:
        """
        One of two values, by a comparison.

        The predicate is one of `arith.cmpf`, `oeq` or `une` say.
        """
        ...


@dataclass(frozen=True)
class Parameters:
    """The attributes of one operation by name."""

    values: Mapping[str, Value]

    def number(self, name: str) -> Fraction:
        """
        The simplest number that an f32 stands for.

        Raises:
            ValueError: it is not finite.
        """
        return simplest_rational(self.float(name))

    def float(self, name: str) -> float:
        """A number as it is stored."""
        value = self.values[name]
        assert not isinstance(value, str)
        return value

    def text(self, name: str) -> str:
        """A word."""
        value = self.values[name]
        assert isinstance(value, str)
        return value


@dataclass(frozen=True)
class Number:
    """A parameter that is a finite f32."""

    name: str
    positive: bool = False

    def wrong(self, value: Value) -> str | None:
        """What is wrong with a value; None if it is one."""
        assert not isinstance(value, str)
        if not isfinite(value):
            return f"has {self.name} {value}, which is no finite number"
        if self.positive and value <= 0:
            return f"has {self.name} {value}, which is not above 0"
        return None


@dataclass(frozen=True)
class Choice:
    """A parameter that is one of some words, the first by default."""

    name: str
    words: tuple[str, ...]

    def wrong(self, value: Value) -> str | None:
        """What is wrong with a value; None if it is one."""
        if value in self.words:
            return None
        if len(self.words) == 2:
            first, other = self.words[0], self.words[1]
            return f'has {self.name} "{value}", which is neither "{first}" nor "{other}"'
        return f'has {self.name} "{value}", which is none of {", ".join(self.words)}'


Parameter = Number | Choice

UnaryMeaning = Callable[[Logic[Any], Parameters, Any], Any]
"""What one element becomes. In all of these, `Any` is one type: that of the values."""

BinaryMeaning = Callable[[Logic[Any], Parameters, Any, Any], Any]

TernaryMeaning = Callable[[Logic[Any], Parameters, Any, Any, Any], Any]

UnaryCode = Callable[[Code[Any], Parameters, Any], Any]

BinaryCode = Callable[[Code[Any], Parameters, Any, Any], Any]

TernaryCode = Callable[[Code[Any], Parameters, Any, Any, Any], Any]


@dataclass(frozen=True)
class Pairwise:
    """The search has an operation for it: the `Kind` of this value."""

    kind: str


@dataclass(frozen=True)
class Opaque:
    """The search knows it by name and parameters; of laws it has those of `expr.functions`."""


@dataclass(frozen=True)
class Composite:
    """The search sees other operations, which this composes."""

    rule: Callable[[Arithmetic[Any], Parameters, Any], Any]


@dataclass(frozen=True)
class CompositeOfTwo:
    """The same for an operator on two values."""

    rule: Callable[[Arithmetic[Any], Parameters, Any, Any], Any]


@dataclass(frozen=True)
class Conditional:
    """
    A comparison or a selection: the search sees functions of one or two values, of which nothing is
    known (`passes/frontend/conditions.py`). By itself it has a kernel that is not searched for.
    """


Search = Pairwise | Opaque | Composite | CompositeOfTwo | Conditional


class Cost(Enum):
    """What an element takes on a multiprocessor."""

    ONE = "one instruction at the full rate"
    SEVERAL = "a quotient or a function: several instructions, or one at a fraction of the rate"


class Dependence(StrEnum):
    """
    How a result depends on inputs of the program in which operands are linear.

    `equivalence.exponents` asks, to bound how independent exponents are.
    """

    SUM = "sum"
    PRODUCT = "product"
    QUOTIENT = "quotient"
    SAME = "same"
    """Linear where the operand is, up to a factor that is a number or a random function of it."""
    SELECTED = "selected"
    """That of one of two operands, by a condition."""
    NEW = "new"
    """A random function, or an exponential: it counts as a new unknown."""
    MORE = "more"
    """A polynomial of higher degree, or nothing is known."""


@dataclass(frozen=True, kw_only=True)
class Elementwise(ABC):
    """What rows of elementwise operators have in common."""

    name: str
    """The mnemonic in both dialects."""
    formula: str
    """What an element of the result is, in words or as a formula."""
    source: str
    """Where the operator is defined, if it has a paper; empty otherwise."""
    parameters: tuple[Parameter, ...]
    search: Search
    cost: Cost
    dependence: Dependence

    operands: ClassVar[int]
    """How many values it takes."""

    @property
    def documentation(self) -> str:
        """A paragraph on the operator."""
        text = f"{self.formula}, elementwise."
        return f"{text}\n\nSource: {self.source}" if self.source else text


@dataclass(frozen=True, kw_only=True)
class Unary(Elementwise):
    """An operator on one value."""

    meaning: UnaryMeaning
    code: UnaryCode

    operands = 1

    def mean(self, arithmetic: Logic[V], parameters: Parameters, operands: Sequence[V]) -> V:
        """The meaning for an element of the operand."""
        (x,) = operands
        return self.meaning(arithmetic, parameters, x)

    def write(self, code: Code[V], parameters: Parameters, operands: Sequence[V]) -> V:
        """The code for an element of the operand."""
        (x,) = operands
        return self.code(code, parameters, x)


@dataclass(frozen=True, kw_only=True)
class Binary(Elementwise):
    """An operator on two values, which broadcast."""

    meaning: BinaryMeaning
    code: BinaryCode

    operands = 2

    def mean(self, arithmetic: Logic[V], parameters: Parameters, operands: Sequence[V]) -> V:
        """The meaning for elements of the operands."""
        x, y = operands
        return self.meaning(arithmetic, parameters, x, y)

    def write(self, code: Code[V], parameters: Parameters, operands: Sequence[V]) -> V:
        """The code for elements of the operands."""
        x, y = operands
        return self.code(code, parameters, x, y)


@dataclass(frozen=True, kw_only=True)
class Ternary(Elementwise):
    """An operator on three values, which broadcast."""

    meaning: TernaryMeaning
    code: TernaryCode

    operands = 3

    def mean(self, arithmetic: Logic[V], parameters: Parameters, operands: Sequence[V]) -> V:
        """The meaning for elements of the operands."""
        x, y, z = operands
        return self.meaning(arithmetic, parameters, x, y, z)

    def write(self, code: Code[V], parameters: Parameters, operands: Sequence[V]) -> V:
        """The code for elements of the operands."""
        x, y, z = operands
        return self.code(code, parameters, x, y, z)


Row = Unary | Binary | Ternary
