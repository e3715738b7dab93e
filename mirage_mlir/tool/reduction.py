"""
Smaller programs than a given one, one edit at a time.

Each kind of edit has a numbered list of places where it may apply. An edit that is kept makes its
place go away, so that the next one has its number. The idea is that of LLVM's llvm-reduce.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import DiagnosticException

from mirage_mlir.driver.source import functions, parse_program, text_of

SHORTER = {"f64": "f32", "f32": "f16", "bf16": "f16", "i64": "i32"}
"""The element type to try in the place of another."""

DIMS = re.compile(r"(?<=<)(?:\d+x)+")
"""The dimensions of a tensor or tile."""

Kind = Callable[[ModuleOp], Iterator[Callable[[], str]]]
"""The edits of a kind that there are for a program; each makes a copy, as text."""


@dataclass
class Reduction:
    """
    A program on its way to a small one.

    Args:
        text: the program; `is_interesting` holds of it.
        is_interesting: whether what is looked for is still there.
        is_stopped: whether to leave it at what was found.
    """

    text: str
    is_interesting: Callable[[str], bool]
    is_stopped: Callable[[], bool]
    tests: int = 0

    def run(self) -> None:
        """Make edits until no single one is left that can be kept."""
        rejected: set[str] = set()
        before = ""
        while self.text != before and not self.is_stopped():
            before = self.text
            for kind in KINDS:
                self._edit(kind, rejected)

    def _edit(self, kind: Kind, rejected: set[str]) -> None:
        place = 0
        while not self.is_stopped():
            edits = [*kind(parse_program(self.text, "reduced"))]
            for edit in edits[place:]:
                text = edit()
                if text not in rejected and text != self.text and self._is_kept(text):
                    self.text = text
                    break
                rejected.add(text)
                place += 1
                if self.is_stopped():
                    return
            else:
                return

    def _is_kept(self, text: str) -> bool:
        try:
            parse_program(text, "reduced")
        except DiagnosticException:
            return False
        self.tests += 1
        return self.is_interesting(text) and not self.is_stopped()


def size(text: str) -> int:
    """The number of operations in functions."""
    module = parse_program(text, "reduced")
    return sum(1 for function in functions(module) for _ in function.walk()) - len(
        functions(module)
    )


def _calls(module: ModuleOp) -> set[str]:
    """Names that operations refer to: of functions with a type that others rely on."""
    return {
        name
        for op in module.walk()
        if not isinstance(op, FuncOp)
        for attribute in (*op.properties.values(), *op.attributes.values())
        for name in re.findall(r'@"?([^"\s:]+)', str(attribute))
    }


def _free(module: ModuleOp) -> list[FuncOp]:
    """The functions whose types can change, with one block each."""
    names = _calls(module)
    return [
        each
        for each in functions(module)
        if each.sym_name.data not in names and len(each.body.blocks) == 1
    ]


def _retyped(function: FuncOp) -> None:
    """Let the type of the function be that of its body."""
    block = function.body.block
    end = block.last_op
    assert isinstance(end, ReturnOp)
    inputs = [arg.type for arg in block.args]
    function.function_type = FunctionType.from_lists(inputs, [each.type for each in end.operands])


def _twin(module: ModuleOp, op: Operation) -> tuple[ModuleOp, Operation]:
    """A copy of the module, and the operation in it that is `op`."""
    copies: dict[Operation, Operation] = {}
    copy = module.clone()
    copies.update(zip(module.walk(), copy.walk(), strict=True))
    return copy, copies[op]


def _is_unused(op: Operation) -> bool:
    return bool(op.results) and not any(result.first_use for result in op.results)


def _sweep(module: ModuleOp, kept: set[Operation]) -> None:
    """Erase what nothing needs any more, but not what nothing needed before."""
    while gone := [op for op in module.walk() if _is_unused(op) and op not in kept]:
        for op in gone:
            if op.parent is not None:
                op.detach()
                op.erase()


def _functions(module: ModuleOp) -> Iterator[Callable[[], str]]:
    """Without one of the functions."""

    def without(function: Operation) -> str:
        copy, twin = _twin(module, function)
        twin.detach()
        twin.erase()
        return text_of(copy)

    names = _calls(module)
    for op in module.body.block.ops:
        if not isinstance(op, FuncOp) or op.sym_name.data not in names:
            yield lambda op=op: without(op)


def _results(module: ModuleOp) -> Iterator[Callable[[], str]]:
    """Without one of the results of a function."""

    def without(function: FuncOp, number: int, sweeps: bool) -> str:
        copy, twin = _twin(module, function)
        assert isinstance(twin, FuncOp)
        unused = {op for op in copy.walk() if _is_unused(op)}
        end = twin.body.block.last_op
        assert end is not None
        end.operands = [each for at, each in enumerate(end.operands) if at != number]
        if twin.res_attrs is not None:
            del twin.properties["res_attrs"]
        _retyped(twin)
        if sweeps:
            _sweep(copy, unused)
        return text_of(copy)

    for function in _free(module):
        end = function.body.block.last_op
        for number in reversed(range(len(end.operands) if isinstance(end, ReturnOp) else 0)):
            for sweeps in (True, False):
                yield lambda f=function, n=number, s=sweeps: without(f, n, s)


def _operations(module: ModuleOp) -> Iterator[Callable[[], str]]:
    """With values of the same type in the place of an operation's results, or without it."""
    free = {each.body.block for each in _free(module)}
    for op in reversed([*module.walk()]):
        block = op.parent
        inside = op.parent_op()
        if inside is None or isinstance(inside, ModuleOp) or block is None:
            continue
        if op.has_trait(IsTerminator):
            continue
        for number in range(len(_alike(op, block))):
            yield lambda op=op, number=number: _replaced(module, op, number, sweeps=True)
        if block in free or not any(result.first_use for result in op.results):
            for sweeps in (True, False):
                yield lambda op=op, s=sweeps: _replaced(module, op, None, sweeps=s)


