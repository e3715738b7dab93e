"""Functions read as programs over axes: views of every kind, checked with numpy."""

from collections.abc import Sequence
from math import prod

import numpy as np
import pytest
from program_values import Array, computed, viewed
from random_functions import FunctionMaker
from sampling import sampled
from xdsl.dialects.builtin import TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.passes.frontend.from_ir import Piece, UnsupportedError, read_piece
from mirage_mlir.passes.frontend.plan import returned
from mirage_mlir.search.program.axes import JoinedResult, RolesError

SEEDS = sampled(range(400), 2)


class ViewMaker(FunctionMaker):
    """Makes functions with many views, among them reshapes that take dimensions apart."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.makers += [self.split, self.split, self.repeated, self.sliced, self.concatenated]

    def split(self) -> Operation | None:
        """One dimension as two, or all as one."""
        value = self.any()
        shape = list(kernel.shape_of(value))
        if self.random.random() < 0.2:
            return kernel.ReshapeOp(value, TensorType(f32, [prod(shape)]))
        dims = [dim for dim, size in enumerate(shape) if size > 2 and size % 2 == 0]
        if not dims or len(shape) > 4:
            return None
        dim = self.random.choice(dims)
        factors = (2, shape[dim] // 2) if self.random.random() < 0.5 else (shape[dim] // 2, 2)
        return kernel.ReshapeOp(value, TensorType(f32, [*shape[:dim], *factors, *shape[dim + 1 :]]))


def read(function: FuncOp) -> Piece:
    operators = [op for op in function.body.block.ops if op.results]
    return read_piece(operators, returned(function))


def agrees(function: FuncOp, piece: Piece, seed: int) -> bool:
    """Whether the program computes what the function does, on normal inputs."""
    random = np.random.default_rng(seed)
    arguments = function.body.block.args
    inputs = [
        random.standard_normal(kernel.shape_of(argument)).astype(np.float32).astype(np.float64)
        for argument in arguments
    ]
    wanted = run_function(function, inputs, rounding=False)
    known: dict[SSAValue, Array] = dict(zip(arguments, inputs, strict=True))
    parts = [viewed(known[piece.values[view.argument]], view) for view in piece.views]
    made = computed(piece.program, parts)
    got = [
        joined(result, made, parts, want.size)
        for result, want in zip(piece.joined, wanted, strict=True)
    ]
    for value, part in zip(piece.arguments, parts, strict=True):
        assert kernel.shape_of(value) == part.shape
    return all(
        a.size == b.size and np.allclose(a.ravel(), b.ravel(), rtol=1e-6, atol=1e-6)
        for a, b in zip(wanted, got, strict=True)
    )


def joined(
    result: JoinedResult, outputs: Sequence[Array], arguments: Sequence[Array], size: int
) -> Array:
    """A result out of its parts, `size` elements in all."""
    arrays = [(arguments if part.passed else outputs)[part.number] for part in result.parts]
    if len(arrays) == 1:
        return arrays[0]
    outer = size // sum(part.size for part in result.parts) // result.inner
    pairs = zip(arrays, result.parts, strict=True)
    return np.concatenate([a.reshape(outer, p.size, result.inner) for a, p in pairs], axis=1)


@pytest.mark.parametrize("maker", [FunctionMaker, ViewMaker])
def test_random_functions(maker: type[FunctionMaker]) -> None:
    """Most can be read, and what is read computes the same."""
    expressed = 0
    for seed in SEEDS:
        function = maker(seed).make(operators=6)
        try:
            piece = read(function)
        except (UnsupportedError, RolesError):
            continue
        assert agrees(function, piece, seed), f"seed {seed}:\n{function}"
        expressed += 1
    assert expressed > len(SEEDS) / 2


def test_long_chain() -> None:
    """A function of thousands of operators is too large for a piece, and no worse than that."""
    block = Block(arg_types=[TensorType(f32, [8, 64]), TensorType(f32, [64, 64])])
    value: SSAValue = block.args[0]
    weights = block.args[1]
    for _ in range(1500):
        op = kernel.MatmulOp(value, weights)
        block.add_op(op)
        value = op.result
    block.add_op(ReturnOp(value))
    types = [argument.type for argument in block.args], [value.type]
    with pytest.raises(RolesError, match="computes 1502 tensors"):
        read(FuncOp("chain", types, Region(block)))
