"""
What the lowering decides about a whole kernel, on its `kernel.graph_defined`.

    kernel.graph_defined ins(%x) grid [4] loop [8] schedule <threads = 128, stages = 5> { ... }
    #threadblock.schedule<threads = 128, producer_warps = 1, stages = 5>
    #threadblock.memory<shared_bytes = 66048, mbarrier_offset = 65536, results = [-1]>

The passes from `split-cross-block-sums` to `software-pipeline` write the schedule, `plan-memory`
the memory plan. What is left out of the text has not been decided, or is not needed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, TypeVar

from xdsl.dialects.builtin import I64, DenseArrayBase, DictionaryAttr, IntegerAttr, UnitAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from mirage_mlir.decisions.registers import MAX_REGISTERS
from mirage_mlir.decisions.schedule import MBARRIER_BYTES
from mirage_mlir.layouts.layout import WARP_THREADS
from mirage_mlir.suggestions import suggestion

MAX_THREADS = 1024
"""Of a block, on every GPU that CUDA knows."""

WORD_BYTES = 4
"""What the offset of a number in shared memory, or of a counter, is a multiple of."""

Value = int | bool | tuple[int, ...]
"""A number; whether something is so; a list of numbers."""


@dataclass(frozen=True)
class Schedule:
    """How a block runs a kernel; 0 and empty lists are what has not been decided."""

    threads: int = 0
    """Threads of a block that compute, in whole warps."""
    producer_warps: int = 0
    """Warps besides these that do nothing but copy the loop's tiles."""
    stages: int = 0
    """Buffers of each tile that the loop loads."""
    iterations_ahead: int = 0
    """With producers: iterations whose tiles may be on their way, but at the start."""
    iterations_at_start: int = 0
    """With producers: iterations whose constant tiles are copied before what is waited for."""
    max_registers: int = 0
    """The limit of registers per thread that gives the planned blocks per multiprocessor."""
    rotation: tuple[int, ...] = ()
    """Blocks of a group, and iterations by which the next group starts the loop later."""
    cluster_reduction: bool = False
    """Each block of a cluster reduces its share of a sum, and goes on with that share."""
    sums_in_workspace: bool = False
    """Partial sums of blocks go through a workspace, and the last block adds them."""

    def verify(self) -> None:
        """Raise `VerifyException` for numbers that no kernel has."""
        if self.threads % WARP_THREADS or not 0 <= self.threads <= MAX_THREADS:
            most = f"whole warps of {WARP_THREADS}, up to {MAX_THREADS}"
            raise VerifyException(f"threads is {self.threads}: they are {most}")
        for name in ("producer_warps", "stages", "iterations_ahead", "iterations_at_start"):
            if (value := getattr(self, name)) < 0:
                raise VerifyException(f"{name} is {value}, which is below 0")
        if not 0 <= self.max_registers <= MAX_REGISTERS:
            found = self.max_registers
            raise VerifyException(f"max_registers is {found}, not 1 to {MAX_REGISTERS}")
        if self.rotation and (len(self.rotation) != 2 or min(self.rotation) < 1):
            numbers = list(self.rotation)
            raise VerifyException(f"rotation is {numbers}, not a group of blocks and a step")
        if not self.producer_warps and (self.iterations_ahead or self.iterations_at_start):
            raise VerifyException("iterations are copied ahead, but there are no producer_warps")


@dataclass(frozen=True)
class BlockMemory:
    """Where the parts of a kernel's memory lie, in bytes."""

    shared_bytes: int = 0
    """Shared memory of a block."""
    mbarrier_offset: int = 0
    """Where in shared memory a pipeline's barriers lie: one for each stage that says full, then as
    many for empty, as many for early copies, and one for each loop-invariant tile."""
    arrival_offset: int = 0
    """Where in shared memory the block's place in the order of arrival is told to all threads."""
    results: tuple[int, ...] = ()
    """For each result its offset in scratch; -1 where it is a result of the function."""
    partial_sums_offset: int = 0
    """Where in scratch the partial sums of blocks start."""
    counters_offset: int = 0
    """Where among the function's counters those of the kernel start."""

    def verify(self) -> None:
        """Raise `VerifyException` for places that are misaligned, or outside of the memory."""
        alignments = {
            "shared_bytes": 1,
            "mbarrier_offset": MBARRIER_BYTES,
            "arrival_offset": WORD_BYTES,
            "partial_sums_offset": WORD_BYTES,
            "counters_offset": WORD_BYTES,
        }
        for name, alignment in alignments.items():
            if (value := getattr(self, name)) < 0 or value % alignment:
                raise VerifyException(f"{name} is {value}, which is no multiple of {alignment}")
        for name in ("mbarrier_offset", "arrival_offset"):
            if (value := getattr(self, name)) and value >= self.shared_bytes:
                inside = f"{self.shared_bytes} bytes of shared memory"
                raise VerifyException(f"{name} is {value}, outside of the {inside}")
        if any(place < -1 for place in self.results):
            raise VerifyException(f"results is {list(self.results)}: places start at 0, -1 is none")


