"""
Our dialects and passes inside a program that uses upstream MLIR's Python bindings.

    from mirage_mlir import host
    with ir.Context() as context:
        host.load_dialects(context)
        module = ir.Module.parse(text)
        pipeline = PassManager.parse("builtin.module(canonicalize)")
        pipeline.add(host.python_pass("superoptimize{target=sm_90a}"))
        pipeline.run(module.operation)

`ir` and `PassManager` are those of any package: each context is used with the bindings that made
it, so that one process may have several hosts. Programs cross as text: the generic form, which
IRDL's dialects can read.
"""

import re
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any, Protocol

from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.irdl import IRDLOperation
from xdsl.passes import ModulePass
from xdsl.traits import NoTerminator
from xdsl.utils.arg_spec import parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError, ParseError

from mirage_mlir.bridge import bindings
from mirage_mlir.diagnostics import Diagnostic, PassFailure, Severity
from mirage_mlir.dialects import get_all_dialects, load_dialect
from mirage_mlir.irdl_export import group_sizes
from mirage_mlir.outputs.irdl import EXPORTED, IrdlGenericTarget, IrdlTarget
from mirage_mlir.parsing import LocatingParser
from mirage_mlir.pass_options import Request, Words, in_order, instantiate
from mirage_mlir.passes import PASSES, load_pass, load_pipeline
from mirage_mlir.suggestions import suggestion
from mirage_mlir.verification import verify


class PythonPass(Protocol):
    """What `PassManager.add` takes."""

    def __call__(self, module: object, mlir_pass: object = None, /) -> None:
        """Change an `ir.Module`, or its operation, in place; MLIR adds its own view of the pass."""


def load_dialects(context: object) -> None:
    """
    Teach an `ir.Context` the dialects kernel, threadblock and thread; a second time does nothing.

    It then checks what IRDL can say of them. Their shapes are checked when a pass of ours runs. Of
    bindings without IRDL, as those of jaxlib, the context allows dialects that it does not know.
    """
    dialects = [load_dialect(name) for name in EXPORTED]
    operations = [op for dialect in dialects for op in dialect.operations]
    if bindings.is_loaded(context, operations[0].name):
        return
    definitions = StringIO()
    IrdlTarget().emit(Context(), ModuleOp([]), definitions)
    bare = [op.name for op in operations if op.has_trait(NoTerminator)]
    bindings.load_irdl(context, definitions.getvalue(), bare)


def _passes(pipeline: str) -> list[ModulePass]:
    try:
        specs = list(parse_pipeline(pipeline))
    except ArgSpecParseError as error:
        raise ValueError(f"'{pipeline}' is no list of passes: {error}") from error
    for spec in specs:
        if spec.name not in PASSES:
            hint = suggestion(spec.name, PASSES) or f"; there are {', '.join(PASSES)}"
            raise ValueError(f"unknown pass '{spec.name}'{hint}")
    requests = [Request(spec.name, _words(spec.parameters)) for spec in specs]
    return [
        instantiate((load_pipeline if whole else load_pass)(request.name), request)
        for request, whole in in_order(requests)
    ]


def _words(parameters: Mapping[str, Sequence[object]]) -> dict[str, Words]:
    """Values as a command line has them."""
    return {name: tuple(map(_word, values)) for name, values in parameters.items()}


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _new_context() -> Context:
    """A context for a program of which parts may belong to dialects that only the host knows."""
    context = Context(allow_unregistered=True)
    for name, dialect in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        context.register_dialect(name, dialect)
    return context


def _parse(context: Context, text: str, name: str = "-", *, written: bool = True) -> ModuleOp:
    """The host's module as ours, verified; `written` where lines of `text` are places."""
    try:
        program = LocatingParser(context, text, name, written=written).parse_module()
    except ParseError as error:
        place = error.span.get_location()
        raise PassFailure(Diagnostic(Severity.ERROR, error.msg, *place)) from error
    verify(program)
    return program


