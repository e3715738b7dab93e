"""Programs from files as cases, and as PyTorch."""

from pathlib import Path

import pytest
from kernels.case import Case
from kernels.lines import left_out, line, met
from kernels.programs import case_named
from kernels.workload_files import cases_in
from peers.from_program import NoTorch, has_attention, torch_text
from peers.peer import Setting, prepared
from peers.side_by_side import together
from peers.table import joined_products
from xdsl.dialects.func import FuncOp

from mirage_mlir.driver.source import functions, parse_program

WORKLOADS = Path(__file__).parents[1] / "workloads"
REGIMES = Path(__file__).parents[2] / "benchmarks" / "kernels" / "regimes"

MIXED = """
func.func @mixed(%x: tensor<8x16xf16>, %w: tensor<16x4xf16> {kernel.constant}) -> tensor<8x4xf32> {
  %0 = kernel.matmul %x, %w : (tensor<8x16xf16>, tensor<16x4xf16>) -> tensor<8x4xf32>
  func.return %0 : tensor<8x4xf32>
}
func.func @views(%x: tensor<6x4xf32>) -> (tensor<4x3xf32>, tensor<6x4xf32>) {
  %0 = kernel.slice %x {offsets = array<i64: 1, 0>, sizes = array<i64: 3, 4>,
    strides = array<i64: 2, 1>} : (tensor<6x4xf32>) -> tensor<3x4xf32>
  %1 = kernel.transpose %0 {permutation = array<i64: 1, 0>}
    : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %2 = kernel.clamp %x {min = -1.0 : f32, max = 2.0 : f32} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  func.return %1, %2 : tensor<4x3xf32>, tensor<6x4xf32>
}
"""


def function_in(text: str, number: int = 0) -> FuncOp:
    return functions(parse_program(text, "test"))[number]


def test_cases(tmp_path: Path) -> None:
    (tmp_path / "good.mlir").write_text(MIXED)
    (tmp_path / "bad.mlir").write_text("func.func @bad(%x: tensor<2xf16>) { kernel.nothing }")
    (mixed, views), problems = cases_in([tmp_path])
    assert len(problems) == 1
    assert problems[0].startswith(f"{tmp_path}/bad.mlir: ")
    assert mixed.name == "good mixed f16"
    assert mixed.bytes == 2 * (8 * 16 + 16 * 4) + 4 * 8 * 4
    assert mixed.flops == 2 * 8 * 4 * 16
    assert [given.constant for given in mixed.inputs] == [False, True]
    assert mixed.inputs[1].spread == 0.25
    assert mixed.output_types == ("f32",)
    assert views.dtype == "f32"
    assert views.outputs == ((4, 3), (6, 4))
    # In another process, the key must do.
    assert case_named(views.key) == views
    assert list(functions(parse_program(views.text(), "case"))[0].body.block.args)


def test_there_is_no_bar() -> None:
    (case,), _ = cases_in([WORKLOADS / "linear.mlir"])
    row = {
        "program": case.program,
        "label": case.label,
        "dtype": case.dtype,
        "microseconds": {"mirage": 20.0, "eager": 10.0},
        "best_peer": "eager",
        "ratio": 2.0,
        "must": case.bar.must,
        "aim": case.bar.aim,
        "floor_us": 1.0,
        "errors": {"mirage": 2e-4},
    }
    assert met(row, "must")
    assert "MISSED" not in line(row)
    assert not met(row | {"ratio": None}, "must")


def test_what_is_not_timed_is_said() -> None:
    row = {
        "microseconds": {"mirage": 20.0, "eager": 10.0},
        "errors": {"mirage": 2e-4, "eager": 2e-4, "library": 0.5, "other": float("nan")},
        "problems": {"third": "no kernel"},
    }
    assert left_out(row) == [
        "  ! library: wrong, error 5.0e-01",
        "  ! other: wrong, error nan",
        "  ! third: no kernel",
    ]


def test_as_pytorch() -> None:
    assert torch_text(function_in(MIXED)) == (
        "def program(a0, a1):\n    v0 = torch.matmul(a0, a1).to(torch.float32)\n    return v0\n"
    )
    assert torch_text(function_in(MIXED), wide=True) == (
        "def program(a0, a1):\n    v0 = torch.matmul(a0, a1)\n    return v0\n"
    )
    assert torch_text(function_in(MIXED, 1)) == (
        "def program(a0):\n"
        "    v0 = a0[1:6:2, 0:4:1]\n"
        "    v1 = v0.permute((1, 0))\n"
        "    v2 = torch.clamp(a0, -1.0, 2.0)\n"
        "    return v1.contiguous(), v2\n"
    )


def test_choices_as_pytorch() -> None:
    kind = "tensor<4x8xf32>"
    pair = f"({kind}, {kind}) -> {kind}"
    text = f"""
func.func @f(%a: {kind}, %b: {kind}) -> {kind} {{
  %n = kernel.neg %a : ({kind}) -> {kind}
  %c = kernel.compare %n, %b {{predicate = "le"}} : {pair}
  %m = kernel.min %a, %b : {pair}
  %s = kernel.select %c, %m, %b : ({kind}, {kind}, {kind}) -> {kind}
  func.return %s : {kind}
}}
"""
    assert torch_text(function_in(text)) == (
        "def program(a0, a1):\n"
        "    v0 = torch.neg(a0)\n"
        "    v1 = torch.le(v0, a1).to(v0.dtype)\n"
        "    v2 = torch.minimum(a0, a1)\n"
        "    v3 = torch.where(v1 != 0, v2, a1)\n"
        "    return v3\n"
    )


