"""Programs for tests of the search, built without IR, and what can be asked of a found graph."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from mirage_mlir.search.cost_model.block_graph import BlockGraph
from mirage_mlir.search.program.builder import ProgramBuilder
from mirage_mlir.search.program.program import Function, Kind, Program


def in_bf16(program: Program) -> Program:
    """
    A program of f16 with bf16 in its place.

    bf16 has the exponents of f32, so that a search may narrow every value (`search/narrowing.py`).
    What is tested so is which graphs follow from the axioms.
    """

    def other(element_type: str) -> str:
        return "bf16" if element_type == "f16" else element_type

    return replace(
        program,
        nodes=tuple(
            replace(node, element_type=other(node.element_type), floor=other(node.floor))
            for node in program.nodes
        ),
        inputs=tuple(replace(one, element_type=other(one.element_type)) for one in program.inputs),
        outputs=tuple(
            replace(one, element_type=other(one.element_type)) for one in program.outputs
        ),
        matrix_type=other(program.matrix_type),
    )


def normalised(b: ProgramBuilder, x: int, weight: int | None = None) -> int:
    """`x / sqrt(mean(x^2) + 1e-5) * weight` over the last dimension."""
    last = len(b.shape(x)) - 1
    mean = b.mean(b.binary(Kind.MUL, x, x), (last,))
    root = b.function(Function("sqrt"), b.binary(Kind.ADD, mean, b.constant(1e-5)))
    result = b.binary(Kind.DIV, x, root)
    return result if weight is None else b.binary(Kind.MUL, result, weight)


def stable_softmax(b: ProgramBuilder, x: int) -> int:
    """Over the last dimension."""
    last = (len(b.shape(x)) - 1,)
    shifted = b.binary(Kind.SUB, x, b.reduce(Kind.REDUCE_MAX, x, last))
    powers = b.function(Function("exp"), shifted)
    return b.binary(Kind.DIV, powers, b.reduce(Kind.REDUCE_SUM, powers, last))


def rmsnorm_linear(rows: int = 16, depth: int = 4096, columns: int = 6144) -> ProgramBuilder:
    """A norm and a matmul."""
    b = ProgramBuilder()
    x, w = b.input((rows, depth)), b.input((depth, columns), constant=True)
    b.output(b.matmul(normalised(b, x), w))
    return b


def weighted_rmsnorm_linear(kind: str = "bf16") -> ProgramBuilder:
    """A norm with a weight and a matmul; in f16 the weight may not go before the norm."""
    b = ProgramBuilder()
    x, weight, w = (b.input(shape, kind) for shape in ((16, 4096), (4096,), (4096, 4096)))
    b.output(b.matmul(normalised(b, x, weight), w, kind), kind)
    return b


def lora(rows: int = 16, depth: int = 256, columns: int = 4096, rank: int = 16) -> ProgramBuilder:
    """`X W + (X A) B`."""
    b = ProgramBuilder()
    x, w = b.input((rows, depth)), b.input((depth, columns))
    down, up = b.input((depth, rank)), b.input((rank, columns))
    b.output(b.binary(Kind.ADD, b.matmul(x, w), b.matmul(b.matmul(x, down), up)))
    return b


def gated_mlp() -> ProgramBuilder:
    """`silu(X W1) * (X W3)`."""
    b = ProgramBuilder()
    x, w1, w3 = b.input((8, 4096)), b.input((4096, 4096)), b.input((4096, 4096))
    gate = b.function(Function("silu"), b.matmul(x, w1))
    b.output(b.binary(Kind.MUL, gate, b.matmul(x, w3)))
    return b


def ntrans() -> ProgramBuilder:
    """`norm(x + alpha * (norm(h) - x))`."""
    b = ProgramBuilder()
    x, h, alpha = b.input((8, 4096)), b.input((8, 4096)), b.input((4096,))
    step = b.binary(Kind.MUL, alpha, b.binary(Kind.SUB, normalised(b, h), x))
    b.output(normalised(b, b.binary(Kind.ADD, x, step)))
    return b


def softmax() -> ProgramBuilder:
    """Of rows that a block can hold."""
    b = ProgramBuilder()
    b.output(stable_softmax(b, b.input((512, 1000))))
    return b


def linear_bias_gelu() -> ProgramBuilder:
    """`gelu(X W + b)` over two leading dimensions."""
    b = ProgramBuilder()
    x, w, bias = b.input((4, 4, 1024)), b.input((1024, 4096)), b.input((4096,))
    b.output(b.function(Function("gelu", ("tanh",)), b.binary(Kind.ADD, b.matmul(x, w), bias)))
    return b


def attention(keys: int = 4096) -> ProgramBuilder:
    """Softmax of scores, times values; one kernel holds it while there are few keys."""
    b = ProgramBuilder()
    q, k, v = b.input((2, 64, 64)), b.input((2, 64, keys)), b.input((2, keys, 64))
    b.output(b.matmul(stable_softmax(b, b.matmul(q, k)), v))
    return b


def attention_gradient(
    heads: int = 8, length: int = 512, depth: int = 64, factor: Fraction | None = None
) -> ProgramBuilder:
    """
    The gradients of queries, keys and values, with what they need of the forward pass.

    Scores are scaled by `factor`, if any.
    """
    b = ProgramBuilder()
    q, k, v, gradient = (b.input((heads, length, depth)) for _ in range(4))
    swapped = (0, 2, 1)
    scores = b.matmul(q, b.transpose(k, swapped))
    if factor is not None:
        scores = b.binary(Kind.MUL, scores, b.constant(factor))
    weights = stable_softmax(b, scores)
    of_weights = b.matmul(gradient, b.transpose(v, swapped))
    mean = b.reduce(Kind.REDUCE_SUM, b.binary(Kind.MUL, weights, of_weights), (2,))
    of_scores = b.binary(Kind.MUL, weights, b.binary(Kind.SUB, of_weights, mean))
    if factor is not None:
        of_scores = b.binary(Kind.MUL, of_scores, b.constant(factor))
    b.output(b.matmul(of_scores, k))
    b.output(b.matmul(b.transpose(of_scores, swapped), q))
    b.output(b.matmul(b.transpose(stable_softmax(b, scores), swapped), gradient))
    return b


def gram() -> ProgramBuilder:
    """`X Xᵀ`, where one axis plays two roles."""
    b = ProgramBuilder()
    x = b.input((256, 512))
    b.output(b.matmul(x, b.transpose(x, (1, 0))))
    return b


def two_products() -> ProgramBuilder:
    """Two results over the same axes, with one loop."""
    b = ProgramBuilder()
    x, w1, w3 = b.input((8, 1024)), b.input((1024, 1024)), b.input((1024, 1024))
    product = b.matmul(x, w1)
    b.output(product)
    b.output(b.binary(Kind.MUL, product, b.matmul(x, w3)))
    return b


PROGRAMS: dict[str, Callable[[], ProgramBuilder]] = {
    "rmsnorm_linear": rmsnorm_linear,
    "weighted_rmsnorm_linear": weighted_rmsnorm_linear,
    "lora": lora,
    "gated_mlp": gated_mlp,
    "ntrans": ntrans,
    "softmax": softmax,
    "linear_bias_gelu": linear_bias_gelu,
    "small_attention": lambda: attention(128),
    "gram": gram,
    "two_products": two_products,
}


def kinds(graph: BlockGraph) -> Counter[Kind]:
    """How often a graph has each kind of operation."""
    return Counter(operation.kind for operation in graph.operations)
