"""What the documents say is so: their code runs, their links and paths lead somewhere."""

import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from documents import run_page

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", *(ROOT / "examples").glob("*.md")]
)
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
FOLDERS = "dialects|passes|mirage_mlir|test|benchmarks|tools|examples|docs"
PATH = re.compile(rf"`(?P<path>(?:{FOLDERS})/[\w./-]*)`")
LINK = re.compile(r"\]\((?P<path>[^):#]+)(#[^)]*)?\)")

EACH_CHIP = {"docs/tutorials/llama-layer.md", "examples/README.md"}
"""Pages whose Python prints what is found for each chip."""


def grouped(page: Path) -> Any:
    """In the process of a run that loads the frameworks anyway, if the page may need them."""
    needs = re.search("torch|jax", page.read_text())
    marks = [pytest.mark.xdist_group("frameworks")] if needs else []
    return pytest.param(page, id=str(page.relative_to(ROOT)), marks=marks)


# One of torch's own, about its export.
@pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")
@pytest.mark.parametrize("page", [grouped(page) for page in PAGES])
@pytest.mark.usefixtures("shared_cache", "first_look")
def test_code_blocks(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if str(page.relative_to(ROOT)) not in EACH_CHIP:
        request.getfixturevalue("one_chip")
    for name in ("test", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    run_page(page, has_gpu=shutil.which("nvidia-smi") is not None)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    """Of pages to files; mkdocs checks those between pages of the site, and their anchors."""
    for found in LINK.finditer(page.read_text()):
        if found["path"].startswith("reference/") or "/reference/" in found["path"]:
            continue  # Made by mkdocs, which checks it.
        assert (page.parent / found["path"]).exists(), f"{page}: {found['path']}"


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths(page: Path) -> None:
    """A file that a document names is there, but where NAME stands for a name."""
    named = [found["path"] for found in PATH.finditer(page.read_text())]
    assert not [path for path in named if "NAME" not in path and not (ROOT / path).exists()]


def test_each_example_is_run() -> None:
    """By a command of the examples' page, or of a tutorial."""
    pages = [ROOT / "examples" / "README.md", *(ROOT / "docs" / "tutorials").glob("*.md")]
    lines = [line for page in pages for line in page.read_text().splitlines()]
    commands = [line for line in lines if line.startswith("$ ")]
    for path in sorted((ROOT / "examples").iterdir()):
        if path.suffix in (".py", ".mlir"):
            assert any(f"examples/{path.name}" in line for line in commands), path.name


@pytest.mark.parametrize("wrong", ["```mlir\nfunc.func\n```\n", "```python\n1 / 0\n```\n"])
def test_wrong_blocks_fail(wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (page := tmp_path / "page.md").write_text(f"Text.\n\n{wrong}")
    monkeypatch.chdir(tmp_path)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        run_page(page, has_gpu=False)


def test_wrong_output_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (page := tmp_path / "page.md").write_text("```console\n$ mirage-opt --version\nother 1\n```\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match=r"page.md:1: `mirage-opt --version` prints"):
        run_page(page, has_gpu=False)


def test_python_is_named_as_it_is() -> None:
    """The oldest Python that the documents name is the one that the package asks for."""
    wanted = re.search(r'requires-python = ">=(3\.\d+)"', (ROOT / "pyproject.toml").read_text())
    assert wanted is not None
    for page in (ROOT / "README.md", ROOT / "docs" / "getting-started.md"):
        assert f"Python {wanted[1]} or later" in page.read_text()
    assert sys.version_info >= tuple(map(int, wanted[1].split(".")))
