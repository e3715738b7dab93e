"""Operators on tiles and the thread graph that they became, each as a function of its own."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from math import ceil, prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.printer import Printer

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.threadblock import TileType, tile_type
from mirage_mlir.equivalence import Verifier
from mirage_mlir.equivalence.symbolic import prove
from mirage_mlir.interpreters.domain import NotInterpretable

FEWEST_ELEMENTS, MOST_DRAWS = 64, 16
"""Elements of a result on which operators and code are compared in f64, and for how many of the
smallest results inputs are drawn: half of `round(x)` and `floor(x + 0.5)` are both zero where x is
small, which a single element may be."""


@dataclass(frozen=True)
class FusedOperators:
    """
    Operators on tiles and a thread graph that stands for them.

    Args:
        members: the operators in their order, the last of which makes the result.
        fused: the thread graph.
        inputs: a number for each tile that either reads and they do not make.
    """

    members: Sequence[Operation]
    fused: thread.GraphOp
    inputs: Mapping[SSAValue, int]

    def functions(self) -> tuple[FuncOp, FuncOp]:
        """The operators, and the thread graph, each as a function of tensors."""
        return self._function(self.members), self._function([self.fused])

    def _function(self, operations: Iterable[Operation]) -> FuncOp:
        tiles = {number: tile_type(value) for value, number in self.inputs.items()}
        tensors = [_tensor(tile) for tile in tiles.values()]
        body = Block(arg_types=tensors)
        loads = [
            threadblock.LoadOp(source, [-1], [], tile)
            for source, tile in zip(body.args, tiles.values(), strict=True)
        ]
        loaded = dict(zip(tiles, (load.result for load in loads), strict=True))
        values: dict[SSAValue, SSAValue] = {
            value: loaded[number] for value, number in self.inputs.items()
        }
        made = [op.clone(values) for op in operations]
        body.add_ops([*loads, *made, threadblock.StoreOp(made[-1].results[0], [-1])])
        result = _tensor(tile_type(made[-1].results[0]))
        function = FuncOp("f", (tensors, [result]))
        graph = kernel.GraphDefinedOp(function.args, [1], [], [result], Region(body))
        function.body.block.add_ops([graph, ReturnOp(*graph.outputs)])
        return function


def _tensor(tile: TileType) -> Attribute:
    return TensorType(tile.element_type, tile.get_shape())


def difference(operators: FuncOp, fused: FuncOp) -> str | None:
    """
    In what a thread graph differs from the operators that it stands for; None: in nothing.

    Normal forms decide, in which rounding is a function of which nothing is known. Where there are
    none, f64 decides, and the types to which values are rounded must be the same in one order.
    """
    if prove(operators, fused, roundings=True).proved:
        return None
    equal = prove(operators, fused).proved
    try:
        found = None if equal else _float_difference(operators, fused)
    except NotInterpretable as error:
        return str(error)
    if found is not None:
        return found
    left, right = [*_roundings(operators)], [*_roundings(fused)]
    if left != right or (equal and left):
        return f"it rounds to {_listed(right)} where operators round to {_listed(left)}"
    return None


def _float_difference(operators: FuncOp, fused: FuncOp) -> str | None:
    """In what f64 tells them apart, on several draws of inputs where results have few elements."""
    (result,) = operators.function_type.outputs
    assert isinstance(result, TensorType)
    draws = min(MOST_DRAWS, ceil(FEWEST_ELEMENTS / prod(result.get_shape())))
    verifiers = (Verifier(operators, seed=number) for number in range(draws))
    return next(filter(None, (each.float_difference(fused) for each in verifiers)), None)


def _roundings(function: FuncOp) -> Iterator[Attribute]:
    """The types to which operators on tiles or on scalars round what they compute in f32."""
    for op in function.walk():
        if isinstance(op, arith.TruncFOp):
            yield op.result.type
        elif isinstance(op, threadblock.TileOp | threadblock.ConstantOp):
            element = tile_type(op.results[0]).element_type
            if element != f32:
                yield element


def _listed(types: Iterable[Attribute]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def text_of(function: FuncOp) -> str:
    """A function as text."""
    stream = StringIO()
    Printer(stream=stream).print_op(function)
    return stream.getvalue()
