"""Weights of edges that do not depend on tile sizes, by which extraction orders graphs."""

from collections.abc import Iterator

from mirage_mlir.search.cost_model.element_work import element_work
from mirage_mlir.search.cost_model.tiling import Tiling
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.saturation.hypergraph import Edge, Hypergraph


def static_weights(tiling: Tiling, graph: Hypergraph) -> Iterator[dict[Edge, float]]:
    """
    For each value the weights of its edges: scalar operations of one block at typical tile sizes.
    """
    for value, edges in enumerate(graph.edges):
        yield {edge: _static_weight(tiling, value, edge) for edge in edges}


def _static_weight(tiling: Tiling, value: int, edge: Edge) -> float:
    volume, iterations = float(tiling.volume(value)[0]), float(tiling.iterations(value)[0])
    match edge.kind:
        case Kind.CONSTANT:
            return 0.0
        case Kind.INPUT:
            return 4 * volume * iterations
        case Kind.MATMUL:
            assert edge.axis is not None
            work = volume * float(tiling.mesh.tiles[edge.axis][0]) / 8
            for operand in edge.operands:
                if all(other.kind is not Kind.INPUT for other in tiling.graph.edges[operand]):
                    work += 8 * float(tiling.volume(operand)[0]) + 256
            return 64 + work * iterations
        case Kind.REDUCE_SUM | Kind.REDUCE_MAX:
            return 256 * iterations + float(tiling.volume(edge.operands[0])[0]) * iterations
        case Kind.ACCUMULATE_SUM | Kind.ACCUMULATE_MAX:
            return 16 + volume
        case _:
            return 16 + volume * iterations * element_work(tiling.algebra, edge)
