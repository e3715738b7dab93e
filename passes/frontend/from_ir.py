"""
Programs for the search out of functions of kernel operators.

A piece is a set of operators that one kernel may compute: a whole function, or one operator. Views
of its inputs and of its results stay operators of the kernel dialect; inside it, views are a matter
of names of axes.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import isfinite

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from mirage_mlir.constant_inputs import is_constant_input
from mirage_mlir.dialects import kernel
from mirage_mlir.dialects.bases import TF32
from mirage_mlir.dialects.elementwise import parameters_of, row_of
from mirage_mlir.float_formats import FORMATS
from mirage_mlir.interpreters.roundings import is_wide, narrows
from mirage_mlir.passes.analysis.index_formulas import is_formula
from mirage_mlir.passes.analysis.tensor_views import VIEWS
from mirage_mlir.passes.frontend.conditions import (
    is_condition,
    is_exact,
    number_of,
    record_condition,
)
from mirage_mlir.passes.frontend.elementwise import record_elementwise
from mirage_mlir.passes.frontend.index_samples import samples_of
from mirage_mlir.passes.frontend.quotients import leads_to_step
from mirage_mlir.passes.frontend.strided_views import bytes_of, strides_of, view_of
from mirage_mlir.search.program.axes import JoinedResult, ViewError, resolve_views
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import ROUNDED, Function, Kind, Memory, Program
from mirage_mlir.search.program.tensor_slices import ArgumentView, AxisSlice

PARTIAL_VIEWS = (kernel.SliceOp, kernel.BroadcastOp)
"""Views that are read from the tensor behind them, so that equal parts of it are seen to be equal
and repeated elements are loaded once."""


class UnsupportedError(Exception):
    """An operator that the search does not express inside a piece; the text says what."""

    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op


def element_name(element_type: Attribute) -> str:
    """The name of an element type: f16, bf16 or f32."""
    assert FORMATS[element_type.name].is_compiled
    return element_type.name


@dataclass(frozen=True)
class Piece:
    """A program to be computed by one kernel, and the values it reads and makes."""

    values: tuple[SSAValue, ...]
    """That are read, whole or in parts."""
    views: tuple[ArgumentView, ...]
    """The parts of `values` that the program's inputs name by their numbers."""
    results: tuple[SSAValue, ...]
    joined: tuple[JoinedResult, ...]
    """For each of `results` which of the program's outputs, side by side, it is."""
    program: Program
    notes: tuple[tuple[Operation, str], ...] = ()
    """What is not as good as it might be: the operator, and why."""

    @cached_property
    def arguments(self) -> tuple[SSAValue, ...]:
        """
        The program's arguments: values of the function, and views of them.

        The views are operations in no block; a writer copies them as it does those of the function.
        """
        known: dict[tuple[SSAValue, object], SSAValue] = {}
        return tuple(_viewed(self.values[view.argument], view.cuts, known) for view in self.views)


def _viewed(
    value: SSAValue, cuts: Sequence[AxisSlice], known: dict[tuple[SSAValue, object], SSAValue]
) -> SSAValue:
    """Parts of a tensor as views; `known` are those that there are already."""
    for cut in cuts:
        if kernel.shape_of(value) != cut.shape:
            wanted = TensorType(kernel.tensor_type(value).element_type, cut.shape)
            if (value, wanted) not in known:
                known[value, wanted] = kernel.ReshapeOp(value, wanted).result
            value = known[value, wanted]
        if (value, cut) not in known:
            offsets = [0] * len(cut.shape)
            sizes = list(cut.shape)
            strides = [1] * len(cut.shape)
            offsets[cut.dim], sizes[cut.dim], strides[cut.dim] = cut.offset, cut.size, cut.stride
            known[value, cut] = kernel.SliceOp(value, offsets, sizes, strides).result
        value = known[value, cut]
    return value


