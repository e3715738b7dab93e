"""
StableHLO in the forms that JAX's bindings of MLIR read, as the generic form: text and bytecode.

The bindings come with jaxlib. Importing them costs 0.1 s and brings no JAX.
"""

import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from typing import Any, NoReturn

from mirage_mlir.bridge.bindings import resources_of
from mirage_mlir.bridge.nesting import TOO_DEEP, too_deep
from mirage_mlir.diagnostics import Diagnostic, PassFailure, Severity

BYTECODE = b"ML\xefR"
"""How MLIR's bytecode begins, that of `jax.export` too."""

_CUSTOM_FORM = re.compile(r"^\s*(?:%[^=\n]+=\s*)?(?:stablehlo|chlo)\.\w", re.MULTILINE)
"""An operation whose name has no quotes."""

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|(?<![\w.])loc\(|[()]')

_PLACE = re.compile(r'("(?:[^"\\]|\\.)*"):(\d+):(\d+)')

_NOWHERE = ("", '"-"', "0", "0")
"""A place of which no more is known than that it was parsed."""


def in_generic_form(text: str, name: str) -> str:
    """
    `text` as it is, or in the generic form where it has StableHLO in another; `name` is the file's.

    Raises:
        PassFailure: it is no valid module, or jaxlib, which would read it, is not installed.
    """
    return generic_form(text, name) if _CUSTOM_FORM.search(text) else text


def generic_form(program: str | bytes, name: str) -> str:
    """
    A module of StableHLO, as text or bytecode, in the generic form; places are those of `program`.

    Raises:
        PassFailure: it is no valid module, or jaxlib, which reads it, is not installed.
    """
    if find_spec("jaxlib") is None:
        _refuse(
            "only the generic form of StableHLO is read without jaxlib: install mirage_mlir[jax], "
            "or print it with print_generic_op_form=True",
            name,
        )
    ir: Any = import_module("jaxlib.mlir.ir")
    stablehlo: Any = import_module("jaxlib.mlir.dialects.stablehlo")
    context = ir.Context()
    registry = ir.DialectRegistry()
    import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext").register_dialects(registry)
    context.append_dialect_registry(registry)
    if isinstance(program, str) and (place := too_deep(program)) is not None:
        raise PassFailure(Diagnostic(Severity.ERROR, TOO_DEEP, name, *place))
    for dialect in ("stablehlo", "chlo", "sdy"):
        import_module(f"jaxlib.mlir.dialects.{dialect}").register_dialect(context)
    context.load_all_available_dialects()
    context.allow_unregistered_dialects = True
    with context:
        try:
            if isinstance(program, bytes):
                # It prints what is wrong, otherwise.
                context.attach_diagnostic_handler(_silence)
                module = stablehlo.deserialize_portable_artifact(context, program)
            else:
                module = ir.Module.parse(program)
        except ir.MLIRError as error:
            found = error.error_diagnostics[0]
            _refuse(found.message, name, found.location)
        except Exception as error:
            # What jaxlib raises for bytecode of a future version differs between its versions.
            _refuse(f"no StableHLO that this jaxlib reads: {error}", name)
        return printed(module, name)


def _silence(_: Any) -> bool:
    return True


def printed(module: Any, name: str) -> str:
    """
    A module of jaxlib's bindings in the generic form.

    Places are lines of Python where JAX says them, and lines of the file `name`, which was parsed.
    """
    text = StringIO()
    module.operation.print(
        file=text, print_generic_op_form=True, enable_debug_info=True, use_local_scope=True
    )
    form = text.getvalue()
    return with_plain_places(form + resources_of(module, form), name)


def with_plain_places(text: str, name: str) -> str:
    """
    The text with each location as file, line and column: the first in it, which is innermost.

    Without one it is line 0 of the file: the lines of the generic form are not those of the file.
    """
    return "".join(_plain_places(text, name))


def _plain_places(text: str, name: str) -> Iterator[str]:
    done, start, depth = 0, 0, 0
    for token in _TOKEN.finditer(text):
        if depth == 0 and token[0] == "loc(":
            start, depth = token.start(), 1
            yield text[done:start]
        elif depth and token[0] in "()":
            depth += 1 if token[0] == "(" else -1
            if depth == 0:
                done = token.end()
                place = _PLACE.search(text, start, done) or _NOWHERE
                yield f"loc({_file(place[1], name)}:{place[2]}:{place[3]})"
    yield text[done:]


def _file(quoted: str, name: str) -> str:
    """A file's name; `-` is what was parsed."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if quoted == '"-"' else quoted


def _refuse(message: str, name: str, location: Any = None) -> NoReturn:
    place = _PLACE.search(str(location))
    line, column = (0, 0) if place is None else (int(place[2]), int(place[3]))
    raise PassFailure(Diagnostic(Severity.ERROR, message, name, line, column))
