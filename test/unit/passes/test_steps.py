"""Quotients and roots that lead to steps are rounded once; all others are approximations."""

import pytest
from lowered_kernels import graphs_of, lower
from xdsl.dialects import arith, math
from xdsl.dialects.utils import FastMathFlag

from mirage_mlir.driver.source import alone, functions, parse_program
from mirage_mlir.passes.analysis.steps import before_steps
from mirage_mlir.passes.superoptimize import candidates

KIND = "tensor<4096xf32>"


def program(body: str) -> str:
    """A function of two vectors, `%r` its result."""
    return f"""
func.func @f(%x: {KIND}, %y: {KIND}) -> {KIND} {{
  {body.replace("T", KIND)}
  func.return %r : {KIND}
}}"""


FLOOR = """%q = kernel.div %x, %y : (T, T) -> T
  %r = kernel.floor %q : (T) -> T"""

COMPARED = """%q = kernel.div %x, %y : (T, T) -> T
  %a = kernel.abs %q : (T) -> T
  %c = kernel.compare %a, %x {predicate = "lt"} : (T, T) -> T
  %r = kernel.select %c, %x, %y : (T, T, T) -> T"""

ROOT = """%q = kernel.sqrt %x : (T) -> T
  %r = kernel.ceil %q : (T) -> T"""

PLAIN = """%q = kernel.div %x, %y : (T, T) -> T
  %r = kernel.add %q, %y : (T, T) -> T"""

ELSEWHERE = """%q = kernel.div %x, %y : (T, T) -> T
  %f = kernel.floor %x : (T) -> T
  %r = kernel.mul %q, %f : (T, T) -> T"""

SMOOTHED = """%q = kernel.div %x, %y : (T, T) -> T
  %e = kernel.exp %q : (T) -> T
  %r = kernel.floor %e : (T) -> T"""


@pytest.mark.parametrize(
    ("body", "exact"),
    [
        (FLOOR, True),
        (COMPARED, True),
        (ROOT, True),
        (PLAIN, False),
        (ELSEWHERE, False),
        (SMOOTHED, False),
    ],
)
def test_what_leads_to_a_step(body: str, exact: bool) -> None:
    (function,) = functions(parse_program(program(body), "steps"))
    for candidate in candidates(function):
        kernels = lower(alone(candidate.function))
        found = [op for op in kernels.walk() if isinstance(op, arith.DivfOp | math.SqrtOp)]
        assert found
        for op in found:
            assert (FastMathFlag.APPROX_FUNC not in op.fastmath.data) == exact


def test_long_chains() -> None:
    """A quotient behind which thousands of sums follow, as in a recurrence of many steps."""
    length = 5000
    sums = "\n".join(f"      %s{n + 1} = arith.addf %s{n}, %b : f32" for n in range(length))
    tile = "!threadblock.tile<128xf32>"
    module = parse_program(
        f"""
func.func @f(%x: tensor<128xf32>) -> tensor<128xf32> {{
  %o = kernel.graph_defined ins(%x) grid [1] {{
  ^bb0(%xa: tensor<128xf32>):
    %t = threadblock.load %xa grid_map [_] : (tensor<128xf32>) -> {tile}
    %r = thread.graph ins(%t) {{
    ^bb1(%b: f32):
      %s0 = arith.divf %b, %b : f32
{sums}
      %f = math.floor %s{length} : f32
      thread.store %f : f32
    }} : ({tile}) -> {tile}
    threadblock.store %r grid_map [_] : {tile}
  }} : (tensor<128xf32>) -> tensor<128xf32>
  func.return %o : tensor<128xf32>
}}""",
        "chain",
    )
    (graph,) = graphs_of(module)
    (quotient,) = [op for op in graph.walk() if isinstance(op, arith.DivfOp)]
    assert before_steps(graph) == {quotient}
