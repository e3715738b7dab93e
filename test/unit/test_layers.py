"""Each layer imports only the layers before it, so no import cycle can form."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2] / "mirage_mlir"

LAYERS = [
    [
        *("diagnostics", "effort", "garbage", "interruption", "names", "progress", "suggestions"),
        *("worker", "lanes", "hints"),
        *("float_formats", "shapes", "layouts", "targets", "decisions"),
        *("expr", "field", "operators", "search"),
    ],
    ["constant_inputs", "parsing", "verification"],
    ["dialects"],
    ["interpreters"],
    ["equivalence"],
    ["passes"],
    ["bridge", "runtime"],
    ["irdl_export", "c_source", "pass_options"],
    ["outputs"],
    ["driver", "host"],
    ["universe"],
    ["tool", "api"],
    ["view"],
    ["torch_operator"],
    ["torch", "jax"],
    ["frameworks"],
    ["opt_main", "cache_main", "reduce_main", "translate_main", "view_main"],
]
"""Lowest first. An import inside a function may look up (a registry entry, a canonicalizer)."""

WITHOUT_IR = [
    *("effort", "garbage", "interruption", "lanes", "names", "progress", "suggestions", "worker"),
    *("float_formats", "shapes", "layouts", "targets", "decisions"),
    *("expr", "field", "operators", "search"),
]
"""Plain mathematics: no xDSL."""

FOLDER_ORDER = [
    *("search.program", "search.saturation", "search.cost_model", "search.stabilization"),
    *("search", "search.single_kernel", "search.multi_kernel"),
    *("passes.patterns.axioms", "passes.patterns", "passes.gradients", "passes.stablehlo"),
    *("passes.linalg", "passes.parts"),
    *("passes.analysis", "passes.mma", "passes.layouts", "passes.schedule", "passes.codegen"),
    *("passes.frontend", "passes"),
]
"""Within the layers of the search and of the passes: each folder imports only those before it."""

BINDINGS = "numba_cuda_mlir"
"""Only the bridge imports it, and it does so inside functions."""

# glob, unlike rglob, follows the links to dialects/ and passes/.
FOLDERS = [path for path in ROOT.iterdir() if path.is_dir()]
FILES = sorted([*ROOT.glob("*.py"), *(p for folder in FOLDERS for p in folder.glob("**/*.py"))])


@cache
def name_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("mirage_mlir", *(part for part in parts if part != "__init__")))


@cache
def layer_of(module: str) -> int | None:
    """The index of the layer of `module`; none for the package itself and for other packages."""
    package, _, rest = module.partition(".")
    if package != "mirage_mlir" or not rest or rest == "__version__":
        return None
    layers = [i for i, names in enumerate(LAYERS) if rest.partition(".")[0] in names]
    assert len(layers) == 1, f"{module} is in {len(layers)} layers, which must be 1"
    return layers[0]


def imported_modules(nodes: list[ast.stmt]) -> list[str]:
    """The modules that `nodes` name, without those for type checkers."""
    modules: list[str] = []
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert node.module is not None
            modules += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.Try | ast.With):
            modules += imported_modules(node.body)
    return modules


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def test_imports_look_down() -> None:
    wrong: list[str] = []
    for path in FILES:
        own = layer_of(name_of(path))
        for imported in imported_modules(parsed(path).body):
            if own is None:
                assert not imported.startswith("mirage_mlir."), "the package itself imports nothing"
            elif (other := layer_of(imported)) is not None and other > own:
                wrong.append(f"{name_of(path)} imports {imported} from a higher layer")
    assert wrong == []


def folder_of(module: str) -> int | None:
    """The place in the order of the folder of `module`, a file; none outside the ordered ones."""
    folder = module.removeprefix("mirage_mlir.").rpartition(".")[0]
    return FOLDER_ORDER.index(folder) if folder in FOLDER_ORDER else None


def test_folders_import_in_their_order() -> None:
    modules = {name_of(path) for path in FILES if path.stem != "__init__"}
    upward: set[str] = set()
    for path in FILES:
        own = folder_of(name_of(path))
        if own is None or path.stem == "__init__":
            continue
        for imported in set(imported_modules(parsed(path).body)) & modules:
            other = folder_of(imported)
            if other is not None and other > own:
                short = [name.removeprefix("mirage_mlir.") for name in (name_of(path), imported)]
                upward.add(" imports ".join(short))
    assert upward == set()


def roots_of(path: Path) -> set[str]:
    """The packages that a file imports anywhere."""
    nodes = [node for node in ast.walk(parsed(path)) if isinstance(node, ast.stmt)]
    return {module.partition(".")[0] for module in imported_modules(nodes)}


def test_packages_are_imported_where_they_belong() -> None:
    """Mathematics knows no IR; the bridge loads the bindings by name, when they are needed."""
    wrong: list[str] = []
    for path in FILES:
        plain = path.relative_to(ROOT).parts[0] in WITHOUT_IR
        refused = {BINDINGS, "xdsl"} if plain else {BINDINGS}
        wrong += [f"{name_of(path)} imports {root}" for root in sorted(roots_of(path) & refused)]
    assert wrong == []


def test_every_folder_of_modules_is_a_package() -> None:
    """Without `__init__.py` a folder works in a checkout but is missing from the wheel."""
    folders = {path.parent for path in FILES}
    assert [
        str(folder) for folder in sorted(folders) if not (folder / "__init__.py").exists()
    ] == []
