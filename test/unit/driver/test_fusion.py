"""Scalar code that computes something else than its operator is noticed in each compile."""

from collections.abc import Callable, Iterator
from itertools import count

import pytest
from one_operator import PROGRAM
from sampling import sampled
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import BFloat16Type, Float16Type, FloatAttr, StringAttr, f16, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.dialects import thread, threadblock
from mirage_mlir.dialects.common import i64_array
from mirage_mlir.driver.compile import compile_function
from mirage_mlir.driver.fused_operators import difference
from mirage_mlir.driver.fusion import check_fusion
from mirage_mlir.driver.source import alone, compiler_context, functions, parse_program
from mirage_mlir.equivalence.symbolic import prove
from mirage_mlir.passes.pipelines import lowering_passes
from mirage_mlir.passes.superoptimize import candidates

# Single edits of what fusing made

CHAIN = """
func.func @f(%x: tensor<32x16xf16>, %r: tensor<32x1xf32>, %c: tensor<1x16xf32>)
    -> (tensor<32x16xf16>, tensor<32x1xf32>) {
  %y, %z = kernel.graph_defined ins(%x, %r, %c) grid [2] {
  ^bb0(%0: tensor<32x16xf16>, %1: tensor<32x1xf32>, %2: tensor<1x16xf32>):
    %a = threadblock.load %0 grid_map [0] : (tensor<32x16xf16>) -> !threadblock.tile<16x16xf16>
    %b = threadblock.load %1 grid_map [0] : (tensor<32x1xf32>) -> !threadblock.tile<16x1xf32>
    %d = threadblock.load %2 grid_map [_] : (tensor<1x16xf32>) -> !threadblock.tile<1x16xf32>
    %e = threadblock.OPERATOR : (OPERANDS) -> !threadblock.tile<16x16xf32>
    %g = threadblock.div %e, %b
      : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x1xf32>) -> !threadblock.tile<16x16xf16>
    %h = threadblock.sub %g, %d
      : (!threadblock.tile<16x16xf16>, !threadblock.tile<1x16xf32>) -> !threadblock.tile<16x16xf16>
    %s = threadblock.reduce_sum %e {dims = array<i64: 1>}
      : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    threadblock.store %h grid_map [0] : !threadblock.tile<16x16xf16>
    threadblock.store %s grid_map [0] : !threadblock.tile<16x1xf32>
  } : (tensor<32x16xf16>, tensor<32x1xf32>, tensor<1x16xf32>)
    -> (tensor<32x16xf16>, tensor<32x1xf32>)
  func.return %y, %z : tensor<32x16xf16>, tensor<32x1xf32>
}
"""

UNARY = {
    **{name: name + " %a" for name in threadblock.UNARY},
    "clamp": "clamp %a {min = -0.5 : f32, max = 0.75 : f32}",
    "pow": "pow %a {exponent = 1.5 : f32}",
    "scale": "scale %a {factor = 0.3 : f32}",
    "softcap": "softcap %a {cap = 30.0 : f32}",
}

WHOLE = "!threadblock.tile<16x16xf16>"

PARAMETERS = {"compare": ' {predicate = "lt"}'}
"""Of operators on two values that have some."""

OPERATORS = {
    **{name: (text, WHOLE) for name, text in UNARY.items()},
    **{
        name: (f"{name} %a, %d{PARAMETERS.get(name, '')}", f"{WHOLE}, !threadblock.tile<1x16xf32>")
        for name in threadblock.BINARY
    },
}


def fused(text: str) -> tuple[FuncOp, FuncOp]:
    """A function before its reductions sink, and after its operators are fused."""
    module = parse_program(text, "program")
    before = functions(module)[0].clone()
    for step in lowering_passes("H200", last="fuse-thread-graphs"):
        step.apply(compiler_context(), module)
    return before, functions(module)[0]


def swap(op: Operation, i: int, j: int) -> None:
    """Let two operands change places."""
    op.operands[i], op.operands[j] = op.operands[j], op.operands[i]


def rounded(value: SSAValue, element: Float16Type | BFloat16Type) -> None:
    """Round a scalar to an element type on its way to all its users."""
    op = value.owner
    assert isinstance(op, Operation)
    narrow = arith.TruncFOp(value, element)
    wide = arith.ExtFOp(narrow.result, f32)
    value.replace_uses_with_if(wide.result, lambda use: use.operation is not narrow)
    Rewriter.insert_op([narrow, wide], InsertPoint.after(op))


