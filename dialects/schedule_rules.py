"""The rules of a graph's schedule: it agrees with grid, loops, results and loads."""

from math import prod

from mirage_mlir.diagnostics import invalid
from mirage_mlir.dialects.deferred_mma import StartDeferredOp
from mirage_mlir.dialects.kernel import GraphDefinedOp
from mirage_mlir.dialects.pipeline import EPILOGUE, MAIN_LOOP, SectionOp
from mirage_mlir.dialects.threadblock import LoadOp, MatmulOp, StoreOp


def verify_schedule(graph: GraphDefinedOp) -> None:
    """The schedule and the memory plan agree with the graph's grid, loops and results."""
    iterations, stages = prod(graph.loop_sizes), graph.schedule.stages
    if stages > iterations:
        raise invalid(graph, f"has {stages} stages, but its loop {iterations} iterations")
    _verify_bounds(graph)
    axis, width = graph.launched_axes[0], graph.schedule.raster_width
    first = graph.grid_sizes[axis]
    if width and (width < 0 or first % width):
        raise invalid(graph, f"has {first} blocks along axis {axis}, not a multiple of {width}")
    if graph.schedule.stagger:
        _verify_stagger(graph)
    if graph.schedule.shifted_axes:
        _verify_shifts(graph)
    _verify_deferred(graph)
    places = graph.memory.results
    if places and len(places) != len(graph.outputs):
        raise invalid(graph, f"has places for {len(places)} results, but {len(graph.outputs)}")


def _verify_bounds(graph: GraphDefinedOp) -> None:
    """Bounds are of a single loop, whose blocks need not run the same iterations."""
    bounds, loops = graph.bounds, graph.loop_sizes
    if bounds is None:
        if graph.schedule.longest_first:
            raise invalid(graph, "is to start blocks with long loops first, and has no bounds")
        return
    if len(loops) != 1:
        raise invalid(graph, f"has bounds, and {len(loops)} loops: they are of a single one")
    if not 0 <= bounds.axis < len(graph.grid_sizes):
        axes = len(graph.grid_sizes)
        raise invalid(graph, f"has bounds by grid axis {bounds.axis} of a grid of {axes} axes")
    if prod(graph.cluster_sizes) > 1:
        raise invalid(graph, "has bounds, and clusters, whose blocks run the same iterations")


def _verify_stagger(graph: GraphDefinedOp) -> None:
    """There is one loop, and no blocks that copy tiles of the same iteration to each other."""
    stagger, loops = graph.schedule.stagger, graph.loop_sizes
    if len(loops) != 1:
        raise invalid(graph, f"has a stagger and {len(loops)} loops, not one")
    if stagger >= loops[0]:
        raise invalid(graph, f"has a stagger of {stagger}, but its loop {loops[0]} iterations")
    for op in graph.body.block.ops:
        if isinstance(op, LoadOp) and op.multicast is not None:
            raise invalid(op, "is multicast to blocks that begin their loops with other iterations")


def _verify_shifts(graph: GraphDefinedOp) -> None:
    """Only tiles that a grid axis alone cuts start elsewhere, and those of no packed tensor."""
    axes, grid = graph.schedule.shifted_axes, graph.grid_sizes
    if any(not 0 <= axis < len(grid) for axis in axes) or len(set(axes)) < len(axes):
        raise invalid(graph, f"has shifted_axes {list(axes)}, and a grid of {len(grid)} axes")
    for op in graph.body.block.ops:
        if not isinstance(op, LoadOp | StoreOp):
            continue
        dims = [dim for axis in axes if (dim := op.grid_map.get_values()[axis]) >= 0]
        if any(dim in op.loop_map.get_values() for dim in dims):
            raise invalid(op, "has a dim that a loop and one of the shifted_axes cut")
        if dims and isinstance(op, LoadOp) and op.packed is not None:
            raise invalid(op, "is packed, and one of the shifted_axes cuts its tensor")


def _verify_deferred(graph: GraphDefinedOp) -> None:
    """Matmuls that are deferred are started in the loop and, for its last iteration, behind it."""
    section, started = "", list[str]()
    deferred = list[MatmulOp]()
    for op in graph.body.block.ops:
        if isinstance(op, SectionOp):
            section = op.section.data
        elif isinstance(op, StartDeferredOp):
            started.append(section)
        elif isinstance(op, MatmulOp) and op.deferred is not None:
            deferred.append(op)
    if not deferred and started:
        raise invalid(graph, "starts deferred matmuls, but none of its matmuls is deferred")
    if deferred and started != [MAIN_LOOP, EPILOGUE]:
        places = f'"{MAIN_LOOP}", and for the last iteration in "{EPILOGUE}"'
        raise invalid(
            deferred[0], f"is deferred, which takes a threadblock.start_deferred in {places}"
        )
