"""The values of a program as normal forms, and all that its configurations share."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

from mirage_mlir.expr.closure import Closure
from mirage_mlir.expr.heads import (
    FULL,
    TILE,
    Coefficient,
    Function,
    Input,
    Maximum,
    Parenthesis,
    Poly,
)
from mirage_mlir.expr.monomial import Monomial
from mirage_mlir.expr.normal_form import NormalForm
from mirage_mlir.search.program.narrowing import Narrowing
from mirage_mlir.search.program.program import Function as Operator
from mirage_mlir.search.program.program import Kind, Program, Shift
from mirage_mlir.search.program.program_cuts import Uses
from mirage_mlir.search.program.reading import Reading, apply_pairwise, narrowing_of
from mirage_mlir.search.program.shifts import find_shifts, unchanged
from mirage_mlir.search.saturation.own_operations import OwnOperations
from mirage_mlir.search.saturation.prospects import Prospects
from mirage_mlir.search.saturation.scalars import scalars

PAIRWISE = (Kind.ADD, Kind.SUB, Kind.MUL, Kind.DIV, Kind.MAX)

COMMUTATIVE = (Kind.ADD, Kind.MUL, Kind.MAX)
"""Those that are tried in one order."""

UNKNOWN: tuple[tuple[Kind, Poly], ...] = ((Kind.VIEW, Poly(0)),)
"""Stands for what is made of two forms that have not been tried yet."""


@dataclass
class Algebra:
    """
    All that the configurations of one program share: forms, the closure, and remembered results.

    `sources` are the forms of the inputs, `functions` the operators behind the names of functions
    in forms. The closure is computed when it is first asked for: lower bounds do without it.
    """

    program: Program
    forms: NormalForm
    targets: tuple[Poly, ...]
    """The values of the outputs, sums that are left open complete."""
    sources: tuple[Poly, ...]
    outputs: tuple[Poly | None, ...]
    """What is stored for each output; None where no kernel can make it."""
    functions: dict[str, Operator]
    narrowing: Narrowing
    """Which values may be operands of tensor cores."""
    max_rank: int
    """Axes of a tile, those that take one index each not counted."""
    own_operations: OwnOperations
    exponents: dict[Poly, Shift | None] = field(default_factory=dict[Poly, Shift | None])
    """What exp is applied to in the program, with the shift that it has."""
    centred: dict[Shift, frozenset[Poly]] = field(default_factory=dict[Shift, frozenset[Poly]])
    """For each shift of an input the values that depend on the input and not on the shift."""
    tried: int = 0
    """Operations that were tried on values."""
    values: tuple[Poly, ...] = ()
    """Those of the program, without what no output needs."""
    written: dict[tuple[Poly, Poly], list[tuple[Kind, Poly]]] = field(
        default_factory=dict[tuple[Poly, Poly], list[tuple[Kind, Poly]]]
    )
    """
    What the program makes of two values, elementwise. Graphs need nothing that cancels; the program
    may write it, and what follows has no other form.
    """
    written_sums: dict[tuple[frozenset[Poly], str], Poly] = field(
        default_factory=dict[tuple[frozenset[Poly], str], Poly]
    )
    """The same of sums along one axis, of a value or of the product of two."""
    as_written: bool = False
    """Whether all that the program makes is admitted, sub-expressions of the outputs or not."""
    careful: bool = False
    """Whether two values are added, subtracted or divided only where the program does so."""
    read: frozenset[Poly] = frozenset()
    """The sources without which no output can be made."""
    summed: tuple[tuple[str, ...], ...] = ()
    """The axes of sums that every graph computes, at least."""
    _pairs: dict[tuple[int, int], tuple[tuple[Kind, Poly], ...]] = field(
        default_factory=dict[tuple[int, int], tuple[tuple[Kind, Poly], ...]]
    )
    _fruitless: dict[Poly, set[Poly]] = field(default_factory=dict[Poly, set[Poly]])
    _own: set[Poly] = field(default_factory=set[Poly])

    @classmethod
    def of(
        cls,
        program: Program,
        expansion_limit: int = 1,
        *,
        as_written: bool = False,
        careful: bool = False,
    ) -> "Algebra":
        """
        Bring `program` to normal forms.

        Products of two sums of which the result has up to `expansion_limit` terms are multiplied
        out. Shifts that the program does not name are looked for. With `as_written` all that the
        program makes is admitted, too; `careful` is explained with the attribute.
        """
        program = replace(program, shifts=program.shifts or find_shifts(program))
        expanded = expansion_limit > 1
        forms = NormalForm(expansion_limit, size_algebra=True)
        reading = Reading(program, forms, sized=expanded)
        reading.run()
        values = reading.values
        with forms.lowering():
            outputs = tuple(reading.stored(output) for output in program.computed)
        algebra = cls(
            program,
            forms,
            tuple(values[output.node] for output in program.computed),
            tuple(values[tensor.node] for tensor in program.inputs),
            outputs,
            reading.functions,
            narrowing_of(program, reading),
            max(2, *(len(forms.free(value)) - _carried(program, value, forms) for value in values)),
            OwnOperations.of(program, forms, values),
        )
        algebra.as_written = as_written
        algebra.careful = careful
        algebra._own.update(values)
        algebra.values = tuple(dict.fromkeys(values[node] for node in sorted(Uses(program).needed)))
        for node, value in zip(program.nodes, values, strict=True):
            if node.kind in PAIRWISE:
                a, b = (values[operand] for operand in node.operands)
                algebra.written.setdefault((a, b), []).append((node.kind, value))
            elif node.kind in (Kind.REDUCE_SUM, Kind.MATMUL) and len(node.reduced) == 1:
                operands = frozenset(values[operand] for operand in node.operands)
                algebra.written_sums[operands, *node.reduced] = value
        algebra.exponents.update(reading.exponents)
        algebra._own.update(algebra.exponents)
        for shift in program.shifts:
            if shift.input:
                nodes = unchanged(program, shift)
                algebra.centred[shift] = frozenset(values[node] for node in nodes)
        algebra._note_read_and_summed()
        return algebra

    @cached_property
    def closure(self) -> Closure:
        """The sub-expressions of the outputs."""
        return Closure(self.forms, self.targets)

    @cached_property
    def _hidden(self) -> frozenset[Poly]:
        """
        Values of the program that are no sub-expressions of its outputs.

        A factor of all terms of an output, as in r (a + b - c), disappears when it is multiplied
        out: values that the program multiplies by it are no part of the output.
        """
        return frozenset(value for value in self.values if not self.closure.has(value))

    @property
    def hides_values(self) -> bool:
        """Whether the program makes values that are not admitted."""
        return not self.as_written and bool(self._hidden)

    @property
    def _numbers(self) -> Iterator[tuple[Poly, Coefficient]]:
        """The values of the program that are numbers, with these."""
        for value in self.values:
            if (number := self.forms.constant_value(value)) is not None:
                yield value, number

    @cached_property
    def prospects(self) -> Prospects:
        """The filter for pairs of forms."""
        return Prospects(self.forms, self.closure.roots)

    @cached_property
    def constants(self) -> tuple[tuple[Poly, Fraction], ...]:
        """The scalars that a graph may use, with their values."""
        found = scalars(self.program, self.forms, self.closure)
        if not self.as_written:
            return found
        known = {form for form, _ in found}
        own = {form: Fraction(number) for form, number in self._numbers if form not in known}
        return (*found, *own.items())

    @cached_property
    def _functions(self) -> dict[Poly, list[str]]:
        """The functions of each form that the program needs."""
        names: dict[Poly, list[str]] = {}
        for name, argument in self.closure.functions:
            if name == "exp" and argument not in self.exponents:
                continue  # Of a part of an argument of exp, the whole of which may be shifted.
            names.setdefault(argument, []).append(name)
        return names

    def _note_read_and_summed(self) -> None:
        """Sets `read` and `summed` by walking the outputs, however deep inside functions."""
        pending = [form for form in self.outputs if form is not None]
        seen: set[Poly] = set()
        names: set[Input] = set()
        summed: dict[tuple[str, ...], None] = {}
        while pending:
            form = pending.pop()
            if form in seen:
                continue
            seen.add(form)
            for monomial, _ in self.forms.monomials(form):
                summed |= dict.fromkeys(self._axes_of_sums(monomial))
                for factor in monomial.factors:
                    match self.forms.heads[factor.head]:
                        case Input() as head:
                            names.add(head)
                        case Function(argument=argument):
                            pending.append(argument)
                        case Parenthesis(polynomial=inner):
                            pending.append(inner)
                        case Maximum(terms=terms):
                            pending += [inner for inner, _ in terms]
                        case _:
                            pass
        self.read = frozenset(form for form in self.sources if self._is_input(form, names))
        self.summed = tuple(summed)

    def _axes_of_sums(self, monomial: Monomial) -> Iterator[tuple[str, ...]]:
        """
        For each variable that a monomial binds the axes that a sum over it has, whatever the order.

        These are the axes of the factors that read it; a sum as a factor may be taken apart.
        """
        axes: dict[tuple[str, int], set[str]] = {}
        for factor in monomial.factors:
            head = self.forms.heads[factor.head]
            if isinstance(head, Input | Function):
                pairs = list(zip(head.axes, factor.slots, strict=True))
                free = {axis for axis, slot in pairs if not slot}
                for variable in pairs:
                    if variable[1]:
                        axes.setdefault(variable, set()).update(free)
        for found in axes.values():
            yield tuple(axis for axis in self.program.sizes if axis in found)

    def _is_input(self, form: Poly, names: Collection[Input]) -> bool:
        ((monomial, _),) = self.forms.monomials(form)
        (factor,) = monomial.factors
        return self.forms.heads[factor.head] in names

    @property
    def has_products_of_sums(self) -> bool:
        """Whether the program multiplies sums, which other forms of it have multiplied out."""
        return any(
            factor.exponent > 0 and isinstance(self.forms.heads[factor.head], Parenthesis)
            for form in self._own
            for monomial, _ in self.forms.monomials(form)
            for factor in monomial.factors
        )

    def function_named(self, name: str) -> Operator:
        """The operator behind a function's name; laws introduce some that the program lacks."""
        return self.functions.get(name, Operator(name))

    def tile_axes(self, form: Poly) -> tuple[str, ...]:
        """The axes along which a tile of `form` has an extent."""
        return tuple(axis for axis, bits in self.forms.free(form).items() if bits & TILE)

    def is_of_program(self, form: Poly) -> bool:
        """Whether the program itself computes `form`, as a whole or part by part."""
        return form in self._own or self.forms.is_partial(form)

    def is_careless(self, kind: Kind, operands: Sequence[Poly], form: Poly) -> bool:
        """Whether an operation that the program does not do may lose what the program keeps."""
        return self.own_operations.lack(kind, operands, form)

    def leaves_out(self, kind: Kind, operands: Sequence[Poly], form: Poly) -> bool:
        """Whether this is a careful search, which has no such operation."""
        return self.careful and self.is_careless(kind, operands, form)

    def wanted(self, form: Poly | None) -> Poly | None:
        """`form` if it may be part of an output, else None."""
        self.tried += 1
        if form is None or self.closure.has(form):
            return form
        return form if self.as_written and form in self._hidden else None

    def may_sum_product(self, a: Poly, b: Poly, axis: str) -> bool:
        """Whether a sum over a product may be part of a root."""
        written = (frozenset((a, b)), axis) in self.written_sums
        return written or self.prospects.may_multiply(a, b)

    def sum_of(self, forms: Collection[Poly], axis: str, bits: int) -> Poly | None:
        """The wanted sum of a form, or of the product of two, over bits of an axis; else None."""
        first, *others = forms
        for other in others:
            first = self.forms.mul(first, other)
        total = None if first is None else self.forms.bind(first, axis, bits)
        if total is None and bits == FULL:
            total = self.written_sums.get((frozenset(forms), axis))
        return None if first is None and total is None else self.wanted(total)

    def functions_of(self, form: Poly) -> Iterator[tuple[str, Poly]]:
        """The functions of `form` that the program needs, with their values."""
        for name in self._functions.get(form, ()):
            result = self.wanted(self.forms.function(name, form))
            if result is not None:
                yield name, result

    @cached_property
    def _functions_of_two(self) -> dict[tuple[Poly, Poly], list[tuple[str, Poly]]]:
        """The functions of each pair of forms that the program needs, with their values."""
        found: dict[tuple[Poly, Poly], list[tuple[str, Poly]]] = {}
        for (name, a, b), value in self.forms.calls_of_two.items():
            if name in self.functions and self.wanted(value) is not None:
                found.setdefault((a, b), []).append((name, value))
        return found

    def functions_of_two(self, a: Poly, b: Poly) -> Sequence[tuple[str, Poly]]:
        """The functions of two forms, in this order, that the program needs, with their values."""
        return self._functions_of_two.get((a, b), ())

    def pairs(self, a: Poly, b: Poly) -> tuple[tuple[Kind, Poly], ...]:
        """The elementwise operations `a op b` that make a wanted value."""
        if (a, b) not in self._pairs:
            results: list[tuple[Kind, Poly]] = []
            for kind in self._promising(a, b):
                result = self.wanted(apply_pairwise(self.forms, kind, a, b))
                if result is None or self.leaves_out(kind, (a, b), result):
                    continue
                results.append((kind, result))
            for kind, value in self.written.get((a, b), ()):
                turned = self.pairs(b, a) if kind in COMMUTATIVE and b < a else ()
                if (kind, value) not in (*results, *turned) and self.wanted(value):
                    results.append((kind, value))
            self._pairs[a, b] = tuple(results)
        return self._pairs[a, b]

    def fruitless(self, a: Poly) -> set[Poly]:
        """The forms that are known to give nothing together with `a`, in any order."""
        return self._fruitless.setdefault(a, set())

    def note_fruitless(self, a: Poly, b: Poly) -> None:
        """Remember that two forms give nothing together."""
        if self._pairs.get((a, b), UNKNOWN) or self._pairs.get((b, a), UNKNOWN):
            return
        if self.functions_of_two(a, b) or self.functions_of_two(b, a):
            return
        if not self.prospects.may_multiply(a, b):
            self.fruitless(a).add(b)
            self.fruitless(b).add(a)

    def _promising(self, a: Poly, b: Poly) -> Iterator[Kind]:
        """
        The operations on a and b that are not ruled out at a glance.

        The terms of a sum are parts of terms of one root.
        """
        ordered = a <= b
        if self.prospects.share_a_root(a, b):
            if ordered and self._may_add(a, b, 1):
                yield Kind.ADD
            if self._may_add(a, b, -1):
                yield Kind.SUB
        if ordered and self.prospects.may_multiply(a, b):
            yield Kind.MUL
        inverse = self.forms.inverse(b)
        if inverse is not None and self.prospects.may_multiply(a, inverse):
            yield Kind.DIV
        if ordered and self.closure.has_maximum:
            yield Kind.MAX

    def _may_add(self, a: Poly, b: Poly, sign: int) -> bool:
        self.tried += 1
        return self.closure.may_add(a, b, sign)


def _carried(program: Program, value: Poly, forms: NormalForm) -> int:
    return sum(1 for axis in forms.free(value) if axis in program.batch)
