"""The command `mirage-view`: programs and uGraphs in a browser, or as a picture."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mirage_mlir.targets.target import DEFAULT_TARGET

if TYPE_CHECKING:
    from mirage_mlir.tool.files import Source
    from mirage_mlir.view.scene import Scene

BAD_INPUT, BAD_COMMAND_LINE = 1, 2
"""Exit codes, those of mirage-opt."""

MOST_PORTS = 65535


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mirage-view",
        description="Show a program beside the uGraphs that a search finds for it, or uGraphs as "
        "they stand, in Google's Model Explorer; or draw them.",
        epilog="Needs pip install 'mirage_mlir[view]'; --svg alone needs Graphviz's dot only.",
    )
    add = parser.add_argument
    add("input", help="a program or uGraphs (.mlir, - for standard input), or a .mirage file")
    add("--svg", metavar="FILE", help="write a picture instead of opening a browser")
    add("--json", metavar="FILE", help="write the graphs as Model Explorer's JSON instead")
    add("--function", metavar="NAME", help="the function to show; --svg shows the first")
    add("--target", default=DEFAULT_TARGET, help=f"the GPU ({DEFAULT_TARGET})")
    add("--as-written", action="store_true", help="search nothing: show programs as they stand")
    add("--level", choices=("block", "thread"), help="how deep; thread, and block for --svg")
    add("--port", type=int, default=8080, help="of the server; the first free one from it on")
    add("--no-browser", action="store_true", help="only start the server, open no browser")
    return parser


def _scenes(given: argparse.Namespace, source: "Source | None") -> "list[Scene]":
    # Imported here: --help needs no compiler.
    from mirage_mlir.driver.options import Options
    from mirage_mlir.targets.target import target_named
    from mirage_mlir.view.compose import scene_of
    from mirage_mlir.view.files import seen_in_file

    chip = target_named(given.target).chip
    options = Options(target=given.target, chips=(chip,))
    seen = seen_in_file(
        Path(given.input),
        options,
        search=not given.as_written,
        only=given.function,
        source=source,
    )
    threads = (given.level or ("block" if given.svg else "thread")) == "thread"
    return [scene_of(each, given.target, threads=threads) for each in seen]


def _show(given: argparse.Namespace, scenes: "list[Scene]") -> None:
    from mirage_mlir.runtime.files import write_whole

    label = "stdin" if given.input == "-" else Path(given.input).stem
    if given.svg:
        from mirage_mlir.view.dot import svg

        write_whole(Path(given.svg), svg(scenes[0]).encode())
    if given.json:
        from mirage_mlir.view.explorer import graphs_json

        write_whole(Path(given.json), graphs_json(label, scenes).encode())
    if given.svg or given.json:
        return
    from mirage_mlir.view.explorer import serve

    serve(label, scenes, port=given.port, browser=not given.no_browser)


def _missing(given: argparse.Namespace) -> str:
    """What is not installed that the command line needs; said before anything is searched."""
    if given.svg:
        from mirage_mlir.view.dot import NO_GRAPHVIZ, has_graphviz

        if not has_graphviz():
            return NO_GRAPHVIZ
        if not given.json:
            return ""
    from mirage_mlir.view.explorer import NO_EXPLORER, has_explorer

    return "" if has_explorer() else NO_EXPLORER


def _problem(given: argparse.Namespace) -> str:
    """What is wrong with the command line: no input can make it right."""
    from mirage_mlir.targets.target import target_named

    if "" in (given.svg, given.json):
        return "--svg and --json take the name of a file, not an empty one"
    for path in filter(None, (given.svg, given.json)):
        if not Path(path).parent.is_dir():
            return f"cannot write '{path}': there is no such folder"
        if Path(path).is_dir():
            return f"cannot write '{path}': it is a folder"
        if path == "-":
            return "--svg and --json take the name of a file, not '-'"
        if Path(path).resolve() == Path(given.input).resolve():
            return f"cannot write '{path}': it is the input"
    if given.svg and given.json and Path(given.svg).resolve() == Path(given.json).resolve():
        return f"--svg and --json are both '{given.svg}'"
    if not 1 <= given.port <= MOST_PORTS:
        return f"--port is from 1 to {MOST_PORTS}, not {given.port}"
    try:
        target_named(given.target)
    except ValueError as error:
        return str(error)
    return _missing(given)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command: 0 when all went well, 1 bad input, 2 bad command line or nothing to draw."""
    given = _parser().parse_args(arguments)
    if problem := _problem(given):
        _say(f"mirage-view: error: {problem}")
        return BAD_COMMAND_LINE
    return _run(given)


def _run(given: argparse.Namespace) -> int:
    from mirage_mlir.runtime.manifest import ArtifactError
    from mirage_mlir.tool.files import InputError
    from mirage_mlir.view.dot import NoGraphviz

    try:
        return _view(given)
    except InputError as error:
        _say(str(error).replace("mirage-opt:", "mirage-view:", 1))
        return BAD_INPUT
    except (OSError, ArtifactError, ValueError) as error:
        _say(f"mirage-view: error: {_in_words(given.input, error)}")
        return BAD_INPUT
    except NoGraphviz as error:
        _say(f"mirage-view: error: {error}")
        return BAD_COMMAND_LINE
    except KeyboardInterrupt:
        return 130


def _view(given: argparse.Namespace) -> int:
    """Show what there is to see, or say about which line something is wrong."""
    from xdsl.utils.exceptions import DiagnosticException

    from mirage_mlir.diagnostics import collect_remarks
    from mirage_mlir.tool.excerpt import ExcerptWriter
    from mirage_mlir.tool.files import read_source
    from mirage_mlir.view.files import ARTIFACT

    source = None if Path(given.input).suffix == ARTIFACT else read_source(given.input)
    writer = ExcerptWriter(source.name, source.text) if source else ExcerptWriter("", "")
    with collect_remarks() as remarks:
        try:
            scenes = _scenes(given, source)
        except DiagnosticException as error:
            found = getattr(error, "diagnostics", ())
            for line in [*writer.lines(remarks), *(writer.lines(found) if found else [str(error)])]:
                _say(line)
            return BAD_INPUT
        for line in writer.lines(remarks):
            _say(line)
    _show(given, scenes)
    return 0


def _in_words(path: str, error: Exception) -> str:
    """What is wrong, as `mirage-opt` says it where it is a file."""
    if not isinstance(error, OSError) or error.filename is None:
        return str(error)
    which = "open input file" if error.filename == path else "write"
    return f"cannot {which} '{error.filename}': {error.strerror}"


if __name__ == "__main__":
    sys.exit(main())
