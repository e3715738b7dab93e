"""The configurations of one kernel."""

from dataclasses import replace

from search_programs import attention, rmsnorm_linear, two_products

from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Kind, Node, Output, Program
from mirage_mlir.search.saturation.config import (
    LONGEST_ROW,
    Configuration,
    one_kernel_configurations,
)


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


def test_of_open_sums_some_may_lack_an_axis_of_the_grid() -> None:
    """All blocks along it store the same of the others."""
    b = ProgramBuilder()
    x = b.input((16, 4096))
    b.output(b.matmul(x, b.input((4096, 512))))
    b.output(b.reduce(Kind.REDUCE_SUM, x, (1,)))
    program = resolve(b)
    outputs = tuple(replace(output, partial=("j",)) for output in program.outputs)
    found = list(one_kernel_configurations(replace(program, outputs=outputs)))
    assert ("k", "j") in {configuration.grid for configuration in found}


def test_rows_longer_than_a_block_holds_are_in_clusters() -> None:
    for columns, clusters in ((LONGEST_ROW, []), (LONGEST_ROW + 1, [("j",)])):
        b = ProgramBuilder()
        x = b.input((16, columns))
        b.output(b.binary(Kind.MUL, x, b.reduce(Kind.REDUCE_SUM, x, (1,))))
        found = [one for one in one_kernel_configurations(resolve(b)) if one.cluster]
        assert [one.cluster for one in found] == clusters
        assert all(one.grid == ("i",) and not one.loop for one in found)


def test_nothing_that_no_sum_joins_is_in_clusters() -> None:
    """Blocks do without each other where nothing is summed, and products have loops."""
    b = ProgramBuilder()
    x = b.input((16, 2 * LONGEST_ROW))
    b.output(b.binary(Kind.MUL, x, x))
    assert not any(one.cluster for one in one_kernel_configurations(resolve(b)))
    b = ProgramBuilder()
    b.output(b.matmul(b.input((16, 64)), b.input((64, 2 * LONGEST_ROW))))
    assert not any(one.cluster for one in one_kernel_configurations(resolve(b)))


def test_two_outputs_with_one_loop() -> None:
    found = list(one_kernel_configurations(resolve(two_products())))
    assert Configuration(("k",), ("j",)) in found


def test_rows_of_several_inputs_and_an_output_without_columns_are_in_clusters() -> None:
    """A block has room for half of each of two rows; all blocks of a cluster have a row's sum."""
    b = ProgramBuilder()
    x, y = (b.input((8, LONGEST_ROW // 2 + 1)) for _ in range(2))
    product = b.binary(Kind.MUL, x, y)
    b.output(b.reduce(Kind.REDUCE_SUM, product, (1,)))
    b.output(product)
    found = [one for one in one_kernel_configurations(resolve(b)) if one.cluster]
    assert found == [Configuration(("i",), cluster=("j",))]


def test_carried_axes_that_are_summed_are_looped_over() -> None:
    """A block takes one index in each iteration."""
    b = ProgramBuilder()
    product = b.matmul(b.input((4, 16, 16)), b.input((4, 16, 16)))
    b.output(b.reduce(Kind.REDUCE_SUM, product, (0,)))
    found = list(one_kernel_configurations(resolve(b)))
    assert found
    assert all("i" in configuration.loop for configuration in found)
    assert all("i" in configuration.single for configuration in found)


def test_two_loops_over_axes_that_are_summed_together() -> None:
    b = ProgramBuilder()
    b.output(b.reduce(Kind.REDUCE_SUM, b.input((4, 16, 16), strides=(1, 4, 64)), (0, 2)))
    found = list(one_kernel_configurations(resolve(b)))
    assert Configuration(("j",), ("i", "k")) in found


def test_open_sums_are_on_the_grid() -> None:
    program = resolve(rmsnorm_linear())
    outputs = tuple(replace(output, partial=("j",)) for output in program.outputs)
    found = list(one_kernel_configurations(replace(program, outputs=outputs)))
    assert found
    assert all("j" in configuration.grid for configuration in found)


def test_one_side_of_a_product_has_one_axis() -> None:
    """Of two that an operand has for itself, one takes one index in some configurations."""
    nodes = (
        Node(Kind.INPUT, (), ("g", "s", "k"), "q"),
        Node(Kind.INPUT, (), ("k", "n"), "w"),
        Node(Kind.MATMUL, (0, 1), ("g", "s", "n"), reduced=("k",)),
    )
    sizes = {"g": 8, "s": 64, "k": 128, "n": 256}
    outputs = (Output(2, nodes[2].axes, "f16"),)
    program = Program(nodes, (), outputs, sizes, frozenset(), "f16")
    found = list(one_kernel_configurations(program))
    assert {configuration.single for configuration in found} == {(), ("g",), ("s",), ("g", "s")}
