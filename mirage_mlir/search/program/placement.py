"""
Finds which dimensions of a program run together, and the factors into which reshapes split them.

A dimension is an ordered product of factors, the outermost first. Dimensions that an elementwise
operation aligns, that a matmul contracts, or that it carries along have equal factors (found by
union-find); if a reshape splits one of them it splits all. Two ways to split a dimension must have
a common refinement: 6 = 2 * 3 has none with 6 = 3 * 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from mirage_mlir.search.program.builder import Layout, Step
from mirage_mlir.search.program.program import Kind

Factors = tuple[int, ...]
"""The factors of one dimension; none where its size is 1."""

Dims = tuple[Factors, ...]
"""The factors of every dimension of a tensor."""


class ViewError(Exception):
    """A view that names of axes cannot express; `step` is the operation where that was seen."""

    def __init__(self, step: int, reason: str) -> None:
        super().__init__(reason)
        self.step = step


class _MisfitError(Exception):
    """Two ways to split one dimension have no common refinement; the text says which."""


@dataclass
class FactorSets:
    """Disjoint sets of factors, each of which may be split into an outer and an inner one."""

    sizes: list[int] = field(default_factory=list[int])
    parents: list[int] = field(default_factory=list[int])
    parts: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    changes: int = 0
    """How often factors were joined or split."""

    def new(self, size: int) -> Factors:
        """A dimension that runs with none yet."""
        if size == 1:
            return ()
        self.parents.append(len(self.parents))
        self.sizes.append(size)
        return (len(self.parents) - 1,)

    def leaves(self, factors: Factors) -> Factors:
        """The sets into which `factors` have been split by now."""
        found: list[int] = []
        for factor in factors:
            root = self._root(factor)
            found += self.leaves(self.parts[root]) if root in self.parts else [root]
        return tuple(found)

    def size(self, factors: Factors) -> int:
        """The product of the sizes of `factors`."""
        return prod(self.sizes[factor] for factor in factors)

    def _root(self, factor: int) -> int:
        while self.parents[factor] != factor:
            factor = self.parents[factor]
        return factor

    def _split(self, leaf: int, outer: int) -> None:
        (first,), (second,) = self.new(outer), self.new(self.sizes[leaf] // outer)
        self.parts[leaf] = first, second
        self.changes += 1

    def outermost(self, factors: Factors, size: int) -> int:
        """
        The number of leaves of `factors`, from the outermost on, that make up `size`.

        The last of them is split where that is needed.
        """
        taken, leaves = 1, self.leaves(factors)
        for count, leaf in enumerate(leaves):
            if taken == size:
                return count
            rest, own = size // taken, self.sizes[leaf]
            if size % taken or (rest % own and own % rest):
                raise _MisfitError(self._no_part(factors, size))
            if rest < own:
                self._split(leaf, rest)
                # Those before it may have the same leaf, which is two now.
                return len(self.leaves(leaves[:count])) + 1
            taken *= own
        if taken != size:
            raise _MisfitError(self._no_part(factors, size))
        return len(leaves)

    def _no_part(self, factors: Factors, size: int) -> str:
        return f"{size} elements are no whole part of {self.described(factors)}"

    def described(self, factors: Factors) -> str:
        """The sizes of the parts of a dimension, the outermost first: `4 x 3`."""
        return " x ".join(str(self.sizes[leaf]) for leaf in self.leaves(factors)) or "1"

    def join(self, a: Factors, b: Factors) -> Factors:
        """Make both run together; a dimension of size 1 is broadcast."""
        if not a or not b:
            return a or b
        while True:
            left, right = self.leaves(a), self.leaves(b)
            pairs = list(zip(left, right, strict=False))
            uneven = next((p for p in pairs if self.sizes[p[0]] != self.sizes[p[1]]), None)
            if uneven is None:
                break
            # All before them are equal: the larger one is split by the smaller.
            small, large = sorted(uneven, key=lambda leaf: self.sizes[leaf])
            if self.sizes[large] % self.sizes[small]:
                ways = f"{self.described(a)} and {self.described(b)}"
                raise _MisfitError(f"its parts are {ways}, which have no parts in common")
            self._split(large, self.sizes[small])
        assert len(left) == len(right), "dimensions that run together have one size"
        for one, other in pairs:
            # An earlier pair may have brought these together.
            one, other = self._root(one), self._root(other)
            if one != other:
                self.parents[max(one, other)] = min(one, other)
                self.changes += 1
        return a

    def cut(self, factors: Factors, shape: Sequence[int]) -> Dims:
        """`factors` as the factors of dimensions of the sizes `shape`."""
        rest = factors
        dims: list[Factors] = []
        for size in shape:
            count = self.outermost(rest, size)
            rest = self.leaves(rest)
            dims.append(rest[:count])
            rest = rest[count:]
        assert not rest
        return tuple(dims)


@dataclass(frozen=True)
class Window:
    """
    Elements `offset + i * stride` along one factor of a sliced tensor.

    `factor` is the place of the factor in its dimension; `by` are the factors of i, none where
    there is one element only.
    """

    factor: int
    offset: int
    stride: int
    by: Factors


@dataclass
class Placement:
    """The factors of the dimensions of every step; `run` finds them."""

    steps: Sequence[Step]
    sets: FactorSets = field(default_factory=FactorSets)
    dims: list[Dims] = field(default_factory=list[Dims])
    unshared: dict[int, str] = field(default_factory=dict[int, str])
    """Why concats could not let parts of one size run together, by step."""

    def run(self) -> None:
        """
        Place all steps.

        Raises:
            ViewError: reshapes split a dimension in ways that have no common refinement.
        """
        for index, step in enumerate(self.steps):
            try:
                self.dims.append(self._place(step))
            except _MisfitError as error:
                reason = f"splits a dimension where another cut goes across: {error}"
                raise ViewError(index, reason) from None
        before = -1
        while before != self.sets.changes:
            before = self.sets.changes
            for index, step in enumerate(self.steps):
                if step.kind is Layout.SLICE:
                    self.windows(index)
                elif step.kind is Layout.CONCAT:
                    self.joined(index)

    def of(self, step: int) -> Dims:
        """The factors of the result of `step`."""
        return tuple(self.sets.leaves(factors) for factors in self.dims[step])

    def _place(self, step: Step) -> Dims:
        operands = [self.dims[operand] for operand in step.operands]
        match step.kind:
            case Kind.MATMUL:
                return self._matmul(*operands)
            case Kind.REDUCE_SUM | Kind.REDUCE_MAX:
                return tuple(() if d in step.reduced else f for d, f in enumerate(operands[0]))
            case Layout.RESHAPE:
                flat = tuple(factor for factors in operands[0] for factor in factors)
                return self.sets.cut(flat, step.shape)
            case Layout.SLICE:
                return self._slice(step, operands[0])
            case Layout.CONCAT:
                return self._concat(step, operands)
            case Kind.VIEW if step.permutation is not None:
                return tuple(() if d < 0 else operands[0][d] for d in step.permutation)
            case _:
                dims = self._broadcast(operands, len(step.shape))
                pairs = zip(dims, step.shape, strict=True)
                return tuple(factors or self.sets.new(size) for factors, size in pairs)

    def _broadcast(self, operands: Sequence[Dims], rank: int) -> Dims:
        dims: Dims = ((),) * rank
        for operand in operands:
            padded = ((),) * (rank - len(operand)) + operand
            dims = tuple(self.sets.join(a, b) for a, b in zip(dims, padded, strict=True))
        return dims

    def _matmul(self, lhs: Dims, rhs: Dims) -> Dims:
        self.sets.join(lhs[-1], rhs[-2])
        rank = max(len(lhs), len(rhs)) - 2
        return (*self._broadcast((lhs[:-2], rhs[:-2]), rank), lhs[-2], rhs[-1])

    def _slice(self, step: Step, operand: Dims) -> Dims:
        sizes = [self.sets.size(self.sets.leaves(factors)) for factors in operand]
        return tuple(
            factors if size == old else self.sets.new(size)
            for factors, size, old in zip(operand, step.shape, sizes, strict=True)
        )

    def _concat(self, step: Step, operands: Sequence[Dims]) -> Dims:
        dims = [
            self.sets.new(size) if d == step.dim else factors
            for d, (size, factors) in enumerate(zip(step.shape, operands[0], strict=True))
        ]
        for operand in operands[1:]:
            for d, factors in enumerate(operand):
                if d != step.dim:
                    self.sets.join(dims[d], factors)
        self._share_parts(step, [operand[step.dim] for operand in operands])
        return tuple(dims)

    def _share_parts(self, step: Step, parts: Sequence[Factors]) -> None:
        """Let parts of one size run together, so that what follows for each loads them once."""
        first: dict[int, Factors] = {}
        for part in parts:
            size = self.sets.size(self.sets.leaves(part))
            try:
                self.sets.join(first.setdefault(size, part), part)
            except _MisfitError as error:
                reason = f"reads parts of {size} elements of dim {step.dim} one by one: {error}"
                self.unshared.setdefault(len(self.dims), reason)

    def windows(self, index: int) -> dict[int, list[Window]]:
        """
        For each dimension that the slice `index` cuts, its windows of the operand's factors.

        Factors of the operand without a window are whole and are those of the result.

        Raises:
            ViewError: the slice goes across factors.
        """
        step = self.steps[index]
        (source,) = step.operands
        found: dict[int, list[Window]] = {}
        for d, (old, new) in enumerate(zip(self.dims[source], self.dims[index], strict=True)):
            if old is new:
                continue
            try:
                found[d] = self._windows(old, new, step.offsets[d], step.strides[d], step.shape[d])
            except _MisfitError as error:
                reason = f"cuts dim {d} across the parts it is made of: {error}"
                raise ViewError(index, reason) from None
        return found

    def _windows(
        self, old: Factors, new: Factors, offset: int, stride: int, size: int
    ) -> list[Window]:
        """From the innermost factor outwards: whole, or the last that is cut, or one element."""
        sets = self.sets
        windows: list[Window] = []
        place = len(sets.leaves(old)) - 1
        while place > 0:
            inner = sets.sizes[sets.leaves(old)[place]]
            last = offset + stride * (size - 1)
            if stride == 1 and offset % inner == 0 and size % inner == 0:
                outer = sets.outermost(new, size // inner)
                leaves = sets.leaves(new)
                sets.join(leaves[outer:], (sets.leaves(old)[place],))
                new, offset, size = leaves[:outer], offset // inner, size // inner
            elif offset // inner == last // inner:
                windows.append(Window(place, offset % inner, stride, sets.leaves(new)))
                new, offset, stride, size = (), offset // inner, 1, 1
            else:
                taken = f"{size} elements from {offset} on"
                raise _MisfitError(f"{taken} lie in several parts of {inner} elements")
            place -= 1
        windows.append(Window(0, offset, stride, sets.leaves(new)))
        return windows

    def joined(self, index: int) -> list[Factors]:
        """
        The factors of each operand of the concat `index` that lie along the result's outermost.

        The inner factors of its dimension are those of each operand.

        Raises:
            ViewError: the result is split where one operand ends inside a part.
        """
        step, sets = self.steps[index], self.sets
        try:
            whole = sets.leaves(self.dims[index][step.dim])
            inner = sets.size(whole[1:])
            outer: list[Factors] = []
            for operand in step.operands:
                part = self.dims[operand][step.dim]
                size = sets.size(sets.leaves(part))
                if size % inner:
                    raise _MisfitError(f"{size} elements are no multiple of {inner}")
                count = sets.outermost(part, size // inner)
                sets.join(sets.leaves(part)[count:], whole[1:])
                outer.append(sets.leaves(part)[:count])
        except _MisfitError as error:
            reason = f"joins tensors that a reshape takes apart elsewhere: {error}"
            raise ViewError(index, reason) from None
        return outer
