"""The text that goes to MLIR says all that the operation is."""

import pytest
from matmul_kernel import matmul_kernel
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr

from mirage_mlir.bridge.generic_form import generic_form
from mirage_mlir.driver.source import parse_program

PROGRAMS = {
    "constants": """
        func.func @f() -> (f32, f32, i32) {
          %a = arith.constant 0.0 : f32
          %b = arith.constant -0.0 : f32
          %c = arith.constant 7 : i32
          func.return %a, %b, %c : f32, f32, i32
        }
    """,
    "branches": """
        func.func @f(%x : i1, %y : i32) -> i32 {
          cf.cond_br %x, ^left(%y : i32), ^right
        ^left(%z : i32):
          cf.br ^right
        ^right:
          func.return %y : i32
        }
    """,
    "regions": """
        func.func @f(%x : i1, %y : i32)
            attributes {a.flag, a.list = [1 : i64, "text\\22", -0.0 : f32]} {
          %r, %s = scf.if %x -> (i32, i32) {
            scf.yield %y, %y : i32, i32
          } else {
            %t = arith.addi %y, %y : i32
            scf.yield %t, %y : i32, i32
          }
          func.return
        }
    """,
    "unknown operations": """
        func.func @f(%x : i32) -> i32 {
          %y = "llvm.intr.smin"(%x, %x) {a.flag} : (i32, i32) -> i32
          func.return %y : i32
        }
    """,
}


def again(module: ModuleOp) -> ModuleOp:
    """What its text says."""
    return parse_program(generic_form(module), "again.mlir")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_text_says_it_all(name: str) -> None:
    module = parse_program(PROGRAMS[name], "f.mlir")
    assert module.is_structurally_equivalent(again(module))
    for other in PROGRAMS.keys() - {name}:
        assert not module.is_structurally_equivalent(again(parse_program(PROGRAMS[other], "g")))


def test_a_kernel() -> None:
    module = ModuleOp([matmul_kernel()])
    assert module.is_structurally_equivalent(again(module))


def test_places() -> None:
    module = parse_program(PROGRAMS["regions"], "f.mlir")
    for line, op in enumerate(module.walk()):
        op.location = FileLineColLoc(StringAttr("g.mlir"), IntAttr(line), IntAttr(3))
    text = generic_form(module)
    assert [f'loc("g.mlir":{line}:3)' in text for line in range(7)] == [True] * 7
    # The flag has no value.
    assert '{"a.flag", "a.list" = [' in text


def test_the_same_text_each_time() -> None:
    texts = [generic_form(parse_program(PROGRAMS["regions"], "f.mlir")) for _ in range(2)]
    assert texts[0] == texts[1]
