"""
Scenes as pictures: Graphviz places nodes and edges, the result is one SVG that needs nothing else.

Graphviz is the program `dot`, or the library in the package pygraphviz.
"""

import re
import subprocess
from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from importlib.util import find_spec
from shutil import which
from typing import Any

from mirage_mlir.view.scene import Path, Scene, SceneKind, SceneNode
from mirage_mlir.worker import Worker, WorkerError

COLOURS = {
    SceneKind.TENSOR: "#e8eaed",
    SceneKind.OPERATOR: "#ffffff",
    SceneKind.LOAD: "#d2e3fc",
    SceneKind.ACCUMULATE: "#fde6b8",
    SceneKind.STORE: "#ceead6",
    SceneKind.KERNEL: "#f1e4fb",
}
LAYERS = ("#fafafa", "#f1f5fb", "#fbf6ec")
"""By depth, the last for all below."""

SHOWN = ("grid_map", "loop_map", "dims", "kind", "across", "factor", "eps", "value")
"""Attributes that a node shows below its name."""

PLAIN = {"kind": "sum"}
"""What most nodes have."""

FONT = "Helvetica,Arial,sans-serif"

MANY_NODES = 150
"""Above it edges are straight, and places found in fewer rounds: of a program of 300 operators
whose first input all read, Graphviz needs 8 s so, and over a minute otherwise."""

HASTE = ", splines=line, nslimit=1, nslimit1=1"

PATIENCE = 120.0
"""Seconds for a picture; one that takes longer would be too large to look at."""

NO_GRAPHVIZ = "pictures need Graphviz: pip install 'mirage_mlir[view]', or the program dot"


TOO_LARGE = (
    f"Graphviz did not draw it in {PATIENCE:.0f} s: draw one function (--function), or look at it "
    "in a browser"
)


class NoGraphviz(Exception):
    """There is nothing that draws."""


def has_graphviz() -> bool:
    """Whether pictures can be made here."""
    return which("dot") is not None or find_spec("pygraphviz") is not None


def svg(scene: Scene) -> str:
    """
    The picture; equal scenes have equal ones with one version of Graphviz.

    Raises:
        NoGraphviz: there is none, or it fails.
    """
    drawn = _draw(dot_text(scene))
    # What Graphviz says of itself and of XML before the root is not for a document of HTML.
    return re.sub(r"<!--.*?-->\n?", "", drawn[drawn.index("<svg") :], flags=re.DOTALL)


def _draw(text: str) -> str:
    if (program := which("dot")) is not None:
        try:
            done = subprocess.run(
                [program, "-Tsvg"],
                input=text.encode(),
                capture_output=True,
                check=False,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired as error:
            raise NoGraphviz(TOO_LARGE) from error
        if done.returncode:
            raise NoGraphviz(f"{program} failed: {done.stderr.decode(errors='replace').strip()}")
        return done.stdout.decode()
    if find_spec("pygraphviz") is None:
        raise NoGraphviz(NO_GRAPHVIZ)
    # In a process of its own, which can be ended.
    with closing(Worker()) as worker:
        try:
            return worker.call(PATIENCE, _drawn_by_library, text)
        except WorkerError as error:
            slow = "was not done" in str(error)
            raise NoGraphviz(TOO_LARGE if slow else f"Graphviz failed: {error}") from error


def _drawn_by_library(text: str) -> str:
    library: Any = import_module("pygraphviz")
    return library.AGraph(string=text).draw(format="svg", prog="dot").decode()


def dot_text(scene: Scene) -> str:
    """The scene in Graphviz's language."""
    numbers = {node.id: f"n{place}" for place, node in enumerate(scene.nodes)}
    haste = HASTE if len(scene.nodes) > MANY_NODES else ""
    lines = [
        f"digraph {_quoted(scene.name)} {{",
        f'  graph [fontname="{FONT}", fontsize=12, rankdir=TB, ranksep=0.35, nodesep=0.25{haste}];',
        f'  node [fontname="{FONT}", fontsize=11, shape=box, style="rounded,filled", '
        'color="#80868b", margin="0.12,0.05", height=0.3];',
        f'  edge [fontname="{FONT}", fontsize=9, color="#5f6368", fontcolor="#5f6368", '
        "arrowsize=0.6];",
        *(f"  {line}" for line in _layer(scene, (), numbers)),
    ]
    for node in scene.nodes:
        for edge in node.edges:
            label = _quoted(f" {edge.label} ")
            lines.append(f"  {numbers[edge.source]} -> {numbers[node.id]} [label={label}];")
    return "\n".join([*lines, "}"]) + "\n"


def _layer(scene: Scene, path: Path, numbers: dict[str, str]) -> Iterator[str]:
    """The nodes of a layer, and the layers in it, in the order in which they were added."""
    for node in scene.nodes:
        if node.layer == path and node.kind is not SceneKind.KERNEL:
            yield f'{numbers[node.id]} [label={_label(node)}, fillcolor="{COLOURS[node.kind]}"];'
    inner = [each for each in scene.layers if each[:-1] == path and each]
    for each in inner:
        yield f"subgraph {_quoted('cluster ' + '/'.join(each))} {{"
        colour = LAYERS[min(len(each), len(LAYERS)) - 1]
        # \l ends a line that starts at the left.
        title = _quoted(_title(scene, each)).replace("\\n", "\\l")
        yield f'  label={title}; labeljust=l; style="rounded,filled"; color="#bdc1c6";'
        yield f'  fillcolor="{colour}";'
        yield from (f"  {line}" for line in _layer(scene, each, numbers))
        yield "}"


def _title(scene: Scene, path: Path) -> str:
    """The name of a layer with its grid and its loop and, below, what is known of it."""
    about = scene.layers[path]
    sizes = [f"{name} {about[name]}" for name in ("grid", "loop", "cluster") if name in about]
    known = [about["verification"]] if "verification" in about else []
    if modelled := about.get("modelled"):
        known.insert(0, f"modelled {modelled.partition(' =')[0]}")
    if limit := about.get("limited by"):
        known.append(f"limited by {limit}")
    return "\n".join(filter(None, [", ".join([path[-1], *sizes]), ", ".join(known)])) + "\n"


def _label(node: SceneNode) -> str:
    rows = [node.label]
    if node.kind is not SceneKind.TENSOR:
        shown = {name: node.details[name] for name in SHOWN if name in node.details}
        rows += [f"{name} {text}" for name, text in shown.items() if PLAIN.get(name) != text]
    elif "constant" in node.details:
        rows.append("constant")
    return _quoted("\n".join(rows))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