def edits_of(op: Operation) -> Iterator[tuple[str, Callable[[], None]]]:
    """What may be wrong with an operation on scalars, or with what a thread graph reads."""
    if isinstance(op, thread.GraphOp):
        if len(op.operands) == 3:
            yield "broadcast along other sides", lambda: swap(op, 1, 2)
    if not isinstance(op.parent_op(), thread.GraphOp) or not op.results:
        return
    (result,) = op.results
    if isinstance(op, arith.ConstantOp):
        wrong = op.value
        assert isinstance(wrong, FloatAttr)
        wrong = FloatAttr(wrong.value.data * 1.01 + 0.001, 32)
        yield "another constant", lambda: op.properties.update(value=wrong)
    elif isinstance(op, arith.TruncFOp):
        wide = arith.TruncFOp(op.input, BFloat16Type())
        again = [wide, other := arith.ExtFOp(wide.result, f32), arith.TruncFOp(other.result, f16)]
        yield "rounded to bf16", lambda: Rewriter.replace_op(op, again)
    elif isinstance(op, arith.ExtFOp):
        return
    else:
        same = [operand for operand in op.operands if operand.type == result.type]
        for operand in same:
            yield "no operator", lambda operand=operand: result.replace_all_uses_with(operand)
        if isinstance(op, arith.SubfOp | arith.DivfOp | math.PowFOp):
            yield "swapped operands", lambda: swap(op, 0, 1)
        yield "rounded to f16", lambda: rounded(result, f16)


def mutants(after: FuncOp, most: int) -> Iterator[tuple[str, FuncOp]]:
    """Functions with one edit of the code of the first thread graphs, and in words, which."""
    for number in count():
        mutant = after.clone()
        graphs = [op for op in mutant.walk() if isinstance(op, thread.GraphOp)][:most]
        edits = [(op.name, *edit) for g in graphs for op in g.walk() for edit in edits_of(op)]
        if number == len(edits):
            return
        name, what, edit = edits[number]
        edit()
        yield f"{name}: {what}", mutant


def refused(before: FuncOp, after: FuncOp) -> str:
    """Why a function is refused; nothing where it is not."""
    try:
        check_fusion(before, after)
    except DiagnosticException as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", sampled(list(OPERATORS), 3))
def test_wrong_code_of_each_operator_is_refused(name: str) -> None:
    text, types = OPERATORS[name]
    before, after = fused(CHAIN.replace("OPERATOR", text).replace("OPERANDS", types))
    check_fusion(before, after)
    # The chain behind it is the same for all.
    for what, mutant in mutants(after, 2 if name == "exp" else 1):
        assert "code on threads computes something else" in refused(before, mutant), what


# All else

REST = """
func.func @f(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>)
    -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %v = kernel.transpose %w {permutation = array<i64: 1, 0>}
    : (tensor<64x32xf32>) -> tensor<32x64xf32>
  %y, %z = kernel.graph_defined ins(%v, %x, %w) grid [2, 2] loop [4] {
  ^bb0(%0: tensor<32x64xf32>, %1: tensor<32x64xf32>, %2: tensor<64x32xf32>):
    %a = threadblock.load %0 grid_map [0, _] loop_map [1]
      : (tensor<32x64xf32>) -> !threadblock.tile<16x16xf32>
    %b = threadblock.load %1 grid_map [0, _] loop_map [1]
      : (tensor<32x64xf32>) -> !threadblock.tile<16x16xf32>
    %c = threadblock.load %2 grid_map [_, 1] loop_map [0]
      : (tensor<64x32xf32>) -> !threadblock.tile<16x16xf32>
    %d = threadblock.sub %a, %b : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>)
      -> !threadblock.tile<16x16xf32>
    %e = threadblock.matmul %d, %c : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x16xf32>)
      -> !threadblock.tile<16x16xf32>
    %g = threadblock.reduce_KIND %b {dims = array<i64: 1>}
      : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x1xf32>
    %s = threadblock.accumulate %g {kind = "KIND"}
      : (!threadblock.tile<16x1xf32>) -> !threadblock.tile<16x1xf32>
    %h = threadblock.accumulate %e : (!threadblock.tile<16x16xf32>) -> !threadblock.tile<16x16xf32>
    %p = threadblock.mul %h, %s : (!threadblock.tile<16x16xf32>, !threadblock.tile<16x1xf32>)
      -> !threadblock.tile<16x16xf32>
    threadblock.store %p grid_map [0, 1] : !threadblock.tile<16x16xf32>
    threadblock.store %h grid_map [0, 1] : !threadblock.tile<16x16xf32>
  } : (tensor<32x64xf32>, tensor<32x64xf32>, tensor<64x32xf32>)
    -> (tensor<32x32xf32>, tensor<32x32xf32>)
  func.return %y, %z : tensor<32x32xf32>, tensor<32x32xf32>
}
"""


def change(op: Operation, **properties: Attribute) -> None:
    op.properties.update(properties)


