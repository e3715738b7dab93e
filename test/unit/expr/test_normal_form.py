"""The laws of single operations, and what is not a law."""

from fractions import Fraction

import pytest

from mirage_mlir.expr.heads import FULL, GRID, LOOP, LOOP_OF_PARTIAL, TILE, Poly
from mirage_mlir.expr.normal_form import NormalForm, equal

Value = Poly | None


@pytest.fixture
def nf() -> NormalForm:
    return NormalForm()


@pytest.fixture
def proof() -> NormalForm:
    return NormalForm(expansion_limit=64, size_algebra=True, cancelling=True)


def test_coefficients_are_exact(proof: NormalForm) -> None:
    x = proof.input("x", "i")
    half = proof.scale(x, 0.5)
    assert proof.add(half, half) == x
    assert proof.scale(proof.scale(x, Fraction(1, 3)), 3) == x
    assert proof.scale(x, 0.1) != proof.scale(x, Fraction(1, 10))
    assert proof.sub(x, x) == proof.zero
    assert proof.mul(x, proof.inverse(x)) == proof.one
    assert proof.scale(x, 1) == x


def test_nothing_cancels_in_the_search(nf: NormalForm) -> None:
    """Each of these would be a way back to an operand, and so a cycle."""
    x = nf.input("x", "i")
    half, negative = nf.scale(x, 0.5), nf.scale(x, -1)
    root = nf.function("sqrt", x)
    for value in (
        nf.sub(x, x),
        nf.div(x, x),
        nf.mul(nf.inverse(x), x),
        nf.inverse(nf.inverse(x)),
        nf.add(half, half),
        nf.scale(half, 2),
        nf.scale(negative, -1),
        nf.add(x, nf.constant(0)),
        nf.mul(x, nf.constant(1)),
        nf.mul(root, root),
        nf.maximum(x, x),
    ):
        assert value is None


def test_lowering_lets_values_cancel(nf: NormalForm) -> None:
    x = nf.input("x", "i")
    with nf.lowering():
        assert nf.sub(x, x) == nf.zero
        assert nf.div(x, nf.div(x, x)) == x
        assert nf.mul(nf.function("sqrt", x), nf.function("sqrt", x)) == x
        y = nf.input("y", "j")
        assert nf.bind(y, "i", FULL) == nf.mul(y, nf.size("i"))
    assert nf.sub(x, x) is None
    assert nf.bind(y, "i", FULL) is None


def test_none_is_none(nf: NormalForm) -> None:
    x = nf.input("x", "i")
    values: list[Value] = [nf.add(x, None), nf.sub(None, x), nf.mul(None, x), nf.div(x, None)]
    values += [nf.inverse(None), nf.scale(None, 2), nf.power(None, 0), nf.bind(None, "i", FULL)]
    values += [nf.function("exp", None), nf.maximum(x, None), nf.bind_max(None, "i", FULL)]
    assert set(values) == {None}


def test_division_by_zero(proof: NormalForm) -> None:
    assert proof.div(proof.one, proof.zero) is None


def test_input_with_one_axis_twice(nf: NormalForm) -> None:
    with pytest.raises(ValueError, match="input x has an axis twice: i, i"):
        nf.input("x", "ii")


def test_refined_axes_and_their_order(nf: NormalForm) -> None:
    x = nf.input("x", ["i.b", "i.a"])
    assert list(nf.free(x)) == ["i.a", "i.b"]
    assert x == nf.input("x", ["i.a", "i.b"])
    assert nf.show(x) == "x[i.a,i.b]"


def test_bits_of_an_axis(nf: NormalForm) -> None:
    x = nf.input("x", "ik")
    tile = nf.bind(x, "k", TILE)
    assert tile is not None
    assert nf.masks(tile) == {"k": TILE}
    assert nf.free(tile) == {"i": FULL, "k": FULL & ~TILE}
    assert nf.show(tile) == "sum{k:000101} x[i,k]"
    assert nf.bind(tile, "k", TILE) is None
    assert nf.function("exp", tile) is None
    assert nf.inverse(tile) is None
    assert nf.mul(tile, nf.input("y", "k")) is None
    assert nf.add(tile, x) is None
    assert nf.mul(tile, nf.input("y", "i")) is not None
    partial = nf.bind(tile, "k", LOOP)
    second_kernel = nf.bind(nf.bind(partial, "k", LOOP_OF_PARTIAL), "k", GRID & ~LOOP_OF_PARTIAL)
    assert second_kernel == nf.bind(x, "k", FULL)


