"""The configurations of one kernel."""

from search_programs import attention, rmsnorm_linear, two_products

from mirage_mlir.search.axes import resolve
from mirage_mlir.search.builder import ProgramBuilder
from mirage_mlir.search.config import Configuration, one_kernel_configurations
from mirage_mlir.search.program import Kind


def test_all_of_rmsnorm_linear() -> None:
    """Axes of the output on the grid, others in the loop, each on its own or not at all."""
    found = list(one_kernel_configurations(resolve(rmsnorm_linear())))
    grids = [(), ("i",), ("k",), ("i", "k")]
    assert set(found) == {Configuration(g, loop) for g in grids for loop in [(), ("j",)]}
    assert len(found) == len(set(found))


def test_what_a_matmul_carries_is_on_the_grid() -> None:
    found = list(one_kernel_configurations(resolve(attention())))
    assert found
    assert all("i" in configuration.grid for configuration in found)
    assert all(len(configuration.grid) <= 3 for configuration in found)


def test_every_output_has_the_axes_of_the_grid() -> None:
    """A block must not compute a part of one output and all of another."""
    b = ProgramBuilder()
    x = b.input((64, 32))
    b.output(b.reduce(Kind.REDUCE_SUM, x, (1,)))
    b.output(b.binary(Kind.MUL, x, x))
    found = list(one_kernel_configurations(resolve(b)))
    assert {configuration.grid for configuration in found} == {(), ("i",)}
    # Both axes are axes of an output: none is looped over.
    assert {configuration.loop for configuration in found} == {()}


def test_two_outputs_with_one_loop() -> None:
    found = list(one_kernel_configurations(resolve(two_products())))
    assert Configuration(("k",), ("j",)) in found


def test_no_kernel_without_the_carried_axes() -> None:
    """What a matmul carries along and a sum removes can be on no grid."""
    b = ProgramBuilder()
    product = b.matmul(b.input((4, 16, 16)), b.input((4, 16, 16)))
    b.output(b.reduce(Kind.REDUCE_SUM, product, (0,)))
    assert list(one_kernel_configurations(resolve(b))) == []
