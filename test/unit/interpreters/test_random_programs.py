"""Random programs on inputs that repeat compute what they compute on all elements."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.interpreters.axes import Axis, special
from mirage_mlir.interpreters.field_domain import FieldDomain
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.tensors import Tensor

SIZES = st.sampled_from([1, 2, 3, 4, 6, 7])

UNARY: list[type[kernel.UnaryOp]] = [kernel.ExpOp, kernel.SquareOp, kernel.SiluOp, kernel.ReluOp]
BINARY: list[type[kernel.BinaryOp]] = [kernel.AddOp, kernel.SubOp, kernel.MulOp, kernel.MaxOp]
REDUCTIONS: list[type[kernel.ReductionOp]] = [
    kernel.ReduceSumOp,
    kernel.ReduceMaxOp,
    kernel.ReduceMeanOp,
]


def view(draw: st.DrawFn, x: SSAValue) -> SSAValue:
    rows, columns = kernel.shape_of(x)
    match draw(st.integers(0, 5)):
        case 0:
            return kernel.TransposeOp(x, [1, 0]).result
        case 1:
            return kernel.RepeatOp(x, draw(st.integers(0, 1)), 2).result
        case 2:
            return kernel.RepeatInterleaveOp(x, draw(st.integers(0, 1)), 2).result
        case 3:
            return kernel.SliceOp(x, [0, columns // 2], [rows, 1], [1, 1]).result
        case 4:
            return kernel.ReshapeOp(x, TensorType(f32, [rows * columns, 1])).result
        case _:
            return kernel.ConcatOp([x, x], draw(st.integers(0, 1))).result


def step(draw: st.DrawFn, values: list[SSAValue]) -> SSAValue:
    x = draw(st.sampled_from(values))
    shape = kernel.shape_of(x)
    match draw(st.integers(0, 5)):
        case 0:
            return draw(st.sampled_from(UNARY))(x).result
        case 1:
            others = [y for y in values if kernel.shape_of(y) == shape]
            return draw(st.sampled_from(BINARY))(x, draw(st.sampled_from(others))).result
        case 2:
            return draw(st.sampled_from(REDUCTIONS))(x, [draw(st.integers(0, 1))]).result
        case 3:
            others = [y for y in values if kernel.shape_of(y)[0] == shape[1]]
            return kernel.MatmulOp(x, draw(st.sampled_from(others))).result if others else x
        case 4:
            return kernel.RmsNormOp(x, None, 0.5).result
        case _:
            return view(draw, x)


@st.composite
def programs(draw: st.DrawFn) -> FuncOp:
    shapes = draw(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=3))
    block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
    values: list[SSAValue] = list(block.args)
    with ImplicitBuilder(block):
        for _ in range(draw(st.integers(1, 8))):
            result = step(draw, values)
            if max(kernel.shape_of(result)) <= 48:
                values.append(result)
        ReturnOp(values[-1])
    types = [TensorType(f32, shape) for shape in shapes]
    function = FuncOp("f", (types, [values[-1].type]), Region(block))
    function.verify()
    return function


@given(programs(), st.data())
@settings(deadline=None)
def test_repeating_inputs(function: FuncOp, data: st.DataObject) -> None:
    field = FieldDomain(2, [3])
    interpreter = KernelInterpreter(field)
    domain = interpreter.domain

    def axis(size: int) -> Axis:
        return special(size, data.draw(st.lists(st.integers(0, size - 1), max_size=3)))

    axes = [tuple(map(axis, kernel.shape_of(value))) for value in function.body.block.args]
    inputs = [Tensor(field.random([axis.classes for axis in each]), each) for each in axes]
    (result,) = interpreter.run(function, inputs)
    (expected,) = interpreter.run(
        function, [domain.literal(domain.expanded(tensor)) for tensor in inputs]
    )
    left, right = domain.expanded(result), domain.expanded(expected)
    assert result.shape == expected.shape
    assert (left.p == right.p).all()


@given(programs())
@settings(deadline=None, max_examples=30)
def test_every_program_is_itself(function: FuncOp) -> None:
    report = check_equivalence(function, function.clone(), tests=1)
    assert report.verdict is Verdict.EQUAL, str(report)
