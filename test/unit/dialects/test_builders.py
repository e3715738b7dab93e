"""Builders infer the types that verifiers expect, and reject what those reject."""

from collections.abc import Callable, Sequence

import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import Float16Type, Float32Type, TensorType, bf16, f16, f32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from mirage_mlir.dialects import kernel, thread, threadblock
from mirage_mlir.dialects.threadblock import Stage, TileType

Builder = Callable[[SSAValue], Operation]


def value(type_: Attribute) -> SSAValue:
    """A value of a given type."""
    return test.TestOp(result_types=[type_]).results[0]


def tensor(*shape: int, element_type: Float16Type | Float32Type = f16) -> TensorType[Attribute]:
    return TensorType(element_type, shape)


KERNEL_BUILDERS: Sequence[tuple[Builder, TensorType[Attribute]]] = [
    (lambda x: kernel.MatmulOp(x, value(tensor(8, 5))), tensor(2, 4, 5)),
    (lambda x: kernel.AddOp(x, value(tensor(3, 1, 1, 1))), tensor(3, 2, 4, 8)),
    (lambda x: kernel.ExpOp(x), tensor(2, 4, 8)),
    (lambda x: kernel.GeluOp(x, "tanh"), tensor(2, 4, 8)),
    (lambda x: kernel.ClampOp(x, 0, 1), tensor(2, 4, 8)),
    (lambda x: kernel.PowOp(x, 3), tensor(2, 4, 8)),
    (lambda x: kernel.ScaleOp(x, 0.5), tensor(2, 4, 8)),
    (lambda x: kernel.ReduceMeanOp(x, [0, 2]), tensor(1, 4, 1)),
    (lambda x: kernel.RmsNormOp(x, None, 1e-5), tensor(2, 4, 8)),
    (lambda x: kernel.RmsNormOp(x, value(tensor(8)), 1e-5), tensor(2, 4, 8)),
    (lambda x: kernel.LayerNormOp(x, None, None, 1e-5), tensor(2, 4, 8)),
    (lambda x: kernel.SoftmaxOp(x, 1), tensor(2, 4, 8)),
    (lambda x: kernel.TransposeOp(x, [2, 0, 1]), tensor(8, 2, 4)),
    (lambda x: kernel.RepeatOp(x, 1, 3), tensor(2, 12, 8)),
    (lambda x: kernel.RepeatInterleaveOp(x, 0, 3), tensor(6, 4, 8)),
    (lambda x: kernel.SliceOp(x, [1, 0, 0], [1, 2, 4], [1, 3, 2]), tensor(1, 2, 4)),
    (lambda x: kernel.ConcatOp([x, x, x], 1), tensor(2, 12, 8)),
]


@pytest.mark.parametrize(("build", "expected"), KERNEL_BUILDERS)
def test_kernel_types(build: Builder, expected: TensorType[Attribute]) -> None:
    op = build(value(tensor(2, 4, 8)))
    op.verify()
    assert op.results[0].type == expected


TILE_BUILDERS: Sequence[tuple[Builder, TileType]] = [
    (lambda x: threadblock.MatmulOp(x, value(TileType((8, 5), f16))), TileType((4, 5), f32)),
    (lambda x: threadblock.DivOp(x, value(TileType((4, 1), f32))), TileType((4, 8), f32)),
    (lambda x: threadblock.SiluOp(x), TileType((4, 8), f32)),
    (lambda x: threadblock.GeluOp(x), TileType((4, 8), f32)),
    (lambda x: threadblock.SquareOp(x, TileType((4, 8), bf16)), TileType((4, 8), bf16)),
    (lambda x: threadblock.ReduceMaxOp(x, [1]), TileType((4, 1), f32)),
    (lambda x: threadblock.TransposeOp(x, [1, 0]), TileType((8, 4), f16)),
    (lambda x: threadblock.ConcatOp([x, x], 1), TileType((4, 16), f16)),
    (lambda x: threadblock.BroadcastOp(x, TileType((2, 4, 8), f16)), TileType((2, 4, 8), f16)),
    (lambda x: threadblock.CastOp(x, TileType((4, 8), bf16)), TileType((4, 8), bf16)),
]


