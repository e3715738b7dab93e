"""Canonical programs compute what they computed before: random tests, by the interpreters."""

from pathlib import Path

import pytest
from xdsl.dialects import test
from xdsl.dialects.func import FuncOp
from xdsl.transforms.canonicalize import CanonicalizePass

from mirage_mlir.driver.source import alone, compiler_context, functions, parse_program
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.verification import verify

FOLDER = Path(__file__).parents[2] / "dialects"

FUNCTIONS = [
    function
    for dialect in ("kernel", "threadblock")
    for function in functions(
        parse_program((FOLDER / dialect / "canonicalize.mlir").read_text(), dialect)
    )
    # A tile alone, outside a graph, has no interpretation.
    if not any(isinstance(op, test.TestOp) for op in function.walk())
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.sym_name.data)
def test_meaning(function: FuncOp) -> None:
    module = alone(function)
    CanonicalizePass().apply(compiler_context(), module)
    verify(module)
    (canonical,) = functions(module)
    report = check_equivalence(function, canonical)
    assert report.verdict is Verdict.EQUAL, str(report)


def test_there_are_functions() -> None:
    names = {function.sym_name.data for function in FUNCTIONS}
    assert {"scale", "cast", "slice", "tiles"} <= names
