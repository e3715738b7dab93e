"""The instructions of elementwise operations, counted in the code of the table of operators."""

from collections.abc import Sequence
from functools import cache

from mirage_mlir.operators.elementwise import Binary, CodeName, Cost, Pairwise, Parameters, Row
from mirage_mlir.operators.table import ROWS
from mirage_mlir.search.cost_model.fitted import FUNCTION_WORK
from mirage_mlir.search.program.program import CHOSEN, KEPT, Function, Kind
from mirage_mlir.search.saturation.hypergraph import Edge
from mirage_mlir.search.saturation.values import Algebra

SPECIAL = frozenset(["arith.divf", "math.exp", "math.log", "math.rsqrt", "math.sqrt"])
"""One instruction of the special function unit each, and little besides."""

EXPANDED: dict[str, float] = {
    "math.cos": 20.0,
    "math.erf": 29.0,
    "math.expm1": 20.0,
    "math.log1p": 25.0,
    "math.powf": 17.0,
    "math.sin": 20.0,
    "math.tanh": 29.0,
}
"""What the code generator makes of others (`passes/codegen/elementwise.py`, `series.py`)."""

APPROXIMATE: dict[str, float] = {**EXPANDED, "math.tanh": 21.0}
"""The same where a small absolute error is enough. That of `erf` has as many."""

BY_KIND = {Kind(row.search.kind): row for row in ROWS.values() if isinstance(row.search, Pairwise)}


class _Count:
    """Code that is counted instead of written: full-rate instructions that take as long."""

    def __init__(self) -> None:
        self.total = 0.0

    def constant(self, value: float) -> None:
        """Part of an instruction."""

    def op(self, name: CodeName, *operands: None, approximate: bool = False) -> None:
        """Count an operation."""
        expanded = APPROXIMATE if approximate else EXPANDED
        self.total += FUNCTION_WORK if name in SPECIAL else expanded.get(name, 1.0)

    def select(self, predicate: str, x: None, y: None, if_true: None, if_false: None) -> None:
        """Count a selection; a comparison sets what it goes by."""
        self.total += 1.0


@cache
def work_of(row: Row, parameters: Sequence[float | str] = ()) -> float:
    """The full-rate instructions that take as long as one element of an operator."""
    if row.cost is Cost.ONE:
        return 1.0
    names = [each.name for each in row.parameters]
    count = _Count()
    operands = (None,) * (2 if isinstance(row, Binary) else 1)
    row.write(count, Parameters(dict(zip(names, parameters, strict=True))), operands)
    return count.total


def element_work(algebra: Algebra, edge: Edge) -> float:
    """The full-rate instructions that take as long as one element of an operation."""
    if edge.kind is Kind.FUNCTION:
        return _function_work(algebra.function_named(edge.name))
    if edge.kind is Kind.INVERSE:
        return FUNCTION_WORK
    row = BY_KIND.get(edge.kind)
    return 1.0 if row is None else work_of(row)


def _function_work(function: Function) -> float:
    row = ROWS.get(function.name)
    if function.name in (KEPT, CHOSEN) or row is None:
        return 1.0
    return work_of(row, function.parameters[: len(row.parameters)])
