"""Kernels that pack constants write what `Packing` says, thread by thread."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import llvm
from xdsl.ir import Block, Operation, SSAValue

from mirage_mlir.bridge.bindings import in_upstream
from mirage_mlir.decisions.packing import Packing
from mirage_mlir.diagnostics import name_of
from mirage_mlir.driver.source import parse_program
from mirage_mlir.outputs.packing_code import (
    ALIGNMENT,
    THREADS,
    blocks_of,
    packed_offsets,
    packing_module,
)
from mirage_mlir.runtime.arguments import Argument
from mirage_mlir.runtime.element_types import ElementType
from mirage_mlir.runtime.packed import PackedInput

ARITH: dict[str, Any] = {
    "arith.addi": np.add,
    "arith.andi": np.logical_and,
    "arith.cmpi": np.less,
    "arith.divui": np.floor_divide,
    "arith.extui": np.asarray,
    "arith.muli": np.multiply,
    "arith.remui": np.remainder,
}


class Threads:
    """All threads of a grid at once; pointers are indices of elements."""

    def __init__(self, memory: Any, copy: Any, blocks: int) -> None:
        place = np.arange(blocks * THREADS, dtype=np.int64)
        self.memory, self.copy = memory, copy
        self.special = {"ctaid": place // THREADS, "tid": place % THREADS}
        self.values: dict[SSAValue, Any] = {}

    def run(self, block: Block, active: Any) -> Any:
        """What a block yields, where threads are active."""
        for op in block.ops:
            operands = [self.values[value] for value in op.operands]
            if op.name in ("scf.yield", "llvm.return"):
                return operands[0] if operands else None
            result = self.result(op, operands, active)
            if op.results:
                self.values[op.results[0]] = result
        return None

    def result(self, op: Operation, operands: list[Any], active: Any) -> Any:
        """What an operation gives, in the threads that are active."""
        match op.name:
            case "scf.if":
                (condition,) = operands
                parts = [
                    self.run(region.block, active & way) if region.blocks else None
                    for region, way in zip(op.regions, (condition, ~condition), strict=True)
                ]
                return np.where(condition, *parts) if op.results else None
            case "llvm.store":
                self.copy[operands[1][active]] = operands[0][active]
                return None
            case "llvm.load":
                read = np.zeros(active.shape, self.memory.dtype)
                read[active] = self.memory[operands[0][active]]
                return read
            case "llvm.getelementptr":
                return operands[0] + operands[1]
            case "arith.constant":
                value: Any = op.properties["value"]
                number = np.full(active.shape, value.value.data)
                return number != 0 if str(op.results[0].type) == "i1" else number
            case name if name in ARITH:
                return ARITH[name](*operands)
            case _:
                return self.special[name_of(op).split(".")[4]]


@st.composite
def packings(draw: st.DrawFn) -> Packing:
    rank = draw(st.integers(1, 3))
    shape = [draw(st.integers(1, 9)) for _ in range(rank)]
    run = draw(st.integers(0, rank - 1))
    tile = [draw(st.integers(1, 4)) for _ in range(rank)]
    panel = draw(st.integers(1, 3))
    tile[run] = panel * draw(st.integers(1, 3))
    counts = [-(-size // part) for size, part in zip(shape, tile, strict=True)]
    order = draw(st.permutations(range(rank)))
    layout = draw(st.permutations(range(rank)))
    strides, step = [0] * rank, 1
    for dim in layout:
        strides[dim], step = step, step * shape[dim] + draw(st.integers(0, 2))
    offset = draw(st.integers(0, 5))
    return Packing(
        offset,
        tuple(shape),
        tuple(strides),
        tuple(tile),
        tuple(counts),
        tuple(order),
        run,
        panel,
    )


@settings(max_examples=25, deadline=None)
@given(packings(), st.sampled_from(list(ElementType)))
def test_copies(packing: Packing, element: ElementType) -> None:
    packed = PackedInput(Argument("input", 0), element, packing)
    text = packing_module("@packing", "", [packed])
    module = parse_program(in_upstream(f"module {{\n{text}\n}}"), "packing.mlir")
    (kernel,) = (op for op in module.walk() if isinstance(op, llvm.FuncOp))
    kind = np.dtype(f"u{element.itemsize}")
    memory = np.random.default_rng(0).integers(1, 1 << 16, packing.end).astype(kind)
    copy = np.zeros(packing.elements, kind)
    copy += 7
    threads = Threads(memory, copy, blocks_of(packed))
    zero = np.zeros(blocks_of(packed) * THREADS, np.int64)
    threads.values |= {argument: zero for argument in kernel.body.block.args}
    threads.run(kernel.body.block, zero == 0)
    assert copy.tobytes() == packed.pack(memory.tobytes())


def test_copies_are_apart() -> None:
    packing = Packing(0, (3, 5), (5, 1), (2, 4), (2, 2), (0, 1), 1, 2)
    packed = [PackedInput(Argument("input", at), ElementType.F16, packing) for at in range(3)]
    offsets, end = packed_offsets(packed)
    assert offsets == [0, ALIGNMENT, 2 * ALIGNMENT]
    assert end == 2 * ALIGNMENT + packed[0].storage_bytes