def test_attention_as_one_call() -> None:
    function = function_in((WORKLOADS / "attention.mlir").read_text())
    assert has_attention(function)
    assert torch_text(function, sdpa=True) == (
        "def program(a0, a1, a2):\n"
        "    v2 = attention(a0[None], a1[None].transpose(-1, -2), "
        "a2[None], attn_mask=None, scale=1.0)[0]\n"
        "    return v2\n"
    )
    assert "torch.softmax(v0, 2)" in torch_text(function)
    assert not has_attention(function_in((WORKLOADS / "softmax.mlir").read_text()))


def test_masks_of_indices_are_made_once() -> None:
    plane = "tensor<4x4xf32>"
    text = f"""
func.func @f(%q: {plane}, %k: {plane}, %v: {plane}) -> {plane} {{
  %n = kernel.iota {{dim = 0 : i64}} : tensor<4xf32>
  %i = kernel.reshape %n : (tensor<4xf32>) -> tensor<4x1xf32>
  %j = kernel.reshape %n : (tensor<4xf32>) -> tensor<1x4xf32>
  %seen = kernel.compare %i, %j {{predicate = "PREDICATE"}}
    : (tensor<4x1xf32>, tensor<1x4xf32>) -> {plane}
  %s = kernel.matmul %q, %k : ({plane}, {plane}) -> {plane}
  %low = kernel.constant {{value = 0xff800000 : f32}} : tensor<1x1xf32>
  %m = kernel.select %seen, %s, %low : ({plane}, {plane}, tensor<1x1xf32>) -> {plane}
  %p = kernel.softmax %m {{dim = 1 : i64}} : ({plane}) -> {plane}
  %y = kernel.matmul %p, %v : ({plane}, {plane}) -> {plane}
  func.return %y : {plane}
}}
"""
    causal = function_in(text.replace("PREDICATE", "ge"))
    call = "attention(a0[None][None], a1[None][None].transpose(-1, -2), a2[None][None], "
    assert torch_text(causal, sdpa=True) == (
        "def program(a0, a1, a2):\n"
        f"    v8 = {call}attn_mask=None, is_causal=True, scale=1.0)[0][0]\n"
        "    return v8\n"
    )
    # Each query sees those behind it, too.
    other = function_in(text.replace("PREDICATE", "le"))
    before, _, inside = torch_text(other, sdpa=True).partition("def program")
    assert "v3 = torch.le(v1, v2).to(v1.dtype)\nv3m = v3 != 0\n" in before
    assert f"    v8 = {call}attn_mask=v3m[None][None], scale=1.0)[0][0]\n" in inside
    before, _, inside = torch_text(other).partition("def program")
    assert "v3 = torch.le" in before
    assert "    v6 = torch.where(v3 != 0, v4, v5)\n" in inside


def test_products_of_one_input_side_by_side() -> None:
    text = (REGIMES / "projections.mlir").read_text()
    twin, groups = together(function_in(text))
    assert groups == [[2, 3, 4]]
    assert torch_text(twin, views=True) == (
        "def program(a0, a1, a2, a3, a4, a5):\n"
        "    v0 = functional.rms_norm(a0, (4096,), a1, 1e-05)\n"
        "    v1 = torch.matmul(v0, a5)\n"
        "    v2 = v1[0:1:1, 0:4096:1]\n"
        "    v3 = v1[0:1:1, 4096:5120:1]\n"
        "    v4 = v1[0:1:1, 5120:6144:1]\n"
        "    return v2, v3, v4\n"
    )
    assert together(function_in((WORKLOADS / "linear.mlir").read_text()))[1] == []


def test_products_side_by_side_are_right() -> None:
    torch = pytest.importorskip("torch")
    kind = "tensor<4x8xf32>"
    text = f"""
func.func @f(%x: {kind}, %a: tensor<8x6xf32>, %b: tensor<8x3xf32>)
    -> (tensor<4x6xf32>, tensor<4x3xf32>) {{
  %p = kernel.matmul %x, %a : ({kind}, tensor<8x6xf32>) -> tensor<4x6xf32>
  %q = kernel.matmul %x, %b : ({kind}, tensor<8x3xf32>) -> tensor<4x3xf32>
  %r = kernel.relu %q : (tensor<4x3xf32>) -> tensor<4x3xf32>
  func.return %p, %r : tensor<4x6xf32>, tensor<4x3xf32>
}}
"""
    (peer,) = joined_products(function_in(text))
    x, a, b = torch.randn(4, 8), torch.randn(8, 6), torch.randn(8, 3)
    (inputs,) = prepared(peer, [(x, a, b)])
    p, r = peer.build(Setting(torch, [inputs]))(*inputs)
    torch.testing.assert_close(p, x @ a)
    torch.testing.assert_close(r, torch.relu(x @ b))


def all_cases() -> list[Case]:
    return cases_in([WORKLOADS])[0]


def test_all_workloads_are_python() -> None:
    assert len(all_cases()) >= 38
    for case in all_cases():
        function = function_in(case.text())
        for wide in (False, True):
            compile(torch_text(function, wide=wide, sdpa=wide), case.name, "exec")


def test_what_is_no_operator() -> None:
    ugraphs = WORKLOADS.parent / "ugraphs" / "rmsnorm_linear.mlir"
    with pytest.raises(NoTorch, match="graph_defined"):
        torch_text(functions(parse_program(ugraphs.read_text(), "ugraph"))[-1])
