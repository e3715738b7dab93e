"""Weights of edges before tile sizes are known: an extraction orders the graphs by them."""

from collections.abc import Iterator

from mirage_mlir.search.fitted import FUNCTION_WORK
from mirage_mlir.search.hypergraph import Edge, Hypergraph
from mirage_mlir.search.program import Kind
from mirage_mlir.search.tiling import Tiling
from mirage_mlir.search.work import HEAVY


def static_weights(tiling: Tiling, graph: Hypergraph) -> Iterator[dict[Edge, float]]:
    """For each value the weight of its edges, in scalar operations of one block, at one point."""
    for value, edges in enumerate(graph.edges):
        yield {edge: _static_weight(tiling, value, edge) for edge in edges}


def _static_weight(tiling: Tiling, value: int, edge: Edge) -> float:
    volume, turns = float(tiling.volume(value)[0]), float(tiling.turns(value)[0])
    match edge.kind:
        case Kind.CONSTANT:
            return 0.0
        case Kind.INPUT:
            return 4 * volume * turns
        case Kind.MATMUL:
            assert edge.axis is not None
            work = volume * float(tiling.mesh.tiles[edge.axis][0]) / 8
            for operand in edge.operands:
                if all(other.kind is not Kind.INPUT for other in tiling.graph.edges[operand]):
                    work += 8 * float(tiling.volume(operand)[0]) + 256
            return 64 + work * turns
        case Kind.REDUCE_SUM | Kind.REDUCE_MAX:
            return 256 * turns + float(tiling.volume(edge.operands[0])[0]) * turns
        case Kind.ACCUMULATE_SUM | Kind.ACCUMULATE_MAX:
            return 16 + volume
        case _:
            return 16 + volume * turns * (FUNCTION_WORK if edge.kind in HEAVY else 1.0)