@dataclass
class _Reader:
    """Records the operators of a piece in a builder, those first that others need."""

    inside: frozenset[Operation]
    """The operators of the piece; what others make is an argument."""
    rounding: Collection[Operation] = ()
    """Operators whose rounding must stay; see `read_piece`."""
    whole: bool = True
    """Whether views of `PARTIAL_VIEWS` of arguments are part of the program."""
    builder: ProgramBuilder = field(default_factory=ProgramBuilder)
    arguments: list[SSAValue] = field(default_factory=list[SSAValue])
    values: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    roots: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The tensors that arguments are views of, numbered."""
    makers: list[Operation] = field(default_factory=list[Operation])
    """The operator that each step of the builder is part of."""

    def value(self, value: SSAValue) -> int:
        """
        The number of a value.

        Raises:
            UnsupportedError: the search cannot express an operator.
        """
        pending = [value]
        # Not by recursion: a function may have thousands of operators one after the other.
        while pending:
            last = pending[-1]
            op = self._maker(last)
            needed = [o for o in _read_by(op) if o not in self.values] if op else []
            if last in self.values or not needed:
                pending.pop()
                if last not in self.values:
                    self.values[last] = self._leaf(last) if op is None else self._operator(op)
            else:
                pending += reversed(needed)
        return self.values[value]

    def _maker(self, value: SSAValue) -> Operation | None:
        """The operator of the piece that makes `value`."""
        owner = value.owner
        if (isinstance(owner, kernel.ConstantOp) and is_number(owner)) or is_formula(value):
            return None
        return owner if isinstance(owner, Operation) and self._reads_through(owner) else None

    def _leaf(self, value: SSAValue) -> int:
        """The number of a value that no operator of the piece makes."""
        owner = value.owner
        if isinstance(owner, kernel.ConstantOp) and is_number(owner):
            return self.builder.constant(owner.value.value.data, kernel.shape_of(value))
        return self._argument(value)

    def _reads_through(self, op: Operation) -> bool:
        return op in self.inside or (self.whole and isinstance(op, PARTIAL_VIEWS))

    def _argument(self, value: SSAValue) -> int:
        self.arguments.append(value)
        tensor = kernel.tensor_type(value)
        view = view_of(value)
        root = value if view is None else view.root
        number = self.roots.setdefault(root, len(self.roots))
        return self.builder.input(
            tensor.get_shape(),
            element_name(tensor.element_type),
            strides=strides_of(value),
            constant=_never_changes(value),
            indices=samples_of(value) if is_formula(value) else None,
            memory=Memory(number, bytes_of(root)),
        )

    def _operator(self, op: Operation) -> int:
        if not narrows(op):
            self.builder.read_wide |= {self.values[o] for o in _read_by(op) if is_wide(o)}
        number = self._condition(op) if is_condition(op) else self._elements(op)
        element = element_name(kernel.tensor_type(op.results[0]).element_type)
        if op in self.rounding:
            number = self.builder.function(Function(ROUNDED, (element,)), number)
        self.builder.narrow(number, element)
        self.makers += [op] * (len(self.builder.steps) - len(self.makers))
        return number

    def _condition(self, op: Operation) -> int:
        """A comparison or a selection, whose numbers may be infinite."""
        row = row_of(op)
        assert row is not None
        operands = [
            self.values[operand] if (number := number_of(operand.owner)) is None else number
            for operand in op.operands
        ]
        if row.name == "compare" and not all(map(is_exact, op.operands)):
            reason = "with a number that is not exact in its element type is not searched for"
            raise UnsupportedError(op, f"{op.name} {reason}")
        shape = kernel.shape_of(op.results[0])
        made = record_condition(self.builder, row.name, parameters_of(op, row), operands, shape)
        if made is None:
            raise UnsupportedError(op, f"{op.name} of constants is not searched for")
        return made

    def _elements(self, op: Operation) -> int:
        operands = [self.values[operand] for operand in op.operands]
        if (row := row_of(op)) is not None:
            number = record_elementwise(self.builder, row, parameters_of(op, row), operands)
            if number is not None:
                return number
        if type(op) in COMPOSITE:
            return COMPOSITE[type(op)](self.builder, op, operands)
        raise UnsupportedError(op, f"{op.name} inside a kernel is not searched for")


def _read_by(op: Operation) -> Sequence[SSAValue]:
    """The operands of which an operator needs more than the number that all elements are."""
    if not is_condition(op):
        return op.operands
    return [operand for operand in op.operands if number_of(operand.owner) is None]


Recorder = Callable[[ProgramBuilder, Operation, Sequence[int]], int]
"""Records an operator, its operands given, and returns the number of its result."""


def _matmul(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    assert isinstance(op, kernel.MatmulOp)
    operand_type = element_name(kernel.tensor_type(op.lhs).element_type)
    if op.in_tf32:
        operand_type = TF32
    return builder.matmul(operands[0], operands[1], operand_type)


def _reduce_sum(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    assert isinstance(op, kernel.ReduceSumOp)
    return builder.reduce(Kind.REDUCE_SUM, operands[0], op.dims.get_values())


def _reduce_max(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    assert isinstance(op, kernel.ReduceMaxOp)
    return builder.reduce(Kind.REDUCE_MAX, operands[0], op.dims.get_values())


def _reduce_mean(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    assert isinstance(op, kernel.ReduceMeanOp)
    return builder.mean(operands[0], op.dims.get_values())


def _rms_norm(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    """`x / sqrt(mean(x^2) + eps) * weight`."""
    assert isinstance(op, kernel.RmsNormOp)
    x = operands[0]
    last = len(builder.shape(x)) - 1
    mean = builder.mean(builder.binary(Kind.MUL, x, x), (last,))
    result = builder.binary(Kind.DIV, x, _root_of_shifted(builder, mean, op.eps.value.data))
    return result if op.weight is None else builder.binary(Kind.MUL, result, operands[1])


def _layer_norm(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    """`(x - mean(x)) / sqrt(mean((x - mean(x))^2) + eps) * weight + bias`."""
    assert isinstance(op, kernel.LayerNormOp)
    x, *parameters = operands
    last = len(builder.shape(x)) - 1
    centred = builder.binary(Kind.SUB, x, builder.mean(x, (last,)))
    variance = builder.mean(builder.binary(Kind.MUL, centred, centred), (last,))
    root = _root_of_shifted(builder, variance, op.eps.value.data)
    result = builder.binary(Kind.DIV, centred, root)
    for kind, parameter in zip((Kind.MUL, Kind.ADD), parameters, strict=False):
        result = builder.binary(kind, result, parameter)
    return result


def _root_of_shifted(builder: ProgramBuilder, value: int, eps: float) -> int:
    if eps:
        value = builder.binary(Kind.ADD, value, builder.constant(eps))
    return builder.function(Function("sqrt"), value)


def _softmax(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    """`exp(x - max(x))` divided by its sum: without the maximum exp overflows."""
    assert isinstance(op, kernel.SoftmaxOp)
    x, dims = operands[0], (op.dim.value.data,)
    shifted = builder.binary(Kind.SUB, x, builder.reduce(Kind.REDUCE_MAX, x, dims))
    powers = builder.function(Function("exp"), shifted)
    return builder.binary(Kind.DIV, powers, builder.reduce(Kind.REDUCE_SUM, powers, dims))


def _transpose(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    assert isinstance(op, kernel.TransposeOp)
    return builder.transpose(operands[0], op.permutation.get_values())


def _broadcast(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    return builder.broadcast(operands[0], kernel.shape_of(op.results[0]))


def _reshape(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    return builder.reshape(operands[0], kernel.shape_of(op.results[0]))


def _repeat(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    assert isinstance(op, kernel.RepeatOp)
    return builder.repeat(operands[0], op.dim.value.data, op.times.value.data)


def _repeat_interleave(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    assert isinstance(op, kernel.RepeatInterleaveOp)
    return builder.repeat_interleave(operands[0], op.dim.value.data, op.times.value.data)


def _slice(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    assert isinstance(op, kernel.SliceOp)
    offsets, strides = op.offsets.get_values(), op.strides.get_values()
    return builder.slice(operands[0], offsets, kernel.shape_of(op.result), strides)


def _concat(builder: ProgramBuilder, op: Operation, operands: Sequence[int]) -> int:
    assert isinstance(op, kernel.ConcatOp)
    return builder.concat(operands, op.dim.value.data)


COMPOSITE: Mapping[type[Operation], Recorder] = {
    kernel.MatmulOp: _matmul,
    kernel.ReduceSumOp: _reduce_sum,
    kernel.ReduceMaxOp: _reduce_max,
    kernel.ReduceMeanOp: _reduce_mean,
    kernel.RmsNormOp: _rms_norm,
    kernel.LayerNormOp: _layer_norm,
    kernel.SoftmaxOp: _softmax,
    kernel.TransposeOp: _transpose,
    kernel.BroadcastOp: _broadcast,
    kernel.ReshapeOp: _reshape,
    kernel.RepeatOp: _repeat,
    kernel.RepeatInterleaveOp: _repeat_interleave,
    kernel.SliceOp: _slice,
    kernel.ConcatOp: _concat,
}


def is_number(op: kernel.ConstantOp) -> bool:
    """Whether the constant is a number with which sums and products can be formed."""
    return isfinite(op.value.value.data)


def _never_changes(value: SSAValue) -> bool:
    """Whether `value` is an argument marked constant, or a view of one."""
    while not isinstance(value, BlockArgument):
        if not isinstance(value.owner, VIEWS):
            return False
        value = value.owner.operands[0]
    function = value.block.parent_op()
    return isinstance(function, FuncOp) and is_constant_input(function, value.index)


def read_piece(
    operators: Iterable[Operation],
    results: Sequence[SSAValue],
    rounding: Collection[Operation] = (),
) -> Piece:
    """
    The piece that makes `results` with `operators`, of which it may leave out some.

    A cast is nothing to the search; but what reads the results of the operators in `rounding`
    (`kept_roundings`) reads them rounded.

    Raises:
        UnsupportedError: the search cannot express one of the operators.
        RolesError: the program would be larger than any that is searched.
    """
    inside = frozenset(operators)
    try:
        return _read(_Reader(inside, rounding), results)
    except UnsupportedError:
        return _read(_Reader(inside, rounding, whole=False), results)


def _read(reader: _Reader, results: Sequence[SSAValue]) -> Piece:
    for result in results:
        element = element_name(kernel.tensor_type(result).element_type)
        number = reader.value(result)
        if is_wide(result):
            reader.builder.read_wide.add(number)
        reader.builder.output(number, element, exact=leads_to_step(result))
    try:
        resolved = resolve_views(reader.builder)
    except ViewError as error:
        raise UnsupportedError(reader.makers[error.step], str(error)) from error
    return Piece(
        tuple(reader.arguments),
        resolved.arguments,
        tuple(results),
        resolved.results,
        resolved.program,
        tuple((reader.makers[step], reason) for step, reason in resolved.notes),
    )
