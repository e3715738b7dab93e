"""Tensors and tiles whose elements are forms in the indices of their dimensions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mirage_mlir.equivalence.symbolic import demands as demands_
from mirage_mlir.equivalence.symbolic import guards as guards_
from mirage_mlir.equivalence.symbolic.demands import Demands
from mirage_mlir.equivalence.symbolic.guards import Guard, Guards
from mirage_mlir.equivalence.symbolic.indices import Index, Variable, of, variable_of
from mirage_mlir.equivalence.symbolic.lowest import Forms
from mirage_mlir.equivalence.symbolic.terms import Form, Undecided

MOST_PIECES = 64
"""Pieces of a tensor; programs with views of the tests have up to 16."""


@dataclass(frozen=True)
class Dim:
    """
    One dimension: its index is a variable, none where the size is 1.

    In a tile only elements at which `valid` holds are there.
    """

    size: int
    variable: Variable | None = None
    valid: Guards = ()


@dataclass(frozen=True)
class Piece:
    """The elements of a tensor where guards hold."""

    guards: Guards
    form: Form


@dataclass(frozen=True)
class Symbolic:
    """
    A tensor or tile: at each index exactly one piece has the element.

    A tile is there only in blocks and iterations where `exists` holds: a maximum over no element
    is none, nor is what follows from it.
    """

    pieces: tuple[Piece, ...]
    dims: tuple[Dim, ...]
    exists: Guards = ()
    demands: Demands = ()
    """What its elements need, in terms of the indices of its dimensions."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents."""
        return tuple(dim.size for dim in self.dims)

    @property
    def variables(self) -> set[Variable]:
        """The indices of the dimensions."""
        return {dim.variable for dim in self.dims if dim.variable is not None}


def joined(a: Dim, b: Dim) -> Dim:
    """The dimension of what is computed from two, whose indices are one; a size of 1 stretches."""
    valid = guards_.both(a.valid, b.valid)
    if valid is None:
        raise Undecided("tiles that have no element in common are combined")
    return Dim(max(a.size, b.size), a.variable or b.variable, valid)


def conjunction(*conditions: Iterable[Guard | bool]) -> Guards:
    """
    The conjunction of conditions under which something is there.

    Raises:
        Undecided: it never is.
    """
    both = guards_.both(*conditions)
    if both is None:
        raise Undecided("a tile is never there")
    return both


NOTHING = Symbolic((Piece((), ()),), ())
"""Zeros."""


