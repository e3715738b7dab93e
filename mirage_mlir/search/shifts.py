"""
Which values of a program may be shifted without a change of its results.

The largest element of a row is subtracted before exp so that exp stays within the range of
floating-point numbers; the division by a sum of such exps makes up for it. Whether it does is one
equality of normal forms: with every exp(S) multiplied by a free value c, all outputs must stay what
they are. The same is asked of a value that is added to an input before its variance is taken.

All shifts of a program are put in at once, so that the equality holds for any combination of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mirage_mlir.expr.heads import Poly
from mirage_mlir.expr.normal_form import PROOF_EXPANSION, NormalForm
from mirage_mlir.search.program import Kind, Node, Program, Shift
from mirage_mlir.search.reading import Reading

MOST_SHIFTED = 8
"""Exps and inputs for which a shift is looked for; each takes a reading of the program or two."""


def find_shifts(program: Program) -> tuple[Shift, ...]:
    """
    The shifts that change no output, in order of their nodes.

    For each argument of an exp, and each input of which a mean is taken, over as few axes as
    possible: the value that is subtracted may then depend on all the others.
    """
    candidates = [*_arguments_of_exp(program), *_averaged_inputs(program)]
    if not candidates:
        return ()
    program = replace(program, shifts=())
    accepted: list[Shift] = []
    for expansion in (1, PROOF_EXPANSION):
        wanted = [one for one in candidates if not _is_among(one, accepted)][:MOST_SHIFTED]
        if not wanted:
            break
        proof = _Proof(program, expansion)
        for candidate in wanted:
            if not _is_among(candidate, accepted) and proof.holds([*accepted, candidate]):
                accepted.append(candidate)
    return tuple(sorted(accepted, key=lambda shift: (shift.node, shift.axes)))


def are_admissible(program: Program, shifts: Sequence[Shift]) -> bool:
    """Whether `shifts`, all at once and by any amount, provably change no output."""
    bare = replace(program, shifts=())
    return any(_Proof(bare, expansion).holds(shifts) for expansion in (1, PROOF_EXPANSION))


def _is_among(shift: Shift, accepted: Sequence[Shift]) -> bool:
    """Whether the node of `shift` has one already."""
    return any(other.node == shift.node for other in accepted)


def _arguments_of_exp(program: Program) -> Iterator[Shift]:
    """Shifts of the arguments of exp along each axis, or axes, that something is summed over."""
    summed = dict.fromkeys(
        axes
        for node in program.nodes
        if node.kind in (Kind.REDUCE_SUM, Kind.MATMUL)
        for axes in (*((axis,) for axis in node.reduced), node.reduced)
    )
    arguments = dict.fromkeys(
        node.operands[0]
        for node in program.nodes
        if node.function is not None and node.function.name == "exp"
    )
    for argument in arguments:
        present = program.nodes[argument].present
        for axes in sorted(summed, key=len):
            if axes and set(axes) <= set(present):
                yield Shift(argument, axes)


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


class _Shifted(Reading):
    """A program with free values put in for shifts."""

    def __init__(self, program: Program, forms: NormalForm, shifts: Sequence[Shift]) -> None:
        super().__init__(program, forms, sized=True)
        self._free = {shift.node: shift for shift in shifts}

    def input(self, number: int, node: Node) -> Poly | None:
        value = super().input(number, node)
        return self.forms.add(value, self._value(number)) if number in self._free else value

    def exp(self, argument: int) -> Poly | None:
        powers = self.forms.function("exp", self.values[argument])
        return self.forms.mul(powers, self._value(argument)) if argument in self._free else powers

    def _value(self, number: int) -> Poly:
        """The free value that belongs to a node."""
        axes = [a for a in self.program.nodes[number].present if a not in self._free[number].axes]
        return self.forms.input(f"shift {number}", axes)


class _Proof:
    """Asks whether the outputs of a program stay the same, in one store of normal forms."""

    def __init__(self, program: Program, expansion: int) -> None:
        self.program = program
        self.forms = NormalForm(expansion, size_algebra=True, cancelling=True)
        self.expected = self._outputs([])

    def holds(self, shifts: Sequence[Shift]) -> bool:
        """Whether `shifts`, all at once, leave every output what it is."""
        return self._outputs(shifts) == self.expected

    def _outputs(self, shifts: Sequence[Shift]) -> list[Poly]:
        reading = _Shifted(self.program, self.forms, shifts)
        reading.run()
        return [reading.values[output.node] for output in self.program.outputs]