def _alike(op: Operation, block: Block) -> list[SSAValue]:
    """The values that can stand in the place of the one result of `op`."""
    if len(op.results) != 1:
        return []
    found = [each for each in (*block.args, *op.operands) if each.type == op.results[0].type]
    return [*dict.fromkeys(found)]


def _replaced(module: ModuleOp, op: Operation, number: int | None, *, sweeps: bool) -> str:
    """
    The value of this number among those alike for the result; None: new arguments for all.

    What only `op` needed goes with it, or stays, unused, where not `sweeps`.
    """
    copy, twin = _twin(module, op)
    unused = {each for each in copy.walk() if _is_unused(each)}
    block, function = twin.parent, twin.parent_op()
    assert block is not None
    for result in twin.results:
        if number is not None:
            result.replace_all_uses_with(_alike(twin, block)[number])
        elif result.first_use is not None:
            result.replace_all_uses_with(block.insert_arg(result.type, len(block.args)))
    twin.detach()
    twin.erase()
    unused.discard(twin)
    if sweeps:
        _sweep(copy, unused)
    if isinstance(function, FuncOp) and function.body.block.last_op is not None:
        if len(block.args) != len(function.function_type.inputs):
            function.properties.pop("arg_attrs", None)
            _retyped(function)
    return text_of(copy)


def _arguments(module: ModuleOp) -> Iterator[Callable[[], str]]:
    """Without one argument: another of its type in its place, where it is used."""

    def without(function: FuncOp, number: int, other: int | None) -> str:
        copy, twin = _twin(module, function)
        assert isinstance(twin, FuncOp)
        block = twin.body.block
        if other is not None:
            block.args[number].replace_all_uses_with(block.args[other])
        block.erase_arg(block.args[number])
        twin.properties.pop("arg_attrs", None)
        _retyped(twin)
        return text_of(copy)

    for function in _free(module):
        args = function.body.block.args
        for number, arg in reversed([*enumerate(args)]):
            for other in _instead(arg, args):
                yield lambda f=function, n=number, o=other: without(f, n, o)


def _instead(arg: BlockArgument, args: tuple[BlockArgument, ...]) -> Sequence[int | None]:
    if arg.first_use is None:
        return [None]
    return [other.index for other in args[: arg.index] if other.type == arg.type][:1]


def _dimensions(module: ModuleOp) -> Iterator[Callable[[], str]]:
    """With one or half of a size, wherever it is a dimension."""
    text = text_of(module)
    sizes = {int(each) for dims in DIMS.findall(text) for each in dims.split("x") if each}

    def resized(old: int, new: int) -> str:
        def in_type(found: re.Match[str]) -> str:
            dims = found[0].rstrip("x").split("x")
            return "".join(f"{new if int(dim) == old else dim}x" for dim in dims)

        return DIMS.sub(in_type, text)

    for old in sorted(sizes - {0, 1}, reverse=True):
        for new in dict.fromkeys((1, old // 2)):
            yield lambda old=old, new=new: resized(old, new)


def _elements(module: ModuleOp) -> Iterator[Callable[[], str]]:
    """With a shorter element type in the place of another, everywhere in tensors."""
    text = text_of(module)
    for old, new in SHORTER.items():
        if re.search(rf"[<x]{old}(?=[,>])", text):
            yield lambda old=old, new=new: re.sub(rf"([<x]){old}(?=[,>])", rf"\g<1>{new}", text)


KINDS: tuple[Kind, ...] = (_functions, _results, _operations, _arguments, _dimensions, _elements)
"""What removes most comes first."""
