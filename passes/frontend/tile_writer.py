"""The operations of graphs that the search found, as operators on tiles."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cached_property

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import threadblock
from mirage_mlir.dialects.bases import TF32
from mirage_mlir.dialects.common import FloatType
from mirage_mlir.dialects.threadblock import TileType
from mirage_mlir.field.rational import is_single
from mirage_mlir.operators.elementwise import Pairwise
from mirage_mlir.operators.table import ROWS
from mirage_mlir.passes.frontend.quotients import (
    Quotient,
    exact_behind,
    exact_operations,
    quotient_of,
    takes_steps_of_inverses,
)
from mirage_mlir.passes.frontend.selections import Selection, selection_of
from mirage_mlir.passes.frontend.tile_positions import Tile, TileBuilder
from mirage_mlir.search.cost_model.block_graph import BlockGraph, BlockOperation
from mirage_mlir.search.program.program import COMPARE, ROUNDED, Axes, Function, Kind, Program

ELEMENT_TYPES: Mapping[str, FloatType] = {"f16": f16, "bf16": bf16, "f32": f32}

BINARY: Mapping[Kind, type[threadblock.BinaryOp]] = {
    Kind(row.search.kind): threadblock.BINARY[row.name]
    for row in ROWS.values()
    if isinstance(row.search, Pairwise)
}


FUNCTIONS: Mapping[str, Callable[..., Operation]] = threadblock.UNARY
"""Operations on a tile, with the parameters of the function."""


class TileWriter:
    """Writes what a graph computes, in the order of its operations, from tiles that it loads."""

    def __init__(self, program: Program, graph: BlockGraph, builder: TileBuilder) -> None:
        self.program = program
        self.graph = graph
        self.builder = builder
        self._tiles: dict[int, Tile] = {}
        self._exact = exact_operations(program, graph)
        self._rounded_once = self._exact | exact_behind(program, graph)

    def load(self, index: int, tile: Tile) -> None:
        """Operation `index` is the load of `tile`."""
        self._tiles[index] = tile

    def write(self, index: int) -> None:
        """Write operation `index`, whose operands are written."""
        operation = self.graph.operations[index]
        if operation.kind is Kind.CONSTANT:
            return  # Written where it is used, in the shape that is needed there.
        if (quotient := self._quotient(index)) is not None:
            self._tiles[index] = self._divide(quotient)
        elif operation.kind is Kind.INVERSE:
            self._tiles[index] = self._inverse(index)
        elif operation.kind in BINARY:
            self._tiles[index] = self._binary(operation, exact=self._is_divided(index))
        else:
            self._tiles[index] = WRITERS[operation.kind](self, operation)

    def result(self, number: int) -> Tile:
        """The tile of an output, which may be a constant."""
        if (tile := self._tiles.get(number)) is not None:
            return tile
        constant = self._constant(self.graph.operations[number], (None,))
        return Tile(constant, (None,))

    def reads(self, index: int) -> tuple[int, ...]:
        """The operations whose tiles are read where operation `index` is written."""
        operation = self.graph.operations[index]
        if (quotient := self._quotient(index)) is not None:
            return quotient.over, quotient.under
        if (root := self._root_of_inverse(index)) is not None:
            return root.operands
        selection = selection_of(self.graph, operation)
        return operation.operands if selection is None else selection.reads

    def _is_divided(self, index: int) -> bool:
        """Whether a multiple is a quotient; for kernels behind, an n-th part alone."""
        if index in self._exact:
            return True
        factors = [self.graph.operations[each] for each in self.graph.operations[index].operands]
        return index in self._rounded_once and any(each.value.numerator == 1 for each in factors)

    def _quotient(self, index: int) -> Quotient | None:
        """The quotient that operation `index` is, where it is to be rounded once."""
        if index not in self._rounded_once or self._takes_steps_of_inverses:
            return None
        return quotient_of(self.graph, index)

    @cached_property
    def _takes_steps_of_inverses(self) -> bool:
        return takes_steps_of_inverses(self.program)

    def _root_of_inverse(self, index: int) -> BlockOperation | None:
        """The square root whose inverse operation `index` is, where one operation will do."""
        operation = self.graph.operations[index]
        if operation.kind is not Kind.INVERSE or index in self._rounded_once:
            return None
        producer = self.graph.operations[operation.operands[0]]
        is_root = producer.kind is Kind.FUNCTION and producer.function == Function("sqrt")
        return producer if is_root else None

    def _operand(self, operation: BlockOperation, index: int = 0) -> Tile:
        return self._tile(operation.operands[index])

    def _tile(self, number: int) -> Tile:
        if number not in self._tiles:
            value = self._constant(self.graph.operations[number], (None,))
            self._tiles[number] = Tile(value, (None,))
        return self._tiles[number]

    def _select(self, selection: Selection) -> Tile:
        """One of two sides, by a condition."""
        made, axes = self.builder.all_together([self._tile(each) for each in selection.reads])
        condition, *sides = (tile.value for tile in made)
        lhs, rhs = (
            self._number(side.number, axes) if side.operation is None else sides.pop(0)
            for side in selection.sides
        )
        return Tile(self.builder.append(threadblock.SelectOp(condition, lhs, rhs)), axes)

    def _binary(self, operation: BlockOperation, *, exact: bool) -> Tile:
        if (selection := selection_of(self.graph, operation)) is not None:
            return self._select(selection)
        first, second = (self.graph.operations[operand] for operand in operation.operands)
        if first.kind is Kind.CONSTANT and second.kind is Kind.CONSTANT:
            return self._of_constants(operation)
        if Kind.CONSTANT in (first.kind, second.kind):
            return self._with_constant(operation, first, second, exact=exact)
        if operation.kind is Kind.MUL and operation.operands[0] == operation.operands[1]:
            tile = self._operand(operation)
            return Tile(self.builder.append(threadblock.SquareOp(tile.value)), tile.axes)
        a, b, axes = self.builder.together(self._operand(operation), self._operand(operation, 1))
        return Tile(self.builder.append(BINARY[operation.kind](a.value, b.value)), axes)

    def _of_constants(self, operation: BlockOperation) -> Tile:
        a, b = (self._constant(self.graph.operations[o], (None,)) for o in operation.operands)
        return Tile(self.builder.append(BINARY[operation.kind](a, b)), (None,))

    def _with_constant(
        self,
        operation: BlockOperation,
        first: BlockOperation,
        second: BlockOperation,
        *,
        exact: bool,
    ) -> Tile:
        on_left = first.kind is Kind.CONSTANT
        tile = self._operand(operation, 1 if on_left else 0)
        constant = first if on_left else second
        if operation.kind is Kind.MUL:
            scaled = self._divided if exact else self._scaled
            return Tile(scaled(tile, Fraction(constant.value)), tile.axes)
        if operation.kind is Kind.MAX and constant.value == 0:
            return Tile(self.builder.append(threadblock.ReluOp(tile.value)), tile.axes)
        value = self._constant(constant, tile.axes)
        operands = (value, tile.value) if on_left else (tile.value, value)
        return Tile(self.builder.append(BINARY[operation.kind](*operands)), tile.axes)

    def _scaled(self, tile: Tile, factor: Fraction) -> SSAValue:
        """
        `factor` times a tile, written so that verification reads the same number.

        An f32 stands for the simplest number that rounds to it: that of a quotient by such a number
        may be another one, and is then divided by.
        """
        if factor and not is_single(factor) and is_single(1 / factor):
            divisor = self._number(float(1 / factor), tile.axes)
            return self.builder.append(threadblock.DivOp(tile.value, divisor))
        return self.builder.append(threadblock.ScaleOp(tile.value, float(factor)))

    def _divided(self, tile: Tile, factor: Fraction) -> SSAValue:
        """
        `factor` times a tile, rounded once: divided by what no f32 has the reciprocal of.

        41 times the f32 next to 1/41 is below 1, and has the floor 0.
        """
        twos = factor.denominator & -factor.denominator
        divisor, multiple = factor.denominator // twos, Fraction(factor.numerator, twos)
        if divisor == 1 or not is_single(Fraction(divisor)) or not is_single(multiple):
            return self._scaled(tile, factor)
        value = tile.value
        if multiple != 1:
            value = self.builder.append(threadblock.ScaleOp(value, float(multiple)))
        by = self._number(float(divisor), tile.axes)
        return self.builder.append(threadblock.DivOp(value, by))

    def _constant(self, constant: BlockOperation, axes: Axes) -> SSAValue:
        return self._number(float(constant.value), axes)

    def _number(self, value: float, axes: Axes) -> SSAValue:
        kind = TileType(self.builder.shape(axes), f32)
        return self.builder.append(threadblock.ConstantOp(value, kind))

    def _inverse(self, index: int) -> Tile:
        """1 / x; of a square root, the one operation for it."""
        if (root := self._root_of_inverse(index)) is not None:
            tile = self._operand(root)
            return Tile(self.builder.append(threadblock.RsqrtOp(tile.value)), tile.axes)
        tile = self._operand(self.graph.operations[index])
        one = self._number(1.0, tile.axes)
        return Tile(self.builder.append(threadblock.DivOp(one, tile.value)), tile.axes)

    def _divide(self, quotient: Quotient) -> Tile:
        """One tile by another, which is a fraction of what was computed."""
        over, under = self._tile(quotient.over), self._tile(quotient.under)
        if quotient.number != 1:
            under = Tile(self._divided(under, 1 / quotient.number), under.axes)
        a, b, axes = self.builder.together(over, under)
        return Tile(self.builder.append(threadblock.DivOp(a.value, b.value)), axes)

    def function(self, operation: BlockOperation) -> Tile:
        """A function of each element, or of those of two tiles."""
        function = operation.function
        assert function is not None
        if (selection := selection_of(self.graph, operation)) is not None:
            return self._select(selection)
        if function.name == COMPARE:
            return self._compare(operation, *function.parameters)
        tile = self._operand(operation)
        if function.name == ROUNDED:
            (element,) = function.parameters
            return self.builder.cast(self.builder.cast(tile, ELEMENT_TYPES[str(element)]), f32)
        made = FUNCTIONS[function.name](tile.value, *function.parameters)
        return Tile(self.builder.append(made), tile.axes)

    def _compare(
        self, operation: BlockOperation, predicate: float | str, number: float | str | None = None
    ) -> Tile:
        tile = self._operand(operation)
        if number is None:
            tile, other, axes = self.builder.together(tile, self._operand(operation, 1))
            right = other.value
        else:
            axes, right = tile.axes, self._number(float(number), tile.axes)
        made = threadblock.CompareOp(tile.value, right, str(predicate))
        return Tile(self.builder.append(made), axes)

    def matmul(self, operation: BlockOperation) -> Tile:
        """A product of tiles, operands in the type of the tensor core."""
        assert operation.axis is not None
        matrix_type = ELEMENT_TYPES[self.program.operand_type]
        precision = TF32 if self.program.matrix_type == TF32 else None
        operands = (self._operand(operation), self._operand(operation, 1))
        left, right = (self.builder.cast(tile, matrix_type) for tile in operands)
        left, right, axes = self.builder.matrices(left, right, operation.axis)
        op = threadblock.MatmulOp(left.value, right.value, precision=precision)
        return Tile(self.builder.append(op), axes)

    def reduction(self, operation: BlockOperation) -> Tile:
        """A sum or maximum over one axis of a tile."""
        tile = self._operand(operation)
        dim = tile.axes.index(operation.axis)
        kind = (
            threadblock.ReduceSumOp
            if operation.kind is Kind.REDUCE_SUM
            else threadblock.ReduceMaxOp
        )
        axes = (*tile.axes[:dim], None, *tile.axes[dim + 1 :])
        return Tile(self.builder.append(kind(tile.value, (dim,))), axes)

    def accumulate(self, operation: BlockOperation) -> Tile:
        """A sum or maximum over the loop, and over the blocks that share it."""
        tile = self._operand(operation)
        kind = "sum" if operation.kind is Kind.ACCUMULATE_SUM else "max"
        largest = None
        if operation.rescale is not None:
            largest = self.builder.arrange(self._tiles[operation.rescale], tile.axes).value
        op = threadblock.AccumulateOp(tile.value, kind, self.graph.across, largest)
        return Tile(self.builder.append(op), tile.axes)


WRITERS: Mapping[Kind, Callable[[TileWriter, BlockOperation], Tile]] = {
    Kind.FUNCTION: TileWriter.function,
    Kind.MATMUL: TileWriter.matmul,
    Kind.REDUCE_SUM: TileWriter.reduction,
    Kind.REDUCE_MAX: TileWriter.reduction,
    Kind.ACCUMULATE_SUM: TileWriter.accumulate,
    Kind.ACCUMULATE_MAX: TileWriter.accumulate,
}
