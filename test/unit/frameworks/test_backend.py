# pyright: basic
"""
`torch.compile(model, backend="mirage")` against torch itself.

Kernels are interpreted; where a test is of graphs and not of kernels, programs are.
"""

import copy
import importlib
import shutil
from collections.abc import Sequence
from typing import Any

import pytest
from optional_packages import package

torch: Any = package("torch")

from compiled_models import Norm, close, compiled, normed_linear  # noqa: E402

import mirage_mlir as mi  # noqa: E402
from mirage_mlir.frameworks.backend import entry, operators, part_search, searches  # noqa: E402
from mirage_mlir.frameworks.backend.entry import Backend  # noqa: E402
from mirage_mlir.frameworks.backend.graphs import GraphCompiler  # noqa: E402
from mirage_mlir.frameworks.backend.nodes import signature_of  # noqa: E402
from mirage_mlir.frameworks.backend.part_search import PartAnswer, PartTask  # noqa: E402
from mirage_mlir.torch import explain, target_of  # noqa: E402

pytestmark = [
    pytest.mark.usefixtures("fresh_dynamo", "shared_cache"),
    # torch, of itself, while inductor is imported.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

F = torch.nn.functional


@pytest.mark.skipif(shutil.which("g++") is None, reason="inductor needs a compiler for the host")
def test_by_name_with_inductor() -> None:
    """As a user calls it: a search to the end, and inductor for the rest."""
    model, x = normed_linear(), torch.randn(4, 32)
    with torch.no_grad():
        found = torch.compile(model, backend="mirage", options={"target": "A100"})(x)
        assert close(found, model(x))


def test_explain(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MIRAGE_LOG", "1")
    model = torch.nn.Sequential(normed_linear(), torch.nn.Tanh())
    found = explain(model, torch.randn(4, 32), options={"rest": "eager"})
    assert found.taken == 1
    table = str(found)
    assert "taken   1x" in table
    assert "pow mean add rsqrt mul mul mm tanh: 0." in table
    assert "1 parts by kernels for H200" in capfd.readouterr().err


@pytest.mark.usefixtures("programs_run")
def test_the_gpu_of_the_tensors(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Not another one of its instruction set: an H100 is slower than an H200, and it is said."""
    monkeypatch.setenv("MIRAGE_LOG", "1")
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda _: "NVIDIA H100 80GB HBM3")
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    of_gpu = target_of(torch.device("cuda", 0))
    monkeypatch.setattr(entry, "target_of", lambda _: of_gpu)
    model, x = normed_linear(), torch.randn(4, 32)
    with torch.no_grad():
        slower, faster = (
            explain(model, x, options={"rest": "eager", **options}).parts[0].without or 0.0
            for options in ({}, {"target": "H200"})
        )
    log = capfd.readouterr().err
    assert "kernels for H100" in log
    assert "kernels for H200" in log
    assert slower > faster > 0


@pytest.mark.usefixtures("programs_run")
def test_equal_layers_are_searched_once() -> None:
    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.up, self.down = (
                Norm(16),
                torch.nn.Linear(16, 32),
                torch.nn.Linear(32, 16),
            )

        def forward(self, x: Any) -> Any:
            return x + self.down(F.silu(self.up(self.norm(x))))

    model, x = torch.nn.Sequential(*(Block() for _ in range(4))), torch.randn(4, 16)
    with torch.no_grad():
        call, backend = compiled(model)
        assert close(call(x), model(x))
    parts = backend.explanation.parts
    assert [(part.taken, part.count) for part in parts] == [(True, 4), (True, 4)]


@pytest.mark.usefixtures("programs_run")
def test_inductor_knows_the_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each before it meets one: of an unknown operator it may write all that comes before it."""
    lowering: Any = importlib.import_module("torch._inductor.lowering")
    made: list[Any] = []
    registered = operators.PartOperator._registered
    monkeypatch.setattr(
        operators.PartOperator,
        "_registered",
        lambda self: made.append(registered(self)) or made[-1],
    )
    model, x = torch.nn.Sequential(Norm(24), torch.nn.Linear(24, 8)), torch.randn(4, 24)
    with torch.no_grad():
        compiled(model)[0](x)
    assert len(made) == 1
    assert made[0] in lowering.lowerings


@pytest.mark.usefixtures("programs_run")
def test_parameters_are_constants_to_pack(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parameters alone, not what the model is called with, nor what it writes to."""
    programs: list[operators.PartProgram] = []
    search = Backend._search

    def noted(self: Backend, some: list[operators.PartProgram], target: str, timed: bool) -> Any:
        programs.extend(some)
        return search(self, some, target, timed)

    class Counting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = Norm(16)
            self.weight = torch.nn.Parameter(torch.randn(16, 8))
            self.register_buffer("kept", torch.zeros(4, 16))

        def forward(self, x: Any) -> Any:
            y = self.norm(x + self.kept) @ self.weight
            self.kept += x
            return y

    monkeypatch.setattr(Backend, "_search", noted)
    model, x = Counting(), torch.randn(4, 16)
    wanted = copy.deepcopy(model)
    call, _ = compiled(model, pack=True)
    with torch.no_grad():
        assert all(close(call(x), wanted(x)) for _ in range(2))
    (program,) = programs
    signature, _, _ = str(program.graph.to_module()).partition("->")
    shapes = [each.partition(">")[0] for each in signature.split("tensor<")[1:]]
    constant = ["kernel.constant" in each for each in signature.split("tensor<")[1:]]
    assert dict(zip(shapes, constant, strict=True)) == {
        "4x16xf32": False,
        "16xf32": True,
        "16x8xf32": True,
    }


@pytest.mark.usefixtures("programs_run")
def test_gradients() -> None:
    model, x = normed_linear(), torch.randn(4, 32, requires_grad=True)
    call, backend = compiled(model)
    tensors = [x, *model.parameters()]
    direction = torch.randn(4, 16)
    found = torch.autograd.grad((call(x) * direction).sum(), tensors)
    wanted = torch.autograd.grad((model(x) * direction).sum(), tensors)
    assert all(map(close, found, wanted))
    assert backend.explanation.taken >= 2


@pytest.mark.usefixtures("all_taken")
def test_a_part_that_fails_is_run_by_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(self: Any, tensors: Any) -> Any:
        raise MemoryError("no room")

    model, x = torch.nn.Sequential(Norm(32), torch.nn.Linear(32, 8)), torch.randn(4, 32)
    monkeypatch.setattr(operators.PartOperator, "_by_kernels", fails)
    call, _ = compiled(model)
    with torch.no_grad():
        with pytest.warns(RuntimeWarning, match="MemoryError: no room"):
            assert close(call(x), model(x))
        # A second warning would be an error.
        assert close(call(x), model(x))


def test_the_mode_is_inductors(monkeypatch: pytest.MonkeyPatch) -> None:
    """While it compiles what is left; not for others."""
    compile_fx: Any = importlib.import_module("torch._inductor.compile_fx")
    config: Any = importlib.import_module("torch._inductor.config")
    seen: list[bool] = []

    def inner(graph: Any, examples: Any, **_: Any) -> Any:
        seen.append(config.triton.cudagraphs)
        return entry._boxed(graph)

    monkeypatch.setattr(compile_fx, "compile_fx_inner", inner)
    model, x = torch.nn.Tanh(), torch.randn(4, 8)
    for mode in ("reduce-overhead", None):
        torch._dynamo.reset()
        assert close(torch.compile(model, backend="mirage", mode=mode)(x), model(x))
    assert seen == [True, False]


@pytest.mark.usefixtures("all_taken")
@pytest.mark.filterwarnings("ignore:kernels of a part:RuntimeWarning")
def test_parts_that_fail_share_an_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    """One program, inputs that lie otherwise: a view for torch's operators in the first alone."""

    def fails(self: Any, tensors: Any) -> Any:
        raise MemoryError("no room")

    def merged(x: Any, w: Any) -> Any:
        return F.softmax(x.transpose(1, 2).reshape(2, 4, 24), 2) * w

    monkeypatch.setattr(operators.PartOperator, "_by_kernels", fails)
    x, w = torch.randn(2, 3, 4, 8), torch.randn(24)
    call, backend = compiled(merged)
    for given in (torch.randn(2, 5, 3, 8)[:, :4].transpose(1, 2), x):
        assert close(call(given, w), merged(given, w))
    assert [part.count for part in backend.explanation.parts] == [2]


def test_nothing_is_searched_without_effort() -> None:
    backend = Backend({"rest": "eager", "effort": "none"})
    model = torch.nn.Sequential(Norm(24), torch.nn.Linear(24, 8, bias=False))
    with torch.no_grad():
        torch.compile(model, backend=backend)(torch.randn(4, 24))
    (part,) = backend.explanation.parts
    assert part.why == "no kernels are known, and none were searched"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"effort": "much"}, "effort is one of full, quick, none, not 'much'"),
        ({"rest": "tvm"}, "rest is one of inductor, eager, not 'tvm'"),
        ({"target": "V100"}, "unknown target 'V100'"),
        ({"efort": "full"}, "unknown option 'efort'; did you mean 'effort'"),
        ({"pack": 1}, "pack is"),
        ({"mode": "fast"}, "mode is one of default, .*reduce-overhead.*, not 'fast'"),
        ({"rest": "eager", "mode": "max-autotune"}, "is for inductor, and rest is eager"),
    ],
)
def test_wrong_options(options: dict[str, object], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        Backend(options)


def test_parts_are_searched_at_the_same_time() -> None:
    """What processes find is what is found in this one."""

    def program(columns: int) -> searches.PartProgram:
        graph = mi.new_kernel_graph("part")
        x = graph.new_input(dims=(4, 8), dtype=mi.float32, name="x")
        graph.mark_output(graph.softmax(x @ x.T, 1) if columns == 4 else x + x)
        return searches.PartProgram(graph, (None,), ((0, 1),), ((0, 1),))

    several = [program(4), program(8)]
    alone = [searches.find_all([each], "H200", "full", {"cache": False}) for each in several]
    together = searches.find_all(several, "H200", "full", {"cache": False})
    assert len(together) == 2
    for (one,), other in zip(alone, together, strict=True):
        assert one.kernel is not None
        assert other.kernel is not None
        assert one.kernel.ugraph == other.kernel.ugraph
    assert all(each.seconds > 0 for each in together)


def test_layers_share_what_is_computed_of_equal_inputs(
    monkeypatch: pytest.MonkeyPatch, exact_program: Any
) -> None:
    """A mask that each layer converts from a runtime position is converted once, beside kernels."""
    graphs: list[Any] = []
    rewrite = GraphCompiler.rewrite

    def without_masks(self: Backend, programs: Any, target: str, timed: bool) -> Any:
        """No kernel where the part makes a mask, too, which is a result of its own."""
        kernels = [
            exact_program(each.graph) if len(each.result_orders) == 1 else None for each in programs
        ]
        return [searches.FoundKernel(each) for each in kernels]

    def noted(self: GraphCompiler, graph: Any, *rest: Any) -> Any:
        graphs.append(graph)
        return rewrite(self, graph, *rest)

    class Layers(torch.nn.Module):
        def forward(self, x: Any, k: Any, v: Any, position: Any) -> Any:
            seen = (torch.arange(32) <= position)[None, None, None]
            for _ in range(3):
                # A write into a cache, which no kernel has.
                k = k.index_copy(2, position, x)
                x = F.scaled_dot_product_attention(x, k, v, attn_mask=seen)
            return x

    given = torch.randn(1, 2, 1, 16), torch.randn(1, 2, 32, 16), torch.randn(1, 2, 32, 16)
    monkeypatch.setattr(Backend, "_search", without_masks)
    monkeypatch.setattr(GraphCompiler, "rewrite", noted)
    call, backend = compiled(Layers())
    with torch.no_grad():
        assert close(call(*given, torch.tensor([7])), Layers()(*given, torch.tensor([7])))
    assert backend.explanation.taken == 2
    (graph,) = graphs
    assert sum("where" in str(node.target) for node in graph.graph.nodes) == 1


def test_parts_that_keep_numbers_are_like_no_others() -> None:
    """The numbers are not in the text of a graph; parts of equal layers without any are alike."""
    graphs = [torch.fx.symbolic_trace(model) for model in (lambda x: x * 2.0, lambda y: y * 2.0)]
    assert len({signature_of(graph) for graph in graphs}) == 1
    for number, graph in enumerate(graphs):
        graph.register_buffer("number", torch.full((2,), float(number)))
        (node, *_) = [each for each in graph.graph.nodes if each.op == "call_function"]
        with graph.graph.inserting_before(node):
            node.args = (node.args[0], graph.graph.get_attr("number"))
    assert len({signature_of(graph) for graph in graphs}) == 2


def test_host_memory_is_said() -> None:
    """Kernels are interpreted there, which is slow; what is left to torch is not."""
    x, options = torch.randn(4, 32), {"rest": "eager"}
    assert "interpreted" in str(explain(normed_linear(), x, options=options))
    assert "interpreted" not in str(explain(torch.nn.Tanh(), x, options=options))


def test_named_arguments_are_explained() -> None:
    def scaled(x: object, *, scale: float) -> object:
        return normed(x) * scale

    normed = normed_linear()
    found = explain(scaled, torch.randn(4, 32), options={"rest": "eager"}, kwargs={"scale": 2.0})
    assert found.taken == 1


def test_what_a_limit_cut_short_is_not_searched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    answers = searches._answers

    def counted(tasks: Sequence[PartTask]) -> list[PartAnswer]:
        asked.append(len(tasks))
        return answers(tasks)

    monkeypatch.setattr(searches, "_answers", counted)
    monkeypatch.setattr(searches, "_CUT_SHORT", {})
    monkeypatch.setenv("MIRAGE_CACHE_DIR", "off")
    options = {"rest": "eager", "effort": "quick"}
    tables = [explain(normed_linear(), torch.randn(4, 32), options=options) for _ in range(2)]
    assert asked == [1, 0]
    assert tables[0].parts[0].seconds == tables[1].parts[0].seconds


def test_an_error_of_ours_leaves_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise NameError("no such name")

    monkeypatch.setattr(part_search, "compiled", broken)
    monkeypatch.setenv("MIRAGE_CACHE_DIR", "off")
    model, x = normed_linear(), torch.randn(4, 32)
    found = explain(model, x, options={"rest": "eager"})
    assert found.taken == 0
    assert "internal error: NameError: no such name" in str(found)


def test_what_is_left_is_counted_once() -> None:
    """Not each of its results; an operator by its overload where others of it are ours."""

    def sorted_and_divided(x: Any, w: Any) -> Any:
        order = x.sort()
        y = torch.div(x, 3.0, rounding_mode="floor")
        return normed(order.values + y) + order.indices.to(x.dtype).sum()

    normed = normed_linear()
    found = explain(sorted_and_divided, torch.randn(4, 32), None, options={"rest": "eager"})
    assert found.outside["sort is no operator of the kernel dialect"] == 1
    assert found.outside["div.Tensor_mode is no operator of the kernel dialect"] == 1
