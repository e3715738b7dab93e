"""
The axioms of abstract expressions without indices, by an e-graph: an oracle for the search.

A_eq and A_sub as in Wu et al., "Mirage" (OSDI 2025), section 4: sums know their size only. What
they call no sub-expression of a program is pruned by the paper's search as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

AXIOMS = """
(datatype E (In String) (Add E E) (Mul E E) (Div E E) (Sum i64 E) (Fn String E))
(relation Below (E))
(rewrite (Add x y) (Add y x))
(rewrite (Mul x y) (Mul y x))
(birewrite (Add x (Add y z)) (Add (Add x y) z))
(birewrite (Mul x (Mul y z)) (Mul (Mul x y) z))
(birewrite (Add (Mul x z) (Mul y z)) (Mul (Add x y) z))
(birewrite (Add (Div x z) (Div y z)) (Div (Add x y) z))
(birewrite (Mul x (Div y z)) (Div (Mul x y) z))
(birewrite (Div (Div x y) z) (Div x (Mul y z)))
(rewrite (Sum i (Sum j x)) (Sum (* i j) x))
(rewrite (Sum 8 x) (Sum 2 (Sum 4 x)))
(rewrite (Sum 4 x) (Sum 2 (Sum 2 x)))
(rewrite (Sum 64 x) (Sum 8 (Sum 8 x)))
(birewrite (Sum i (Add x y)) (Add (Sum i x) (Sum i y)))
(birewrite (Sum i (Mul x y)) (Mul (Sum i x) y))
(birewrite (Sum i (Div x y)) (Div (Sum i x) y))
(rule ((Below (Add x y))) ((Below x) (Below y)))
(rule ((Below (Mul x y))) ((Below x) (Below y)))
(rule ((Below (Div x y))) ((Below x) (Below y)))
(rule ((Below (Sum i x))) ((Below x)))
(rule ((Below (Fn n x))) ((Below x)))
"""
"""`Below` holds the sub-expressions of the targets."""

ROUNDS = 20
"""More than any e-graph of the tests needs until nothing new is found."""

ROUNDS_OF_ONE = 6
"""For one operator more, whose operands are known: it is found after two or three, if at all."""


class LabelFree:
    """An e-graph of some targets and all their sub-expressions."""

    def __init__(
        self, targets: Iterable[str], terms: Iterable[str] = (), rounds: int = ROUNDS
    ) -> None:
        self._bindings: Any = pytest.importorskip("egglog.bindings")
        self._graph: Any = self._bindings.EGraph()
        self._below: dict[str, bool] = {}
        self._run(AXIOMS)
        for number, target in enumerate(targets):
            self._run(f"(let $target{number} {target}) (Below $target{number})")
        for number, term in enumerate(terms):
            self._run(f"(let $term{number} {term})")
        self._run(f"(run {rounds})")

    def _run(self, text: str) -> None:
        self._graph.run_program(*self._graph.parse_program(text))

    def holds(self, fact: str) -> bool:
        """Whether a fact about terms of the e-graph is known."""
        try:
            self._run(f"(check {fact})")
        except self._bindings.EggSmolError:
            return False
        return True

    def equal(self, a: str, b: str) -> bool:
        """Whether two of the terms are equal."""
        return self.holds(f"(= {a} {b})")

    def below(self, term: str) -> bool:
        """Whether a term of sub-expressions of a target is itself one."""
        if (known := self._below.get(term)) is None:
            self._run(f"(push) (let $new {term}) (run {ROUNDS_OF_ONE})")
            known = self._below[term] = self.holds("(Below $new)")
            self._run("(pop)")
        return known
