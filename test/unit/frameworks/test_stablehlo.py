"""What JAX prints, converted and interpreted, equals what JAX computes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pytest
from jax_programs import PROGRAMS, JaxProgram, stablehlo
from sampling import sampled
from xdsl.context import Context

import mirage_mlir as mi
from mirage_mlir.bridge import stablehlo_text
from mirage_mlir.driver.source import functions, parse_program
from mirage_mlir.interpreters.function import run_function
from mirage_mlir.opt_main import main
from mirage_mlir.passes.convert_stablehlo_to_kernel import ConvertStablehloToKernelPass

jax: Any = pytest.importorskip("jax")
np_of = jax.numpy

ACCURATE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6}
"""Relative in the 2-norm: a few roundings, of which fusing leaves some out."""

ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
    "abs": lambda x: abs(x),
    "clip": lambda x: np_of.clip(x, -1, 1),
    "elu": jax.nn.elu,
    "erf": jax.lax.erf,
    "exp": np_of.exp,
    "expm1": np_of.expm1,
    "gelu": jax.nn.gelu,
    "gelu_exact": lambda x: jax.nn.gelu(x, approximate=False),
    "hard_tanh": jax.nn.hard_tanh,
    "infinities": lambda x: np_of.where(np_of.isinf(x / (x - x.max())), 1, x),
    "is_finite": lambda x: np_of.where(np_of.isfinite(x / (x - x.max())), x, 2),
    "lax_clamp": lambda x: jax.lax.clamp(np_of.asarray(-1, x.dtype), x, x + 1),
    "leaky_relu": jax.nn.leaky_relu,
    "log": lambda x: np_of.log(abs(x)),
    "log_softmax": jax.nn.log_softmax,
    "logical": lambda x: np_of.where((x > 0) & ~(x > 1) | (x < -1) ^ (x < -2), x, 0),
    "logistic": jax.lax.logistic,
    "logsumexp": lambda x: jax.nn.logsumexp(x, axis=-1),
    "masks_of_masks": lambda x: np_of.where(np_of.where(x > 0, x > 1, x < -1), x, 3),
    "max_min": lambda x: np_of.maximum(x, 0.5) - np_of.minimum(x, x * x),
    "power": lambda x: np_of.power(abs(x) + 1, 1.5) + x**3 + x**2 + abs(x) ** 0.5,
    "relu6": jax.nn.relu6,
    "rounding": lambda x: np_of.floor(x * 2) + np_of.ceil(x * 4) * np_of.round(x * 8),
    "sigmoid": jax.nn.sigmoid,
    "sign": lambda x: np_of.sign(np_of.where(abs(x) < 0.5, 0, x)),
    "silu": jax.nn.silu,
    "softmax": jax.nn.softmax,
    "softplus": jax.nn.softplus,
    "sqrt": lambda x: np_of.sqrt(abs(x)) + jax.lax.rsqrt(abs(x) + 1),
    "standardize": jax.nn.standardize,
    "tanh": np_of.tanh,
    "to_boolean": lambda x: np_of.where((x - x).astype(bool), x, 1),
}

STRUCTURED: dict[str, Callable[[Any], Any]] = {
    "all_and_any": lambda x: np_of.where((x > -1).all(1, keepdims=True) | (x > 2).any(0), x, 1),
    "arange": lambda x: np_of.arange(8) * x + 2 * np_of.arange(4)[:, None] - 1,
    "barrier": lambda x: jax.lax.optimization_barrier((x, x + 1))[1],
    "broadcast": lambda x: np_of.broadcast_to(x[:, None], (3, 4, 5, 8)),
    "concatenate": lambda x: np_of.concatenate([-x, x, np_of.ones_like(x)], 1),
    "cummax": lambda x: jax.lax.cummax(x, 1) + jax.lax.cummax(x.reshape(32), 0)[0],
    "cumsum": lambda x: np_of.cumsum(x, 0) + jax.lax.cumsum(x.reshape(1, 32), 1)[:, :8],
    "cumsum_from_behind": lambda x: jax.lax.cumsum(x.reshape(32), reverse=True).reshape(4, 8),
    "dynamic_slice": lambda x: jax.lax.dynamic_slice(x, (1, 7), (2, 3)),
    "eye": lambda x: x + np_of.eye(4, 8, dtype=x.dtype),
    "gather_below": lambda x: x.at[np.array([-9, 9])].get(mode="fill", fill_value=0),
    "gather_booleans": lambda x: x[np.array([True, False, True, True])],
    "gather_bytes": lambda x: x[:, np.array([-1, -8], np.int8)],
    "gather_diagonal": lambda x: np_of.diagonal(x) * np_of.trace(x),
    "gather_middle": lambda x: x.reshape(2, 2, 2, 4)[:, np.array([1, 0, 1]), :, 1],
    "gather_mixed": lambda x: x.reshape(2, 2, 8)[np.array([1, 0]), :, np.array([3, 7])],
    "gather_where": lambda x: x[:, np_of.where(np_of.arange(4) > 1, 7, np_of.arange(4))],
    "gather_clamped": lambda x: x.at[:, np.array([7, 9])].get(mode="clip"),
    "gather_columns": lambda x: x[:, np.array([3, 1, 1, 0])],
    "gather_pairs": lambda x: x[np.array([0, 2, 3]), np.array([1, 5, 0])],
    "gather_rank_2": lambda x: x[np.array([[3, 1], [0, -1]])],
    "gather_strided": lambda x: np_of.take(x, np_of.arange(0, 8, 2) + 1, axis=1),
    "gather_along": lambda x: np_of.take_along_axis(x, np.array([[1], [0], [7], [7]]), 1),
    "gather_remainder": lambda x: x[:, np_of.arange(8) % 4 + np_of.arange(8) // 4],
    "gather_take": lambda x: np_of.take(x, np.array([2, 0, 3]), axis=0),
    "gather_windows": lambda x: x[:, np.arange(3)[:, None] + np.arange(4)],
    "gram": lambda x: np_of.einsum("ij,kj->ki", x, x),
    "heads": lambda x: np_of.repeat(x.reshape(2, 2, 8), 3, axis=0) * 2,
    "index": lambda x: x[1] + x[-1] * x[2, 3],
    "max_of_all": lambda x: x.max() - x.min(axis=0),
    "one_hot": lambda x: jax.nn.one_hot(np_of.arange(4), 8, dtype=x.dtype) * x,
    "outer": lambda x: np_of.einsum("i,j->ji", x[0], x[1]),
    "pad": lambda x: np_of.pad(x, ((0, 1), (2, 0)), constant_values=2),
    "pad_negative": lambda x: jax.lax.pad(x, np_of.asarray(1, x.dtype), ((-1, 2, 0), (1, -3, 0))),
    "pad_mirrored": lambda x: np_of.pad(x, 1, mode="reflect") + np_of.pad(x, 1, mode="edge"),
    "pool": lambda x: jax.lax.reduce_window(
        x, -np_of.inf, jax.lax.max, (2, 3), (2, 3), ((0, 0), (0, 1))
    ),
    "pool_dilated": lambda x: jax.lax.reduce_window(
        x, np_of.inf, jax.lax.min, (2, 3), (1, 2), "SAME", window_dilation=(1, 2)
    ),
    "pool_overlapping": lambda x: jax.lax.reduce_window(
        x, 0.0, jax.lax.add, (2, 3), (1, 2), ((1, 0), (-1, 2))
    ),
    "product_of_four": lambda x: np_of.einsum(
        "abc,cdb->bda", x.reshape(2, 4, 4), x.reshape(4, 2, 4)
    ),
    "reshape": lambda x: x[None, :, None].reshape(8, 4).T.reshape(1, 32) + 1,
    "rotary_by_halves": lambda x: np_of.concatenate([-x[:, 4:], x[:, :4]], -1) * 0.5 + x,
    "reversed": lambda x: x[::-1, ::-1] + np_of.flip(x.reshape(32)).reshape(4, 8),
    "roll_all": lambda x: np_of.roll(x, 2),
    "roll": lambda x: np_of.roll(x, 3, axis=1),
    "rotary": lambda x: np_of.stack([x[:, ::2], -x[:, 1::2]], -1).reshape(4, 8),
    "scores": lambda x: np_of.einsum(
        "bqhd,bkhd->bhqk", x.reshape(1, 2, 2, 8), x.reshape(1, 2, 2, 8)
    ),
    "split": lambda x: sum(np_of.split(x, 2, axis=-1)),
    "steps": lambda x: x[..., ::2] - x[..., 1::2],
    "sum": lambda x: x.sum(0) + x.mean() + x.sum(),
    "one_hot_by_iota": lambda x: (np_of.arange(8) == 3).astype(x.dtype) * x,
    "tril": lambda x: np_of.tril(x, 1) + np_of.triu(x, -2),
    "var": lambda x: x.var(-1, ddof=1) + np_of.linalg.norm(x),
    "vector": lambda x: x @ x[0],
    "window": lambda x: np_of.where(
        abs(np_of.arange(4)[:, None] - np_of.arange(8)) < 3, x, -np_of.inf
    ).max(-1),
}


STAYING: dict[str, Callable[[Any], Any]] = {
    "reduce_window": lambda x: np_of.cumprod(x, 1) * 2,
    "sort": lambda x: np_of.sort(x, 1) * 2,
    "gather": lambda x: x[x.astype(int)[0] % 4] * 2,
}
"""By the operation that stays with the host."""

FUSED = [each for each in PROGRAMS if each.name in ("rmsnorm_linear", "gated_mlp", "lora")]
"""Into one kernel, in a few seconds each."""


def converted(text: str) -> Any:
    """The one function of a module, converted."""
    module = parse_program(text, "jax.mlir")
    ConvertStablehloToKernelPass().apply(Context(), module)
    module.verify()
    (function,) = functions(module)
    assert not any(op.name.startswith(("stablehlo", "chlo")) for op in module.walk())
    return function


def assert_close(found: Any, program: JaxProgram, inputs: Sequence[Any]) -> None:
    """To what JAX computes in f32: on a CPU it has no attention in f16."""
    wanted = np.asarray(jax.jit(program.function)(*(each.astype("float32") for each in inputs)))
    assert (found.shape, found.dtype.name) == (wanted.shape, "float16")
    assert np.linalg.norm(found - wanted) <= ACCURATE["float16"] * np.linalg.norm(wanted)


def check(programs: Mapping[str, Callable[[Any], Any]], x: Any) -> None:
    """The converted functions give what JAX computes, in the shapes that JAX gives; all at once."""

    def together(x: Any) -> list[Any]:
        return [program(x) for program in programs.values()]

    results = run_function(converted(stablehlo(together, x)), [np.asarray(x)])
    wrong: list[str] = []
    for name, found, value in zip(programs, results, jax.jit(together)(x), strict=True):
        wanted = np.asarray(value, np.float64)
        distance = np.linalg.norm(found.astype(np.float64) - wanted)
        if found.shape != wanted.shape or not distance <= ACCURATE[x.dtype.name] * np.linalg.norm(
            wanted
        ):
            wrong.append(f"{name}: {distance}")
    assert wrong == []


def example(dtype: str) -> Any:
    return jax.random.normal(jax.random.key(7), (4, 8), dtype) * 2


@pytest.mark.parametrize("dtype", sampled(list(ACCURATE), 2))
def test_elementwise(dtype: str) -> None:
    check(ELEMENTWISE, example(dtype))


def test_structured() -> None:
    check(STRUCTURED, example("float32"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_committed_programs(program: JaxProgram) -> None:
    """The files, whatever JAX prints today."""
    inputs = program.inputs()
    (found,) = run_function(converted(program.path.read_text()), [*map(np.asarray, inputs)])
    assert_close(found, program, inputs)


@pytest.mark.parametrize("program", FUSED, ids=lambda program: program.name)
def test_committed_programs_are_fused(program: JaxProgram) -> None:
    """Into one kernel, which is proved to compute the same; interpreted, it equals JAX."""
    kernel = mi.superoptimize_file(program.path, compile_for=["sm_90a"])
    assert kernel.ugraph.count("kernel.graph_defined") == 1
    assert "proved: the normal forms are equal" in kernel.report
    inputs = program.inputs()
    assert_close(np.asarray(kernel(*inputs)), program, inputs)


# Other forms of the text


def exported(jax: Any) -> Any:
    program = next(each for each in PROGRAMS if each.name == "gated_mlp")
    function = jax.jit(program.function)
    like = [jax.ShapeDtypeStruct(shape, "float16") for shape in program.shapes]
    return jax.export.export(function, platforms=("cuda",))(*like)


def opt(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of `mirage-opt --convert-stablehlo-to-kernel`."""
    code = main([str(path), "--convert-stablehlo-to-kernel"])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_text_and_bytecode(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `jax.export` gives becomes the same operators in both forms, for the API too."""
    module = exported(jax)
    (text := tmp_path / "f.mlir").write_text(module.mlir_module())
    (code := tmp_path / "f.mlirbc").write_bytes(module.mlir_module_serialized)
    found = opt(text, capsys)
    assert found == opt(code, capsys)
    assert found[0] == 0
    assert found[1].count("kernel.matmul") == 2
    kernel = mi.superoptimize_file(code, compile_for=["sm_90a"])
    assert kernel.artifact.inputs[0].shape == (16, 128)


def test_errors_in_other_forms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is at its line of the file."""
    path = tmp_path / "f.mlir"
    head = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = "
    tail = " %x : tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n"
    path.write_text(f"{head}stablehlo.cbrt{tail}")
    code, _, said = opt(path, capsys)
    assert (code, said.splitlines()[0]) == (
        1,
        f"{path}:2:8: error: 'stablehlo.cbrt' op has no counterpart among the operators of the "
        "kernel dialect",
    )
    path.write_text(f"{head}stablehlo.sinus{tail}")
    code, _, said = opt(path, capsys)
    assert code == 1
    assert said.startswith(f"{path}:2:8: error: custom op 'stablehlo.sinus' is unknown")
    path.write_bytes(exported(jax).mlir_module_serialized[:200])
    code, _, said = opt(path, capsys)
    assert code == 1
    assert said.startswith(f"{path}: error: no StableHLO that this jaxlib reads")


@pytest.mark.parametrize("name", STAYING)
def test_what_stays_is_named(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path := tmp_path / "f.mlir").write_text(stablehlo(STAYING[name], example("float32")))
    assert main([str(path), "--convert-stablehlo-to-kernel=parts=true"]) == 0
    said = capsys.readouterr()
    assert f'"stablehlo.{name}"' in said.out
    assert "remark:" in said.err


def test_without_jaxlib(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(name: str) -> None:
        assert name == "jaxlib"

    monkeypatch.setattr(stablehlo_text, "find_spec", nothing)
    path = tmp_path / "f.mlir"
    path.write_text(exported(jax).mlir_module())
    code, _, said = opt(path, capsys)
    assert code == 1
    assert "only the generic form of StableHLO is read without jaxlib: install" in said


def test_shardings_of_jax_are_read() -> None:
    """In JAX's own form, as it prints programs with a mesh."""
    text = """module {
      sdy.mesh @mesh = <["x"=1]>
      func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
          -> tensor<4xf32> {
        %y = stablehlo.tanh %x : tensor<4xf32>
        %z = sdy.sharding_constraint %y <@mesh, [{"x"}]> : tensor<4xf32>
        return %z : tensor<4xf32>
      }
    }"""
    module = parse_program(text, "sharded.mlir")
    ConvertStablehloToKernelPass(parts=True).apply(Context(), module)
    assert [each.sym_name.data for each in functions(module)] == ["main_part_0", "main"]


def test_places_of_a_module_of_jax() -> None:
    """Lines of Python, or no line; what looks like a location in a string is none."""
    text = stablehlo_text.printed(_Printed(), "f")
    first, second = text.split("\n")
    assert first == '"a.b"() {s = "loc(x"} : () -> () loc("/f.py":4:31)'
    assert second == '"func.call"() : () -> () loc("f":0:0) '


class _Printed:
    """A module of the bindings, as far as it is asked."""

    @property
    def operation(self) -> "_Printed":
        return self

    def print(self, file: TextIO, **_: bool) -> None:
        file.write(
            '"a.b"() {s = "loc(x"} : () -> () loc("jit(f)"(callsite("f"("/f.py":4:31 to :34)'
        )
        file.write(' at "<module>"("/f.py":6:2 to :52))))\n"func.call"() : () -> () loc("neg") ')
