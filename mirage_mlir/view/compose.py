"""A scene of what is to be seen: the program beside the uGraphs, and what became of each part."""

from dataclasses import replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import alone, compiler_context, function_named
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.view.became import became
from mirage_mlir.view.facts import VERDICT, add_numbers, function_rows, kernel_rows
from mirage_mlir.view.levels import FunctionScene
from mirage_mlir.view.scene import PROGRAM, Scene
from mirage_mlir.view.source import Seen, SeenResult


def with_thread_graphs(function: func.FuncOp, target: str) -> func.FuncOp:
    """`function` with elementwise operators of blocks as graphs of threads, as they are lowered."""
    if not any(isinstance(op, kernel.GraphDefinedOp) for op in function.body.block.ops):
        return function
    module: ModuleOp = alone(function)
    for each in lowering_passes(target, last="fuse-thread-graphs"):
        each.apply(compiler_context(), module)
    return function_named(module, function.sym_name.data)


def scene_of(seen: Seen, target: str, *, threads: bool) -> Scene:
    """
    The scene of a function and its results.

    Args:
        seen: the function.
        target: a GPU; how a uGraph that was given as such is lowered depends on it.
        threads: whether graphs of threads are shown, too.
    """
    scene = Scene(seen.name)
    if not seen.results:
        function = with_thread_graphs(seen.written, target) if threads else seen.written
        FunctionScene(scene, ()).add(function)
        return scene
    program = FunctionScene(scene, (PROGRAM,))
    program.add(seen.written)
    for result in seen.results:
        _add_result(scene, seen, result, program, threads=threads)
    return scene


def _add_result(
    scene: Scene, seen: Seen, result: SeenResult, program: FunctionScene, *, threads: bool
) -> None:
    function = with_thread_graphs(result.function, result.chip) if threads else result.function
    layer = (f"uGraph for {result.chip}",)
    graph = FunctionScene(scene, layer)
    kernels = [op for op in function.body.block.ops if isinstance(op, kernel.GraphDefinedOp)]
    # What only copies is launched, too, and is no uGraph: then nothing says which is which.
    aligned = len(kernels) == len(result.kernel_names)
    graph.add(function, result.kernel_names if aligned else ())
    scene.layers[layer] |= {**result.facts}
    chosen = result.chosen
    if chosen is not None:
        scene.layers[layer] |= function_rows(chosen)
    for number, node in enumerate(graph.kernels):
        scene.add_number(VERDICT, node, result.verdict)
        if chosen is not None and aligned:
            rows = kernel_rows(chosen.kernels[number], chosen.chip)
            scene.layers[(*layer, result.kernel_names[number])] |= rows
            place = next(i for i, each in enumerate(scene.nodes) if each.id == node)
            about = {**scene.nodes[place].details, **rows}
            scene.nodes[place] = replace(scene.nodes[place], details=about)
            add_numbers(scene, node, chosen.kernels[number])
    _relate(scene, program, graph, list(became(seen.written, result.function, result.pairs)))


def _relate(
    scene: Scene,
    program: FunctionScene,
    graph: FunctionScene,
    pairs: list[tuple[Operation, int]],
) -> None:
    related: dict[str, list[str]] = {}
    for op, number in pairs:
        one, two = program.of_operation[op], graph.kernels[number]
        related.setdefault(one, []).append(two)
        related.setdefault(two, []).append(one)
    for place, node in enumerate(scene.nodes):
        if node.id in related:
            both = dict.fromkeys((*node.related, *related[node.id]))
            scene.nodes[place] = replace(node, related=tuple(both))
