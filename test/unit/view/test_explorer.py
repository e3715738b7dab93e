"""What Model Explorer is given, and the command around it."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from mirage_mlir.view import explorer
from mirage_mlir.view.compose import scene_of
from mirage_mlir.view.explorer import graphs_json, has_explorer, node_data
from mirage_mlir.view.facts import MODELLED
from mirage_mlir.view.source import Seen
from mirage_mlir.view_main import main

UGRAPH = Path(__file__).parents[2] / "ugraphs" / "rmsnorm_linear.mlir"

installed = pytest.mark.skipif(not has_explorer(), reason="no Model Explorer")


def graph_of(text: str) -> dict[str, Any]:
    (collection,) = json.loads(text)
    (graph,) = collection["graphs"]
    return graph


@installed
def test_layers_are_namespaces_and_edges_have_shapes(searched: Seen) -> None:
    scene = scene_of(searched, "H200", threads=True)
    text = graphs_json("f", [scene])
    assert text == graphs_json("f", [scene_of(searched, "H200", threads=True)])
    graph = graph_of(text)
    nodes = {node["id"]: node for node in graph["nodes"]}
    spaces = {node["namespace"] for node in nodes.values()}
    kernel = "uGraph for sm_90a/f_kernel_0"
    assert {"program", kernel, f"{kernel}/thread graph 0"} <= spaces
    for node in nodes.values():
        for edge in node["incomingEdges"]:
            outputs = nodes[edge["sourceNodeId"]]["outputsMetadata"]
            (shape,) = outputs[int(edge["sourceNodeOutputId"])]["attrs"]
            assert shape["key"] == "tensor_shape"
            assert shape["value"]
    assert graph["groupNodeAttributes"][kernel]["limited by"]
    heads = [node for node in nodes.values() if node["config"]["pinToGroupTop"]]
    links = [attr["value"] for attr in heads[0]["attrs"] if attr["key"] == "computes"]
    assert all(nodes[each]["namespace"] == "program" for each in links[0]["nodeIds"])


@installed
def test_numbers_are_node_data(searched: Seen) -> None:
    scene = scene_of(searched, "H200", threads=True)
    data = node_data([scene])
    assert list(data)[-1] == MODELLED
    given = json.loads(data[MODELLED].to_json_string())["f"]["results"]
    assert {node: each["value"] for node, each in given.items()} == scene.numbers[MODELLED]


@installed
def test_the_server_is_asked_to_open_kernels(
    searched: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: dict[str, Any] = {}

    def start(config: Any, **options: Any) -> None:
        given.update(options, address=config.to_url_param_value())

    monkeypatch.setattr("model_explorer.apis.visualize_from_config", start)
    scene = scene_of(searched, "H200", threads=True)
    explorer.serve("f", [scene], port=8123, browser=False)
    assert given["port"] == 8123
    assert given["no_open_in_browser"] is True
    from urllib.parse import unquote

    (state,) = json.loads(unquote(given["address"]))["uiState"]["paneStates"]
    assert state["deepestExpandedGroupNodeIds"][0] == "program___group___"
    assert state["selectedGraphId"] == "f"


@installed
def test_it_is_an_adapter_of_model_explorer() -> None:
    from mirage_mlir.view.adapter import MirageAdapter

    assert "mlir" in MirageAdapter.metadata.fileExts
    graphs = MirageAdapter().convert(str(UGRAPH), {})["graphs"]
    assert [graph.id for graph in graphs] == ["reference", "ugraph"]


def test_pictures_and_graphs_are_written(tmp_path: Path) -> None:
    picture, graphs = tmp_path / "u.svg", tmp_path / "u.json"
    arguments = [str(UGRAPH), "--function=ugraph", "--as-written"]
    assert main([*arguments, f"--svg={picture}"]) == 0
    assert picture.read_text().startswith("<svg")
    assert main([*arguments, f"--json={graphs}"]) == 0
    assert graph_of(graphs.read_text())["id"] == "ugraph"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("f.mlir", "func.func @f() {\n  %x = kernel.nothing\n}", ":2:8: error: "),
        (
            "f.mlir",
            "func.func @f(%x: tensor<4x8xf16>) -> tensor<4x9xf16> {\n"
            "  %y = kernel.exp %x : (tensor<4x8xf16>) -> tensor<4x9xf16>\n"
            "  func.return %y : tensor<4x9xf16>\n}",
            ":2:",
        ),
        ("f.mirage", "no archive", "cannot be loaded: "),
        ("f.mlir", "", "the program has no function with a body"),
    ],
)
def test_bad_input_is_told_with_its_place(
    name: str, text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert main([str(file), f"--svg={tmp_path / 'f.svg'}"]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "f.svg").exists()


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none.mlir"), "--json=none.json"]) == 1
    assert "mirage-view: error: cannot open" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--target=H900"], "H900"),
        (["--svg=/nowhere/f.svg"], "there is no such folder"),
        (["--svg=/"], "cannot write '/': it is a folder"),
        (["--port=0"], "--port is from 1 to 65535, not 0"),
        (["--port=65536"], "--port is from 1 to 65535, not 65536"),
    ],
)
def test_a_bad_command_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(UGRAPH), *arguments]) == 2
    assert message in capsys.readouterr().err


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(explorer, "has_explorer", lambda: False)
    assert main([str(UGRAPH)]) == 2
    assert "pip install 'mirage_mlir[view]'" in capsys.readouterr().err
    with pytest.raises(explorer.NoExplorer, match=r"mirage_mlir\[view\]"):
        node_data([])


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    """Help needs no compiler, and pictures no Model Explorer."""
    import subprocess

    code = (
        "import sys, mirage_mlir.view.dot, mirage_mlir.view_main, mirage_mlir.runtime.kernel\n"
        "assert not {'xdsl'} & set(sys.modules)\n"
        "assert not {'model_explorer', 'pygraphviz', 'flask', 'nvtx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
