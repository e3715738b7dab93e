"""Kernels that share a launch share its name, and are told apart wherever they are shown."""

import pytest

from mirage_mlir.driver.explain import ChosenFunction, explanation_text
from mirage_mlir.driver.explain_page import explanation_page
from mirage_mlir.driver.options import Options
from mirage_mlir.view.compose import scene_of
from mirage_mlir.view.facts import MODELLED
from mirage_mlir.view.scene import SceneKind
from mirage_mlir.view.source import Seen, seen_in_text

PROGRAM = """
func.func @h(%x: tensor<16x256xf16>, %a: tensor<256x256xf16>, %b: tensor<256x64xf16>)
    -> (tensor<16x256xf16>, tensor<16x64xf16>) {
  %y = kernel.rms_norm %x {eps = 1.0e-05 : f32} : (tensor<16x256xf16>) -> tensor<16x256xf16>
  %o = kernel.matmul %y, %a : (tensor<16x256xf16>, tensor<256x256xf16>) -> tensor<16x256xf16>
  %p = kernel.matmul %y, %b : (tensor<16x256xf16>, tensor<256x64xf16>) -> tensor<16x64xf16>
  func.return %o, %p : tensor<16x256xf16>, tensor<16x64xf16>
}
"""


@pytest.fixture(scope="module")
def seen() -> Seen:
    (found,) = seen_in_text(PROGRAM, "h.mlir", Options(chips=("sm_90a",)), search=True)
    return found


@pytest.fixture(scope="module")
def chosen(seen: Seen) -> ChosenFunction:
    found = seen.results[0].chosen
    assert found is not None
    assert [kernel.name for kernel in found.kernels] == ["h_kernel_0"] * 2
    return found


def test_text_and_page_say_which_kernels_share_a_launch(chosen: ChosenFunction) -> None:
    blocks = {kernel.sharing.blocks for kernel in chosen.kernels}
    (together,) = blocks
    text, page = explanation_text({"sm_90a": chosen}), explanation_page({"h": {"sm_90a": chosen}})
    for said in (text, page):
        assert "2 kernels in 1 launch, modelled" in said
        assert said.count(f"one launch with 1 other kernel, {together} blocks together") == 2
        assert "h_kernel_0 (1 of 2)" in said
        assert "h_kernel_0 (2 of 2)" in said


def test_each_kernel_is_a_layer_with_its_own_numbers(seen: Seen, chosen: ChosenFunction) -> None:
    scene = scene_of(seen, "H200", threads=True)
    heads = [node for node in scene.nodes if node.kind is SceneKind.KERNEL]
    layers = [head.layer for head in heads]
    assert [layer[-1] for layer in layers] == ["h_kernel_0 (1 of 2)", "h_kernel_0 (2 of 2)"]
    for layer, kernel in zip(layers, chosen.kernels, strict=True):
        assert kernel.model is not None
        assert scene.layers[layer]["kernel"] == kernel.title
        assert f"{kernel.model.seconds * 1e6:.2f} us" in scene.layers[layer]["modelled"]
    assert len(scene.numbers[MODELLED]) == 2
