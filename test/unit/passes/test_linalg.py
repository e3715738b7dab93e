"""What linalg becomes computes what linalg's loops compute, one step after the other."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from linalg_reference import run
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from mirage_mlir.diagnostics import collect_remarks
from mirage_mlir.driver.source import (
    compiler_context,
    function_named,
    functions,
    parse_program,
)
from mirage_mlir.hints import isa
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.passes.convert_linalg_to_kernel import ConvertLinalgToKernelPass


def converted(text: str) -> tuple[ModuleOp, ModuleOp, list[str]]:
    """A program before and after the pass, and its remarks."""
    before = parse_program(text, "program.mlir")
    after = before.clone()
    with collect_remarks() as remarks:
        ConvertLinalgToKernelPass().apply(compiler_context(), after)
    after.verify()
    return before, after, [str(each) for each in remarks]


def inputs_of(function: FuncOp) -> list[np.ndarray]:
    random = np.random.default_rng(0)
    kinds = [arg.type for arg in function.body.block.args]
    shapes = [kind.get_shape() for kind in kinds if isa(kind, TensorType[Attribute])]
    return [random.uniform(0.25, 2, shape).astype(np.float16).astype(float) for shape in shapes]


def check(text: str, *, whole: bool = True) -> None:
    """The functions of a program compute the same before and after the pass."""
    before, after, remarks = converted(text)
    assert (remarks == []) is whole
    for function in functions(before):
        name = function.sym_name.data
        given = inputs_of(function)
        wanted = run(before, name, [array.astype(object) for array in given])
        if whole:
            found = run_function(function_named(after, name), given, rounding=False)
        else:
            found = run(after, name, [array.astype(object) for array in given])
        assert len(wanted) == len(found)
        # What parts take is rounded to f32.
        error = 1e-9 if whole else 1e-6
        for ours, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(ours.astype(float), theirs.astype(float), rtol=error)


GENERIC = """
func.func @{name}(%x: tensor<{x}xf32>, %y: tensor<{y}xf32>, %init: tensor<{out}xf32>)
    -> tensor<{out}xf32> {{
  %c = arith.constant 0.5 : f32
  %r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
    ins(%x, %y : tensor<{x}xf32>, tensor<{y}xf32>) outs(%init : tensor<{out}xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    {body}
    linalg.yield %z : f32
  }} -> tensor<{out}xf32>
  func.return %r : tensor<{out}xf32>
}}
"""

BODIES = {
    "sum of products": "%m = arith.mulf %a, %b : f32\n %z = arith.addf %o, %m : f32",
    "sum of products behind": "%m = arith.mulf %b, %a : f32\n %z = arith.addf %m, %o : f32",
    "sum of sums": "%m = arith.addf %a, %b : f32\n %z = arith.addf %o, %m : f32",
    "maximum": "%m = arith.subf %a, %b : f32\n %z = arith.maximumf %m, %o : f32",
    "minimum": "%m = arith.mulf %a, %b : f32\n %z = arith.minimumf %o, %m : f32",
    "sum of what an exponential multiplies": (
        "%e = math.exp %a : f32\n %s = arith.addf %b, %c : f32\n"
        "%m = arith.mulf %e, %s : f32\n %z = arith.addf %o, %m : f32"
    ),
    "sum of squares": "%m = arith.mulf %a, %a : f32\n %z = arith.addf %o, %m : f32",
    "sum of ones": "%m = arith.mulf %c, %c : f32\n %z = arith.addf %o, %m : f32",
}

NESTS = {
    # x, y, out, maps over (d0, d1, ...), iterators: p parallel, r reduction
    "matmul": ("4x3", "3x5", "4x5", "(i,k) (k,j) (i,j)", "i:p j:p k:r"),
    "matmul, both transposed, written transposed": (
        "3x4",
        "5x3",
        "5x4",
        "(k,i) (j,k) (j,i)",
        "i:p j:p k:r",
    ),
    "loops in another order": ("4x3", "3x5", "4x5", "(i,k) (k,j) (i,j)", "k:r j:p i:p"),
    "batched, the batch in between": (
        "4x2x3",
        "3x5x2",
        "5x2x4",
        "(i,b,k) (k,j,b) (j,b,i)",
        "b:p i:p j:p k:r",
    ),
    "two sums": ("4x3x2", "2x3x5", "4x5", "(i,k,l) (l,k,j) (i,j)", "i:p j:p k:r l:r"),
    "two rows": ("4x6x3", "3x5", "4x5x6", "(i,h,k) (k,j) (i,j,h)", "i:p h:p j:p k:r"),
    "matrix and vector": ("4x3", "3", "4", "(i,k) (k) (i)", "i:p k:r"),
    "vector and matrix": ("3", "3x4", "4", "(k) (k,i) (i)", "i:p k:r"),
    "dot product": ("6", "6", "", "(k) (k) ()", "k:r"),
    "rows": ("4x3", "4x3", "4", "(i,k) (i,k) (i)", "i:p k:r"),
    "columns": ("4x3", "4x3", "3", "(k,i) (k,i) (i)", "i:p k:r"),
    "one sum each": ("4x3", "5", "4", "(i,k) (l) (i)", "i:p k:r l:r"),
    "a row of one": ("1x3", "3x5", "1x5", "(i,k) (k,j) (i,j)", "i:p j:p k:r"),
    "a sum of one": ("4x1", "1x5", "4x5", "(i,k) (k,j) (i,j)", "i:p j:p k:r"),
    "all of one": ("1x1", "1x1", "1x1", "(i,k) (k,j) (i,j)", "i:p j:p k:r"),
    "a constant index": ("4x3", "2x3", "4", "(i,k) (1,k) (i)", "i:p k:r"),
    "constant indices alone": ("4x3", "2x3", "4x3", "(i,k) (1,2) (i,k)", "i:p k:p"),
    "a unit dimension written": ("4x3", "4x3", "4x1", "(i,k) (i,k) (i,0)", "i:p k:r"),
    "no reduction": ("4x3", "3", "3x4", "(i,k) (k) (k,i)", "i:p k:p"),
    "a window": ("8", "3", "6", "(i+k) (k) (i)", "i:p k:r"),
    "a window, the other way round": ("8", "3", "6", "(k+i) (k) (i)", "k:r i:p"),
    "windows apart and spread": ("2x14", "2x3", "4", "(c,i*2+k*3+1) (c,k) (i)", "i:p c:r k:r"),
    "windows of two dimensions": ("5x7", "2x3", "4x5", "(i+k,j+l) (k,l) (i,j)", "i:p j:p k:r l:r"),
    "a convolution": (
        "2x5x3",
        "3x3x4",
        "2x3x4",
        "(n,i+k,c) (k,c,f) (n,i,f)",
        "n:p i:p f:p k:r c:r",
    ),
    "every second element": ("4x6", "3", "4x3", "(i,k*2) (k) (i,k)", "i:p k:p"),
    "four dimensions, no reduction": (
        "2x3x4",
        "5x3",
        "4x5x3x2",
        "(a,b,c) (d,b) (c,d,b,a)",
        "a:p b:p c:p d:p",
    ),
}


def generic(nest: str, body: str, name: str = "f") -> str:
    x, y, out, maps, loops = NESTS[nest]
    names, kinds = zip(*(loop.split(":") for loop in loops.split()), strict=True)
    dims = ", ".join(names)
    shapes = {
        name: f"{shape}x" if shape else "" for name, shape in zip("xyo", (x, y, out), strict=True)
    }
    text = GENERIC.format(
        name=name,
        x=shapes["x"].removesuffix("x"),
        y=shapes["y"].removesuffix("x"),
        out=shapes["o"].removesuffix("x"),
        maps=", ".join(f"affine_map<({dims}) -> {each}>" for each in maps.split()),
        iterators=", ".join({"p": '"parallel"', "r": '"reduction"'}[kind] for kind in kinds),
        body=BODIES[body],
    )
    return text.replace("<xf32", "<f32")


@pytest.mark.parametrize("nest", NESTS)
def test_generic(nest: str) -> None:
    """One function for each body."""
    check("".join(generic(nest, body, f"f{number}") for number, body in enumerate(BODIES)))


def test_indices_in_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the loops that are unrolled are numbers."""
    body = (
        "%p = linalg.index 0 : index\n %q = linalg.index 1 : index\n"
        "%s = arith.muli %p, %q : index\n %i = arith.index_cast %s : index to i64\n"
        "%n = arith.sitofp %i : i64 to f32\n"
        "%t = arith.mulf %n, %a : f32\n %z = arith.addf %t, %o : f32"
    )
    monkeypatch.setitem(BODIES, "indices", body)
    check(generic("a window", "indices") + generic("a window, the other way round", "indices", "g"))