@pytest.mark.parametrize(("build", "expected"), TILE_BUILDERS)
def test_tile_types(build: Builder, expected: TileType) -> None:
    """Values are f32 inside a kernel; what only moves elements keeps their type."""
    op = build(value(TileType((4, 8), f16)))
    op.verify()
    assert op.results[0].type == expected


REJECTED: Sequence[tuple[Builder, str]] = [
    (lambda x: kernel.MatmulOp(x, x), "contracts lhs dim 2"),
    (lambda x: kernel.AddOp(x, value(tensor(3, 8))), "cannot broadcast"),
    (lambda x: kernel.ReduceSumOp(x, [3]), "no dim 3"),
    (lambda x: kernel.TransposeOp(x, [0, 1]), "permutes dims"),
    (lambda x: kernel.LayerNormOp(x, None, x, 1e-5), "only together with a weight"),
    (lambda x: kernel.ScaleOp(x, 1e60), "out of the range of f32"),
]


@pytest.mark.parametrize(("build", "message"), REJECTED)
def test_builders_reject(build: Builder, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build(value(tensor(2, 4, 8)))


def test_norm_parameters() -> None:
    x, w, b = value(tensor(4, 8)), value(tensor(8)), value(tensor(8))
    norm = kernel.LayerNormOp(x, w, b, 1e-5)
    assert (norm.input, norm.weight, norm.bias) == (x, w, b)
    assert kernel.LayerNormOp(x, w, None, 1e-5).bias is None
    assert kernel.RmsNormOp(x, None, 1e-5).weight is None


def column_sums(across: Sequence[int] = ()) -> kernel.GraphDefinedOp:
    """The sums of the columns of a 64x32 tensor, over a loop and, maybe, over blocks."""
    x = value(tensor(64, 32))
    body = Block(arg_types=[x.type])
    load = threadblock.LoadOp(body.args[0], [1, 0], [0], TileType((4, 8), f16))
    partial = threadblock.ReduceSumOp(load.result, [0])
    total = threadblock.AccumulateOp(partial.result, across=across)
    scaled = threadblock.ScaleOp(total.result, 0.5)
    store = threadblock.StoreOp(scaled.result, [1, -1 if across else 0])
    body.add_ops([load, partial, total, scaled, store])
    rows = 1 if across else 2
    result = tensor(rows, 32, element_type=f32)
    return kernel.GraphDefinedOp([x], [4, 2], [8], [result], Region(body), cluster=[1, 2])


@pytest.mark.parametrize("across", [(), (1,)])
def test_graph(across: Sequence[int]) -> None:
    graph = column_sums(across)
    graph.verify()
    assert graph.grid_sizes == (4, 2)
    assert graph.cluster_sizes == (1, 2)
    assert graph.loop_sizes == (8,)
    assert list(threadblock.stages(graph).values()) == [
        *(Stage.LOOP, Stage.LOOP),
        *(Stage.POST, Stage.POST),
    ]


def test_cyclic_graph() -> None:
    plain = column_sums()
    assert not plain.is_cyclic
    body = plain.detach_region(plain.body)
    types = [result.type for result in plain.outputs]
    graph = kernel.GraphDefinedOp(plain.inputs, [4, 2], [8], types, body, cyclic=True)
    graph.verify()
    assert graph.is_cyclic
    assert graph.clone().is_cyclic


def test_graph_without_loop() -> None:
    x = value(tensor(64, 32))
    body = Block(arg_types=[x.type])
    load = threadblock.LoadOp(body.args[0], [0], [], TileType((16, 32), f16))
    body.add_ops([load, threadblock.StoreOp(load.result, [0])])
    graph = kernel.GraphDefinedOp([x], [4], [], [x.type], Region(body))
    graph.verify()
    assert (graph.loop_sizes, graph.cluster_sizes) == ((), ())
    assert threadblock.stages(graph) == {load.result: Stage.INVARIANT}


def test_thread_graph() -> None:
    x = value(TileType((4, 8), f16))
    block = Block(arg_types=[f16])
    block.add_op(thread.StoreOp(block.args[0]))
    graph = thread.GraphOp([x], [x.type], Region(block))
    graph.verify()
    assert [store.value for store in graph.stores] == list(block.args)