def exchange(one: Operation, other: Operation) -> None:
    """Let the first operands of two operations change places."""
    one.operands[0], other.operands[0] = other.operands[0], one.operands[0]


def unfused(op: Operation) -> None:
    """Put an operator on tiles behind one."""
    value = op.results[0]
    more = threadblock.ReluOp(value)
    value.replace_uses_with_if(more.result, lambda use: use.operation is not more)
    Rewriter.insert_op(more, InsertPoint.after(op))


Edit = Callable[[dict[str, list[Operation]]], None]
"""An edit of operations, which are given by their names."""

EDITS: dict[str, Edit] = {
    "factors": lambda ops: swap(ops["threadblock.matmul"][0], 0, 1),
    "reduced": lambda ops: change(ops["threadblock.reduce_sum"][0], dims=i64_array([0])),
    "kind": lambda ops: change(ops["threadblock.accumulate"][0], kind=StringAttr("max")),
    "across": lambda ops: change(ops["threadblock.accumulate"][0], across=i64_array([1])),
    "loaded": lambda ops: change(ops["threadblock.load"][0], loop_map=i64_array([0])),
    "tensors": lambda ops: exchange(*ops["threadblock.load"][:2]),
    "place": lambda ops: change(ops["threadblock.store"][0], grid_map=i64_array([1, 0])),
    "stores": lambda ops: exchange(*ops["threadblock.store"]),
    "blocks": lambda ops: change(ops["kernel.graph_defined"][0], grid=i64_array([2, 1])),
    "inputs": lambda ops: swap(ops["kernel.graph_defined"][0], 0, 1),
    "view": lambda ops: change(ops["kernel.transpose"][0], permutation=i64_array([0, 1])),
    "returned": lambda ops: swap(ops["func.return"][0], 0, 1),
    "one operator more": lambda ops: unfused(ops["threadblock.load"][2]),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_what_else_is_changed_is_noticed(
    edit: Callable[[dict[str, list[Operation]]], None],
) -> None:
    before, after = fused(REST.replace("KIND", "sum"))
    check_fusion(before, after)
    ops: dict[str, list[Operation]] = {}
    for op in after.walk():
        ops.setdefault(op.name, []).append(op)
    edit(ops)
    assert refused(before, after)


REDUCED = """
func.func @f(%x: tensor<6x5x10xf32>) -> tensor<6x1x1xf32> {
  %y = kernel.graph_defined ins(%x) grid [2, BLOCKS] loop [3] {
  ^bb0(%0: tensor<6x5x10xf32>):
    %a = threadblock.load %0 grid_map [0, CUT] loop_map [2]
      : (tensor<6x5x10xf32>) -> !threadblock.tile<3x5xCOLUMNSxf32>
    %m = threadblock.reduce_max %a {dims = array<i64: 0, 1, 2>}
      : (!threadblock.tile<3x5xCOLUMNSxf32>) -> !threadblock.tile<1x1x1xf32>
    %b = threadblock.reduce_KIND %a {dims = array<i64: 2>}
      : (!threadblock.tile<3x5xCOLUMNSxf32>) -> !threadblock.tile<3x5x1xf32>
    %c = threadblock.reduce_KIND %b {dims = array<i64: 1>}
      : (!threadblock.tile<3x5x1xf32>) -> !threadblock.tile<3x1x1xf32>
    %s = threadblock.accumulate %c ACROSS {kind = "KIND"}
      : (!threadblock.tile<3x1x1xf32>MORE) -> !threadblock.tile<3x1x1xf32>
    threadblock.store %s grid_map [0, _] : !threadblock.tile<3x1x1xf32>
  } : (tensor<6x5x10xf32>) -> tensor<6x1x1xf32>
  func.return %y : tensor<6x1x1xf32>
}
"""

BLOCKS = {
    "loop": ("1", "_", "4", "", ""),
    "loop and blocks": ("2", "2", "2", "across [1]", ""),
    "maximum": ("2", "2", "2", "across [1] rescale %m", ", !threadblock.tile<1x1x1xf32>"),
}


@pytest.mark.parametrize(
    ("kind", "blocks"),
    [(k, b) for k in ("sum", "max") for b in BLOCKS if (k, b) != ("max", "maximum")],
)
def test_reductions_may_follow_accumulators_of_their_kind(kind: str, blocks: str) -> None:
    """What is taken for granted of them is proved here; of 10 columns the last tile lacks some."""
    text = REDUCED.replace("KIND", kind)
    for word, value in zip(
        ("BLOCKS", "CUT", "COLUMNS", "ACROSS", "MORE"), BLOCKS[blocks], strict=True
    ):
        text = text.replace(word, value)
    before, after = fused(text)
    names = [op.name for op in after.walk()]
    assert names.index("threadblock.accumulate") < names.index(f"threadblock.reduce_{kind}")
    assert prove(before, after).proved
    check_fusion(before, after)


# What looks alike

ALIKE = {
    "equal operators": """
    %a = threadblock.exp %t : (T) -> T
    %b = threadblock.exp %t : (T) -> T
    %c = threadblock.matmul %a, %b : (T, T) -> T
    %d = threadblock.add %c, %b : (T, T) -> T""",
    "twice is once": """
    %a = threadblock.relu %t : (T) -> T
    %b = threadblock.relu %a : (T) -> T
    %c = threadblock.matmul %a, %b : (T, T) -> T
    %d = threadblock.add %c, %b : (T, T) -> T""",
    "twice is once, within": """
    %a = threadblock.relu %t : (T) -> T
    %b = threadblock.relu %a : (T) -> T
    %c = threadblock.matmul %b, %b : (T, T) -> T
    %d = threadblock.add %c, %b : (T, T) -> T""",
    "one constant": """
    %k = threadblock.constant {value = 2.0 : f32} : T
    %a = threadblock.mul %t, %k : (T, T) -> T
    %c = threadblock.matmul %a, %k : (T, T) -> T
    %d = threadblock.add %c, %k : (T, T) -> T""",
    "operators that nobody needs": """
    %a = threadblock.exp %t : (T) -> T
    %b = threadblock.tanh %a : (T) -> T
    %d = threadblock.exp %a : (T) -> T""",
    "a thread graph": """
    %a = thread.graph ins(%t) {
    ^bb0(%s: f32):
      %e = math.exp %s : f32
      thread.store %e : f32
    } : (T) -> T
    %d = threadblock.exp %a : (T) -> T""",
}


@pytest.mark.parametrize("body", ALIKE.values(), ids=ALIKE)
def test_what_looks_alike_is_told_apart(body: str) -> None:
    """One wrong thread graph is noticed all the same."""
    tile = "!threadblock.tile<16x16xf32>"
    line = next(line for line in PROGRAM.splitlines() if "OPERATOR" in line)
    text = PROGRAM.replace(line, body).replace("%s grid_map", "%d grid_map")
    text = text.replace("32x64", "32x16").replace("16x64", "16x16").replace("T)", f"{tile})")
    text = (
        text.replace("(T, ", f"({tile}, ").replace("> T", f"> {tile}").replace(": T", f": {tile}")
    )
    before, after = fused(text)
    check_fusion(before, after)
    for graph in [op for op in after.walk() if isinstance(op, thread.GraphOp)]:
        mutant = after.clone()
        places = zip(after.walk(), mutant.walk(), strict=True)
        store = next(new for old, new in places if old is graph.stores[0])
        Rewriter.insert_op(more := arith.NegfOp(store.operands[0]), InsertPoint.before(store))
        store.operands[0] = more.result
        assert refused(before, mutant)


def test_operators_alike_but_at_halves() -> None:
    """What a thread graph computes on the way is not taken for what another one stands for."""
    program = """
    func.func @f(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
      %0 = kernel.round %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %1 = kernel.scale %0 {factor = 0.5 : f32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
      %c = kernel.constant {value = 0.5 : f32} : tensor<1x1xf32>
      %2 = kernel.add %x, %c : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
      %3 = kernel.floor %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
      func.return %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>
    }
    """
    (function,) = functions(parse_program(program, "halves"))
    found = [one.function for one in candidates(function)]
    assert len(found) > 1
    for each in found:
        compile_function(alone(each), "f", "H200")


@pytest.mark.parametrize("elements", [1, 7])
def test_few_elements_are_drawn_often(elements: int) -> None:
    """Half of a rounded number and one half more, rounded down, are both zero near zero."""
    pair = [
        f"""
    func.func @f(%x: tensor<{elements}xf32>) -> tensor<{elements}xf32> {{
      {body}
      func.return %r : tensor<{elements}xf32>
    }}
    """.replace("TYPE", f"tensor<{elements}xf32>")
        for body in (
            "%a = kernel.round %x : (TYPE) -> TYPE\n"
            "%r = kernel.scale %a {factor = 0.5 : f32} : (TYPE) -> TYPE",
            "%c = kernel.constant {value = 0.5 : f32} : tensor<1xf32>\n"
            "%a = kernel.add %x, %c : (TYPE, tensor<1xf32>) -> TYPE\n"
            "%r = kernel.floor %a : (TYPE) -> TYPE",
        )
    ]
    one, other = (functions(parse_program(each, "pair"))[0] for each in pair)
    assert difference(one, other) is not None
