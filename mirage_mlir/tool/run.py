"""One run of `mirage-opt`."""

import sys
from collections.abc import Sequence
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ArgSpecParseError, DiagnosticException, ParseError
from xdsl.xdsl_opt_main import xDSLOptMain

from mirage_mlir.diagnostics import collect_diagnostics
from mirage_mlir.parsing import LocatingParser


class MirageOptMain(xDSLOptMain):
    """Dialects and passes come from the `xdsl.universe` entry points."""

    def parse_chunk(
        self, chunk: IO[bytes], file_extension: str, start_offset: int = 0
    ) -> ModuleOp | None:
        text = "\n" * start_offset + chunk.read().decode()
        parser = LocatingParser(self.ctx, text, self.get_input_name())
        return parser.parse_module(not self.args.no_implicit_module)


def run(words: Sequence[str]) -> int:
    """Run the tool on the command line `words`; its exit code."""
    with collect_diagnostics() as remarks:
        try:
            MirageOptMain("the mirage_mlir compiler", words).run()
        except (DiagnosticException, ParseError) as error:
            print(error, *getattr(error, "__notes__", ()), sep="\n", file=sys.stderr)
            return 1
        except (ValueError, ArgSpecParseError) as error:
            print(f"mirage-opt: error: {error}", file=sys.stderr)
            return 2
        finally:
            for remark in remarks:
                print(remark, file=sys.stderr)
    return 0
