"""Modules as text without the names of values, by which equal ones are known."""

from io import StringIO

from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer


def printed(module: ModuleOp) -> str:
    """The text of `module`, whose names of values are taken away."""
    for op in module.walk():
        for result in op.results:
            result.name_hint = None
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    argument.name_hint = None
    stream = StringIO()
    Printer(stream=stream).print_op(module)
    return stream.getvalue()
