"""
What stands beside graphs that torch keeps on disk: the operators of ours that they call.

torch keeps a whole compiled graph, and gives it back without tracing it, or asking us, where all
that it depends on is equal: a tag among that. The operators that it calls are registered before
from a record of ours, which has that tag and lies beside torch's own files. A lost record means
another tag, and so does one of which a kernel is no longer kept; the graph is compiled anew then.
"""

import pickle
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any

from mirage_mlir.driver.cache import Key, code_version, open_cache
from mirage_mlir.driver.kept import key_of, known_by
from mirage_mlir.driver.options import Options
from mirage_mlir.frameworks.backend.operators import CallForm, PartOperator, PartProgram
from mirage_mlir.frameworks.backend.report import ModelExplanation
from mirage_mlir.runtime.files import write_whole
from mirage_mlir.runtime.kernel import CompiledKernel

torch: Any = import_module("torch")
"""Untyped: an optional dependency."""


@dataclass(frozen=True)
class KeptOperator:
    """An operator, but for its kernels, which the cache keeps under `key`."""

    form: CallForm
    module: Any
    key: Key

    def registered(self) -> PartOperator | None:
        """The operator; None where its kernels are no longer kept."""
        artifact = known_by(self.key)
        return artifact and PartOperator(self.form, self.module, CompiledKernel(artifact))


@dataclass
class GraphRecord:
    """The tag of a graph, its operators by name, and what became of its parts."""

    path: Path
    tag: str = field(default_factory=lambda: token_hex(16))
    operators: dict[str, KeptOperator] = field(default_factory=dict[str, KeptOperator])
    explanation: ModelExplanation = field(default_factory=ModelExplanation)

    def add(
        self, taken: Sequence[tuple[PartProgram, PartOperator]], said: ModelExplanation, to: Options
    ) -> None:
        """Write what was made of a graph, forward or backward: before torch keeps it."""
        for program, operator in taken:
            if program.call_form.name not in self.operators:
                key = key_of(program.graph.to_module(), program.graph.name, to)
                kept = KeptOperator(program.call_form, operator.module, key)
                self.operators[program.call_form.name] = kept
        # Who is given the graph back searches nothing.
        parts = [replace(part, search_seconds=0.0) for part in said.parts]
        self.explanation.join(replace(said, parts=parts))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, pickle.dumps(self))
        # It is a convenience. Nobody knows what numbers in a part hold.
        except (OSError, pickle.PicklingError, TypeError, AttributeError):
            self.path.unlink(missing_ok=True)


def record_of(module: Any, inputs: Sequence[Any], asked: Mapping[str, object]) -> GraphRecord:
    """
    The record of a graph of dynamo, read or new.

    Args:
        module: the graph.
        inputs: examples of what it takes.
        asked: what else the result depends on.
    """
    path = _path(module, inputs, asked)
    try:
        record: GraphRecord = pickle.loads(path.read_bytes())
    # Of a file that is damaged nobody knows what it raises.
    except Exception:
        return GraphRecord(path)
    if all(each.registered() is not None for each in record.operators.values()):
        return record
    return GraphRecord(path)


@contextmanager
def kept_under(record: GraphRecord | None) -> Generator[None]:
    """Let torch keep what is compiled meanwhile under the tag of `record`; nothing without one."""
    functorch: Any = import_module("torch._functorch.config")
    config: Any = import_module("torch.compiler.config")
    keeps = record is not None and functorch.enable_autograd_cache
    tag = config.cache_key_tag if record is None else f"{config.cache_key_tag} {record.tag}"
    with functorch.patch(enable_autograd_cache=keeps), config.patch(cache_key_tag=tag):
        yield


def _path(module: Any, inputs: Sequence[Any], asked: Mapping[str, object]) -> Path:
    """Where the record lies. torch's key tells graphs apart that have one path."""
    folder: str = import_module("torch._inductor.runtime.cache_dir_utils").cache_dir()
    shapes = [
        (str(each.device), str(each.dtype), [*map(str, each.shape)], [*map(str, each.stride())])
        for each in inputs
        if isinstance(each, torch.Tensor)
    ]
    kept = str(open_cache().folder)
    text = repr((code_version(), kept, sorted(asked.items()), module.code, shapes))
    return Path(folder) / "mirage_mlir" / f"{sha256(text.encode()).hexdigest()}.pickle"
