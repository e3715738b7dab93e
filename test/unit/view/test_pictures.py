"""Pictures: well-formed, the same each time, self-contained; and text where nothing draws."""

import re
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import mirage_mlir as mi
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.view import dot, notebook
from mirage_mlir.view.compose import scene_of
from mirage_mlir.view.dot import dot_text, has_graphviz, svg
from mirage_mlir.view.scene import Scene, SceneEdge, SceneKind, SceneNode
from mirage_mlir.view.source import Seen

SVG = "{http://www.w3.org/2000/svg}"
DOCS = Path(__file__).parents[3] / "docs" / "pictures"

draws = pytest.mark.skipif(not has_graphviz(), reason="no Graphviz")


def texts(picture: str) -> list[str]:
    """What is written in a picture, in no order: versions of Graphviz place it differently."""
    root = ElementTree.fromstring(picture)
    return sorted("".join(each.itertext()).strip() for each in root.iter(f"{SVG}text"))


def shown(value: object, form: str) -> Any:
    """What a notebook asks `value` for: `svg` or `html`."""
    return getattr(value, f"_repr_{form}_")()


@draws
def test_a_picture_is_well_formed_and_the_same_each_time(searched: Seen) -> None:
    picture = svg(scene_of(searched, "H200", threads=True))
    assert picture == svg(scene_of(searched, "H200", threads=True))
    assert picture.startswith("<svg")
    written = texts(picture)
    assert {"program", "rms_norm", "thread graph 0", "16x256xf16"} <= set(written)
    assert any(re.fullmatch(r"modelled [\d.]+ us, verified", text) for text in written)
    links = re.findall(r"https?://[^\s\"]+", picture)
    assert set(links) <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


@draws
def test_a_picture_that_takes_too_long(searched: Seen, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given up, and says what else there is."""
    monkeypatch.setattr(dot, "PATIENCE", 0.001)
    with pytest.raises(dot.NoGraphviz, match="did not draw it in 120 s: draw one function"):
        svg(scene_of(searched, "H200", threads=True))


def test_large_ones_are_drawn_in_haste() -> None:
    scene = Scene("f")
    for number in range(dot.MANY_NODES):
        scene.nodes.append(SceneNode(str(number), "relu", (), SceneKind.OPERATOR))
    assert dot.HASTE not in dot_text(scene)
    scene.nodes.append(SceneNode("one more", "relu", (), SceneKind.OPERATOR))
    assert dot.HASTE in dot_text(scene)


@draws
def test_names_are_quoted() -> None:
    hostile = 'a"]; b -> <c> & \\ {'
    nodes = [
        SceneNode("one", hostile, (), SceneKind.TENSOR, outputs=("4xf16",)),
        SceneNode("two", "x", (), SceneKind.OPERATOR, {}, (SceneEdge("one", 0, "4xf16"),)),
    ]
    assert hostile in texts(svg(Scene(hostile, nodes, {(): {}})))


@draws
@pytest.mark.parametrize("path", sorted(DOCS.glob("*.svg")), ids=lambda path: path.stem)
def test_pictures_of_the_documents_are_pictures(path: Path) -> None:
    assert texts(path.read_text())


@draws
def test_a_picture_of_the_documents_is_what_its_script_draws() -> None:
    from pictures import ugraph_picture

    assert texts((DOCS / "attention_split_kv.svg").read_text()) == texts(ugraph_picture())


@draws
def test_notebooks_show_graphs_and_kernels(artifact_of_f: bytes) -> None:
    graph = mi.new_kernel_graph("g")
    x = graph.new_input(dims=(4, 8), name="rows")
    assert shown(graph, "svg") is None
    assert "no output yet" in shown(graph, "html")
    graph.mark_output(graph.exp(x))
    assert {"%rows", "exp", "4x8xf16"} <= set(texts(shown(graph, "html")))
    kernel = mi.CompiledKernel(Artifact.from_bytes(artifact_of_f))
    assert {"rms_norm", "uGraph for sm_90a"} <= set(texts(shown(kernel, "html")))


def test_without_graphviz_notebooks_show_text(
    monkeypatch: pytest.MonkeyPatch, artifact_of_f: bytes
) -> None:
    for module in (dot, notebook):
        monkeypatch.setattr(module, "has_graphviz", lambda: False)
    kernel = mi.CompiledKernel(Artifact.from_bytes(artifact_of_f))
    assert shown(kernel, "svg") is None
    text = shown(kernel, "html")
    assert text.startswith("<pre>")
    assert kernel.ugraph in unescape(text)


def test_without_graphviz_drawing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(name: str) -> None:
        return None

    monkeypatch.setattr(dot, "which", nothing)
    monkeypatch.setattr(dot, "find_spec", nothing)
    assert not has_graphviz()
    with pytest.raises(dot.NoGraphviz, match=r"pip install 'mirage_mlir\[view\]'"):
        svg(Scene("f"))


def test_a_scene_as_text_nests_layers(searched: Seen) -> None:
    text = dot_text(scene_of(searched, "H200", threads=True))
    assert text.count("{") == text.count("}")
    assert 'subgraph "cluster uGraph for sm_90a/f_kernel_0/thread graph 0" {' in text
