"""
The extension of Model Explorer: `model-explorer --extensions=mirage_mlir.view.adapter f.mlir`.

Import it only where Model Explorer is installed; nothing else here does.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from mirage_mlir.driver.options import Options
from mirage_mlir.targets.target import DEFAULT_TARGET
from mirage_mlir.view.compose import scene_of
from mirage_mlir.view.explorer import graphs_of
from mirage_mlir.view.files import seen_in_file

_explorer: Any = import_module("model_explorer")
_Adapter: Any = _explorer.Adapter


class MirageAdapter(_Adapter):
    """Programs and uGraphs in the kernel and threadblock dialects, and artifacts."""

    metadata = _explorer.AdapterMetadata(
        id="mirage_mlir",
        name="mirage_mlir",
        description="Programs, uGraphs and artifacts of mirage_mlir; nothing is searched",
        fileExts=["mlir", "mirage"],
    )

    def convert(self, model_path: str, settings: dict[str, Any]) -> dict[str, Any]:
        """The graphs of a file; what cannot be read raises, which the page shows."""
        seen = seen_in_file(Path(model_path), Options(), search=False)
        scenes = [scene_of(each, DEFAULT_TARGET, threads=True) for each in seen]
        return {"graphs": graphs_of(scenes)}
