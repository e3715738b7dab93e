"""`--explain-html`: one page with all that `--explain` says, and what was timed."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from mirage_mlir.driver.choose import TimedCandidate
from mirage_mlir.driver.explain import ChosenFunction, kernel_lines
from mirage_mlir.driver.explain_page import explanation_page
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.roofline import roofline_svg
from mirage_mlir.driver.source import parse_program
from mirage_mlir.driver.superoptimize import superoptimize_function

PROGRAM = """
func.func @f(%x: tensor<16x256xf16>, %w: tensor<256x512xf16>) -> tensor<16x512xf16> {
  %o = kernel.matmul %x, %w : (tensor<16x256xf16>, tensor<256x512xf16>) -> tensor<16x512xf16>
  func.return %o : tensor<16x512xf16>
}
"""

WITHOUT_END = {"meta", "!doctype"}


class Page(HTMLParser):
    """Collects text, and checks that elements end in the order in which they began."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.said = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert not {name for name, _ in attrs} & {"src", "href", "onclick"}
        if tag not in WITHOUT_END:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.said += data


@pytest.fixture(scope="module")
def chosen() -> ChosenFunction:
    module = parse_program(PROGRAM, "f.mlir")
    found = superoptimize_function(module, "f", Options(chips=("sm_90a",)))
    return found.explanations["sm_90a"]


def test_a_page_has_what_the_text_has(chosen: ChosenFunction) -> None:
    page = explanation_page({"f": {"sm_90a": chosen}})
    said = Page(page).said
    assert "@f for sm_90a" in said
    for kernel in chosen.kernels:
        assert "\n".join(kernel_lines(kernel, "sm_90a")) in said
        assert kernel.model is not None
        for unit, seconds in kernel.model.units.items():
            if seconds > 0.005e-6:
                assert f"{unit}{seconds * 1e6:.2f} us" in said
    assert chosen.verdict in said
    for one in chosen.contests[0].runners_up:
        assert one.structure in said
    assert set(re.findall(r"https?://[^\s\"]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert page == explanation_page({"f": {"sm_90a": chosen}})


def test_the_roofline_is_that_of_the_model(chosen: ChosenFunction) -> None:
    model = chosen.kernels[0].model
    assert model is not None
    assert model.matmul_operations == 2 * 16 * 256 * 512
    picture = roofline_svg(model, "sm_90a")
    assert f"{model.matmul_operations / model.dram_bytes:.1f} FLOP/byte" in picture
    assert roofline_svg(replace(model, matmul_operations=0), "sm_90a") == ""


def test_what_was_timed_is_beside_the_model(chosen: ChosenFunction) -> None:
    timed = (
        TimedCandidate("grid(i)", 1, 2.0e-6, 3.0e-6, ""),
        TimedCandidate("grid(k)", 2, 1.0e-6, None, "is wrong on the GPU: error <1>"),
    )
    lines = ("timed on a <GPU>: 2 candidates, 1 right, in 0.1 s",)
    page = explanation_page({"f": {"sm_90a": replace(chosen, timed=timed, timing=lines)}})
    assert "grid(i)12.00 us3.00 us1.50" in Page(page).said.replace("\n", "")
    assert "grid(k)21.00 usis wrong on the GPU: error <1>" in Page(page).said.replace("\n", "")
    assert '<tr class="taken"><td>grid(i)' in page
    before = explanation_page({"f": {"sm_90a": replace(chosen, timing=lines)}})
    assert "timed on a <GPU>" in Page(before).said


def test_what_was_refused_is_said_with_its_reason(chosen: ChosenFunction) -> None:
    page = explanation_page({"f": {"sm_90a": replace(chosen, refused=("it <spills>",))}})
    assert "it <spills>" in Page(page).said


def test_without_a_search_there_is_nothing_to_explain() -> None:
    assert "nothing to explain" in Page(explanation_page({})).said
