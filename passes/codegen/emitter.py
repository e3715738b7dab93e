"""A builder of scalar code that folds constants and reuses equal pure operations in scope."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from math import copysign
from typing import TypeVar, cast

from xdsl.builder import Builder
from xdsl.dialects import arith, llvm, scf, vector
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    AnyFloat,
    DenseArrayBase,
    Float32Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    VectorType,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure

from mirage_mlir.dialects.common import byte_width
from mirage_mlir.dialects.nvvm_device import KEPT_WORDS, kept_load, kept_store

Index = int | SSAValue
"""An i32: a constant (`int`), or a value of the kernel."""

Condition = bool | SSAValue
"""An i1: a constant (`bool`), or a value of the kernel."""

I1 = IntegerType(1)

WORD_BYTES = 4
"""Of an i32, which may hold several elements."""

REPEATABLE = (arith.DivUIOp, arith.RemUIOp, llvm.GEPOp, llvm.ExtractValueOp, llvm.UndefOp)
"""Operations without xDSL's trait `Pure` that are pure here: divisors are nonzero constants."""


Emitted = TypeVar("Emitted")


class Emitter:
    """
    Emits into `block`; constants go to the entry block, where they dominate everything.

    Value numbering: a pure operation that is in scope already is not emitted again.
    """

    def __init__(self, entry: Block) -> None:
        self.builder = Builder(InsertPoint.at_end(entry))
        self.entry = entry
        self.constants: dict[tuple[Attribute, int | float, float], SSAValue] = {}
        self.indices: dict[int, SSAValue] = {}
        self.location: LocationAttr = UNKNOWN_LOC
        self.scopes: list[dict[object, Operation]] = [{}]
        """Pure operations by what they compute."""
        self.built: list[dict[object, object]] = [{}]
        """The results of `once`."""

    def insert(self, op: Operation) -> Operation:
        """Append `op`, or return the one in scope that computes the same."""
        op.location = self.location
        if not (op.has_trait(Pure) or isinstance(op, REPEATABLE)) or op.regions:
            return self.builder.insert(op)
        key = (op.name, tuple(op.operands), tuple(op.properties.items()), tuple(op.result_types))
        for scope in reversed(self.scopes):
            if key in scope:
                return scope[key]
        self.scopes[-1][key] = op
        return self.builder.insert(op)

    def result(self, op: Operation) -> SSAValue:
        """Append `op`; its only result."""
        return self.insert(op).results[0]

    def once(self, key: object, build: Callable[[], Emitted]) -> Emitted:
        """The result of `build` for `key`, which is built once in a scope."""
        for scope in reversed(self.built):
            if key in scope:
                return cast(Emitted, scope[key])
        built = self.built[-1][key] = build()
        return built

    def pure(self, operator: Callable[..., Operation], *arguments: SSAValue | str) -> SSAValue:
        """The only result of a pure operation, which is built only if no equal one is in scope."""
        return self.once((operator, *arguments), lambda: self.result(operator(*arguments)))

    @contextmanager
    def at(self, block: Block) -> Generator[None]:
        """Emit into `block`, inside the present scope."""
        outer, self.builder = self.builder, Builder(InsertPoint.at_end(block))
        self.scopes.append({})
        self.built.append({})
        yield
        self.built.pop()
        self.scopes.pop()
        self.builder = outer

    def _constant(
        self,
        kind: Attribute,
        value: float,
        attribute: IntegerAttr[IntegerType] | FloatAttr[AnyFloat],
    ) -> SSAValue:
        # 0.0 equals -0.0, so the key has the sign.
        key = (kind, value, copysign(1, value))
        if key not in self.constants:
            op = arith.ConstantOp(attribute, kind)
            if (first := self.entry.first_op) is None:
                self.entry.add_op(op)
            else:
                self.entry.insert_op_before(op, first)
            self.constants[key] = op.result
        return self.constants[key]

    def i32(self, value: Index) -> SSAValue:
        """`value` as an SSA value."""
        if isinstance(value, SSAValue):
            return value
        # Most constants are i32, and attributes are slow to create and to compare.
        if value not in self.indices:
            self.indices[value] = self._constant(i32, value, IntegerAttr(value, i32))
        return self.indices[value]

    def i64(self, value: int) -> SSAValue:
        """The i64 constant `value`."""
        return self._constant(i64, value, IntegerAttr(value, i64))

    def f32(self, value: float) -> SSAValue:
        """The f32 constant `value`."""
        return self._constant(f32, value, FloatAttr(value, Float32Type()))

    def zero(self, kind: Attribute) -> SSAValue:
        """Zero of a float type."""
        assert isinstance(kind, AnyFloat)
        return self._constant(kind, 0.0, FloatAttr(0.0, kind))

    def add(self, lhs: Index, rhs: Index) -> Index:
        """`lhs + rhs`."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        if lhs == 0:
            return rhs
        if rhs == 0:
            return lhs
        return self.pure(arith.AddiOp, self.i32(lhs), self.i32(rhs))

    def sub(self, lhs: Index, rhs: Index) -> Index:
        """`lhs - rhs`."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs - rhs
        return lhs if rhs == 0 else self.pure(arith.SubiOp, self.i32(lhs), self.i32(rhs))

    def mul(self, lhs: Index, rhs: Index) -> Index:
        """`lhs * rhs`."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs * rhs
        if lhs == 0 or rhs == 0:
            return 0
        if lhs == 1:
            return rhs
        return lhs if rhs == 1 else self.pure(arith.MuliOp, self.i32(lhs), self.i32(rhs))

    def div(self, lhs: Index, rhs: int) -> Index:
        """`lhs / rhs` of unsigned numbers, rounded down."""
        if isinstance(lhs, int):
            return lhs // rhs
        return lhs if rhs == 1 else self.pure(arith.DivUIOp, lhs, self.i32(rhs))

    def rem(self, lhs: Index, rhs: int) -> Index:
        """The remainder of `div`."""
        if isinstance(lhs, int):
            return lhs % rhs
        return 0 if rhs == 1 else self.pure(arith.RemUIOp, lhs, self.i32(rhs))

    def bits(self, value: Index, mask: int) -> Index:
        """`value & mask`."""
        if isinstance(value, int):
            return value & mask
        return self.pure(arith.AndIOp, value, self.i32(mask)) if mask else 0

    def exclusive_or(self, lhs: Index, rhs: Index) -> Index:
        """`lhs ^ rhs`."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs ^ rhs
        if lhs == 0:
            return rhs
        return lhs if rhs == 0 else self.pure(arith.XOrIOp, self.i32(lhs), self.i32(rhs))

    def shift_right(self, value: Index, by: int) -> Index:
        """`value >> by`."""
        if isinstance(value, int):
            return value >> by
        return self.pure(arith.ShRUIOp, value, self.i32(by)) if by else value

    def least(self, lhs: Index, rhs: Index) -> Index:
        """The lesser of two signed numbers."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return min(lhs, rhs)
        return self.pure(arith.MinSIOp, self.i32(lhs), self.i32(rhs))

    def greatest(self, lhs: Index, rhs: Index) -> Index:
        """The greater of two signed numbers."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return max(lhs, rhs)
        return self.pure(arith.MaxSIOp, self.i32(lhs), self.i32(rhs))

    def less(self, lhs: Index, rhs: Index) -> Condition:
        """`lhs < rhs`, signed."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs < rhs
        return self.pure(arith.CmpiOp, self.i32(lhs), self.i32(rhs), "slt")

    def equal(self, lhs: Index, rhs: Index) -> Condition:
        """`lhs == rhs`."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs == rhs
        return self.pure(arith.CmpiOp, self.i32(lhs), self.i32(rhs), "eq")

    def both(self, lhs: Condition, rhs: Condition) -> Condition:
        """`lhs and rhs`."""
        if isinstance(lhs, bool):
            return rhs if lhs else False
        if isinstance(rhs, bool):
            return lhs if rhs else False
        return self.pure(arith.AndIOp, lhs, rhs)

    def negate(self, condition: Condition) -> Condition:
        """`not condition`."""
        if isinstance(condition, bool):
            return not condition
        return self.pure(arith.XOrIOp, condition, self._constant(I1, 1, IntegerAttr(1, I1)))

    def all(self, conditions: Sequence[Condition]) -> Condition:
        """Whether all hold."""
        together: Condition = True
        for condition in conditions:
            together = self.both(together, condition)
        return together

    def select(self, condition: Condition, yes: SSAValue, no: SSAValue) -> SSAValue:
        """`yes` where the condition holds, else `no`."""
        if isinstance(condition, bool):
            return yes if condition else no
        return self.pure(arith.SelectOp, condition, yes, no)

    def pick(self, condition: Condition, yes: Index, no: Index) -> Index:
        """`select` of indices."""
        if isinstance(condition, bool):
            return yes if condition else no
        return self.select(condition, self.i32(yes), self.i32(no))

    @contextmanager
    def when(self, condition: Condition) -> Generator[None]:
        """Emit code that runs only where `condition` holds."""
        if condition is True:
            yield
            return
        block = Block()
        with self.at(block):
            yield
            self.insert(scf.YieldOp())
        if not isinstance(condition, bool):
            self.insert(scf.IfOp(condition, [], Region(block)))

    def either(
        self,
        condition: SSAValue,
        yes: Callable[[], Sequence[SSAValue]],
        no: Callable[[], Sequence[SSAValue]],
    ) -> list[SSAValue]:
        """The values of `yes` where the condition holds, else those of `no`, of equal types."""
        blocks: list[Block] = []
        values: Sequence[SSAValue] = ()
        for build in (yes, no):
            blocks.append(Block())
            with self.at(blocks[-1]):
                values = build()
                self.insert(scf.YieldOp(*values))
        regions = [Region(block) for block in blocks]
        made = scf.IfOp(condition, [value.type for value in values], regions[0], regions[1])
        return list(self.insert(made).results)

    def loop(
        self,
        count: Index,
        carried: Sequence[SSAValue],
        body: Callable[[SSAValue, list[SSAValue]], Sequence[SSAValue]],
    ) -> list[SSAValue]:
        """Run `body(iteration, values)` `count` times; it returns the next iteration's values."""
        block = Block(arg_types=[i32, *(value.type for value in carried)])
        with self.at(block):
            results = body(block.args[0], list(block.args[1:]))
            self.insert(scf.YieldOp(*results))
        bounds = (self.i32(0), self.i32(count), self.i32(1))
        return list(self.insert(scf.ForOp(*bounds, carried, Region(block))).results)

    def pointer(
        self, base: SSAValue, offset: Index | SSAValue, element: Attribute, plus: int = 0
    ) -> SSAValue:
        """`base` advanced by `offset + plus` elements; the constant is added last."""
        pointer_type = base.type
        assert isinstance(pointer_type, llvm.LLVMPointerType)

        def advance(start: SSAValue, indices: list[int], values: list[SSAValue]) -> SSAValue:
            return self.result(
                llvm.GEPOp(start, indices, element, values, result_type=pointer_type)
            )

        if isinstance(offset, int):
            offset, plus = 0, plus + offset
        else:
            base = advance(base, [llvm.GEP_USE_SSA_VAL], [offset])
        return advance(base, [plus], []) if plus else base

    def load(self, pointer: SSAValue, element: Attribute, width: int) -> list[SSAValue]:
        """`width` neighbours from `pointer`, by one load."""
        if width == 1:
            return [self.result(llvm.LoadOp(pointer, element))]
        kind = VectorType(element, [width])
        alignment = width * _bytes(element)
        loaded = self.result(llvm.LoadOp(pointer, kind, alignment))
        return [self.result(vector.ExtractOp(loaded, [i], element)) for i in range(width)]

    def load_kept(self, pointer: SSAValue, element: Attribute, policy: int) -> list[SSAValue]:
        """16 bytes of neighbours from `pointer`, by one load with an L2 cache policy."""
        words = self.insert(kept_load(pointer, self.i64(policy))).results[0]
        found: list[SSAValue] = []
        for number in range(KEPT_WORDS):
            word = self.field(words, number, i32)
            if element == f32:
                found.append(self.result(llvm.BitcastOp(word, f32)))
                continue
            pair = self.result(llvm.BitcastOp(word, VectorType(element, [2])))
            found += [self.result(vector.ExtractOp(pair, [side], element)) for side in (0, 1)]
        return found

    def store(self, pointer: SSAValue, values: Sequence[SSAValue]) -> None:
        """Write `values` side by side at `pointer`, by one store."""
        element = values[0].type
        if len(values) == 1:
            self.insert(llvm.StoreOp(values[0], pointer))
            return
        alignment = len(values) * _bytes(element)
        self.insert(llvm.StoreOp(self.together(values), pointer, alignment))

    def store_kept(self, pointer: SSAValue, values: Sequence[SSAValue], policy: int) -> None:
        """Write 16 bytes of `values` side by side, by one store with an L2 cache policy."""
        each = len(values) // KEPT_WORDS
        words = [self.word(values[at : at + each]) for at in range(0, len(values), each)]
        self.insert(kept_store(pointer, words, self.i64(policy)))

    def word(self, values: Sequence[SSAValue]) -> SSAValue:
        """The `values`, 4 bytes in all, as an i32."""
        if len(values) == 1:
            return self.result(llvm.BitcastOp(values[0], i32))
        return self.result(llvm.BitcastOp(self.together(values), i32))

    def together(self, values: Sequence[SSAValue]) -> SSAValue:
        """A vector of the `values`."""
        packed = self.result(llvm.UndefOp(VectorType(values[0].type, [len(values)])))
        for index, value in enumerate(values):
            packed = self.result(vector.InsertOp(value, packed, [index]))
        return packed

    def field(self, container: SSAValue, index: int, kind: Attribute) -> SSAValue:
        """Member `index` of a struct."""
        return self.result(llvm.ExtractValueOp(_member(index), container, kind))


def _bytes(kind: Attribute) -> int:
    """Of an element, or of a word that holds elements."""
    return WORD_BYTES if kind == i32 else byte_width(kind)


@cache
def _member(index: int) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, [index])


def scaled_value(value: SSAValue) -> tuple[SSAValue, float] | None:
    """The x and c of an f32 that has been emitted as x times a constant c."""
    product = value.owner
    if not isinstance(product, arith.MulfOp) or value.type != f32:
        return None
    for x, factor in (product.operands, reversed(product.operands)):
        if isinstance(factor.owner, arith.ConstantOp) and isinstance(factor.owner.value, FloatAttr):
            return x, factor.owner.value.value.data
    return None
