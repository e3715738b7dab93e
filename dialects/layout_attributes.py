"""
Layouts of tiles as attributes: the mathematics of `mirage_mlir.layouts.layout` in the text.

They read like Triton's `linear` and `nvmma_shared` layouts; a mode whose size is no power of two is
written `size:step`, as in CuTe. Fields that have their default are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from xdsl.dialects.builtin import I64, ArrayAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from mirage_mlir.dialects.layout_text import (
    SIDES,
    Numbers,
    Reader,
    number,
    numbers,
    parse_bits,
    parse_modes,
    parse_number,
    parse_numbers,
    parse_parameters,
    print_bits,
    print_fields,
    print_modes,
    values,
)
from mirage_mlir.layouts.layout import (
    LANE_BITS,
    SWIZZLED_LINES,
    SWIZZLES,
    RegisterLayout,
    SharedLayout,
)

COMBINES = ("sum", "max")
ROW_MAJOR, COLUMN_MAJOR = [1, 0], [0, 1]
BYTE_BITS = 8
ELEMENT_BITS = (8, 16, 32)
"""Bits of an element; the copy engine and the tensor cores swizzle lines of these."""


@irdl_attr_definition
class RegistersAttr(ParametrizedAttribute):
    """
    A tile spread over the registers of the block's threads.

    The tile is a matrix: its last dimension is the column, those before it are the row. What is in
    register r of lane l of warp w is the sum of the steps `[rows, columns]` of the bits of r, l, w:

        #threadblock.registers<{register = [[0, 1], [8, 0]],
                                lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
                                warp = [[16, 0], partial]}>

    * `register`: the steps of the bits of a register's number, lowest first. `5:[0, 8]` stands for
      five registers, or groups of registers, each 8 columns after the one before. `4:[0, 8]` after
      a run of registers with neighbouring elements says that one access takes the run, but not
      four runs. Left out where a thread holds one element.
    * `lane`: the steps of the five bits of a lane's number in its warp. `[0, 0]` is a bit along
      which lanes hold the same elements, `partial` one along which they hold partial sums or
      maxima.
    * `warp`: the steps of the bits of a warp's number in the block, or in a cluster whose blocks
      share their threads. Left out for one warp.
    """

    name = "threadblock.registers"

    register: ArrayAttr[Numbers]
    lane: ArrayAttr[Numbers]
    warp: ArrayAttr[Numbers]

    @staticmethod
    def of(layout: RegisterLayout) -> RegistersAttr:
        """The attribute that carries `layout`."""
        parts = layout.part_bits
        bits = [numbers([] if n in parts else step) for n, step in enumerate(layout.threads)]
        return RegistersAttr(
            ArrayAttr(numbers(mode) for mode in reversed(layout.slots)),
            ArrayAttr(bits[:LANE_BITS]),
            ArrayAttr(bits[LANE_BITS:]),
        )

    @property
    def layout(self) -> RegisterLayout:
        """The layout that the attribute carries."""
        bits = [values(bit) for bit in (*self.lane, *self.warp)]
        modes = [values(mode) for mode in reversed(self.register.data)]
        return RegisterLayout(
            tuple((bit[0], bit[1]) if bit else (0, 0) for bit in bits),
            tuple((size, rows, columns) for size, rows, columns in modes),
            sum(1 << number for number, bit in enumerate(bits) if not bit),
        )

    def verify(self) -> None:
        if len(self.lane) != LANE_BITS:
            raise VerifyException(
                f"'lane' has {len(self.lane)} steps, but the 32 lanes of a warp take {LANE_BITS}"
            )
        bits = [values(bit) for bit in (*self.lane, *self.warp)]
        modes = [values(mode) for mode in self.register]
        if any(len(bit) not in (0, len(SIDES)) for bit in bits):
            raise VerifyException("a step has rows and columns")
        if any(len(mode) != 1 + len(SIDES) for mode in modes):
            raise VerifyException("a mode has a size, and a step of rows and columns")
        for mode in modes:
            if mode[0] < 1 or not any(mode[1:]):
                raise VerifyException(f"mode {mode[0]}:{mode[1:]} holds no elements of its own")
        _verify_apart([*modes, *([2, *bit] for bit in bits if any(bit))])

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        readers: dict[str, Reader] = {
            "register": parse_modes,
            "lane": parse_bits,
            "warp": parse_bits,
        }
        none = ArrayAttr[Numbers]([])
        return parse_parameters(parser, readers, {"register": none, "warp": none})

    def print_parameters(self, printer: Printer) -> None:
        fields = {
            "register": print_modes(self.register) if self.register else None,
            "lane": print_bits(self.lane),
            "warp": print_bits(self.warp) if self.warp else None,
        }
        print_fields(printer, fields)


def _verify_apart(modes: Sequence[Sequence[int]]) -> None:
    """Each element is held once: the step of a mode exceeds the range of all smaller modes."""
    for mode in modes:
        if min(mode[1:]) < 0 or all(mode[1:]):
            raise VerifyException(f"step {list(mode[1:])} goes neither along rows nor columns")
    for side, name in enumerate(SIDES, start=1):
        along = sorted((mode[side], mode[0]) for mode in modes if mode[side])
        for step, group in groupby(along, key=lambda each: each[0]):
            reach = 1 + sum(at * (size - 1) for at, size in along if at < step)
            if len([size for _, size in group if size > 1]) > 1 or reach > step:
                raise VerifyException(
                    f"modes overlap: along {name}, one of step {step} starts within "
                    f"the {max(reach, step + 1)} that others reach"
                )


@irdl_attr_definition
class SharedAttr(ParametrizedAttribute):
    """
    A tile in shared memory.

    The tile is a matrix: its last dimension is the column, those before it are the row.

        #threadblock.shared<{shape = [64, 72], order = [1, 0]}>
        #threadblock.shared<{shape = [16, 256], order = [1, 0], swizzle = 128, element_bits = 16}>

    * `shape`: rows and columns that there is memory for, padding included.
    * `order`: the dimensions, that of neighbours in memory first: `[1, 0]` is row-major, `[0, 1]`
      column-major.
    * `swizzle`: bytes of a line, 32, 64 or 128, whose 16-byte pieces are permuted from line to
      line. A wider tile consists of panels of such lines, one panel after the other. Default 0:
      unswizzled lines of the length that `shape` gives.
    * `element_bits`: bits of an element; only for swizzled tiles, whose addresses depend on it.
    * `copies`: partial results of groups of warps, which a reader combines. Default 1.
    * `blocks`: blocks of a cluster that hold such copies; a reader combines all. Default 1.
    * `combine`: how they are combined, `sum` or `max`. Default `sum`.
    """

    name = "threadblock.shared"

    shape: Numbers
    order: Numbers
    swizzle: IntegerAttr[I64]
    element_bits: IntegerAttr[I64]
    copies: IntegerAttr[I64]
    blocks: IntegerAttr[I64]
    combine: StringAttr

    @staticmethod
    def of(layout: SharedLayout) -> SharedAttr:
        """The attribute that carries `layout`."""
        line = max(layout.row, layout.column)
        return SharedAttr(
            numbers(layout.room),
            numbers(ROW_MAJOR if layout.column == 1 else COLUMN_MAJOR),
            number(layout.swizzle),
            number(layout.swizzle * BYTE_BITS // line),
            number(layout.copies),
            number(layout.blocks),
            StringAttr(layout.combine),
        )

    @property
    def layout(self) -> SharedLayout:
        """The layout that the attribute carries."""
        run, lines = (values(self.shape)[dim] for dim in values(self.order))
        swizzle, bits = self.swizzle.value.data, self.element_bits.value.data
        line = swizzle * BYTE_BITS // bits if swizzle else run
        row, column = (line, 1) if values(self.order) == ROW_MAJOR else (1, line)
        return SharedLayout(
            row,
            column,
            lines * run,
            self.copies.value.data,
            self.combine.data,
            self.blocks.value.data,
            swizzle,
            lines * line if swizzle else 0,
        )

    def verify(self) -> None:
        shape, order = values(self.shape), values(self.order)
        if len(shape) != len(SIDES) or min(shape) < 1:
            raise VerifyException(f"'shape' has rows and columns from 1 up, not {shape}")
        if order not in (ROW_MAJOR, COLUMN_MAJOR):
            raise VerifyException(f"'order' is {ROW_MAJOR} or {COLUMN_MAJOR}, not {order}")
        for name, field in (("copies", self.copies), ("blocks", self.blocks)):
            if field.value.data < 1:
                raise VerifyException(f"'{name}' is a number from 1 up, not {field.value.data}")
        if self.combine.data not in COMBINES:
            raise VerifyException(f"'combine' is one of {COMBINES}, not '{self.combine.data}'")
        self._verify_swizzle(*(shape[dim] for dim in order))

    def _verify_swizzle(self, run: int, lines: int) -> None:
        swizzle, bits = self.swizzle.value.data, self.element_bits.value.data
        if swizzle not in (0, *SWIZZLES):
            known = ", ".join(map(str, sorted(SWIZZLES)))
            raise VerifyException(f"'swizzle' is 0 or bytes of a line, {known}, not {swizzle}")
        if swizzle == 0 and bits:
            raise VerifyException("'element_bits' is for swizzled tiles, and 'swizzle' is 0")
        if swizzle == 0:
            return
        if bits not in ELEMENT_BITS:
            raise VerifyException(
                f"a swizzled tile has 'element_bits' of one of {ELEMENT_BITS}, not {bits}"
            )
        line = swizzle * BYTE_BITS // bits
        if run % line:
            raise VerifyException(
                f"'shape' has {run} neighbours, no multiple of the {line} in {swizzle} bytes"
            )
        if run // line * self.copies.value.data > 1 and lines % SWIZZLED_LINES:
            raise VerifyException(
                f"'shape' has panels of {lines} lines, no multiple of {SWIZZLED_LINES}"
            )

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        readers: dict[str, Reader] = {
            "shape": parse_numbers,
            "order": parse_numbers,
            "swizzle": parse_number,
            "element_bits": parse_number,
            "copies": parse_number,
            "blocks": parse_number,
            "combine": lambda parser: StringAttr(parser.parse_identifier()),
        }
        defaults: dict[str, Attribute] = {
            **dict.fromkeys(("swizzle", "element_bits"), number(0)),
            **dict.fromkeys(("copies", "blocks"), number(1)),
            "combine": StringAttr(COMBINES[0]),
        }
        return parse_parameters(parser, readers, defaults)

    def print_parameters(self, printer: Printer) -> None:
        swizzle, bits = self.swizzle.value.data, self.element_bits.value.data
        copies, blocks = self.copies.value.data, self.blocks.value.data
        fields = {
            "shape": str(values(self.shape)),
            "order": str(values(self.order)),
            "swizzle": str(swizzle) if swizzle else None,
            "element_bits": str(bits) if bits else None,
            "copies": str(copies) if copies > 1 else None,
            "blocks": str(blocks) if blocks > 1 else None,
            "combine": self.combine.data if self.combine.data != COMBINES[0] else None,
        }
        print_fields(printer, fields)


@irdl_attr_definition
class GlobalAttr(ParametrizedAttribute):
    """
    A loop-invariant tile in device memory, which is read there by whoever needs an element.

        #threadblock.global
    """

    name = "threadblock.global"


@irdl_attr_definition
class IndicesAttr(ParametrizedAttribute):
    """
    A tile of indices, each of which is computed by whoever needs it.

        #threadblock.indices
    """

    name = "threadblock.indices"
