"""What notebooks show of graphs and kernels: a picture where Graphviz is, else text."""

from dataclasses import replace
from html import escape

from xdsl.dialects.builtin import ModuleOp

from mirage_mlir.driver.source import functions
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.targets.target import DEFAULT_TARGET
from mirage_mlir.view.compose import scene_of
from mirage_mlir.view.dot import NoGraphviz, has_graphviz, svg
from mirage_mlir.view.source import Seen, seen_in_artifact


def function_svg(module: ModuleOp) -> str | None:
    """The first function of a module; none without Graphviz."""
    (function, *_) = functions(module)
    return _drawn(Seen(function.sym_name.data, function))


def kernel_svg(artifact: Artifact) -> str | None:
    """The program of an artifact beside its uGraph for the first chip; none without Graphviz."""
    if not has_graphviz():
        return None
    (seen,) = seen_in_artifact(artifact)
    return _drawn(replace(seen, results=seen.results[:1]))


def _drawn(seen: Seen) -> str | None:
    if not has_graphviz():
        return None
    try:
        return svg(scene_of(seen, DEFAULT_TARGET, threads=False))
    except NoGraphviz:
        # One that is there but fails: a notebook shows the text.
        return None


def as_html(picture: str | None, text: str) -> str:
    """A picture as it is; where there is none, text."""
    return picture or f"<pre>{escape(text)}</pre>"