def test_a_product_of_matrices_is_one_operator() -> None:
    for nest in ("matmul", "batched, the batch in between", "two rows", "matrix and vector"):
        _, after, _ = converted(generic(nest, "sum of products"))
        names = [op.name for op in after.walk()]
        assert names.count("kernel.matmul") == 1
        assert "kernel.mul" not in names


PROGRAMS = sorted((Path(__file__).parent / "Inputs").glob("*.mlir"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path: Path) -> None:
    check(path.read_text(), whole=path.stem != "parts_of_a_host")


def test_parts_of_a_host() -> None:
    path = next(path for path in PROGRAMS if path.stem == "parts_of_a_host")
    _, after, (first, second) = converted(path.read_text())
    names = [op.sym_name.data for op in after.ops if isinstance(op, FuncOp)]
    assert names == ["log", "f_part_0", "f_part_1", "f"]
    assert first.endswith("stays a function of the host: 2 parts became functions that it calls")
    assert second.endswith(
        "'func.return' op gives tensor<4x4xi64> as result 1; kernels give f16, bf16 and f32"
    )


REFUSED = {
    "goes along a diagonal": ("4x4", "4", "4", "(i,i) (i) (i)", "i:p"),
    "reads or writes at index": ("4x6", "3", "4x3", "(i,k-k*2+4) (k) (i,k)", "i:p k:p"),
    "reads along a sum of loops": ("6", "3", "4x3", "(i+k) (k) (i,k)", "i:p k:p"),
    "has windows of 17 elements; at most 16": ("20", "17", "4", "(i+k) (k) (i)", "i:p k:r"),
    "writes not all elements": ("4x3", "3", "4x6", "(i,k) (k) (i,k*2)", "i:p k:p"),
}


def _smaller_half(x: Any, y: Any) -> Any:
    small: Any = (x > y) & (x < 0.5)
    return x * small + y * (1 - small)


ELEMENTWISE: Mapping[str, Callable[[Any, Any], Any]] = {
    "%r = arith.maxnumf %x, %y : F": np.maximum,
    "%r = math.fma %x, %y, %x : F": lambda x, y: x * y + x,
    "%r = math.rsqrt %x : F": lambda x, y: 1 / np.sqrt(x),
    "%r = math.floor %x : F": lambda x, y: np.floor(x),
    "%r = math.ceil %x : F": lambda x, y: np.ceil(x),
    "%r = math.roundeven %x : F": lambda x, y: np.rint(x),
    "%r = math.log1p %x : F": lambda x, y: np.log1p(x),
    "%c = arith.cmpf ule, %x, %y : F\n %r = arith.select %c, %x, %y : I1, F": np.minimum,
    "%c = arith.cmpf one, %x, %y : F\n %r = arith.uitofp %c : I1 to F": np.not_equal,
    """%c = arith.cmpf ogt, %x, %y : F
       %i = arith.extui %c : I1 to I32
       %j = arith.addi %i, %i : I32
       %r = arith.sitofp %j : I32 to F""": lambda x, y: 2.0 * (x > y),
    """%c = arith.cmpf ogt, %x, %y : F
       %i = arith.extui %c : I1 to I32
       %z = arith.constant dense<0> : I32
       %d = arith.cmpi eq, %i, %z : I32
       %r = arith.select %d, %x, %y : I1, F""": np.minimum,
    """%h = arith.constant dense<0.5> : F
       %c = arith.cmpf ogt, %x, %y : F
       %d = arith.cmpf olt, %x, %h : F
       %e = arith.andi %c, %d : I1
       %r = arith.select %e, %x, %y : I1, F""": _smaller_half,
}
"""Bodies, and what numpy says of them."""


@pytest.mark.parametrize("body", ELEMENTWISE)
@pytest.mark.parametrize("shape", ["4x8x", ""])
def test_arith_and_math_on_tensors(body: str, shape: str) -> None:
    """Without any linalg: xDSL has some of these operations for scalars alone."""
    wanted_of = ELEMENTWISE[body]
    for kind, name in (("f32", "F"), ("i32", "I32"), ("i1", "I1")):
        body = re.sub(rf"\b{name}\b", f"tensor<{shape}{kind}>", body)
    of = f"tensor<{shape}f32>"
    text = f"func.func @f(%x: {of}, %y: {of}) -> {of} {{\n{body}\nreturn %r : {of}\n}}"
    _, after, remarks = converted(text)
    assert not remarks
    x, y = inputs_of(function_named(after, "f"))
    (found,) = run_function(function_named(after, "f"), [x, y], rounding=False)
    np.testing.assert_allclose(found, wanted_of(x, y), rtol=1e-12)


@pytest.mark.parametrize("reason", REFUSED)
def test_loops_that_kernels_do_not_have(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(NESTS, "refused", REFUSED[reason])
    before, after, remarks = converted(generic("refused", "sum of sums"))
    assert before.is_structurally_equivalent(after)
    assert "nothing of it was converted" in remarks[0]
    assert reason in remarks[1]
    assert remarks[1].startswith("program.mlir:")


@pytest.mark.parametrize(
    "body",
    [
        "%m = arith.addf %a, %b : f32\n %z = arith.mulf %o, %m : f32",
        "%z = arith.addf %a, %b : f32",
        "%m = arith.addf %a, %o : f32\n %z = arith.addf %o, %m : f32",
        "%m = arith.addf %a, %o : f32\n %z = math.sqrt %m : f32",
        "%m = arith.addf %a, %b : f32\n %z = arith.subf %o, %m : f32",
        "%m = math.atan %a : f32\n %z = arith.addf %o, %m : f32",
        "%m = arith.remf %a, %b : f32\n %z = arith.addf %o, %m : f32",
    ],
)
def test_bodies_that_kernels_do_not_have(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BODIES, "refused", body)
    before, after, remarks = converted(generic("matmul", "refused"))
    assert before.is_structurally_equivalent(after)
    assert len(remarks) == 2


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("tensor<?x4xf32>", "whose sizes are not all known"),
        ("tensor<0x4xf32>", "which has no elements"),
        ("tensor<4x4xf64>", "f64"),
        ("tensor<4x4xi32>", "i32"),
        ("memref<4x4xf32>", "buffers"),
    ],
)
def test_tensors_that_kernels_do_not_have(kind: str, reason: str) -> None:
    op = "linalg.add" if "i32" in kind else "linalg.exp"
    operands, types = ("%a, %a", f"{kind}, {kind}") if "i32" in kind else ("%a", kind)
    result = "" if kind.startswith("memref") else f"%r = {op}"
    arrow = "" if kind.startswith("memref") else f"-> {kind}"
    text = f"""func.func @f(%a: {kind}, %b: {kind}) {{
      {result or op} ins({operands} : {types}) outs(%b : {kind}) {arrow}
      func.return
    }}"""
    before, after, remarks = converted(text)
    assert before.is_structurally_equivalent(after)
    assert reason in remarks[1]