def parse(text: str, context: object, name: str = "-") -> Any:
    """
    An `ir.Module` in an `ir.Context`, which gets our dialects, of a program in any of our forms.

    That is the short one, what `mirage-opt --print-op-generic` prints, and `-t irdl-generic`, which
    `ir.Module.parse` itself reads. Places are lines of the file `name`.

    Raises:
        DiagnosticException: it is no valid program; the message says where and why.
    """
    load_dialects(context)
    program = _parse(_new_context(), text, name)
    generic = StringIO()
    IrdlGenericTarget(locations=True).emit(_new_context(), program, generic)
    try:
        return bindings.parse_module(generic.getvalue(), context)
    except bindings.BindingsError as error:
        place = error.place or (name, 0, 0)
        raise PassFailure(Diagnostic(Severity.ERROR, str(error), *place)) from error


def create(
    name: str,
    operands: Sequence[object] = (),
    results: Sequence[object] = (),
    attributes: Mapping[str, object] | None = None,
) -> Any:
    """
    An `ir.Operation` of our dialects at the current insertion point and location.

    Of an operation with any number of operands of different types (`kernel.concat`) IRDL wants to
    know which of 16 are there: `operandSegmentSizes`, which this adds.

    Raises:
        ValueError: there is no such operation, or it cannot have so many operands.
    """
    known = {op.name: op for each in EXPORTED for op in load_dialect(each).operations}
    if name not in known:
        raise ValueError(f"there is no operation '{name}' in {', '.join(EXPORTED)}")
    kind = known[name]
    assert issubclass(kind, IRDLOperation)
    sizes = group_sizes(kind, len(operands), len(results))
    return bindings.create(name, operands, results, attributes or {}, sizes)


def python_pass(pipeline: str) -> PythonPass:
    """
    The passes of `pipeline` (`a,b{option=1}`) as one callable for `PassManager.add`.

    Handles on operations inside the module are dead after it has run.

    Raises:
        ValueError: `pipeline` names an unknown pass or option.
        DiagnosticException: (the callable) a pass rejects the program; it is left as it was.
    """
    passes = _passes(pipeline)

    def run(module: object, mlir_pass: object = None, /) -> None:
        context = _new_context()
        program = _parse(context, bindings.text_of(module), written=False)
        for each in passes:
            each.apply(context, program)
        verify(program)
        text = StringIO()
        IrdlGenericTarget(locations=True).emit(context, program, text)
        bindings.replace_content(module, text.getvalue())

    return run


def pass_manager(pipeline: str, context: object) -> Any:
    """
    A `PassManager` of a textual pipeline that has passes of both, in a context with our dialects.

    `builtin.module(cse,superoptimize{target=H100},canonicalize)`: names of `mirage-opt` are our
    passes, all others those of the host. `PassManager.parse` itself knows the host's alone.

    Raises:
        ValueError: `pipeline` is no pipeline of a module, or one of its passes or options is wrong.
    """
    text = "".join(pipeline.split("\n")).strip()
    if not (text.startswith(MODULE) and text.endswith(")")):
        raise ValueError(f"a pipeline is {MODULE}PASS,...), not {pipeline!r}")
    pieces: list[tuple[bool, list[str]]] = []
    for each in _listed(text.removeprefix(MODULE)[:-1]):
        ours = each.partition("{")[0] in PASSES
        nested = [] if ours else [word for word in re.split(r"[(){},\s]+", each) if word in PASSES]
        if nested:
            raise ValueError(
                f"'{nested[0]}' is a pass of {MODULE}...), and cannot be nested in {each!r}"
            )
        if not pieces or pieces[-1][0] is not ours:
            pieces.append((ours, []))
        pieces[-1][1].append(each)
    load_dialects(context)
    joined = [(ours, ",".join(names)) for ours, names in pieces]
    return bindings.pass_manager(
        [python_pass(names) if ours else names for ours, names in joined], context
    )


MODULE = "builtin.module("


def _listed(passes: str) -> list[str]:
    """Passes between commas, but for those in braces and parentheses."""
    found, depth = [""], 0
    for letter in passes:
        depth += (letter in "({[") - (letter in ")}]")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [each.strip() for each in found if each.strip()]
