"""
All small graphs of one block, enumerated without any pruning by what they compute.

What the search does with normal forms is done here with numbers alone: each input is cut along a
dimension for the grid and one for the loop, or not; operators are applied to tiles by their
positions, wherever shapes allow it; a graph is right if its tiles, put together, are the program's
result over a finite field. Dimensions all have one size, so that every coincidence can happen.
Source of the space: Wu et al., "Mirage" (OSDI 2025), section 4, without its abstract expressions.

The only graphs left out are those in which some operator's result is not used, or is a tile that
the graph has already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import reduce

import numpy as np
from cut_graphs import UNCUT, Application, Found, InputCuts
from modular import P, Q, Residues
from residue_tiles import ELEMENTWISE, PARTS, Numbers, Tile, When

from mirage_mlir.field.rational import residue
from mirage_mlir.search.program.builder import ProgramBuilder, Step
from mirage_mlir.search.program.program import Kind

COMMUTATIVE = ("add", "mul")
FUNCTIONS = ("exp", "sqrt", "silu")


class BruteForce:
    """
    All graphs of one program.

    Args:
        builder: a program on matrices of `SIZE` rows or 1, and columns likewise.
        operators: what a graph may apply: those of the program, and chains of them.
        scale: the number by which `scale` multiplies.
    """

    def __init__(
        self, builder: ProgramBuilder, operators: Sequence[str], scale: Fraction = Fraction(1)
    ) -> None:
        self.builder = builder
        self.operators = tuple(operators)
        exponents = any(s.function and s.function.name == "exp" for s in builder.steps)
        for seed in range(100_000):
            self.numbers = Numbers(seed, scale, exponents)
            if (result := self._run_program()) is not None:
                self.result = result
                break

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Of the inputs."""
        shapes = [self.builder.shape(tensor.step) for tensor in self.builder.inputs]
        return [(shape[0], shape[1]) for shape in shapes]

    def _run_program(self) -> Tile | None:
        """The program's result on random inputs; None where a root or quotient is not defined."""
        values: list[Tile] = []
        self.inputs: list[Tile] = []
        for step in self.builder.steps:
            operands = [values[operand] for operand in step.operands]
            value = self._step(step, operands)
            if value is None:
                return None
            if step.function and step.function.name == "sqrt":
                if not self.numbers.is_square(operands[0]):
                    return None
            values.append(value)
            if step.kind is Kind.INPUT:
                self.inputs.append(value)
        return values[self.builder.outputs[0].step]

    def _step(self, step: Step, operands: Sequence[Tile]) -> Tile | None:
        numbers = self.numbers
        match step.kind:
            case Kind.INPUT:
                return numbers.draw(step.shape)
            case Kind.CONSTANT:
                ones = np.ones((1, 1, 1, 1), np.uint64)
                p, q = (ones * np.uint64(residue(step.value, m)) for m in (P, Q))
                return Tile(When.ALWAYS, p, q if numbers.exponents else None)
            case Kind.FUNCTION:
                assert step.function is not None
                return numbers.apply(step.function.name, operands)
            case Kind.REDUCE_SUM:
                names = ["sum_rows" if dim == 0 else "sum_columns" for dim in step.reduced]
                return reduce(lambda t, name: t and numbers.apply(name, [t]), names, operands[0])
            case _:
                return numbers.apply(step.kind.value, operands)

    def enumerate(
        self, cut: InputCuts, most: int, expired: Callable[[], bool] = lambda: False
    ) -> Enumeration:
        """All graphs of at most so many operators, for one cut of the inputs."""
        found = Enumeration(self, cut, most, expired)
        found.run()
        return found

    def tiles(self, cut: InputCuts) -> list[Tile]:
        """The inputs as each block and iteration sees them."""
        cut_inputs = zip(self.inputs, cut.grid, cut.loop, strict=True)
        return [_cut_tile(tile, grid, loop, cut) for tile, grid, loop in cut_inputs]

    def targets(self, cut: InputCuts) -> list[tuple[int, Tile]]:
        """What blocks must hold for each dimension along which they may store."""
        when = When.AFTER if cut.has_loop else When.ALWAYS
        if not cut.has_grid:
            return [(UNCUT, self.result._replace(when=when))]
        targets: list[tuple[int, Tile]] = []
        for dim, size in enumerate(self.result.shape):
            if size > 1:
                tile = _cut_tile(self.result, dim, UNCUT, InputCuts((dim,), (UNCUT,)))
                targets.append((dim, tile._replace(when=when)))
        return targets


def _cut_tile(tile: Tile, grid: int, loop: int, cut: InputCuts) -> Tile:
    def parts(values: Residues) -> Residues:
        blocks = _split(values, 0, grid) if cut.has_grid else values
        return blocks if loop == UNCUT else _split(blocks, 1, loop)

    when = When.ALWAYS if loop == UNCUT else When.ITERATION
    return Tile(when, parts(tile.p), None if tile.q is None else parts(tile.q))


