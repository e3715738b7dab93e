"""Compiling one function: what it leaves alone, and that it gives the same bytes again."""

from pathlib import Path

import pytest
from ugraph_programs import path_of

from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import parse_program


def text_of(name: str) -> str:
    """A uGraph written by hand."""
    return Path(path_of(name)).read_text()


@pytest.mark.parametrize(("target", "chip"), [("A100", "sm_80"), ("H200", "sm_90a")])
def test_a_gpu_stands_for_its_chip(target: str, chip: str) -> None:
    compiled = compile_function(parse_program(text_of("lora"), "lora.mlir"), "ugraph", target)
    assert compiled.code.target == chip
    assert f".target {chip}" in compiled.ptx
    for launch in compiled.code.launches:
        assert f".entry {launch.kernel}(" in compiled.ptx
        arguments = [argument for argument in launch.arguments if argument.kind != "map"]
        assert [str(argument) for argument in arguments] == [
            "input:0",
            "input:1",
            "input:2",
            "input:3",
            "output:0",
        ]
    assert [spec.name for spec in compiled.inputs] == ["x", "w", "a", "b"]
    assert [spec.constant for spec in compiled.inputs] == [False, True, True, True]


def test_the_module_is_left_as_it_was() -> None:
    module = parse_program(text_of("lora"), "lora.mlir")
    before = str(module)
    compile_function(module, "ugraph", "sm_80")
    assert str(module) == before


def test_compiling_twice_gives_the_same_bytes() -> None:
    first, second = (
        compile_function(
            parse_program(text_of("rmsnorm_linear"), "rmsnorm_linear.mlir"), "ugraph", "sm_90a"
        )
        for _ in range(2)
    )
    assert first.ptx == second.ptx
    assert first.code.cubin == second.code.cubin


def test_a_function_that_is_not_there() -> None:
    module = parse_program("func.func private @f()", "f.mlir")
    with pytest.raises(ValueError, match="no function 'f'; it has none"):
        compile_function(module, "f", "sm_80")


def test_packed_constants() -> None:
    module = parse_program(text_of("rmsnorm_linear"), "rmsnorm_linear.mlir")
    plain, packed = (
        compile_function(module, "ugraph", "sm_90a", pack=pack).code for pack in (False, True)
    )
    assert (plain.packed, [str(each.tensor) for each in packed.packed]) == ((), ["input:1"])
    assert [str(each.tensor) for each in plain.tensor_maps] == ["input:0", "input:1"]
    assert [str(each.tensor) for each in packed.tensor_maps] == ["input:0", "packed:0"]
    # Nothing copies tensors there.
    assert compile_function(module, "ugraph", "sm_80", pack=True).code.packed == ()
