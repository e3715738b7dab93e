"""What scenes hold: the IR's layers, shapes and maps, the numbers of `--explain`, and links."""

from collections.abc import Iterable
from pathlib import Path

from xdsl.ir import Operation

from mirage_mlir.driver.options import Options
from mirage_mlir.driver.source import function_named, parse_program
from mirage_mlir.equivalence.parts import numbered_values
from mirage_mlir.view.became import became
from mirage_mlir.view.compose import scene_of
from mirage_mlir.view.facts import BLOCKS, DRAM, MODELLED, VERDICT
from mirage_mlir.view.scene import Scene, SceneKind
from mirage_mlir.view.source import Seen, seen_in_artifact, seen_in_text

UGRAPHS = Path(__file__).parents[2] / "ugraphs"


def written(name: str, function: str = "ugraph", *, threads: bool = False) -> Scene:
    text = (UGRAPHS / f"{name}.mlir").read_text()
    (seen,) = seen_in_text(text, f"{name}.mlir", Options(), search=False, only=function)
    return scene_of(seen, "H200", threads=threads)


def check_edges(scene: Scene) -> None:
    """Ids are unique, and edges come from results of nodes that there are."""
    nodes = {node.id: node for node in scene.nodes}
    assert len(nodes) == len(scene.nodes)
    for node in scene.nodes:
        assert node.layer in scene.layers
        for edge in node.edges:
            assert edge.output < len(nodes[edge.source].outputs)
        assert all(other in nodes for other in node.related)


def test_a_kernel_is_a_layer_with_its_grid_and_loop() -> None:
    scene = written("attention_split_kv")
    check_edges(scene)
    assert list(scene.layers) == [(), ("kernel 0",), ("kernel 1",)]
    assert scene.layers[("kernel 0",)] == {"grid": "2x4x16", "loop": "4"}
    loads = [node for node in scene.nodes if node.kind is SceneKind.LOAD]
    assert len(loads) == 6
    assert loads[0].details["grid_map"] == "[0, 1, _]"
    assert loads[0].details["loop_map"] == "[_]"
    assert loads[0].outputs == ("1x64x64xf16",)
    assert [edge.label for edge in loads[0].edges] == ["2x256x64xf16"]


def test_a_cyclic_kernel_says_so() -> None:
    text = (
        (UGRAPHS / "rmsnorm_backward.mlir").read_text().replace("loop [8] {", "loop [8] cyclic {")
    )
    (seen,) = seen_in_text(text, "cyclic.mlir", Options(), search=False, only="ugraph")
    scene = scene_of(seen, "H200", threads=False)
    assert scene.layers[("kernel 0",)] == {"grid": "8", "loop": "8 cyclic"}
    labels = [node.label for node in scene.nodes if node.kind is SceneKind.KERNEL]
    assert labels[0] == "grid 8, loop 8 cyclic"


def test_what_a_kernel_stores_reaches_the_next() -> None:
    scene = written("attention_split_kv")
    nodes = {node.id: node for node in scene.nodes}
    second = [n for n in scene.nodes if n.kind is SceneKind.LOAD and n.layer == ("kernel 1",)]
    sources = [nodes[load.edges[0].source] for load in second]
    assert [source.kind for source in sources] == [SceneKind.STORE] * 3
    assert [load.edges[0].label for load in second] == [
        "16x2x256x64xf32",
        "16x2x256x1xf32",
        "16x2x256x1xf32",
    ]


def test_threads_are_the_third_level() -> None:
    scene = written("rmsnorm_linear", threads=True)
    check_edges(scene)
    depths = {len(layer) for layer in scene.layers}
    assert depths == {0, 1, 2}
    inner = [node for node in scene.nodes if len(node.layer) == 2]
    assert {"arith.mulf", "thread.store"} <= {node.label for node in inner}
    # What comes into a thread graph is a tile, of which each thread sees an element.
    nodes = {node.id: node for node in scene.nodes}
    entering = [e for n in inner for e in n.edges if len(nodes[e.source].layer) == 1]
    assert entering
    assert all("x" in edge.label for edge in entering)


def test_numbers_are_those_of_the_explanation(searched: Seen) -> None:
    scene = scene_of(searched, "H200", threads=True)
    check_edges(scene)
    (result,) = searched.results
    assert result.chosen is not None
    heads = [node for node in scene.nodes if node.kind is SceneKind.KERNEL]
    assert len(heads) == len(result.chosen.kernels)
    for head, kernel in zip(heads, result.chosen.kernels, strict=True):
        assert kernel.model is not None
        assert scene.numbers[MODELLED][head.id] == round(kernel.model.seconds * 1e6, 3)
        assert scene.numbers[DRAM][head.id] == round(kernel.model.dram_bytes / 1e6, 3)
        assert scene.numbers[BLOCKS][head.id] == kernel.assembled.resident
        assert scene.numbers[VERDICT][head.id] == "verified"
        assert head.details["limited by"] == kernel.model.limit
        assert head.layer[-1] == kernel.title
        assert kernel.model.matmul_operations in (0, 2 * 16 * 256 * 512)