Facts = TypeVar("Facts", Schedule, BlockMemory)


def _to_attribute(value: Value) -> Attribute:
    if isinstance(value, bool):
        return UnitAttr()
    if isinstance(value, int):
        return IntegerAttr(value, i64)
    return DenseArrayBase.from_list(i64, value)


def _to_value(name: str, attribute: Attribute, default: Value) -> Value:
    match attribute:
        case UnitAttr() if isinstance(default, bool):
            return True
        case IntegerAttr() if type(default) is int:
            return attribute.value.data
        case _ if isinstance(default, tuple) and isa(attribute, DenseArrayBase[I64]):
            return tuple(attribute.get_values())
        case _:
            raise VerifyException(f"{name} has no value like {attribute}")


def _to_dictionary(facts: Schedule | BlockMemory) -> DictionaryAttr:
    """What differs from the defaults."""
    values = {each.name: getattr(facts, each.name) for each in fields(facts)}
    defaults = type(facts)()
    decided = {name: value for name, value in values.items() if value != getattr(defaults, name)}
    return DictionaryAttr({name: _to_attribute(value) for name, value in decided.items()})


def _to_facts(kind: type[Facts], entries: Mapping[str, Attribute]) -> Facts:
    """Raise `VerifyException` for names and values that `kind` does not have."""
    defaults = kind()
    known: dict[str, Value] = {each.name: getattr(defaults, each.name) for each in fields(kind)}
    values: dict[str, Any] = {}
    for name, attribute in entries.items():
        if name not in known:
            raise VerifyException(f"there is no '{name}'{suggestion(name, known)}")
        values[name] = _to_value(name, attribute, known[name])
    return kind(**values)


def _parse(parser: AttrParser) -> Sequence[Attribute]:
    """Read `<threads = 128, rotation = [8, 2], cluster_reduction>`, or MLIR's own `<{...}>`."""

    def optional_entry() -> tuple[str, Attribute] | None:
        if (name := parser.parse_optional_identifier()) is None:
            return None
        if parser.parse_optional_punctuation("=") is None:
            return name, UnitAttr()
        values = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE, parser.parse_integer
        )
        if values is not None:
            return name, _to_attribute(tuple(values))
        if (value := parser.parse_integer()) == 0:
            parser.raise_error(f"'{name}' is left out rather than 0")
        return name, _to_attribute(value)

    def entry() -> tuple[str, Attribute]:
        return optional_entry() or parser.raise_error("expected a name")

    with parser.in_angle_brackets():
        # The plain form, which is how tools that know us only through IRDL print it.
        if plain := parser.parse_optional_dictionary_attr_dict():
            return [DictionaryAttr(plain)]
        entries = parser.parse_optional_undelimited_comma_separated_list(optional_entry, entry)
    names = [name for name, _ in entries or ()]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        parser.raise_error(f"'{twice[0]}' is given twice")
    return [DictionaryAttr(dict(entries or ()))]


def _print(printer: Printer, facts: Schedule | BlockMemory) -> None:
    texts: list[str] = []
    for each in fields(facts):
        value: Value = getattr(facts, each.name)
        if value == each.default:
            continue
        written = list(value) if isinstance(value, tuple) else value
        texts.append(each.name if value is True else f"{each.name} = {written}")
    with printer.in_angle_brackets():
        printer.print_string(", ".join(texts))


@irdl_attr_definition
class ScheduleAttr(ParametrizedAttribute):
    """How a block runs a kernel: `#threadblock.schedule<threads = 128, stages = 5>`."""

    name = "threadblock.schedule"

    facts: DictionaryAttr

    KIND: ClassVar = Schedule

    @staticmethod
    def of(schedule: Schedule) -> "ScheduleAttr":
        """The attribute that carries `schedule`."""
        return ScheduleAttr(_to_dictionary(schedule))

    @property
    def schedule(self) -> Schedule:
        """The schedule that the attribute carries."""
        return _to_facts(Schedule, self.facts.data)

    def verify(self) -> None:
        self.schedule.verify()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return _parse(parser)

    def print_parameters(self, printer: Printer) -> None:
        _print(printer, self.schedule)


@irdl_attr_definition
class MemoryAttr(ParametrizedAttribute):
    """Where a kernel's memory lies: `#threadblock.memory<shared_bytes = 66048, results = [-1]>`."""

    name = "threadblock.memory"

    facts: DictionaryAttr

    KIND: ClassVar = BlockMemory

    @staticmethod
    def of(plan: BlockMemory) -> "MemoryAttr":
        """The attribute that carries `plan`."""
        return MemoryAttr(_to_dictionary(plan))

    @property
    def plan(self) -> BlockMemory:
        """The plan that the attribute carries."""
        return _to_facts(BlockMemory, self.facts.data)

    def verify(self) -> None:
        self.plan.verify()

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        return _parse(parser)

    def print_parameters(self, printer: Printer) -> None:
        _print(printer, self.plan)
