"""The search as a whole: what it finds, and that it always finds the same."""

import subprocess
import sys
from pathlib import Path
from time import perf_counter

import pytest
from sampling import sampled
from search_programs import (
    PROGRAMS,
    attention,
    kinds,
    lora,
    ntrans,
    rmsnorm_linear,
    stable_softmax,
)

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.cost_model.bounds import least_start
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Kind
from mirage_mlir.search.report import SearchReport
from mirage_mlir.search.saturation.config import Configuration
from mirage_mlir.search.saturation.hypergraph import Stage
from mirage_mlir.search.single_kernel.engine import Limits, search
from mirage_mlir.targets.target import H200


def found(builder: ProgramBuilder) -> list[BlockGraph]:
    return search(resolve(builder), H200, Limits(), SearchReport())


@pytest.mark.parametrize("name", PROGRAMS)
def test_candidates(name: str) -> None:
    """Several, sorted by time, each with all outputs computed from what comes before."""
    program = resolve(PROGRAMS[name]())
    report = SearchReport()
    candidates = search(program, H200, Limits(), report)
    assert candidates
    times = [candidate.seconds for candidate in candidates]
    assert times == sorted(times)
    for candidate in candidates:
        assert len(candidate.outputs) == len(program.outputs)
        for number, operation in enumerate(candidate.operations):
            assert all(operand < number for operand in operation.operands)
    assert report.configurations > 0
    assert report.graphs > 0
    assert report.instantiations >= report.graphs
    assert not report.cut


@pytest.mark.parametrize("name", sampled(list(PROGRAMS), 2))
def test_bound(name: str) -> None:
    """What is faster than a bound is found all the same, and nothing if all is slower."""
    program = resolve(PROGRAMS[name]())
    everything = found(PROGRAMS[name]())
    bound = everything[len(everything) // 2].seconds
    searched = SearchReport()
    fast = search(program, H200, Limits(), searched, bound)
    wanted = [graph.seconds for graph in everything if graph.seconds < bound]
    # There may be more: other tilings of a graph, where others of it are too slow.
    assert {*wanted} <= {graph.seconds for graph in fast}
    assert fast[0].seconds == wanted[0]
    nothing = SearchReport()
    assert search(program, H200, Limits(), nothing, least_start(H200)) == []
    assert nothing.values == 0


def test_rmsnorm_linear() -> None:
    """X is loaded once, there are two sums over the loop, and the division follows it."""
    graph = found(rmsnorm_linear())[0]
    assert graph.configuration == Configuration(("k",), ("j",))
    assert kinds(graph)[Kind.INPUT] == 2
    assert kinds(graph)[Kind.MATMUL] == 1
    assert kinds(graph)[Kind.ACCUMULATE_SUM] == 2
    last = graph.operations[graph.outputs[0]]
    assert last.stage is Stage.POST
    assert last.kind in (Kind.MUL, Kind.DIV)
    (product,) = (op for op in graph.operations if op.kind is Kind.MATMUL)
    assert all(graph.operations[o].kind is Kind.INPUT for o in product.operands)


def test_lora() -> None:
    """Both products share the loads of X, and the second factor is applied after the loop."""
    graph = found(lora(depth=4096))[0]
    assert len(graph.configuration.loop) == 1
    assert kinds(graph)[Kind.INPUT] == 4
    assert kinds(graph)[Kind.MATMUL] == 3
    assert kinds(graph)[Kind.ACCUMULATE_SUM] == 2
    products = [op.stage for op in graph.operations if op.kind is Kind.MATMUL]
    assert sorted(products) == [Stage.LOOP, Stage.LOOP, Stage.POST]


def test_gated_mlp() -> None:
    graph = found(PROGRAMS["gated_mlp"]())[0]
    assert graph.configuration == Configuration(("k",), ("j",))
    assert kinds(graph)[Kind.ACCUMULATE_SUM] == 2
    assert kinds(graph)[Kind.INPUT] == 3


def test_ntrans() -> None:
    """One row for each block, no loop."""
    graph = found(ntrans())[0]
    assert graph.configuration == Configuration(("i",))
    assert graph.tiles["i"] == 1
    assert kinds(graph)[Kind.REDUCE_SUM] == 2


def test_softmax_keeps_its_maximum() -> None:
    """Without the maximum exp overflows: it may not cancel."""
    graph = found(PROGRAMS["softmax"]())[0]
    assert kinds(graph)[Kind.REDUCE_MAX] == 1


def test_two_results_share_a_product() -> None:
    graph = found(PROGRAMS["two_products"]())[0]
    assert len(graph.outputs) == 2
    assert kinds(graph)[Kind.MATMUL] == 2


def test_attention_walks_its_keys() -> None:
    """One kernel: what it sums over the keys is relative to one running maximum."""
    graph = found(attention(4096))[0]
    (product, weights) = (op for op in graph.operations if op.kind is Kind.ACCUMULATE_SUM)
    assert product.rescale is not None
    assert product.rescale == weights.rescale
    assert graph.operations[product.rescale].kind is Kind.REDUCE_MAX
    assert kinds(graph)[Kind.REDUCE_MAX] == 1
    assert kinds(graph)[Kind.MATMUL] == 2


def test_too_large_for_one_kernel() -> None:
    """Rows of a million numbers fit no block, and each is read twice."""
    b = ProgramBuilder()
    b.output(stable_softmax(b, b.input((8, 1 << 20))))
    assert found(b) == []


@pytest.mark.parametrize("number", [0.0, 3.5])
def test_numbers(number: float) -> None:
    """What cancels is a number, and no input is read for it."""
    b = ProgramBuilder()
    x = b.input((8, 8))
    b.output(b.binary(Kind.ADD, b.binary(Kind.SUB, x, x), b.constant(number)))
    graph = found(b)[0]
    assert [op.kind for op in graph.operations] == [Kind.CONSTANT]
    assert graph.operations[0].value == number


def test_deadline() -> None:
    """What was found by then is returned, and the report says what was not looked at."""
    report = SearchReport()
    candidates = search(resolve(ntrans()), H200, Limits(perf_counter() - 1), report)
    assert candidates == []
    assert report.cut == ["configurations after the time limit"]


def test_limit_of_candidates() -> None:
    assert len(search(resolve(lora()), H200, Limits(candidates=2), SearchReport())) == 2


SCRIPT = """
from search_programs import PROGRAMS
from mirage_mlir.targets.target import H200
from mirage_mlir.search.program.axes import resolve
from mirage_mlir.search.single_kernel.engine import Limits, search
from mirage_mlir.search.report import SearchReport
for name, program in PROGRAMS.items():
    print(name, search(resolve(program()), H200, Limits(), SearchReport()))
"""


def test_the_same_for_every_hash_seed() -> None:
    support = Path(__file__).parents[2] / "support"
    root = Path(__file__).parents[3]
    outputs = [
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={"PYTHONPATH": f"{support}:{root}", "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert outputs[0]
    assert len(set(outputs)) == 1
