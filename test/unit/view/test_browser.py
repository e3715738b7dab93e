"""In a browser: the graphs open with their numbers, the page of an explanation shows its own."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import CHROMIUM, Page, chromium

from mirage_mlir.driver.explain_page import explanation_page
from mirage_mlir.driver.superoptimize import Superoptimized
from mirage_mlir.runtime.artifact import Artifact
from mirage_mlir.view.explorer import has_explorer

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium")


ON_EDGES = "model_explorer_show_on_edge_item_v3"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with chromium(tmp_path_factory.mktemp("home")) as opened:
        yield opened


@pytest.fixture
def address(tmp_path: Path, artifact_of_f: bytes) -> Iterator[str]:
    """Where `mirage-view` shows an artifact."""
    file = tmp_path / "f.mirage"
    Artifact.from_bytes(artifact_of_f).save(file)
    command = [sys.executable, "-u", "-m", "mirage_mlir.view_main", str(file), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield next(line.strip() for line in server.stdout if line.startswith("http://"))
        finally:
            server.kill()


def test_a_page_shows_its_numbers(page: Page, found: Superoptimized, tmp_path: Path) -> None:
    file = tmp_path / "f.html"
    file.write_text(explanation_page({"f": found.explanations}))
    page.open(file.as_uri())
    model = found.explanations["sm_90a"].kernels[0].model
    assert model is not None
    page.wait_for(f"limited by {model.limit}.")
    wide = "Math.round(document.querySelector('svg').getBoundingClientRect().width)"
    assert page.evaluate(wide) > 300
    # Nothing was fetched.
    assert page.evaluate("performance.getEntriesByType('resource').length") == 0


@pytest.mark.skipif(not has_explorer(), reason="no Model Explorer")
def test_graphs_open_with_numbers_and_kernels(page: Page, address: str) -> None:
    page.open(address)
    said = page.wait_for("thread.store")
    # The table of nodes has the innermost level, and the verdict at the kernel.
    assert "verdict" in said
    assert "verified" in said
    opened = page.evaluate("decodeURIComponent(location.href)")
    assert '"selectedGraphId":"f"' in opened
    # Shapes are on the edges, in a page that is otherwise as Model Explorer wrote it.
    assert page.evaluate(f"JSON.parse(localStorage.getItem('{ON_EDGES}')).type") == "Tensor shape"
    assert page.evaluate("document.compatMode") == "CSS1Compat"
    # What the user chooses stays.
    page.evaluate(f"localStorage.setItem('{ON_EDGES}', '{{}}')")
    page.open(address)
    page.wait_for("thread.store")
    assert page.evaluate(f"localStorage.getItem('{ON_EDGES}')") == "{}"
