"""
Draws the pictures of the documents, `docs/pictures/*.svg`; needs Graphviz.

    .venv/bin/python tools/pictures.py

The same version of Graphviz with the same fonts gives the same bytes.
"""

from pathlib import Path

from mirage_mlir.driver.explain import ChosenFunction
from mirage_mlir.driver.options import Options
from mirage_mlir.driver.roofline import roofline_svg
from mirage_mlir.view.compose import scene_of
from mirage_mlir.view.dot import svg
from mirage_mlir.view.files import seen_in_file

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
OPTIONS = Options(chips=("sm_90a",))


def ugraph_picture() -> str:
    """A uGraph of two kernels, as it was written."""
    path = ROOT / "test" / "ugraphs" / "attention_split_kv.mlir"
    (seen,) = seen_in_file(path, OPTIONS, search=False, only="ugraph")
    return svg(scene_of(seen, OPTIONS.target, threads=False))


def searched_pictures() -> dict[str, str]:
    """A program beside what the search finds, and the roofline of its kernel."""
    path = ROOT / "test" / "workloads" / "rmsnorm_linear.mlir"
    (seen,) = seen_in_file(path, OPTIONS, search=True)
    chosen = seen.results[0].chosen
    assert isinstance(chosen, ChosenFunction), "a search has just been made"
    model = chosen.kernels[0].model
    assert model is not None, "the search chose the kernel"
    return {
        "rmsnorm_linear": svg(scene_of(seen, OPTIONS.target, threads=False)),
        "roofline": roofline_svg(model, chosen.chip) + "\n",
    }


def main() -> None:
    """Write all pictures."""
    PICTURES.mkdir(exist_ok=True)
    drawn = {"attention_split_kv": ugraph_picture(), **searched_pictures()}
    for name, picture in drawn.items():
        (PICTURES / f"{name}.svg").write_text(picture)
        print(PICTURES / f"{name}.svg")


if __name__ == "__main__":
    main()
