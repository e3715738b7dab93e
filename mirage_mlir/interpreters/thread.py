"""What a thread graph computes: arithmetic on scalars, for each element of its operands."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Generic

from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import thread
from mirage_mlir.interpreters.dims import Dim
from mirage_mlir.interpreters.domain import A, NotInterpretable
from mirage_mlir.interpreters.operators import element_type_name, is_lowest, number_of, shape_of
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain
from mirage_mlir.operators.elementwise import FunctionName

FUNCTIONS: dict[type[Operation], FunctionName] = {
    math.CeilOp: "ceil",
    math.CosOp: "cos",
    math.ErfOp: "erf",
    math.ExpM1Op: "expm1",
    math.ExpOp: "exp",
    math.FloorOp: "floor",
    math.Log1pOp: "log1p",
    math.LogOp: "log",
    math.RoundEvenOp: "round",
    math.RsqrtOp: "rsqrt",
    math.SinOp: "sin",
    math.SqrtOp: "sqrt",
    math.TanhOp: "tanh",
}


PREDICATES = {1: "eq", 2: "gt", 3: "ge", 4: "lt", 5: "le", 13: "ne"}
"""The predicates of `compare` by those of `arith.cmpf`: the ordered ones, but for `ne`."""


class ScalarInterpreter(Generic[A]):
    """Evaluates operations on scalars, all elements of a tile at once."""

    def __init__(self, domain: TensorDomain[A]):
        self.domain = domain
        numbers = domain.numbers
        self._pairwise: dict[type[Operation], Callable[[A, A], A]] = {
            arith.AddfOp: numbers.add,
            arith.DivfOp: numbers.divide,
            arith.MaximumfOp: numbers.maximum,
            arith.MaxnumfOp: numbers.maximum,
            arith.MinimumfOp: numbers.minimum,
            arith.MinnumfOp: numbers.minimum,
            arith.MulfOp: numbers.multiply,
            arith.SubfOp: numbers.subtract,
        }

    def result(self, op: Operation, operands: Sequence[Tensor[A]]) -> Tensor[A]:
        """The scalar that an operation computes, for each element."""
        domain = self.domain
        if (operation := self._pairwise.get(type(op))) is not None:
            return domain.pairwise(operation, operands[0], operands[1])
        if (function := FUNCTIONS.get(type(op))) is not None:
            return domain.function(function, operands[0])
        match op:
            case arith.ExtFOp() | arith.TruncFOp():
                return operands[0]
            case arith.NegfOp():
                return domain.scale(operands[0], Fraction(-1))
            case math.AbsFOp():
                opposite = domain.scale(operands[0], Fraction(-1))
                return domain.pairwise(domain.numbers.maximum, operands[0], opposite)
            case arith.CmpfOp():
                return self._comparison(op, operands)
            case arith.SelectOp():
                return domain.select(*operands)
            case arith.ConstantOp():
                return domain.lowest(()) if is_lowest(op) else domain.constant(_constant(op), ())
            case math.PowFOp():
                return self._power(op, operands[0])
            case _:
                raise NotInterpretable(f"'{op.name}' has no interpretation")

    def _comparison(self, op: arith.CmpfOp, operands: Sequence[Tensor[A]]) -> Tensor[A]:
        predicate = PREDICATES.get(op.predicate.value.data)
        if predicate is None:
            raise NotInterpretable("'arith.cmpf' has a predicate that has no interpretation")
        compare = self.domain.numbers.compare
        return self.domain.pairwise(lambda x, y: compare(predicate, x, y), *operands)

    def _power(self, op: math.PowFOp, base: Tensor[A]) -> Tensor[A]:
        exponent = op.rhs.owner
        if not isinstance(exponent, arith.ConstantOp):
            raise NotInterpretable("'math.powf' has an exponent that is not a constant")
        value = _constant(exponent)
        return self.domain.each(lambda array: self.domain.numbers.power(array, value), base)


def _constant(op: arith.ConstantOp) -> Fraction:
    try:
        return number_of(op.value)
    except ValueError as error:
        raise NotInterpretable(f"'arith.constant': {error}") from error


def run_thread_graph(
    domain: TensorDomain[A], graph: thread.GraphOp, operands: Sequence[Tensor[A]]
) -> list[Tensor[A]]:
    """
    The tiles that a graph stores.

    Args:
        domain: the numbers.
        graph: a `thread.graph`.
        operands: its operands' valid elements, of one rank, cut to what all of them have.
    """
    block = graph.body.block
    scalars = ScalarInterpreter(domain)
    values: dict[SSAValue, Tensor[A]] = dict(zip(block.args, operands, strict=True))
    stored: list[Tensor[A]] = []
    for op in block.ops:
        arguments = [values[operand] for operand in op.operands]
        if isinstance(op, thread.StoreOp):
            result = graph.results[len(stored)]
            stored.append(_spread(domain, graph, arguments[0], result, operands))
            continue
        result = scalars.result(op, arguments)
        if not isinstance(op, arith.CmpfOp):
            result = domain.rounded(result, element_type_name(op.results[0].type))
        values[op.results[0]] = result
    return stored


def _spread(
    domain: TensorDomain[A],
    graph: thread.GraphOp,
    x: Tensor[A],
    result: SSAValue,
    operands: Sequence[Tensor[A]],
) -> Tensor[A]:
    """`x`, which operands of size 1 may have made too small, for all valid places of the result."""
    shape = shape_of(result)
    valid = list(shape)
    for operand, value in zip(operands, graph.operands, strict=True):
        for dim, size in enumerate(reversed(shape_of(value)), 1):
            if size != 1:
                valid[-dim] = operand.shape[-dim]
    x = domain.with_rank(x, len(shape))
    dims = (
        Dim(size) if dim.size == 1 != size else dim for dim, size in zip(x.dims, valid, strict=True)
    )
    return Tensor(x.array, tuple(dims))