def test_one_kernel_computes_every_operator(searched: Seen) -> None:
    (result,) = searched.results
    scene = scene_of(searched, "H200", threads=False)
    heads = [node.id for node in scene.nodes if node.kind is SceneKind.KERNEL]
    if len(heads) == 1:
        operators = [n for n in scene.nodes if n.layer == ("program",) and n.edges]
        assert [n.related for n in operators if n.label != "results"] == [(heads[0],)] * 2
    assert result.kernel_names[0] == "f_kernel_0"


def named(found: Iterable[tuple[Operation, int]]) -> list[tuple[str, int]]:
    return [(op.name, number) for op, number in found]


def test_of_two_kernels_pairs_say_which_computes_what() -> None:
    module = parse_program((UGRAPHS / "attention_split_kv.mlir").read_text(), "a.mlir")
    reference, ugraph = (function_named(module, name) for name in ("reference", "ugraph"))
    values, made = numbered_values(reference), numbered_values(ugraph)
    scores, outputs = values[3], values[5]
    first = made.index(next(v for v in made if isinstance(v.owner, Operation)))
    second = next(n for n, v in enumerate(made) if v.name_hint == "z")
    # Without pairs the softmax may be in both, as it is; the products are where keys are read.
    assert named(became(reference, ugraph, ())) == [
        ("kernel.matmul", 0),
        ("kernel.softmax", 0),
        ("kernel.softmax", 1),
        ("kernel.matmul", 0),
    ]
    # As if the first kernel made the scores, and the second all that comes behind them.
    pairs = [[(values.index(scores), first)], [(values.index(outputs), second)]]
    assert named(became(reference, ugraph, pairs)) == [
        ("kernel.matmul", 0),
        ("kernel.softmax", 1),
        ("kernel.matmul", 1),
    ]


def kernel_of(*arguments: str) -> str:
    """A kernel that reads squares, and copies the first."""
    square = "tensor<16x16xf16>"
    inside = ", ".join(f"%a{number}: {square}" for number in range(len(arguments)))
    return f"""kernel.graph_defined ins({", ".join(arguments)}) grid [1] {{
      ^bb0({inside}):
        %t = threadblock.load %a0 grid_map [_] : ({square}) -> !threadblock.tile<16x16xf16>
        threadblock.store %t grid_map [_] : !threadblock.tile<16x16xf16>
      }} : ({", ".join([square] * len(arguments))}) -> {square}"""


def test_operators_are_in_the_kernels_that_read_what_they_read() -> None:
    """Two kernels belong together, and a third computes another result."""
    square = "tensor<16x16xf16>"
    head = f"(%x: {square}, %w: {square}, %v: {square}) -> ({square}, {square}) {{"
    two, one = (f"({', '.join([square] * count)}) -> {square}" for count in (2, 1))
    end = f": {square}, {square}\n}}\n"
    module = parse_program(
        f"""func.func @f{head}
        %a = kernel.matmul %x, %w : {two}
        %b = kernel.relu %a : {one}
        %c = kernel.matmul %b, %v : {two}
        %d = kernel.silu %v : {one}
        func.return %c, %d {end}
        func.func @g{head}
        %p = {kernel_of("%x", "%w")}
        %q = {kernel_of("%v")}
        %r = {kernel_of("%p", "%v")}
        func.return %r, %q {end}""",
        "f.mlir",
    )
    written, ugraph = (function_named(module, name) for name in "fg")
    assert named(became(written, ugraph, ())) == [
        ("kernel.matmul", 0),
        ("kernel.relu", 0),
        ("kernel.relu", 2),
        ("kernel.matmul", 2),
        ("kernel.silu", 1),
    ]
    # The product is known to be what the first kernel makes: the rest is in the third.
    values, made = numbered_values(written), numbered_values(ugraph)
    product = next(n for n, v in enumerate(values) if v.name_hint == "a")
    first = next(n for n, v in enumerate(made) if v.name_hint == "p")
    assert named(became(written, ugraph, [[(product, first)]])) == [
        ("kernel.matmul", 0),
        ("kernel.relu", 2),
        ("kernel.matmul", 2),
        ("kernel.silu", 1),
    ]


def test_an_artifact_shows_what_it_holds(searched: Seen, artifact_of_f: bytes) -> None:
    from mirage_mlir.runtime.artifact import Artifact

    (seen,) = seen_in_artifact(Artifact.from_bytes(artifact_of_f))
    assert seen.name == "f"
    (result,) = seen.results
    assert result.verdict == "verified"
    assert result.facts["modelled"].endswith(" us")
    scene = scene_of(seen, "H200", threads=True)
    check_edges(scene)
    assert scene.layers[("uGraph for sm_90a",)]["registers"].isdigit()
