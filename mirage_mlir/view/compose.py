"""A scene of what is to be seen: the program beside the uGraphs, and what became of each part."""

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import alone, compiler_context, function_named
from mirage_mlir.equivalence.parts import numbered_values
from mirage_mlir.passes.pipelines import lowering_passes
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
    _relate(scene, program, graph, list(became(seen.written, result)))


def became(written: func.FuncOp, result: SeenResult) -> Iterator[tuple[Operation, int]]:
    """
    Operators of a program and the number of a kernel that computes them.

    Where there is one kernel it computes all. Of several, the pairs that verification compares say
    which values each kernel makes; an operator that leads to them from those of other kernels is
    its part. Without pairs nothing is known.
    """
    kernels = [op for op in result.function.body.block.ops if isinstance(op, kernel.GraphDefinedOp)]
    operators = [op for op in written.body.block.ops if not isinstance(op, func.ReturnOp)]
    if len(kernels) == 1:
        yield from ((op, 0) for op in operators)
        return
    values, made = numbered_values(written), numbered_values(result.function)
    pairs = [(values[one], made[two]) for part in result.pairs for one, two in part]
    ends = {value for value, _ in pairs}
    for number, each in enumerate(kernels):
        mine = [value for value, counterpart in pairs if counterpart.owner is each]
        leading = _leading_to(mine, ends)
        yield from ((op, number) for op in operators if op in leading)


def _leading_to(values: list[SSAValue], ends: set[SSAValue]) -> set[Operation]:
    """The operators from the values of `ends` to `values`."""
    found: set[Operation] = set()
    ready = list(values)
    while ready:
        owner = ready.pop().owner
        if isinstance(owner, Operation) and owner not in found:
            found.add(owner)
            ready += [operand for operand in owner.operands if operand not in ends]
    return found


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
