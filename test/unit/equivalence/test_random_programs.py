"""Random programs: what their slabs are, and what they compute on some indices alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from xdsl.builder import ImplicitBuilder
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.equivalence.inputs import DrawnResidues
from mirage_mlir.equivalence.residue_domain import ResidueDomain
from mirage_mlir.equivalence.residues import Residues
from mirage_mlir.equivalence.sample import restricted, whole
from mirage_mlir.equivalence.slabs import Slab, find_slabs
from mirage_mlir.field.primes import safe_primes
from mirage_mlir.interpreters.dims import Dim, NotClosed, dim_of
from mirage_mlir.interpreters.float_domain import FloatDomain, Floats
from mirage_mlir.interpreters.kernel import KernelInterpreter
from mirage_mlir.interpreters.tensors import Tensor, TensorDomain, drawn

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


def interpreted(function: FuncOp, dims: Sequence[tuple[Dim, ...]]) -> Tensor[Residues]:
    """What a function gives for some indices of the same random inputs."""
    moduli = safe_primes(2, np.random.default_rng(0))
    domain = ResidueDomain(moduli, [0], exponents=True)
    inputs: list[Tensor[Residues]] = []
    for number, each in enumerate(dims):
        shape = [dim.size for dim in each]
        inputs.append(drawn(DrawnResidues(shape, [1, number], moduli, exponents=True), each))
    (result,) = KernelInterpreter(domain).run(function, inputs)
    return result


@given(programs(), st.data())
@settings(deadline=None)
def test_some_indices(function: FuncOp, data: st.DataObject) -> None:
    """A program on some indices of its inputs computes what it computes on all of them, or errs."""
    dims = [list(each) for each in whole(function)]
    changed = data.draw(st.sampled_from(dims))
    at = data.draw(st.integers(0, 1))
    size = changed[at].size
    some = data.draw(st.lists(st.sampled_from(range(size)), min_size=1, unique=True).map(sorted))
    changed[at] = dim_of(size, np.array(some))
    try:
        result = interpreted(function, [tuple(each) for each in dims])
    except NotClosed:
        return
    expected = interpreted(function, whole(function))
    tensors = TensorDomain(ResidueDomain((), [0], exponents=False))
    left, right = (tensors.expanded(each) for each in (result, expected))
    places = np.ix_(*(dim.indices for dim in result.dims))
    for a, b in zip(left.p, right.p, strict=True):
        np.testing.assert_array_equal(a[0], b[0][places])


@given(programs(), st.integers(0, 1000))
@settings(deadline=None)
def test_labels_of_a_class_are_one_function(function: FuncOp, seed: int) -> None:
    """Where two labels have the same inputs, they have the same results."""
    random = np.random.default_rng(seed)
    inputs = [random.uniform(-1, 1, kernel.shape_of(x)) for x in function.body.block.args]
    for slab in find_slabs(function, function):
        for labels in slab.classes:
            one, other = random.choice(labels, 2)
            for (number, dim), label in slab.arguments.items():
                array = np.moveaxis(inputs[number], dim, 0)
                array[label == other] = array[label == one]
            results = [of_label(function, slab, inputs, label) for label in (one, other)]
            np.testing.assert_allclose(*results, rtol=1e-9, atol=1e-12)


def of_label(
    function: FuncOp, slab: Slab, inputs: Sequence[NDArray[np.float64]], label: int
) -> NDArray[np.float64]:
    """The elements of the result that have a label, sorted."""
    only = replace(slab, classes=[np.array([label])])
    interpreter = KernelInterpreter(FloatDomain(rounding=False))
    tensors: list[Tensor[Floats]] = [
        Tensor(array[np.ix_(*(dim.indices for dim in dims))][None], dims)
        for array, dims in zip(
            inputs, restricted(function, [only], 1, np.random.default_rng(0)), strict=True
        )
    ]
    (result,) = interpreter.run(function, tensors)
    return np.sort(interpreter.domain.expanded(result), axis=None).astype(np.float64)


@given(programs())
@settings(deadline=None, max_examples=30)
def test_every_program_is_itself(function: FuncOp) -> None:
    report = check_equivalence(function, function.clone())
    assert report.verdict is Verdict.EQUAL, str(report)
