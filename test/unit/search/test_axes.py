"""Which dimensions of a program run together, and which are one."""

import pytest
from search_programs import attention, gram, linear_bias_gelu, rmsnorm_linear

from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind
from mirage_mlir.search.program.roles import RolesError


def test_matmul() -> None:
    """The contracted dimensions are one axis, the scalar has none."""
    program = resolve(rmsnorm_linear())
    assert program.sizes == {"i": 16, "j": 4096, "k": 6144}
    assert [tensor.axes for tensor in program.inputs] == [("i", "j"), ("j", "k")]
    assert [output.axes for output in program.outputs] == [("i", "k")]
    assert program.batch == frozenset()
    assert program.matrix_type == "f16"


def test_carried_along() -> None:
    """What a matmul carries along is not tiled; rows of all blocks are not rows of one."""
    program = resolve(attention())
    assert program.batch == {"i"}
    assert program.outputs[0].axes == ("i", "j", "m")


def test_size_one_has_no_axis() -> None:
    b = ProgramBuilder()
    x, w = b.input((1, 64)), b.input((64, 1))
    b.output(b.matmul(x, w))
    program = resolve(b)
    assert program.sizes == {"i": 64}
    assert program.outputs[0].axes == (None, None)


def test_outer_product() -> None:
    """A contraction of size 1 sums over nothing."""
    b = ProgramBuilder()
    b.output(b.matmul(b.input((8, 1)), b.input((1, 4))))
    (product,) = (n for n in resolve(b).nodes if n.kind is Kind.MATMUL)
    assert product.axes == ("i", "j")
    assert product.reduced == ()


def test_two_roles_are_split() -> None:
    """X Xᵀ reads X twice, each with axes of its own."""
    program = resolve(gram())
    assert [tensor.axes for tensor in program.inputs] == [("i", "j"), ("k", "j")]
    assert [tensor.argument for tensor in program.inputs] == [0, 0]
    names = [program.nodes[tensor.node].name for tensor in program.inputs]
    assert len(set(names)) == 2


def test_two_roles_of_a_computed_tensor() -> None:
    """What computes the tensor is done for both roles."""
    b = ProgramBuilder()
    x = b.function(Function("exp"), b.input((64, 32)))
    b.output(b.binary(Kind.ADD, b.matmul(x, b.transpose(x, (1, 0))), b.input((64, 64))))
    program = resolve(b)
    assert sum(node.kind is Kind.FUNCTION for node in program.nodes) == 2
    assert program.outputs[0].axes[0] != program.outputs[0].axes[1]


def test_leading_dimensions_are_merged() -> None:
    """Nothing tells (4, 4) rows from 16, and leading dimensions of size 1 go."""
    program = resolve(linear_bias_gelu())
    assert program.sizes == {"i": 16, "k": 1024, "l": 4096}
    assert [tensor.axes for tensor in program.inputs] == [("i", "k"), ("k", "l"), ("l",)]
    assert program.batch == frozenset()


def test_what_is_told_apart_is_not_merged() -> None:
    """A row vector of the inner dimension alone keeps both."""
    b = ProgramBuilder()
    b.output(b.binary(Kind.ADD, b.input((8, 16, 32)), b.input((16, 1))))
    assert resolve(b).sizes == {"i": 8, "j": 16, "k": 32}


@pytest.mark.parametrize(
    ("strides", "merged"), [((512, 32, 1), True), ((1024, 32, 1), False), ((32, 256, 1), False)]
)
def test_only_dense_neighbours_are_merged(strides: tuple[int, ...], merged: bool) -> None:
    """Merging is a reshape of a view: it must not need a copy."""
    b = ProgramBuilder()
    x = b.input((8, 16, 32), strides=strides)
    b.output(b.reduce(Kind.REDUCE_SUM, x, (2,)))
    assert resolve(b).sizes == ({"i": 128, "k": 32} if merged else {"i": 8, "j": 16, "k": 32})


def test_broadcast_result() -> None:
    """An axis that no input has is an axis of the result all the same."""
    b = ProgramBuilder()
    b.output(b.broadcast(b.input((1, 32)), (8, 32)))
    program = resolve(b)
    (output,) = program.outputs
    assert program.shape(output.axes) == (8, 32)
    assert program.inputs[0].axes == (None, output.axes[1])


def test_views_are_names() -> None:
    """A transpose or a dimension of size 1 put in between changes nothing but positions."""
    b = ProgramBuilder()
    x = b.function(Function("exp"), b.input((8, 32)))
    b.output(b.insert_units(b.transpose(x, (1, 0)), (32, 1, 8)))
    program = resolve(b)
    assert program.inputs[0].axes == ("i", "j")
    assert program.outputs[0].axes == ("j", None, "i")


def test_different_matrix_types() -> None:
    """Operands of two types can only be rounded to f32."""
    b = ProgramBuilder()
    x = b.matmul(b.input((16, 16)), b.input((16, 16)), "f16")
    b.output(b.matmul(x, b.input((16, 16)), "bf16"))
    assert resolve(b).matrix_type == "f32"


def residual_chain(links: int) -> ProgramBuilder:
    """Residual connections around one square matrix."""
    b = ProgramBuilder()
    x, w = b.input((8, 64)), b.input((64, 64))
    for _ in range(links):
        x = b.binary(Kind.ADD, x, b.function(Function("exp"), b.matmul(x, w)))
    b.output(x)
    return b


def test_residual_chain() -> None:
    """Every tensor of a chain has two roles, however long the chain is."""
    products = [
        sum(node.kind is Kind.MATMUL for node in resolve(residual_chain(links)).nodes)
        for links in (1, 2, 3, 12)
    ]
    assert products == [1, 3, 5, 23]


def test_too_large() -> None:
    with pytest.raises(RolesError, match="computes 1202 tensors"):
        resolve(residual_chain(400))
    with pytest.raises(RolesError, match="some for several roles"):
        resolve(residual_chain(60))
