"""Which errors of a result are tolerated, for that of the program itself."""

from xdsl.ir import SSAValue

from mirage_mlir.equivalence.dependences import operators_before
from mirage_mlir.interpreters.float_domain import ROUNDOFF
from mirage_mlir.interpreters.operators import element_type_of, in_tf32, terms_of

PROGRAM = 4.0
"""How often the error of the program itself is tolerated."""

OTHERS = 2.0
"""How often the error of another rounding, and of another order of the longest sum, is."""

LIKE_ITS_OWN = 4.0
"""
How much larger than the program's error that of one other rounding may be.

What is rounded to a type has an error of a third of its roundoff, on average. A program whose error
is far below that keeps what one cast loses, in another value as a rule.
"""


def tolerated(value: SSAValue, error: float) -> float:
    """The error that a candidate for a result may have where that of the program is `error`."""
    sums = ROUNDOFF["f32"] * _longest_sum(value) ** 0.5
    return PROGRAM * error + OTHERS * (_roundoff(value, error) + sums)


def _roundoff(value: SSAValue, error: float) -> float:
    """
    The unit roundoff of a result, or the largest on the way to it: of results, and tf32 matmuls.

    That is where the program has an error of that size.
    """
    ops = operators_before([value])
    found = [ROUNDOFF[element_type_of(result.type)] for op in ops for result in op.results]
    found += [ROUNDOFF["tf32"] for op in ops if in_tf32(op)]
    own = ROUNDOFF[element_type_of(value.type)]
    return max([own, *(min(each, LIKE_ITS_OWN * error) for each in found)])


def _longest_sum(value: SSAValue) -> int:
    """The number of terms of the longest sum on the way to a value."""
    return max([1, *(terms_of(op) for op in operators_before([value]))])