def test_exp(proof: NormalForm) -> None:
    x, y = proof.input("x", "ik"), proof.input("y", "i")
    exp_x, exp_y = proof.function("exp", x), proof.function("exp", y)
    assert proof.function("exp", proof.sub(x, y)) == proof.div(exp_x, exp_y)
    eighth = proof.function("exp", proof.scale(x, 0.125))
    assert proof.power(eighth, 8) == exp_x
    assert proof.function("sqrt", exp_x) == proof.function("exp", proof.scale(x, 0.5))
    assert proof.function("exp", proof.zero) == proof.one


def test_sqrt_knows_signs(proof: NormalForm) -> None:
    x, y = proof.input("x", "i"), proof.input("y", "i")
    root = proof.function("sqrt", proof.mul(x, y))
    assert root != proof.mul(proof.function("sqrt", x), proof.function("sqrt", y))
    assert proof.function("sqrt", proof.mul(x, x)) not in (x, proof.scale(x, -1))
    positive = proof.add(proof.mul(x, x), proof.constant(1e-5))
    split = proof.div(proof.function("sqrt", y), proof.function("sqrt", positive))
    assert proof.function("sqrt", proof.div(y, positive)) == split
    assert proof.power(proof.function("sqrt", positive), 2) == positive
    assert proof.function("sqrt", proof.constant(2.25)) == proof.constant(1.5)
    fourfold = proof.function("sqrt", proof.scale(positive, 4))
    assert fourfold == proof.scale(proof.function("sqrt", positive), 2)
    factored = NormalForm(cancelling=True)
    positive = factored.add(factored.function("exp", factored.input("x", "i")), factored.one)
    assert factored.function("sqrt", factored.power(positive, 2)) == positive


def test_functions_by_definition(nf: NormalForm) -> None:
    x = nf.input("x", "i")
    assert nf.function("square", x) == nf.mul(x, x) == nf.power(x, 2)
    assert nf.function("silu", x) == nf.mul(x, nf.function("sigmoid", x))
    assert nf.function("rsqrt", x) == nf.inverse(nf.function("sqrt", x))
    assert nf.function("relu", x) == nf.maximum(x, nf.zero)
    assert nf.function("clamp[-1, 1]", x) != nf.function("clamp[-1, 2]", x)


def test_a_whole_maximum_and_a_value_with_its_axis(nf: NormalForm) -> None:
    """`max(max_i x, y[i])` is bound in no part: a function may be taken of it, and its maximum."""
    x, y = nf.input("x", "i"), nf.input("y", "i")
    both = nf.maximum(nf.bind_max(x, "i", FULL), y)
    assert both is not None
    assert not nf.is_partial(both)
    assert nf.function("gelu", both) is not None
    assert nf.add(both, y) is not None
    whole = nf.maximum(nf.bind_max(x, "i", FULL), nf.bind_max(y, "i", FULL))
    assert nf.bind_max(both, "i", FULL) == whole
    part = nf.bind_max(both, "i", TILE)
    assert part is not None
    assert nf.is_partial(part)
    assert nf.bind_max(part, "i", LOOP | GRID) == nf.bind_max(both, "i", TILE | LOOP | GRID)


def test_maximum_is_a_lattice(nf: NormalForm) -> None:
    x, y, z = nf.input("x", "ik"), nf.input("y", "i"), nf.input("z", "k")
    assert nf.maximum(x, nf.maximum(y, z)) == nf.maximum(nf.maximum(z, x), y)
    whole = nf.bind_max(x, "k", FULL)
    for order in ((TILE, LOOP, GRID), (GRID, TILE, LOOP)):
        value: Value = x
        for bits in order:
            value = nf.bind_max(value, "k", bits)
        assert value == whole
    both = nf.maximum(x, y)
    assert nf.bind_max(both, "k", FULL) == nf.maximum(whole, y)
    with nf.lowering():
        assert nf.maximum(x, whole) == whole
    assert nf.maximum(x, whole) is None
    over_both = nf.bind_max(nf.bind_max(x, "i", FULL), "k", FULL)
    assert over_both == nf.bind_max(whole, "i", FULL)


def test_maximum_is_not_a_sum(nf: NormalForm) -> None:
    x = nf.input("x", "ik")
    tile = nf.bind_max(x, "k", TILE)
    assert tile is not None
    assert nf.masks(tile) == {"k": TILE}
    for value in (
        nf.bind(tile, "k", LOOP),
        nf.bind(tile, "i", FULL),
        nf.bind_max(nf.bind(x, "k", TILE), "k", LOOP),
        nf.mul(tile, tile),
        nf.add(tile, x),
        nf.scale(tile, 2),
        nf.function("exp", tile),
        nf.maximum(tile, x),
    ):
        assert value is None
    assert nf.maximum(tile, nf.bind_max(nf.input("y", "k"), "k", TILE)) is not None