def _split(values: Residues, axis: int, dim: int) -> Residues:
    """Parts along a matrix dimension, side by side along `axis`; the same for all if uncut."""
    if dim == UNCUT:
        return np.repeat(values, PARTS, axis=axis)
    return np.concatenate(np.split(values, PARTS, axis=2 + dim), axis=axis)


class Enumeration:
    """
    Depth-first search over sets of applications; each set is met once.

    A list holds all applications to the tiles so far. Chosen are some of them in the order of the
    list, to whose end each choice adds the applications to its result; so a set of applications
    has one order in which it is chosen. The last one reads what the one before it made, which
    nothing else can use any more. Tiles are numbered and results remembered.
    """

    def __init__(
        self, brute: BruteForce, cut: InputCuts, most: int, expired: Callable[[], bool]
    ) -> None:
        self.found: list[Found] = []
        self.graphs = 0
        """Graphs, not finished ones included, that were looked at."""
        self.complete = True
        self._numbers = brute.numbers
        self._most = most
        self._expired = expired
        names = [name for name in brute.operators if cut.has_loop or not _loops(name)]
        self._binary = [name for name in names if _is_binary(name)]
        self._unary = [name for name in names if not _is_binary(name)]
        self._tiles: list[Tile] = []
        self._ids: dict[object, int] = {}
        self._results: dict[tuple[str, tuple[int, ...]], int] = {}
        self._kinds: list[tuple[When, int, int]] = []
        self._of_one: dict[object, list[str]] = {}
        self._of_two: dict[object, list[tuple[str, bool]]] = {}
        self._hits: dict[tuple[int, ...], list[tuple[str, bool, int]]] = {}
        self._targets = {self._number(tile): dim for dim, tile in reversed(brute.targets(cut))}
        self._goal = self._tiles[next(iter(self._targets))]
        self._corner = int(brute.result.p[0, 0, 0, 0])
        self.held = [self._number(tile) for tile in brute.tiles(cut)]
        self._uses = [0] * len(self.held)
        self._chosen: list[Application] = []
        self._candidates: list[Application] = []
        for index in range(len(self.held)):
            self._candidates += self._applications(index)

    def run(self) -> None:
        """Fill `found`."""
        self._descend(0, len(self.held))

    def _number(self, tile: Tile) -> int:
        key = tile.key()
        if (known := self._ids.get(key)) is None:
            known = self._ids[key] = len(self._tiles)
            self._tiles.append(tile)
            self._kinds.append((tile.when, *tile.shape))
        return known

    # What can be applied.

    def _applications(self, new: int) -> Iterator[Application]:
        """What can be applied to tile `new` of the graph, alone or with those before it."""
        held = self.held[new]
        for name in self._operators_of_one(held):
            yield Application(name, (new,))
        for other in range(new + 1):
            for name, swapped in self._operators_of_two(self.held[other], held):
                yield Application(name, (new, other) if swapped else (other, new))

    def _operators_of_one(self, tile: int) -> list[str]:
        kind = self._kinds[tile]
        if kind not in self._of_one:
            fitting = [name for name in self._unary if _fits_one(name, self._tiles[tile])]
            self._of_one[kind] = fitting
        return self._of_one[kind]

    def _operators_of_two(self, a: int, b: int) -> list[tuple[str, bool]]:
        """Operators on both, each with whether b comes first."""
        kinds = self._kinds[a], self._kinds[b], a == b
        if kinds not in self._of_two:
            left, right = self._tiles[a], self._tiles[b]
            ways = [(name, False) for name in self._binary if _fits(name, left, right)]
            if a != b:
                swapped = [n for n in self._binary if n not in COMMUTATIVE]
                ways += [(name, True) for name in swapped if _fits(name, right, left)]
            self._of_two[kinds] = ways
        return self._of_two[kinds]

    # The search.

    def _descend(self, start: int, unused: int) -> None:
        """Choose one more application, not before `start` in the list, and not the last."""
        remaining = self._most - len(self._chosen)
        uses = self._uses
        for place in range(start, len(self._candidates)):
            if not self.complete:
                return
            application = self._candidates[place]
            operands = application.operands
            left = unused + 1 - (not uses[operands[0]])
            if operands[0] != operands[-1]:
                left -= not uses[operands[-1]]
            # Each further operator leaves at most one tile less without a use.
            if left > remaining:
                continue
            result = self._result(application)
            if result in self._targets:
                # What follows would come back to it.
                if left == 1 and not self._chosen:
                    self._keep(application, self._targets[result])
            elif remaining > 1 and result >= 0 and result not in self.held:
                self._choose(application, result, place + 1, left)

    def _choose(self, application: Application, result: int, start: int, unused: int) -> None:
        self.graphs += 1
        if self.graphs % 1024 == 0 and self._expired():
            self.complete = False
        self._chosen.append(application)
        self.held.append(result)
        self._uses.append(0)
        for operand in {*application.operands}:
            self._uses[operand] += 1
        self._finish(unused)
        if len(self._chosen) + 1 < self._most:
            length = len(self._candidates)
            self._candidates += self._applications(len(self.held) - 1)
            self._descend(start, unused)
            del self._candidates[length:]
        for operand in {*application.operands}:
            self._uses[operand] -= 1
        self._uses.pop()
        self.held.pop()
        self._chosen.pop()

    def _finish(self, unused: int) -> None:
        """Find the applications to the newest tile that make the program's result."""
        if unused > 2:
            return
        new = len(self.held) - 1
        if unused == 1:
            others = range(new + 1)
            for name, _, stored in self._hits_of(self.held[new]):
                self._keep(Application(name, (new,)), stored)
        else:
            others = (self._uses.index(0),)
        for other in others:
            for name, swapped, stored in self._hits_of(self.held[other], self.held[new]):
                pair = (new, other) if swapped else (other, new)
                self._keep(Application(name, pair), stored)

    def _keep(self, last: Application, stored: int) -> None:
        self.found.append(Found((*self._chosen, last), stored))

    # Results.

    def _result(self, application: Application) -> int:
        """The number of a result, -1 where it is not defined."""
        name, operands = application
        key = name, tuple([self.held[operand] for operand in operands])
        if (known := self._results.get(key)) is None:
            tile = self._numbers.apply(name, [self._tiles[i] for i in key[1]])
            known = self._results[key] = -1 if tile is None else self._number(tile)
        return known

    def _hits_of(self, *ids: int) -> list[tuple[str, bool, int]]:
        """Operators that make the result: whether operands are swapped, how it is stored."""
        if (known := self._hits.get(ids)) is not None:
            return known
        if len(ids) == 1:
            ways = [(name, False) for name in self._operators_of_one(ids[0])]
        else:
            ways = self._operators_of_two(ids[0], ids[1])
        hits: list[tuple[str, bool, int]] = []
        for name, swapped in ways:
            tiles = [self._tiles[i] for i in (reversed(ids) if swapped else ids)]
            if (stored := self._hit(name, tiles)) is not None:
                hits.append((name, swapped, stored))
        self._hits[ids] = hits
        return hits

    def _hit(self, name: str, tiles: Sequence[Tile]) -> int | None:
        if name in ("exp", "sqrt") and not self._function_may_hit(name, tiles[0]):
            return None
        if len(tiles) == 2:
            when = When.AFTER if _loops(name) else max(tiles[0].when, tiles[1].when)
            if when is not self._goal.when or not self._may_hit(name, *tiles):
                return None
        tile = self._numbers.apply(name, tiles)
        known = None if tile is None else self._ids.get(tile.key())
        return None if known is None else self._targets.get(known)

    def _function_may_hit(self, name: str, tile: Tile) -> bool:
        if tile.when is not self._goal.when:
            return False
        if name == "sqrt":
            return pow(int(tile.p[0, 0, 0, 0]), (P + 1) // 4, P) == self._corner
        if tile.q is None:
            return True
        base = int(self._numbers.generator[0])
        return pow(base, int(tile.q[0, 0, 0, 0]), P) == self._corner

    def _may_hit(self, name: str, a: Tile, b: Tile) -> bool:
        """Whether the first element is right: most are not, and one number is quickly computed."""
        if name not in ELEMENTWISE:
            # The first row with the first column, over all iterations.
            total = int((a.p[0, :, 0, :] * b.p[0, :, :, 0] % np.uint64(P)).sum())
            same = _loops(name) and a.when is b.when is When.ALWAYS
            return (total * (PARTS if same else 1) - self._corner) % P == 0
        x, y = int(a.p[0, 0, 0, 0]), int(b.p[0, 0, 0, 0])
        match name:
            case "add":
                return (x + y - self._corner) % P == 0
            case "sub":
                return (x - y - self._corner) % P == 0
            case "mul":
                return (x * y - self._corner) % P == 0
            case _:
                return (x - y * self._corner) % P == 0


def _is_binary(name: str) -> bool:
    return name in ELEMENTWISE or name.startswith("matmul")


def _loops(name: str) -> bool:
    """Whether the operator needs a loop."""
    return name.endswith("accumulate")


def _fits(name: str, left: Tile, right: Tile) -> bool:
    """Whether stages and shapes allow the operator; size 1 is stretched."""
    stages = {left.when, right.when}
    if stages == {When.ITERATION, When.AFTER} or (_loops(name) and When.AFTER in stages):
        return False
    if name in ELEMENTWISE:
        sizes = zip(left.shape, right.shape, strict=True)
        return all(m == n or 1 in (m, n) for m, n in sizes)
    return left.shape[1] == right.shape[0]


def _fits_one(name: str, tile: Tile) -> bool:
    """Whether the stage allows the operator, and a sum has anything to add."""
    if _loops(name) and tile.when is When.AFTER:
        return False
    if name in ("sum_rows", "rows_accumulate"):
        return tile.shape[0] > 1
    return tile.shape[1] > 1 or name in ("accumulate", "scale", *FUNCTIONS)