class PieceAlgebra:
    """Operations on the pieces of tensors."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms

    def dim(self, size: int) -> Dim:
        """A dimension with an index of its own."""
        return Dim(size, self.forms.variable(size) if size > 1 else None)

    def each(self, operation: Callable[[Form], Form], x: Symbolic) -> Symbolic:
        """An operation on each element."""
        return self.combined(lambda _, a: operation(a), NOTHING, x, x)

    def insert(self, x: Symbolic, values: Mapping[Variable, Index]) -> Symbolic:
        """A tensor with variables replaced; dimensions keep only what is again a variable."""
        return Symbolic(
            self.moved(x.pieces, values),
            tuple(_moved(dim, values) for dim in x.dims),
            _moved_condition(x.exists, values),
            self.moved_demands(x, values),
        )

    def moved_demands(self, x: Symbolic, values: Mapping[Variable, Index]) -> Demands:
        """What elements need where they are read at other indices."""
        for demand in x.demands:
            self.forms.atoms.work.read(demand.indices)
        return demands_.moved(x.demands, values)

    def of_all(self, x: Symbolic, over: Iterable[Variable], guards: Guards) -> Demands:
        """What is needed where all elements are, over some variables, at which guards hold."""
        return demands_.of_all(x.demands, over, guards)

    def moved(self, pieces: Iterable[Piece], values: Mapping[Variable, Index]) -> tuple[Piece, ...]:
        """Pieces with variables replaced, without those that are nowhere."""
        pieces = [*pieces]
        self.forms.atoms.work.read(each.value for piece in pieces for each in piece.guards)
        moved = ((guards_.moved(piece.guards, values), piece.form) for piece in pieces)
        return together(
            Piece(guards, self.forms.insert(form, values))
            for guards, form in moved
            if guards is not None
        )

    def combined(
        self, operation: Callable[[Form, Form], Form], x: Symbolic, y: Symbolic, result: Symbolic
    ) -> Symbolic:
        """A result with an operation on the elements of two tensors, where it has elements."""
        there = conjunction(result.exists, *(dim.valid for dim in result.dims))
        found: list[Piece] = []
        self.forms.atoms.work.spend(len(x.pieces) * len(y.pieces))
        with self.forms.demanding() as demands:
            for a in x.pieces:
                for b in y.pieces:
                    guards = guards_.both(a.guards, b.guards)
                    where = None if guards is None else guards_.both(guards, there)
                    if guards is not None and where is not None:
                        self.forms.where = where
                        found.append(Piece(guards, operation(a.form, b.form)))
        every = demands_.together(x.demands, y.demands, demands)
        return replace(result, pieces=together(found), demands=every)

    def aligned(self, x: Symbolic, y: Symbolic, pairs: Sequence[tuple[int, int]]) -> Symbolic:
        """`y` with the indices of `x` in corresponding dimensions, and in no others."""
        facing = {right: x.dims[left].variable for left, right in pairs}
        names: dict[Variable, Variable] = {}
        for number, dim in enumerate(y.dims):
            if dim.variable is None:
                continue
            other = facing.get(number)
            if other is not None:
                names[dim.variable] = other
            elif dim.variable in x.variables:
                names[dim.variable] = self.forms.variable(dim.variable.size)
        return self.insert(y, {old: of(new) for old, new in names.items() if old != new})

    def reduced(
        self,
        x: Symbolic,
        over: Iterable[Variable],
        guards: Guards,
        operation: Callable[[Sequence[Piece], set[Variable]], Form],
        there: Guards = (),
    ) -> tuple[Piece, ...]:
        """
        A sum or a maximum over some variables, of elements at which guards hold.

        The result has elements `there`; elsewhere there may be nothing to take it of.

        Raises:
            Undecided: the pieces differ in too many ways.
        """
        names = {*over}
        inner = [guards_.reading(piece.guards, names) for piece in x.pieces]
        outer = [
            guards_.without(piece.guards, own) for piece, own in zip(x.pieces, inner, strict=True)
        ]
        cells = guards_.cells(outer)
        if cells is None:
            raise Undecided("a tensor is made of too many pieces")
        found: list[Piece] = []
        for cell in cells:
            where = guards_.both(guards_.guard(*each) for each in cell)
            if where is None or guards_.both(where, there) is None:
                continue
            parts: list[Piece] = []
            for piece, own, others in zip(x.pieces, inner, outer, strict=True):
                both = guards_.both(own, guards)
                if guards_.holds(others, cell) and both is not None:
                    parts.append(Piece(both, piece.form))
            found.append(Piece(where, operation(parts, names)))
        return together(found)


def together(pieces: Iterable[Piece]) -> tuple[Piece, ...]:
    """
    Pieces with those of one form that are neighbours as one.

    Raises:
        Undecided: they are too many.
    """
    kept: list[Piece] = []
    for piece in pieces:
        while (other := next((p for p in kept if _union(p, piece) is not None), None)) is not None:
            kept.remove(other)
            union = _union(other, piece)
            assert union is not None
            piece = union
        kept.append(piece)
    if len(kept) > MOST_PIECES:
        raise Undecided(f"a tensor is made of more than {MOST_PIECES} pieces")
    return tuple(kept)


def _union(a: Piece, b: Piece) -> Piece | None:
    """Two pieces as one, if they have one form and differ in one range, or not at all."""
    if a.form != b.form:
        return None
    mine, theirs = guards_.without(a.guards, b.guards), guards_.without(b.guards, a.guards)
    if len(mine) != 1 or len(theirs) != 1:
        return None
    (index, low, high), (other, start, stop) = mine[0], theirs[0]
    if index != other or (high != start and stop != low):
        return None
    union = guards_.guard(index, min(low, start), max(high, stop))
    guards = guards_.both(guards_.without(a.guards, mine), [union])
    return None if guards is None else Piece(guards, a.form)


def _moved(dim: Dim, values: Mapping[Variable, Index]) -> Dim:
    valid = _moved_condition(dim.valid, values)
    if dim.variable is None or dim.variable not in values:
        return replace(dim, valid=valid)
    return Dim(dim.size, variable_of(values[dim.variable]), valid)


def _moved_condition(guards: Guards, values: Mapping[Variable, Index]) -> Guards:
    found = guards_.moved(guards, values)
    if found is None:
        raise Undecided("a tile is never there")
    return found
