"""Random functions on which a given rule of `algebraic-rewrite` applies."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from axiom_programs import Instance
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from mirage_mlir.dialects import kernel


def _three(b: Instance) -> list[SSAValue]:
    return b.covering(b.shape(b.random.randint(1, 3)), 3)


def _reduced(b: Instance) -> tuple[list[int], list[int]]:
    """A shape and some of its dimensions."""
    rank = b.random.randint(1, 3)
    dims = sorted(b.random.sample(range(rank), b.random.randint(1, rank)))
    return b.shape(rank), dims


def _commuted(kind: type[kernel.AddOp | kernel.MulOp]) -> Callable[[Instance], SSAValue]:
    """`x op y`."""

    def build(b: Instance) -> SSAValue:
        x, y = b.covering(b.shape(2), 2)
        return b.add(kind(x, y))

    return build


def _left(kind: type[kernel.AddOp | kernel.MulOp]) -> Callable[[Instance], SSAValue]:
    """`(x op y) op z`."""

    def build(b: Instance) -> SSAValue:
        x, y, z = _three(b)
        return b.add(kind(b.add(kind(x, y)), z))

    return build


def _right(kind: type[kernel.AddOp | kernel.MulOp]) -> Callable[[Instance], SSAValue]:
    """`x op (y op z)`."""

    def build(b: Instance) -> SSAValue:
        x, y, z = _three(b)
        return b.add(kind(x, b.add(kind(y, z))))

    return build


def _sum_of_products(b: Instance) -> SSAValue:
    x, y, z = _three(b)
    return b.sum_of(b.either(kernel.MulOp, x, z), b.either(kernel.MulOp, y, z))


def _sum_of_quotients(b: Instance) -> SSAValue:
    x, y, z = _three(b)
    return b.sum_of(b.add(kernel.DivOp(x, z)), b.add(kernel.DivOp(y, z)))


def _product_with_sum(b: Instance) -> SSAValue:
    x, y, z = _three(b)
    return b.either(kernel.MulOp, b.sum_of(x, y), z)


def _quotient_of_sum(b: Instance) -> SSAValue:
    x, y, z = _three(b)
    return b.add(kernel.DivOp(b.sum_of(x, y), z))


def _product_with_quotient(b: Instance) -> SSAValue:
    shape = b.shape(2)
    y, z = b.covering(shape, 2)
    return b.either(kernel.MulOp, b.leaf(b.partial(shape)), b.add(kernel.DivOp(y, z)))


def _quotient_of_product(b: Instance) -> SSAValue:
    x, y, z = _three(b)
    return b.add(kernel.DivOp(b.add(kernel.MulOp(x, y)), z))


def _quotient_of_quotient(b: Instance) -> SSAValue:
    x, y, z = _three(b)
    return b.add(kernel.DivOp(b.add(kernel.DivOp(x, y)), z))


def _quotient_by_product(b: Instance) -> SSAValue:
    x, y, z = _three(b)
    return b.add(kernel.DivOp(x, b.add(kernel.MulOp(y, z))))


def _sum_of_one(b: Instance) -> SSAValue:
    shape = b.shape(3)
    shape[1] = 1
    return b.add(kernel.ReduceSumOp(b.leaf(shape), [1]))


def _sum_of_sum(b: Instance) -> SSAValue:
    shape, dims = _reduced(b)
    inner = b.add(kernel.ReduceSumOp(b.leaf(shape), dims))
    return b.add(kernel.ReduceSumOp(inner, [b.random.randrange(len(shape))]))


def _sum_over_dims(b: Instance) -> SSAValue:
    shape = b.shape(3)
    dims = b.random.sample(range(3), b.random.randint(2, 3))
    return b.add(kernel.ReduceSumOp(b.leaf(shape), dims))


def _sum_of_sums(b: Instance) -> SSAValue:
    shape, dims = _reduced(b)
    return b.sum_of(*(b.add(kernel.ReduceSumOp(b.leaf(shape), dims)) for _ in range(2)))


def _sum_over_sum(b: Instance) -> SSAValue:
    shape, dims = _reduced(b)
    # One term may have fewer dimensions, but not fewer of those that are summed.
    fewer = list(shape)
    while len(fewer) > 1 and len(shape) - len(fewer) not in dims and b.random.random() < 0.5:
        fewer = fewer[1:]
    return b.add(kernel.ReduceSumOp(b.sum_of(b.leaf(shape), b.leaf(fewer)), dims))


def _sum_of_product(b: Instance) -> SSAValue:
    shape, dims = _reduced(b)
    y = b.leaf(b.partial(shape, dims))
    return b.add(kernel.ReduceSumOp(b.either(kernel.MulOp, b.leaf(shape), y), dims))


def _sum_of_quotient(b: Instance) -> SSAValue:
    shape, dims = _reduced(b)
    y = b.leaf(b.partial(shape, dims))
    return b.add(kernel.ReduceSumOp(b.add(kernel.DivOp(b.leaf(shape), y)), dims))


def _sum_of_scaled(b: Instance) -> SSAValue:
    shape, dims = _reduced(b)
    return b.add(kernel.ReduceSumOp(b.add(kernel.ScaleOp(b.leaf(shape), 3.0)), dims))


def _product_with_total(b: Instance) -> SSAValue:
    shape, dims = _reduced(b)
    total = b.add(kernel.ReduceSumOp(b.leaf(shape), dims))
    # y may have a dimension more.
    more = [b.sizes[3]] * b.random.randrange(2)
    y = b.leaf([*more, *(1 if d in dims else n for d, n in enumerate(shape))])
    return b.either(kernel.MulOp, total, y)


def _quotient_of_total(b: Instance) -> SSAValue:
    shape, dims = _reduced(b)
    total = b.add(kernel.ReduceSumOp(b.leaf(shape), dims))
    return b.add(kernel.DivOp(total, b.leaf(b.partial(shape, dims))))


def _leading(b: Instance) -> list[int]:
    return b.random.choice(([], [b.sizes[3]]))


def _matmul_of(
    kind: type[kernel.MulOp | kernel.DivOp] | None,
) -> Callable[[Instance], SSAValue]:
    """A matmul of which one operand is scaled by something that lacks K."""

    def build(b: Instance) -> SSAValue:
        m, k, n = b.shape(3)
        side = b.random.randrange(2)
        shapes = [[*_leading(b), m, k], [*_leading(b), k, n]]
        operands = [b.leaf(shape) for shape in shapes]
        shape = shapes[side]
        if kind is None:
            operands[side] = b.add(kernel.ScaleOp(operands[side], 3.0))
        else:
            s = b.leaf(b.partial(shape, [len(shape) - 1 - side]))
            operands[side] = b.add(kind(operands[side], s))
        return b.add(kernel.MatmulOp(operands[0], operands[1]))

    return build


def _product_with_matmul(b: Instance) -> SSAValue:
    m, k, n = b.shape(3)
    leading = _leading(b)
    product = b.add(kernel.MatmulOp(b.leaf([*leading, m, k]), b.leaf([k, n])))
    shape = [*leading, m, n]
    s = b.leaf(b.partial(shape, [len(shape) - b.random.randint(1, 2)]))
    return b.either(kernel.MulOp, product, s)


def _two_matmuls(side: int) -> Callable[[Instance], SSAValue]:
    """Matmuls that share one operand, added."""

    def build(b: Instance) -> SSAValue:
        m, k, n = b.shape(3)
        shapes = [[*_leading(b), m, k], [*_leading(b), k, n]]
        shared = b.leaf(shapes[1 - side])
        others = [b.leaf(shapes[side]) for _ in range(2)]
        pairs = [(x, shared) if side == 0 else (shared, x) for x in others]
        return b.sum_of(*(b.add(kernel.MatmulOp(*pair)) for pair in pairs))

    return build


def _matmul_of_sum(side: int) -> Callable[[Instance], SSAValue]:
    def build(b: Instance) -> SSAValue:
        m, k, n = b.shape(3)
        shapes = [[*_leading(b), m, k], [*_leading(b), k, n]]
        operands = [b.leaf(shape) for shape in shapes]
        # A term may lack the dimension that is not summed.
        fewer = list(shapes[side])
        if b.random.random() < 0.5:
            fewer[-2 if side == 0 else -1] = 1
        operands[side] = b.sum_of(operands[side], b.leaf(fewer))
        return b.add(kernel.MatmulOp(operands[0], operands[1]))

    return build


def _matmuls(right: bool) -> Callable[[Instance], SSAValue]:
    """`x @ (y @ z)`, or `(x @ y) @ z`."""

    def build(b: Instance) -> SSAValue:
        m, k, r, n = b.shape(4)
        batch = [b.sizes[4]]
        x, y, z = (
            b.leaf([*b.random.choice(([], batch)), *shape]) for shape in ((m, k), (k, r), (r, n))
        )
        if right:
            return b.add(kernel.MatmulOp(x, b.add(kernel.MatmulOp(y, z))))
        return b.add(kernel.MatmulOp(b.add(kernel.MatmulOp(x, y)), z))

    return build


def _sum_of_matmul(b: Instance) -> SSAValue:
    m, k, n = b.shape(3)
    leading = _leading(b)
    product = b.add(kernel.MatmulOp(b.leaf([*leading, m, k]), b.leaf([k, n])))
    return b.add(kernel.ReduceSumOp(product, [len(leading) + b.random.randrange(2)]))


def _product_of(
    function: type[kernel.ExpOp | kernel.SqrtOp],
) -> Callable[[Instance], SSAValue]:
    def build(b: Instance) -> SSAValue:
        shape = b.shape(2)
        make = b.leaf if function is kernel.ExpOp else b.positive
        shapes = [shape, b.partial(shape)]
        b.random.shuffle(shapes)
        left, right = (b.add(function(make(each))) for each in shapes)
        return b.add(b.random.choice((kernel.MulOp, kernel.DivOp))(left, right))

    return build


def _root_of_product(b: Instance) -> SSAValue:
    shape = b.shape(2)
    kind = b.random.choice((kernel.MulOp, kernel.DivOp))
    return b.add(kernel.SqrtOp(b.add(kind(b.positive(shape), b.positive(b.partial(shape))))))


def _exp_of_sum(b: Instance) -> SSAValue:
    return b.add(kernel.ExpOp(b.sum_of(*b.covering(b.shape(2), 2))))


def _square_of_root(b: Instance) -> SSAValue:
    root = b.add(kernel.SqrtOp(b.positive(b.shape(2))))
    if b.random.random() < 0.5:
        return b.add(kernel.SquareOp(root))
    return b.add(kernel.MulOp(root, root))


def _root_of_square(b: Instance) -> SSAValue:
    return b.add(kernel.SqrtOp(b.add(kernel.SquareOp(b.positive(b.shape(2))))))


INSTANCES: Mapping[str, Callable[[Instance], SSAValue]] = {
    "sum-of-one": _sum_of_one,
    "sum-of-sum": _sum_of_sum,
    "mul-out-of-sum": _sum_of_product,
    "div-out-of-sum": _sum_of_quotient,
    "scale-out-of-sum": _sum_of_scaled,
    "join-sums": _sum_of_sums,
    "mul-out-of-add": _sum_of_products,
    "div-out-of-add": _sum_of_quotients,
    "div-out-of-mul": _product_with_quotient,
    "join-divs": _quotient_of_quotient,
    "mul-out-of-matmul": _matmul_of(kernel.MulOp),
    "div-out-of-matmul": _matmul_of(kernel.DivOp),
    "scale-out-of-matmul": _matmul_of(None),
    "join-matmuls-left": _two_matmuls(0),
    "join-matmuls-right": _two_matmuls(1),
    "sum-into-matmul": _sum_of_matmul,
    "join-exps": _product_of(kernel.ExpOp),
    "join-sqrts": _product_of(kernel.SqrtOp),
    "square-of-sqrt": _square_of_root,
    "sqrt-of-square": _root_of_square,
    "commute-add": _commuted(kernel.AddOp),
    "commute-mul": _commuted(kernel.MulOp),
    "associate-add-left": _right(kernel.AddOp),
    "associate-add-right": _left(kernel.AddOp),
    "associate-mul-left": _right(kernel.MulOp),
    "associate-mul-right": _left(kernel.MulOp),
    "distribute-mul": _product_with_sum,
    "distribute-div": _quotient_of_sum,
    "mul-out-of-div": _quotient_of_product,
    "split-div": _quotient_by_product,
    "split-sum-of-dims": _sum_over_dims,
    "split-sum": _sum_over_sum,
    "mul-into-sum": _product_with_total,
    "div-into-sum": _quotient_of_total,
    "distribute-matmul-left": _matmul_of_sum(0),
    "distribute-matmul-right": _matmul_of_sum(1),
    "associate-matmul-left": _matmuls(right=True),
    "associate-matmul-right": _matmuls(right=False),
    "mul-into-matmul": _product_with_matmul,
    "split-exp": _exp_of_sum,
    "split-sqrt": _root_of_product,
}
"""For each rule what it applies to."""


def instance(rule: str, seed: int) -> FuncOp:
    """A function that `rule` rewrites; equal seeds give equal functions."""
    b = Instance(seed)
    return b.finish(INSTANCES[rule](b))
