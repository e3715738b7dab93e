"""Names that users choose, as symbols and as files."""

import re
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

import mirage_mlir as mi
from mirage_mlir.names import file_stem, symbol

ODD = ["a-b", "été", "1", "", "a b", 'a"b', "a\0b", "a.b", "../../x", ".hidden", "-o", "x" * 1000]


@given(st.text())
def test_symbols_and_files_are_what_tools_take(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_$]{0,150}", symbol(name))
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.$+-]{0,150}", file_stem(name))


def test_ordinary_names_stay() -> None:
    assert symbol("rmsnorm_linear__candidate_1") == "rmsnorm_linear__candidate_1"
    assert file_stem("rmsnorm-linear.v2") == "rmsnorm-linear.v2"


def test_different_names_stay_different() -> None:
    assert len(set(map(symbol, ODD))) == len(ODD)
    assert len(set(map(file_stem, ODD))) == len(ODD)


def test_a_kernel_keeps_the_name_of_its_graph(tmp_path: Path) -> None:
    graph = mi.new_kernel_graph("été")
    graph.mark_output(graph.relu(graph.new_input((64, 64))))
    kernel = graph.superoptimize(compile_for=("sm_80",), target="sm_80")
    kernel.save(tmp_path / "x.mirage")
    loaded = mi.load(tmp_path / "x.mirage")
    assert loaded.artifact.name == "été"
    assert loaded.report.startswith("@été\n")
    assert loaded.artifact.targets[0].launches[0].kernel.isascii()
