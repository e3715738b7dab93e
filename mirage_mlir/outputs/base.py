"""Targets whose output is not text."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target


@dataclass(frozen=True)
class FilesTarget(Target):
    """A target that makes files, of each function its own, in the folder of `--artifacts`."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        raise DiagnosticException(
            f"'{self.name}' makes files: use mirage-opt -t {self.name} --artifacts=DIR"
        )


@dataclass(frozen=True)
class BinaryTarget(Target):
    """A target that makes bytes; `mirage-opt` writes them, xDSL's own tool can only print."""

    @abstractmethod
    def encode(self, ctx: Context, module: ModuleOp) -> bytes:
        """The output file's content."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        raise DiagnosticException(
            f"'{self.name}' is a binary format: use mirage-opt -t {self.name}"
        )
