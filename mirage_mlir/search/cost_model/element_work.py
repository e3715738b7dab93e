"""The instructions of elementwise operations, as the table of operators gives them."""

from mirage_mlir.operators.elementwise import Cost, Pairwise
from mirage_mlir.operators.table import ROWS
from mirage_mlir.search.cost_model.fitted import FUNCTION_WORK
from mirage_mlir.search.program.program import CHOSEN, KEPT, Kind
from mirage_mlir.search.saturation.hypergraph import Edge
from mirage_mlir.search.saturation.values import Algebra

HEAVY = frozenset(
    [
        Kind.INVERSE,
        *(
            Kind(row.search.kind)
            for row in ROWS.values()
            if isinstance(row.search, Pairwise) and row.cost is Cost.SEVERAL
        ),
    ]
)
"""Operations that take several instructions; of functions each row says it."""


def element_work(algebra: Algebra, edge: Edge) -> float:
    """The full-rate instructions that take as long as one element of an operation."""
    if edge.kind is Kind.FUNCTION:
        name = algebra.function_named(edge.name).name
        if name in (KEPT, CHOSEN):
            return 1.0
        row = ROWS.get(name)
        return 1.0 if row is not None and row.cost is Cost.ONE else FUNCTION_WORK
    return FUNCTION_WORK if edge.kind in HEAVY else 1.0
