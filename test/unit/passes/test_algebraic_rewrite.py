"""Every rule on random instances: it applies, and both sides are equal, by two means."""

from collections.abc import Callable, Sequence
from random import Random

import pytest
from axiom_instances import INSTANCES, instance
from random_functions import FunctionMaker
from sampling import sampled
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from mirage_mlir.dialects import kernel
from mirage_mlir.driver.source import compiler_context, functions, parse_program
from mirage_mlir.equivalence import Verdict, check_equivalence
from mirage_mlir.expr.heads import FULL, Poly
from mirage_mlir.expr.normal_form import NormalForm, equal
from mirage_mlir.passes.algebraic_rewrite import DIRECTED, AlgebraicRewritePass
from mirage_mlir.passes.kernel_decompose import KernelDecomposePass
from mirage_mlir.passes.patterns.axioms import RULES
from mirage_mlir.verification import verify

SEEDS = sampled(range(16), 2)


def rewritten(function: FuncOp, rules: Sequence[str]) -> FuncOp:
    """The function after the pass."""
    module = ModuleOp([function.clone()])
    AlgebraicRewritePass(tuple(rules)).apply(compiler_context(), module)
    verify(module)
    return functions(module)[0]


class Lowering:
    """The normal forms of a function whose dimensions have one size if they run together."""

    def __init__(self, forms: NormalForm) -> None:
        self.forms = forms

    def result(self, function: FuncOp) -> Poly | None:
        """The form of the first result."""
        values: dict[SSAValue, Poly | None] = {}
        for number, argument in enumerate(function.body.block.args):
            axes = [f"a{size}" for size in kernel.shape_of(argument) if size > 1]
            values[argument] = self.forms.input(f"x{number}", axes)
        for op in function.body.block.ops:
            operands = [values[operand] for operand in op.operands]
            if isinstance(op, ReturnOp):
                return operands[0]
            values[op.results[0]] = self.value(op, operands)
        raise AssertionError("a function returns")

    def value(self, op: Operation, operands: list[Poly | None]) -> Poly | None:
        """The form of an operator's result."""
        forms = self.forms
        binary: dict[type[Operation], Callable[[Poly | None, Poly | None], Poly | None]] = {
            kernel.AddOp: forms.add,
            kernel.SubOp: forms.sub,
            kernel.MulOp: forms.mul,
            kernel.DivOp: forms.div,
        }
        if type(op) in binary:
            return binary[type(op)](*operands)
        match op:
            case kernel.SquareOp():
                return forms.mul(operands[0], operands[0])
            case kernel.ScaleOp():
                return forms.scale(operands[0], op.factor.value.data)
            case kernel.MatmulOp():
                contracted = kernel.shape_of(op.lhs)[-1]
                return self.summed(forms.mul(*operands), [contracted])
            case kernel.ReduceSumOp():
                shape = kernel.shape_of(op.input)
                return self.summed(operands[0], [shape[dim] for dim in op.dims.get_values()])
            case _:
                return forms.function(op.name.removeprefix("kernel."), operands[0])

    def summed(self, value: Poly | None, sizes: Sequence[int]) -> Poly | None:
        """The sum over the axes of these sizes."""
        for size in sizes:
            if size > 1:
                value = self.forms.bind(value, f"a{size}", FULL)
        return value


def proved(a: FuncOp, b: FuncOp) -> bool:
    """Whether both functions have one normal form."""
    return equal(lambda nf: Lowering(nf).result(a), lambda nf: Lowering(nf).result(b))


def test_every_rule_has_instances() -> None:
    assert list(INSTANCES) == list(RULES)
    assert set(DIRECTED) < set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule: str) -> None:
    shapes: set[str] = set()
    for seed in SEEDS:
        function = instance(rule, seed)
        other = rewritten(function, [rule])
        shapes.add(str(function.function_type))
        assert str(function) != str(other)
        report = check_equivalence(function, other)
        assert report.verdict in (Verdict.EQUAL, Verdict.INACCURATE), f"{function}: {report}"
        assert proved(function, other), f"{function}{other}"
    assert len(shapes) > 5


@pytest.mark.parametrize("rule", RULES)
def test_equation_is_the_docstring(rule: str) -> None:
    """So that a list of rules can be read as one of equations."""
    text = RULES[rule].pattern.__doc__ or ""
    assert text.startswith("`")
    assert " = " in text


def test_a_wrong_equation_is_found() -> None:
    """The means of proof can fail."""
    function = instance("mul-out-of-add", 0)
    other = function.clone()
    op = next(op for op in other.walk() if isinstance(op, kernel.MulOp))
    Rewriter.replace_op(op, kernel.AddOp(op.lhs, op.rhs))
    assert not proved(function, other)
    assert check_equivalence(function, other).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize("seed", range(40))
def test_directed_rules_end(seed: int) -> None:
    """On any function they reach a fixpoint, which computes the same, with no more operators."""
    function = FunctionMaker(seed).make(operators=8)
    other = rewritten(function, DIRECTED)
    assert len(list(other.walk())) <= len(list(function.walk()))
    assert str(rewritten(other, DIRECTED)) == str(other)
    report = check_equivalence(function, other)
    assert report.verdict in (Verdict.EQUAL, Verdict.INACCURATE), str(report)


@pytest.mark.parametrize("seed", range(30))
def test_any_rules_in_any_order(seed: int) -> None:
    """Chains of random rules: the functions are built by the rules, so more rules match."""
    random = Random(seed)
    start = instance(random.choice(list(RULES)), seed)
    other = rewritten(start, random.choices(list(RULES), k=12))
    report = check_equivalence(start, other)
    assert report.verdict in (Verdict.EQUAL, Verdict.INACCURATE), f"{start}{other}{report}"


def test_norm_leaves_the_matmul() -> None:
    """The division by the norm is by far smaller after the product."""
    text = """
    func.func @f(%x: tensor<4x32xf32>, %w: tensor<32x3xf32>) -> tensor<4x3xf32> {
      %y = kernel.rms_norm %x {eps = 0.0 : f32} : (tensor<4x32xf32>) -> tensor<4x32xf32>
      %o = kernel.matmul %y, %w : (tensor<4x32xf32>, tensor<32x3xf32>) -> tensor<4x3xf32>
      func.return %o : tensor<4x3xf32>
    }
    """
    module = parse_program(text, "norm.mlir")
    KernelDecomposePass().apply(compiler_context(), module)
    (function,) = functions(module)
    other = rewritten(function, DIRECTED)
    *_, division, _ = other.body.block.ops
    assert isinstance(division, kernel.DivOp)
    assert isinstance(division.lhs.owner, kernel.MatmulOp)
    assert division.lhs.owner.lhs is other.body.block.args[0]
    assert check_equivalence(function, other).verdict is Verdict.EQUAL


def test_unknown_rule() -> None:
    with pytest.raises(ValueError, match=r"no rule 'nope'; the rules are sum-of-one, "):
        AlgebraicRewritePass(("commute-add", "nope"))
