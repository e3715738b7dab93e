"""Values as text."""

from mirage_mlir.expr.heads import (
    Coefficient,
    Exponent,
    Function,
    Head,
    Input,
    Maximum,
    Parenthesis,
    Poly,
    Size,
)
from mirage_mlir.expr.monomial import Factor, Monomial
from mirage_mlir.expr.store import Store

SMALL_DENOMINATOR = 10_000


def show(store: Store, poly: Poly) -> str:
    """
    A value as text: `sum[k1] w[j,k1] x[i,k1]`, partial sums as `sum{k:000101} x[i,k]`.

    Bound variables are an axis and a number. Factors without brackets read current variables
    only; a function of an axis that a sum binds says so as `exp(x[i,j])<i,j1>`.
    """
    texts = [_term(store, monomial, _number(c)) for monomial, c in store.monomials(poly)]
    return " + ".join(texts) or "0"


def _number(value: Coefficient) -> str:
    """A fraction, or as a float what came from one."""
    return str(value) if value.denominator < SMALL_DENOMINATOR else str(float(value))


def _term(store: Store, monomial: Monomial, coefficient: str) -> str:
    bound = store.heads.bound(monomial.factors)
    names = [f"{axis}{v}" for axis in sorted(bound) for v in sorted(bound[axis])]
    words = [] if coefficient == "1" and monomial.factors else [coefficient]
    words += [f"sum[{','.join(names)}]"] if names else []
    if monomial.masks:
        words.append(f"sum{{{','.join(f'{axis}:{bits:06b}' for axis, bits in monomial.masks)}}}")
    words += [_factor(store, factor) for factor in monomial.factors]
    return " ".join(words)


def _factor(store: Store, factor: Factor) -> str:
    head = store.heads[factor.head]
    variables = ",".join(f"{axis}{v or ''}" for axis, v in store.heads.variables(factor))
    text = _head(store, head)
    if isinstance(head, Input) and variables:
        text += f"[{variables}]"
    elif any(factor.slots):
        text += f"<{variables}>"
    return text + _exponent(factor.exponent)


def _exponent(exponent: Exponent) -> str:
    return "" if exponent == 1 else f"^{exponent}"


def _head(store: Store, head: Head) -> str:
    match head:
        case Input(name=name):
            return name
        case Size(axis=axis):
            return f"|{axis}|"
        case Function(name=name, argument=argument):
            return f"{name}({show(store, argument)})"
        case Parenthesis(polynomial=polynomial):
            return f"({show(store, polynomial)})"
        case Maximum(terms=terms):
            return f"max({', '.join(_maximum_term(store, poly, masks) for poly, masks in terms)})"


def _maximum_term(store: Store, poly: Poly, masks: tuple[tuple[str, int], ...]) -> str:
    bound = ",".join(f"{axis}:{bits:06b}" for axis, bits in masks)
    return f"max{{{bound}}} {show(store, poly)}" if bound else show(store, poly)
