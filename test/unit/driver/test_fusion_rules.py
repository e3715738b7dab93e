"""Rules that turn operators into scalar code, each compared with what its operator means."""

import pytest
from one_operator import PROGRAM
from xdsl.builder import Builder
from xdsl.dialects import arith, math
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.dialects import threadblock
from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.source import parse_program
from mirage_mlir.passes.patterns import scalar


def wrong_tanh(builder: Builder, _: Operation, args: list[SSAValue]) -> SSAValue:
    """`tanh(x) + x`."""
    found = builder.insert(math.TanhOp(args[0])).result
    return builder.insert(arith.AddfOp(found, args[0])).result


def wrong_sigmoid(builder: Builder, _: Operation, args: list[SSAValue]) -> SSAValue:
    """`1 / (1 + exp(x))`, without the minus."""
    one = scalar.constant(builder, 1.0)
    exponential = builder.insert(math.ExpOp(args[0])).result
    total = builder.insert(arith.AddfOp(one, exponential)).result
    return builder.insert(arith.DivfOp(one, total)).result


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "silu", "gelu", "relu", "exp", "rsqrt"])
def test_right_rules_compile(name: str) -> None:
    compile_function(parse_program(PROGRAM.replace("OPERATOR", name), "right"), "f", "sm_90a")


@pytest.mark.parametrize(
    ("name", "op", "rule"),
    [
        ("tanh", threadblock.TanhOp, wrong_tanh),
        ("sigmoid", threadblock.SigmoidOp, wrong_sigmoid),
    ],
)
def test_wrong_rules_are_refused(
    name: str, op: type[Operation], rule: scalar.Rule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(scalar.RULES, op, rule)
    module = parse_program(PROGRAM.replace("OPERATOR", name), "wrong")
    with pytest.raises(DiagnosticException, match="computes something else"):
        compile_function(module, "f", "sm_90a")


def wrong_root(builder: Builder, _: Operation, args: list[SSAValue]) -> SSAValue:
    """`1 / sqrt(x)`, which is the same at 1."""
    return builder.insert(math.RsqrtOp(args[0])).result


def test_wrong_rules_for_few_elements_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two elements, that are 1 or negative on all simple inputs on which functions may differ."""
    monkeypatch.setitem(scalar.RULES, threadblock.SqrtOp, wrong_root)
    program = PROGRAM.replace("32x64", "4x1").replace("16x64", "2x1").replace("OPERATOR", "sqrt")
    with pytest.raises(DiagnosticException, match="computes something else"):
        compile_function(parse_program(program, "wrong"), "f", "sm_90a")
