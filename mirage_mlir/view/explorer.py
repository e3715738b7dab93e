"""
Scenes in Google's Model Explorer: an adapter that builds graphs with its API, and its server.

Model Explorer's own adapter for MLIR knows upstream's dialects only. This one is an extension of
it, too: `model-explorer --extensions=mirage_mlir.view.adapter`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast
from urllib.parse import quote, unquote

from mirage_mlir.view.facts import MODELLED
from mirage_mlir.view.scene import PROGRAM, Scene, SceneKind, SceneNode
from mirage_mlir.view.scene import Path as Layers

COLOURS = {
    SceneKind.TENSOR: "#e8eaed",
    SceneKind.LOAD: "#d2e3fc",
    SceneKind.ACCUMULATE: "#fde6b8",
    SceneKind.STORE: "#ceead6",
    SceneKind.KERNEL: "#f1e4fb",
}

GRADIENT = ("#ffffff", "#f9ab00")
"""From the least to the largest number."""

SHAPES_SHOWN = b"""<script>
localStorage.getItem("KEY") ?? localStorage.setItem("KEY", '{"type": "Tensor shape"}');
</script>""".replace(b"KEY", b"model_explorer_show_on_edge_item_v3")
"""
Shows shapes on edges until the user chooses otherwise: a choice that Model Explorer keeps in the
browser, and has no other way to set.
"""

VERDICTS = {"verified": "#ceead6", "NOT VERIFIED": "#fad2cf"}

NO_EXPLORER = "the browser needs Model Explorer: pip install 'mirage_mlir[view]'"


class NoExplorer(Exception):
    """Model Explorer is not installed."""


def has_explorer() -> bool:
    """Whether Model Explorer is installed."""
    return find_spec("model_explorer") is not None


def _module(name: str) -> Any:
    if not has_explorer():
        raise NoExplorer(NO_EXPLORER)
    return import_module(f"model_explorer.{name}")


def graphs_of(scenes: Sequence[Scene]) -> list[Any]:
    """A `model_explorer.graph_builder.Graph` for each scene; raises `NoExplorer`."""
    builder = _module("graph_builder")
    return [_graph(builder, scene) for scene in scenes]


def _namespace(layer: Layers) -> str:
    return "/".join(name.replace("/", "_") for name in layer)


def _graph(builder: Any, scene: Scene) -> Any:
    return builder.Graph(
        id=scene.name,
        nodes=[_node(builder, scene, node) for node in scene.nodes],
        groupNodeAttributes={_namespace(layer): dict(about) for layer, about in _layers(scene)},
        # A thread graph of one operator is one nevertheless.
        layoutConfigs=builder.LayoutConfigs(keepLayersWithASingleChild=True),
    )


def _layers(scene: Scene) -> list[tuple[Layers, Mapping[str, str]]]:
    return [(layer, about) for layer, about in scene.layers.items() if about]


def _node(builder: Any, scene: Scene, node: SceneNode) -> Any:
    attributes = [builder.KeyValue(key, value) for key, value in node.details.items()]
    if node.related:
        links = builder.NodeIdsNodeAttributeValue(nodeIds=list(node.related))
        what = "computes" if node.kind is SceneKind.KERNEL else "became part of"
        attributes.append(builder.KeyValue(what, links))
    for meaning, values in scene.numbers.items():
        if node.id in values and meaning not in node.details:
            attributes.append(builder.KeyValue(meaning, str(values[node.id])))
    edges = [
        builder.IncomingEdge(edge.source, str(edge.output), str(number))
        for number, edge in enumerate(node.edges)
    ]
    outputs = [
        builder.MetadataItem(str(number), [builder.KeyValue("tensor_shape", text)])
        for number, text in enumerate(node.outputs)
    ]
    style = builder.GraphNodeStyle(backgroundColor=COLOURS.get(node.kind, ""))
    return builder.GraphNode(
        id=node.id,
        label=_label(node),
        namespace=_namespace(node.layer),
        attrs=attributes,
        incomingEdges=edges,
        outputsMetadata=outputs,
        style=style,
        config=builder.GraphNodeConfig(pinToGroupTop=node.kind is SceneKind.KERNEL),
    )


def _label(node: SceneNode) -> str:
    """A load or a store with its maps."""
    maps = [node.details[name] for name in ("grid_map", "loop_map") if name in node.details]
    return f"{node.label} {' '.join(maps)}" if maps else node.label


def collection(label: str, scenes: Sequence[Scene]) -> Any:
    """A `GraphCollection` of the scenes of one file; raises `NoExplorer`."""
    builder = _module("graph_builder")
    return builder.GraphCollection(label, graphs_of(scenes))


def graphs_json(label: str, scenes: Sequence[Scene]) -> str:
    """The same as JSON, which Model Explorer opens as a file; raises `NoExplorer`."""
    return json.dumps([_without_none(asdict(collection(label, scenes)))], indent=1) + "\n"


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast(dict[str, Any], value)
        return {key: _without_none(each) for key, each in fields.items() if each is not None}
    if isinstance(value, list):
        elements = cast(list[Any], value)
        return [_without_none(each) for each in elements]
    return value


def node_data(scenes: Sequence[Scene]) -> dict[str, Any]:
    """A `ModelNodeData` for each meaning of numbers; raises `NoExplorer`."""
    builder = _module("node_data_builder")
    found = dict.fromkeys(meaning for scene in scenes for meaning in scene.numbers)
    # The one that comes last is what nodes are coloured by at first.
    meanings = sorted(found, key=lambda meaning: meaning == MODELLED)
    return {
        meaning: builder.ModelNodeData(
            {
                scene.name: _graph_data(builder, meaning, scene.numbers[meaning])
                for scene in scenes
                if meaning in scene.numbers
            }
        )
        for meaning in meanings
    }


def _graph_data(builder: Any, meaning: str, values: Mapping[str, float | str]) -> Any:
    results = {
        node: builder.NodeDataResult(value, bgColor=VERDICTS.get(str(value)))
        for node, value in values.items()
    }
    words = any(isinstance(value, str) for value in values.values())
    stops = () if words else enumerate(GRADIENT)
    gradient = [builder.GradientItem(stop, colour) for stop, colour in stops]
    return builder.GraphNodeData(results, name=meaning, gradient=gradient)


def _config(label: str, scenes: Sequence[Scene]) -> Any:
    """
    What the server is to show.

    Graphs are handed over as `add_model_from_pytorch` does it: their source names their place in a
    list. The address has what is expanded and selected at first: the program and the kernels.
    """
    config = _module("config").ModelExplorerConfig()
    encoded = config.to_url_param_value

    def with_state() -> str:
        data = json.loads(unquote(encoded()))
        return quote(json.dumps({**data, "uiState": _first_state(label, scenes)}))

    config.to_url_param_value = with_state
    config.graphs_list.append({"graphs": graphs_of(scenes)})
    config.model_sources.append({"url": f"graphs://{label}/0"})
    for meaning, data in node_data(scenes).items():
        # The name is part of an address.
        config.add_node_data(meaning.replace("/", " of "), data)
    return config


def _first_state(label: str, scenes: Sequence[Scene]) -> dict[str, Any]:
    scene = scenes[0]
    heads = [node for node in scene.nodes if node.kind is SceneKind.KERNEL]
    # The program beside them, where there is one.
    layers = [(PROGRAM,)] * ((PROGRAM,) in scene.layers) + [node.layer for node in heads]
    opened = map(_namespace, layers)
    state = {
        "deepestExpandedGroupNodeIds": [f"{each}___group___" for each in opened],
        "selectedNodeId": heads[0].id if heads else "",
        "selectedGraphId": scene.name,
        "selectedCollectionLabel": label,
        "widthFraction": 1,
        "selected": True,
    }
    return {"paneStates": [state]}


def _show_shapes(app: object, response: Any) -> None:
    """Put the choice into the page that the server has just answered with."""
    if response.mimetype == "text/html" and response.status_code == 200:
        response.direct_passthrough = False
        response.set_data(response.get_data().replace(b"<head>", b"<head>" + SHAPES_SHOWN, 1))


def serve(label: str, scenes: Sequence[Scene], *, port: int, browser: bool) -> None:
    """Show scenes in the browser, until the server is stopped; raises `NoExplorer`."""
    explorer = _module("apis")
    import_module("flask").request_finished.connect(_show_shapes)
    explorer.visualize_from_config(
        _config(label, scenes), port=port, no_open_in_browser=not browser
    )
