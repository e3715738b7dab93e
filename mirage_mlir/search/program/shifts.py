"""
Finds the values of a program that may be shifted without a change of its results.

The row maximum is subtracted before exp, so that exp stays in the range of floating-point numbers;
the division by a sum of such exps cancels it. Whether it does is one equality of normal forms: with
every exp(S) multiplied by a free value c all outputs must stay equal. All shifts of a program are
tested at once, so that the equality holds for any combination of them. Where a sum has several exps
(a row in two parts), c is the same for all of them.

Likewise for a value that is added to an input before its variance is computed: which values of the
program are the same with and without it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mirage_mlir.expr.heads import Poly
from mirage_mlir.expr.normal_form import PROOF_EXPANSION, NormalForm
from mirage_mlir.search.program.program import Kind, Node, Program, Shift
from mirage_mlir.search.program.reading import Reading

MOST_SHIFTED = 8
"""Exps and inputs for which a shift is looked for; each takes a reading of the program or two."""

EXPANSIONS = (1, PROOF_EXPANSION)
"""Products of sums are first left as they are, then multiplied out: either may show an equality."""


def find_shifts(program: Program) -> tuple[Shift, ...]:
    """
    The shifts that change no output, in order of their nodes.

    For each argument of an exp, and each input of which a mean is taken, over as few axes as
    possible: the value that is subtracted may then depend on all the others.
    """
    program = replace(program, shifts=())
    accepted = [*_shifts_of_exps(program), *_shifts_of_inputs(program)]
    return tuple(sorted(accepted, key=lambda shift: (shift.node, shift.axes)))


def are_admissible(program: Program, shifts: Sequence[Shift]) -> bool:
    """Whether `shifts`, all at once and by any amount, provably change no output."""
    bare = replace(program, shifts=())
    return any(_Proof(bare, expansion).holds(shifts) for expansion in EXPANSIONS)


def unchanged(program: Program, shift: Shift) -> frozenset[int]:
    """The nodes that depend on the input of `shift` and are the same whatever is added to it."""
    bare = replace(program, shifts=())
    found: set[int] = set()
    for expansion in EXPANSIONS:
        found |= _Proof(bare, expansion).same([shift])
    dependent = {shift.node}
    for number, node in enumerate(program.nodes):
        if dependent.intersection(node.operands):
            dependent.add(number)
    return frozenset(found & dependent)


def unshifted_exps(program: Program) -> list[int]:
    """The arguments of exp that are what they are: no shift, and no maximum subtracted before."""
    shifted = {shift.node for shift in program.shifts or find_shifts(program) if not shift.input}
    on_maximum: set[int] = set()
    for number, node in enumerate(program.nodes):
        if node.kind in (Kind.REDUCE_MAX, Kind.MAX) or on_maximum.intersection(node.operands):
            on_maximum.add(number)
    return [node for node in _arguments_of_exp(program) if node not in shifted | on_maximum]


# Exps


def _shifts_of_exps(program: Program) -> list[Shift]:
    accepted: list[Shift] = []
    arguments = _arguments_of_exp(program)[:MOST_SHIFTED]
    for expansion in EXPANSIONS if arguments else ():
        proof = _Proof(program, expansion)
        for argument in arguments:
            for axes in _axes_of_sums(program, argument):
                candidate = Shift(argument, axes)
                if not _has_one(argument, accepted) and proof.holds([*accepted, candidate]):
                    accepted.append(candidate)
        for group in _joint(program, [one for one in arguments if not _has_one(one, accepted)]):
            fresh = not any(_has_one(shift.node, accepted) for shift in group)
            if fresh and proof.holds([*accepted, *group]):
                accepted += group
    return accepted


def _has_one(node: int, shifts: Sequence[Shift]) -> bool:
    return any(shift.node == node for shift in shifts)


def _arguments_of_exp(program: Program) -> list[int]:
    exps = (n for n in program.nodes if n.function is not None and n.function.name == "exp")
    return list(dict.fromkeys(node.operands[0] for node in exps))


def _axes_of_sums(program: Program, node: int) -> Iterator[tuple[str, ...]]:
    """Axes of a node that something is summed over, one by one, then together."""
    summed = dict.fromkeys(
        axes
        for node in program.nodes
        if node.kind in (Kind.REDUCE_SUM, Kind.MATMUL)
        for axes in (*((axis,) for axis in node.reduced), node.reduced)
    )
    present = program.nodes[node].present
    return (axes for axes in sorted(summed, key=len) if axes and set(axes) <= set(present))


def _joint(program: Program, arguments: Sequence[int]) -> Iterator[list[Shift]]:
    """All of `arguments` that one value over some axes may be subtracted from, for each such."""
    present = [frozenset(program.nodes[node].present) for node in arguments]
    kept = dict.fromkeys(
        axes - frozenset(summed)
        for node, axes in zip(arguments, present, strict=True)
        for summed in _axes_of_sums(program, node)
    )
    if len(arguments) > 1:
        kept.setdefault(present[0].intersection(*present[1:]))
    for axes in kept:
        members = [n for n, own in zip(arguments, present, strict=True) if axes <= own]
        own = [tuple(a for a in program.nodes[node].present if a not in axes) for node in members]
        if len(members) > 1:
            pairs = zip(members, own, strict=True)
            yield [Shift(node, rest, joint=members[0]) for node, rest in pairs]


# Inputs


def _shifts_of_inputs(program: Program) -> Iterator[Shift]:
    accepted: set[int] = set()
    for candidate in list(_averaged_inputs(program))[:MOST_SHIFTED]:
        if candidate.node not in accepted and unchanged(program, candidate):
            accepted.add(candidate.node)
            yield candidate


def _averaged_inputs(program: Program) -> Iterator[Shift]:
    """Shifts of inputs that are summed, alone or after sums with others, along one axis."""
    for tensor in program.inputs:
        linear = {tensor.node}
        axes: dict[str, None] = {}
        for number, node in enumerate(program.nodes):
            on_input = any(operand in linear for operand in node.operands)
            if on_input and node.kind in (Kind.ADD, Kind.SUB, Kind.VIEW):
                linear.add(number)
            elif on_input and node.kind is Kind.REDUCE_SUM and len(node.reduced) == 1:
                axes.setdefault(node.reduced[0])
        present = program.nodes[tensor.node].present
        yield from (Shift(tensor.node, (axis,), input=True) for axis in axes if axis in present)


# Proofs


class _Shifted(Reading):
    """A program with free values in the place of shifts."""

    def __init__(self, program: Program, forms: NormalForm, shifts: Sequence[Shift]) -> None:
        super().__init__(program, forms, sized=True)
        self._free = {shift.node: shift for shift in shifts}

    def input(self, number: int, node: Node) -> Poly | None:
        value = super().input(number, node)
        return self.forms.add(value, self._value(number)) if self._is_free(number, True) else value

    def undefined(self, number: int, node: Node) -> Poly:
        """A value that differs between shifts: nothing that is undefined stays equal."""
        return self.forms.input(f"undefined {number} {sorted(self._free)}", node.present)

    def exp(self, argument: int) -> Poly | None:
        powers = self.forms.function("exp", self.values[argument])
        free = self._is_free(argument, False)
        return self.forms.mul(powers, self._value(argument)) if free else powers

    def _is_free(self, number: int, of_input: bool) -> bool:
        """Whether a node is shifted, as an input or as an argument of exp: one may be both."""
        return number in self._free and self._free[number].input == of_input

    def _value(self, number: int) -> Poly:
        """The free value that belongs to a node."""
        shift = self._free[number]
        axes = [axis for axis in self.program.nodes[number].present if axis not in shift.axes]
        return self.forms.input(f"shift {shift.group}", axes)


class _Proof:
    """Compares a program with its shifted versions, in one store of normal forms."""

    def __init__(self, program: Program, expansion: int) -> None:
        self.program = program
        self.forms = NormalForm(expansion, size_algebra=True, cancelling=True)
        self.expected = self._values([])

    def holds(self, shifts: Sequence[Shift]) -> bool:
        """Whether `shifts`, all at once, leave every output equal."""
        same = self.same(shifts)
        return all(output.node in same for output in self.program.outputs)

    def same(self, shifts: Sequence[Shift]) -> set[int]:
        """The nodes that `shifts`, all at once, leave equal."""
        pairs = zip(self.expected, self._values(shifts), strict=True)
        return {number for number, (old, new) in enumerate(pairs) if old == new}

    def _values(self, shifts: Sequence[Shift]) -> list[Poly]:
        reading = _Shifted(self.program, self.forms, shifts)
        reading.run()
        return reading.values