def test_products_of_sums_stay_factored(nf: NormalForm) -> None:
    x, y, z = (nf.input(name, "ik") for name in "xyz")
    a, b = nf.add(x, y), nf.add(x, z)
    product = nf.mul(a, b)
    assert product is not None
    assert nf.show(product) == "(x[i,k] + y[i,k]) (x[i,k] + z[i,k])"
    assert nf.bind(nf.mul(a, z), "k", FULL) == nf.add(
        nf.bind(nf.mul(x, z), "k", FULL), nf.bind(nf.mul(y, z), "k", FULL)
    )
    expanded = NormalForm(expansion_limit=4)
    x, y, z = (expanded.input(name, "ik") for name in "xyz")
    product = expanded.mul(expanded.add(x, y), expanded.add(x, z))
    assert product is not None
    assert len(expanded.monomials(product)) == 4


def test_arguments_are_identified_by_value() -> None:
    """1 / ((x + y)(x + y)) with the product expanded or not, as arguments of functions."""
    for fingerprints in (True, False):
        nf = NormalForm(fingerprints=fingerprints)
        x, y, z = (nf.input(name, "i") for name in "xyz")
        whole = nf.add(nf.mul(x, nf.add(y, z)), nf.mul(y, nf.add(y, z)))
        factored = nf.mul(nf.add(x, y), nf.add(y, z))
        assert whole != factored
        same = nf.function("tanh", whole) == nf.function("tanh", factored)
        assert same is fingerprints


def test_sizes_are_formal() -> None:
    """With three elements, 2 / |k| would be 1 - 1 / |k|."""
    nf = NormalForm()
    inverse = nf.inverse(nf.size("k"))
    left = nf.scale(inverse, 2)
    with nf.lowering():
        right = nf.sub(nf.one, inverse)
    assert nf.function("tanh", left) != nf.function("tanh", right)


def softmax(nf: NormalForm, shift_axes: str | None) -> Value:
    """exp(x) over its sum over j, exp multiplied by a factor with the given axes."""
    e = nf.function("exp", nf.input("x", "ij"))
    if shift_axes is not None:
        e = nf.mul(e, nf.input("c", shift_axes))
    return nf.div(e, nf.bind(e, "j", FULL))


@pytest.mark.parametrize(("axes", "admissible"), [("i", True), ("", True), ("j", False)])
def test_which_shifts_leave_softmax_alone(axes: str, admissible: bool) -> None:
    assert equal(lambda nf: softmax(nf, axes), lambda nf: softmax(nf, None)) is admissible


def variance(nf: NormalForm, one_pass: bool) -> Value:
    x = nf.input("x", "ik")
    inverse = nf.inverse(nf.size("k"))
    mean = nf.mul(nf.bind(x, "k", FULL), inverse)
    if one_pass:
        second = nf.mul(nf.bind(nf.mul(x, x), "k", FULL), inverse)
        return nf.sub(second, nf.mul(mean, mean))
    centred = nf.sub(x, mean)
    return nf.mul(nf.bind(nf.mul(centred, centred), "k", FULL), inverse)


def test_equal() -> None:
    assert equal(lambda nf: variance(nf, True), lambda nf: variance(nf, False))
    assert not equal(lambda nf: variance(nf, True), lambda nf: nf.input("x", "ik"))
    assert not equal(lambda nf: nf.inverse(nf.zero), lambda nf: nf.inverse(nf.zero))


def inverse_of_product(nf: NormalForm, at_once: bool) -> Value:
    x, y, z = (nf.input(name, "i") for name in "xyz")
    a, b = nf.add(x, y), nf.add(y, z)
    return nf.inverse(nf.mul(a, b)) if at_once else nf.mul(nf.inverse(a), nf.inverse(b))


def test_equal_where_only_the_factored_form_proves_it() -> None:
    assert equal(lambda nf: inverse_of_product(nf, True), lambda nf: inverse_of_product(nf, False))


def test_a_sum_over_itself_cancels(proof: NormalForm) -> None:
    e = proof.function("exp", proof.input("x", "ij"))
    total = proof.bind(e, "j", FULL)
    assert proof.mul(proof.div(e, total), total) == e


def test_show(nf: NormalForm) -> None:
    x, y = nf.input("x", "ik"), nf.input("y", "k")
    total = nf.bind(nf.function("exp", nf.scale(nf.mul(x, y), 0.5)), "k", FULL)
    value = nf.div(nf.scale(x, 3), total)
    assert value is not None
    text = "3 x[i,k] (sum[k1] exp(x[i,k] y[k])<i,k1>^1/2)^-1"
    assert nf.show(value) == text
    assert nf.show(nf.constant(1e-5)) == "1e-05"
    assert nf.show(nf.zero) == "0"
    with nf.lowering():
        greatest = nf.bind_max(nf.maximum(x, nf.size("i")), "k", TILE)
    assert greatest is not None
    assert nf.show(greatest) == "max(max{k:000101} x[i,k], |i|)"
