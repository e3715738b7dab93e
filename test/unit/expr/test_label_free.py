"""
Normal forms against an e-graph of the paper's axioms, which have no indices.

Forms with indices refine that relation: what has one form is equal by the axioms. And each axiom,
with indices put in, holds for forms as it does in the e-graph, at any place of any term.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from label_free import LabelFree

from mirage_mlir.expr.heads import FULL, GRID, LOOP, TILE, Poly
from mirage_mlir.expr.normal_form import NormalForm

SIZES = {TILE: 2, LOOP: 2, GRID: 2, FULL: 8}
"""Of the parts of an axis, and of the whole."""

ROUNDS = 8
"""Rounds of rewriting; the terms are small, and e-graphs of sums of products grow fast."""


@dataclass(frozen=True)
class Term:
    """An operation on terms; a leaf has a name and axes."""

    op: str
    operands: tuple["Term", ...] = ()
    name: str = ""
    axes: str = ""
    bits: int = FULL

    @property
    def free(self) -> frozenset[str]:
        """The axes that the term has, those summed in part among them."""
        own = frozenset(self.axes) if self.op == "input" else frozenset[str]()
        own = own.union(*(operand.free for operand in self.operands))
        return own - {self.axes} if self.op == "sum" and self.bits == FULL else own

    def form(self, nf: NormalForm) -> Poly | None:
        """The normal form."""
        operands = [operand.form(nf) for operand in self.operands]
        match self.op:
            case "input":
                return nf.input(self.name + self.axes, self.axes)
            case "sum":
                return nf.bind(operands[0], self.axes, self.bits)
            case "function":
                return nf.function(self.name, operands[0])
            case _:
                operation: Callable[..., Poly | None] = getattr(nf, self.op)
                return operation(*operands)

    def text(self) -> str:
        """The term without indices."""
        operands = " ".join(operand.text() for operand in self.operands)
        match self.op:
            case "input":
                return f'(In "{self.name}{self.axes}")'
            case "sum":
                return f"(Sum {SIZES[self.bits]} {operands})"
            case "function":
                return f'(Fn "{self.name}" {operands})'
            case _:
                return f"({self.op.capitalize()} {operands})"


def add(x: Term, y: Term) -> Term:
    return Term("add", (x, y))


def mul(x: Term, y: Term) -> Term:
    return Term("mul", (x, y))


def div(x: Term, y: Term) -> Term:
    return Term("div", (x, y))


def total(x: Term, *parts: int) -> Term:
    """The sum over parts of the axis k, the first first."""
    for bits in parts or (FULL,):
        x = Term("sum", (x,), axes="k", bits=bits)
    return x


AXIOMS: dict[str, Callable[[Term, Term, Term], tuple[Term, Term]]] = {
    "add commutes": lambda x, y, z: (add(x, y), add(y, x)),
    "mul commutes": lambda x, y, z: (mul(x, y), mul(y, x)),
    "add associates": lambda x, y, z: (add(x, add(y, z)), add(add(x, y), z)),
    "mul associates": lambda x, y, z: (mul(x, mul(y, z)), mul(mul(x, y), z)),
    "mul distributes": lambda x, y, z: (add(mul(x, z), mul(y, z)), mul(add(x, y), z)),
    "div distributes": lambda x, y, z: (add(div(x, z), div(y, z)), div(add(x, y), z)),
    "mul of div": lambda x, y, z: (mul(x, div(y, z)), div(mul(x, y), z)),
    "div of div": lambda x, y, z: (div(div(x, y), z), div(x, mul(y, z))),
    "sum of sum": lambda x, y, z: (total(x), total(x, GRID, TILE, LOOP)),
    "sum of add": lambda x, y, z: (total(add(x, y)), add(total(x), total(y))),
    "sum of mul": lambda x, y, z: (total(mul(x, z)), mul(total(x), z)),
    "sum of div": lambda x, y, z: (total(div(x, z)), div(total(x), z)),
}
"""A_eq on x and y with the axis k and z without it."""


def leaf(rng: random.Random, axes: str, must: str = "") -> Term:
    present = [axis for axis in axes if axis in must or rng.random() < 0.6]
    return Term("input", name=rng.choice("XYZ"), axes="".join(present) or axes[0])


def draw(rng: random.Random, axes: str, must: str, depth: int) -> Term:
    """A random term, each factor of which has the axes `must`."""
    choice = rng.random()
    if depth == 0 or choice < 0.3:
        return leaf(rng, axes, must)
    if choice < 0.45:
        name = rng.choice(("sigmoid", "tanh"))
        return Term("function", (draw(rng, axes, must, depth - 1),), name)
    op = rng.choice(("add", "mul", "div"))
    return Term(op, (draw(rng, axes, must, depth - 1), draw(rng, axes, must, depth - 1)))


def within(rng: random.Random, left: Term, right: Term) -> tuple[Term, Term]:
    """Both terms at the same place of a larger one."""
    for _ in range(rng.randrange(3)):
        other = leaf(rng, "ij")
        match rng.randrange(4):
            case 0:
                left, right = add(left, other), add(right, other)
            case 1:
                left, right = mul(other, left), mul(other, right)
            case 2:
                left, right = div(left, other), div(right, other)
            case _:
                left, right = (Term("function", (t,), "tanh") for t in (left, right))
    return left, right


@pytest.mark.parametrize("name", AXIOMS)
def test_axioms_at_any_place(name: str) -> None:
    rng = random.Random(name)
    nf = NormalForm(4096, size_algebra=True, cancelling=True)
    for _ in range(12):
        x, y = (draw(rng, "ijk", "k", 1) for _ in range(2))
        left, right = within(rng, *AXIOMS[name](x, y, draw(rng, "ij", "", 1)))
        form = left.form(nf)
        assert form is not None
        assert form == right.form(nf), f"{left.text()} and {right.text()}"
        texts = left.text(), right.text()
        assert LabelFree([], texts, ROUNDS).equal(*texts)


def random_term(rng: random.Random, depth: int) -> Term:
    """A term that is often equal to another one: few inputs, and sums in parts."""
    choice = rng.random()
    if depth == 0 or choice < 0.2:
        leaves = (("X", "ik"), ("Y", "k"), ("Z", "i"))
        name, axes = rng.choice(leaves)
        return Term("input", name=name, axes=axes)
    if choice < 0.4:
        operand = random_term(rng, depth - 1)
        for bits in rng.choice(((FULL,), (TILE, LOOP, GRID), (LOOP, GRID), (GRID, LOOP))):
            operand = Term("sum", (operand,), axes=rng.choice("k" * 4 + "i"), bits=bits)
        return operand
    if choice < 0.45:
        return Term("function", (random_term(rng, depth - 1),), "sigmoid")
    op = rng.choice(("add", "mul", "mul", "div"))
    return Term(op, (random_term(rng, depth - 1), random_term(rng, depth - 1)))


@pytest.mark.parametrize("expansion_limit", [1, 16])
def test_equal_forms_are_equal_without_indices(expansion_limit: int) -> None:
    """In the search's variant, where nothing cancels; the axioms do not know how to either."""
    rng = random.Random(expansion_limit)
    nf = NormalForm(expansion_limit)
    first: dict[Poly, Term] = {}
    pairs: dict[tuple[str, str], None] = {}
    for _ in range(6000):
        term = random_term(rng, rng.choice((2, 3)))
        if (form := term.form(nf)) is not None:
            pairs[first.setdefault(form, term).text(), term.text()] = None
    different = [pair for pair in pairs if pair[0] != pair[1]]
    assert len(different) > 100
    for pair in rng.sample(different, 60):
        assert LabelFree([], pair, ROUNDS).equal(*pair), pair


def test_without_indices_more_is_equal() -> None:
    """The refinement is strict: `sum_k x[k] * y[k]` is not `(sum_k x[k]) * y[k]`."""
    x, y = (Term("input", name=name, axes="k") for name in "XY")
    left, right = total(mul(x, y)), mul(total(x), y)
    nf = NormalForm(4096, size_algebra=True, cancelling=True)
    assert left.form(nf) != right.form(nf)
    texts = left.text(), right.text(), mul(x, y).text()
    oracle = LabelFree([], texts, ROUNDS)
    assert oracle.equal(texts[0], texts[1])
    assert not oracle.equal(texts[0], texts[2])
